"""The pools of the budget: a bar to drag, and numbers to type."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.share_bar import WHOLE, Part, share_bar
from dashboard.parts.budget_entry import key_of
from dashboard.parts.typed_entry import percent_entry
from prism_core.figures import pool_style
from prism_core.planning.summary import idle_pools
from prism_core.planning.words import share_text

if TYPE_CHECKING:
    from dashboard.entries import Entries
    from prism_core.planning.plan import Plan

LABELS = {
    "selection": "Choosing features",
    "choice": "Choosing 3-way marginals",
    "task": "Task",
    "background": "Background",
}
_ABOUT = {
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
_LABEL = "Shares of the budget: drag a handle, or use the arrow keys"
_LEAST = {"selection": 10, "choice": 10, "task": 50, "background": 0}  # tenths of a percent


def bar(entries: Entries) -> None:
    """The bar; takes over what was dragged. To be called before what shows the shares."""
    parts = _parts(entries)
    if parts is None:
        return
    budget, pools = entries.budget, entries.pools
    key = key_of("share_bar")

    def take(found: tuple[int, ...]) -> None:
        for pool, tenths in zip(pools, found, strict=True):
            if pool != "task" and tenths != round(getattr(budget, pool) * WHOLE):
                setattr(budget, pool, tenths / WHOLE)

    found = share_bar(key=key, parts=parts, rev=budget.shares_rev, label=_LABEL, on_change=take)
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


def _parts(entries: Entries) -> list[Part] | None:
    """What the bar shows; None while the shares do not add up to a whole."""
    given = {pool: getattr(entries.budget, pool) for pool in entries.pools if pool != "task"}
    if not all(0.0 <= share <= 1.0 for share in given.values()):
        return None
    tenths = {pool: round(share * WHOLE) for pool, share in given.items()}
    rest = WHOLE - sum(tenths.values())
    if rest < 1:
        return None
    tenths["task"] = rest
    return [
        Part(
            label=LABELS[pool], tenths=tenths[pool], least=min(_LEAST[pool], tenths[pool]),
            about=_ABOUT[pool], colour=pool_style(pool).colour, pattern=pool_style(pool).pattern,
        )
        for pool in entries.pools
    ]  # fmt: skip


def numbers(entries: Entries) -> None:
    """The same shares as numbers, in percent."""
    budget = entries.budget
    for pool in entries.pools:
        if pool == "task":
            continue
        percent_entry(
            getattr(budget, pool), partial(_take, entries, pool), key_of(f"{pool}_share"),
            f"{LABELS[pool]}, % of the budget", help=f"What is {_ABOUT[pool]}",
        )  # fmt: skip
    rest = 1.0 - sum(getattr(budget, pool) for pool in entries.pools if pool != "task")
    if _parts(entries):
        st.caption(
            f"The task gets the rest: **{share_text(rest)}**, and the share of a pool that the "
            "plan turns out not to use."
        )
    else:
        st.caption(":red[With these shares there is no plan. What to mend stands below.]")


def _take(entries: Entries, pool: str, share: float) -> None:
    entries.budget.share_out(**{pool: share})
