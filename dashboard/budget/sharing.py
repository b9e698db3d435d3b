"""Shares of the budget by pool, as bars, and how each pool is split."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.budget.edited_design import choose, key_of
from dashboard.common.fields import keeping
from dashboard.components.share_bar import WHOLE, SharePart, share_bar
from dashboard.session.designs import Entries, design_name
from dashboard.session.shelf import project
from prism_core.explain.plan_lines import idle_pools
from prism_core.figures import pool_style
from prism_core.planning.wishes.task import OPTIONS
from prism_core.text.numbers import share_text

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan

LABELS = {
    "selection": "Choosing features",
    "choice": "Choosing 3-way tables",
    "task": "The prediction (task)",
    "background": "All else (background)",
}
ABOUT = {
    "selection": "for choosing the k features privately.",
    "choice": "for choosing the 3-way marginals. What they are measured with comes from the task.",
    "task": "for the relations with the target.",
    "background": "for everything else: the shapes of the other columns, and how they go together.",
}
_IDLE = {
    "selection": "no features are chosen, because all of them are taken",
    "choice": "no 3-way marginals are chosen",
    "background": "nothing is measured for the other columns",
}
_LEAST = {"selection": 10, "choice": 10, "task": 50, "background": 0}  # tenths of a percent


def bars(entries: Entries) -> None:
    """The bar of the design that is edited and, side by side, of the one to compare it with."""
    designs = project().designs
    if designs.compared is None:
        _bar(entries, "How the budget is shared")
        return
    both = sorted((designs.edited, designs.compared))
    for letter, column in zip(both, st.columns(2, gap="medium"), strict=True):
        name = design_name(letter)
        with column:
            if letter == designs.edited:
                _bar(entries, name)
            else:
                _still(designs.entries(letter), name, letter)


def _still(entries: Entries, name: str, letter: str) -> None:
    """A bar that shows and cannot be moved."""
    parts = parts_of(entries)
    if parts is not None:
        # By what it shows: the browser draws a bar anew for another revision only.
        rev = zlib.crc32(repr([part.tenths for part in parts]).encode())
        share_bar(key=f"share_bar_beside_{letter}", parts=parts, rev=rev, label=name, fixed=True)


def _bar(entries: Entries, name: str) -> None:
    """A bar; takes over what was dragged. To be called before what shows the shares."""
    label = f"{name}: drag a handle, or use the arrow keys"
    parts = parts_of(entries)
    if parts is None:
        return
    budget, pools = entries.budget, entries.pools
    key = key_of("share_bar")

    def take(found: tuple[int, ...]) -> None:
        for pool, tenths in zip(pools, found, strict=True):
            # The bar knows tenths of a percent: a finer share that was typed stays unless it was
            # moved.
            if pool != "task" and tenths != round(getattr(budget, pool) * WHOLE):
                setattr(budget, pool, tenths / WHOLE)

    found = share_bar(key=key, parts=parts, rev=budget.shares_rev, label=label, on_change=take)
    # What was taken once is not taken again: another tab may have changed the shares since.
    reply = (budget.shares_rev, pools, found)
    if found is None or st.session_state.get(f"{key}_seen") == reply:
        return
    st.session_state[f"{key}_seen"] = reply
    take(found)


def idle(plan: Plan) -> None:
    """Pools on the bar that this plan does not use, and who has their share."""
    shares = plan.budget.shares
    found = [f"**{LABELS[pool]}** ({_IDLE[pool]})" for pool in idle_pools(plan)]
    if found:
        given = shares.task + sum(getattr(shares, pool) for pool in idle_pools(plan))
        st.markdown(
            f":orange[:material/info: Not used by this plan: {', '.join(found)}.] What the bar "
            f"gives to it goes to the task, which has **{share_text(given)}** of the budget."
        )


def parts_of(entries: Entries) -> list[SharePart] | None:
    """What a bar shows; None while the shares do not add up to a whole."""
    given = {pool: getattr(entries.budget, pool) for pool in entries.pools if pool != "task"}
    if not all(0.0 <= share <= 1.0 for share in given.values()):
        return None
    tenths = {pool: round(share * WHOLE) for pool, share in given.items()}
    # Not rounded like the others: together they have to be a whole.
    rest = WHOLE - sum(tenths.values())
    # A bar needs a part for the task, and a typed share may have left it none.
    if rest < 1:
        return None
    tenths["task"] = rest
    return [
        SharePart(
            label=LABELS[pool],
            tenths=tenths[pool],
            # A typed share may be less than what a handle leaves, and SharePart refuses that.
            least=min(_LEAST[pool], tenths[pool]),
            about=ABOUT[pool],
            colour=pool_style(pool).colour,
            pattern=pool_style(pool).pattern,
        )
        for pool in entries.pools
    ]


def section(entries: Entries) -> None:
    """Entries of how the budget is split."""
    option = OPTIONS["budget.allocation"]
    choose(
        entries.budget,
        "allocation",
        "How each part is split (allocation)",
        option.choices,
        help="How the tables of one pool share it. A single share can be locked in the list of "
        "tables.",
    )
    if entries.budget.allocation == "tilted":
        st.slider(
            OPTIONS["budget.tilt"].words,
            0.0,
            1.0,
            entries.budget.tilt,
            0.05,
            **keeping(entries.budget, "tilt", key_of("tilt"), entries.budget.tilt),
        )
