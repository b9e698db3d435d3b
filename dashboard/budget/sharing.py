"""Shares of the budget by pool, and what is measured with them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.budget.edited_design import choose, entry, key_of, whole_number
from dashboard.common.fields import keep, percent_entry, replaced
from dashboard.common.glossary import K_HELP
from dashboard.components.share_bar import WHOLE, SharePart, share_bar
from dashboard.session.shelf import project
from prism_core.explain.plan_lines import idle_pools
from prism_core.figures import pool_style
from prism_core.planning.regimes import given_by
from prism_core.planning.wishes.task import OPTIONS
from prism_core.text.numbers import share_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dashboard.session.designs import Entries
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
            # The bar knows tenths of a percent: a finer share that was typed stays unless it was
            # moved.
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


def _parts(entries: Entries) -> list[SharePart] | None:
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
        SharePart(
            label=LABELS[pool],
            tenths=tenths[pool],
            # A typed share may be less than what a handle leaves, and SharePart refuses that.
            least=min(_LEAST[pool], tenths[pool]),
            about=_ABOUT[pool],
            colour=pool_style(pool).colour,
            pattern=pool_style(pool).pattern,
        )
        for pool in entries.pools
    ]


def numbers(entries: Entries) -> None:
    """The same shares as numbers, in percent."""
    budget = entries.budget
    for pool in entries.pools:
        if pool == "task":
            continue
        percent_entry(
            getattr(budget, pool),
            partial(_take, entries, pool),
            key_of(f"{pool}_share"),
            f"{LABELS[pool]}, % of the budget",
            help=f"What is {_ABOUT[pool]}",
        )
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


_NUMERIC_ORDER = ("full", "moments", "second_moments", "thresholds")
_PAIRS_HELP = (
    "A level with few rows says little beside its own noise. Drawn together, it keeps what the "
    "levels of its column and the other marginals show in common, and neighbours share where "
    "levels have an order; counts of two features move the model only as far as their noise "
    "allows. Spends nothing; only the graphical model does it."
)


def _asked(what: str) -> tuple[str, Mapping[str, str]]:
    """Label and choices of an option."""
    return OPTIONS[what].words, OPTIONS[what].choices


def section(entries: Entries) -> None:
    """Entries of how the budget is split."""
    st.subheader("How the budget is split", anchor=False)
    choose(
        entries.budget,
        "allocation",
        *_asked("budget.allocation"),
        help="How the marginals of one pool share it. Shares can also be locked by hand, in the "
        "table *Per marginal*.",
    )
    if entries.budget.allocation == "tilted":
        key = entry("tilt", entries.budget.tilt)
        st.slider(
            OPTIONS["budget.tilt"].words,
            0.0,
            1.0,
            entries.budget.tilt,
            0.05,
            key=key,
            on_change=keep,
            args=(entries.budget, "tilt", key),
        )
    choose(
        entries,
        "three_way",
        *_asked("task.three_way"),
        help="Counts of the target with two features at once, for relations that no pair shows. "
        "Which two is chosen privately when the release runs: features that go together at each "
        "value of the target, or those that the model so far gets most wrong. Round by round: half "
        "of the task pool pays for rounds that each look for the marginal the model gets most "
        "wrong, measure it and fit the model again; where the noise would outweigh what is "
        "gained there is no round, and where nothing is left to gain they stop.",
    )
    if entries.three_way != "none":
        whole_number(entries, "max_three_way", "Most 3-way tables", 1, 500)
    _numeric(entries)
    _joint(entries)
    with st.expander("Shares as numbers"):
        numbers(entries)
    with st.expander("Weights of features"):
        weights(entries)
    with st.expander("Model details"):
        _features(entries)
        _synthesis(entries)


def _numeric(entries: Entries) -> None:
    schema = project().data.schema
    if schema is None or not any(column.binned for column in schema.columns):
        return
    label, rules = _asked("task.numeric_queries")
    choose(
        entries,
        "numeric_queries",
        label,
        {rule: rules[rule] for rule in _NUMERIC_ORDER},
        help="How numbers and dates with many bins are measured with the target. Cell by cell "
        "spreads the noise over every bin. Moments are the count, mean and spread of the column at "
        "each value of the target; thresholds are counts between a few public cuts. Both are far "
        "fewer numbers; the column's own shape is measured with the background.",
    )
    if entries.numeric_queries != "full":
        whole_number(entries, "numeric_bins", "For columns with so many bins or more", 2, 10_000)
    if entries.numeric_queries == "thresholds":
        whole_number(entries, "thresholds", OPTIONS["task.thresholds"].words, 1, 1_000)


def _joint(entries: Entries) -> None:
    key = entry("joint", entries.joint)
    st.toggle(
        "All features at once where that is better",
        value=entries.joint,
        key=key,
        on_change=keep,
        args=(entries, "joint", key),
        help="One marginal of all features in S and the target instead of one for each feature, "
        "where it is small enough and its expected error is lower.",
    )


def weights(entries: Entries) -> None:
    """A table of the features that may be in S, to type their weights in."""
    state = project()
    assert state.data.schema is not None
    inside = set(state.protected_by(entries))
    if inside and state.dag is not None:
        dag, regime = state.dag, entries.regime
        inside |= {n for target in entries.further for n in given_by(dag, regime, target)}
    names = [
        name
        for name in state.data.schema.names
        if (name != state.structure.target or entries.further) and (name in inside or not inside)
    ]
    if not names:
        return
    st.caption(
        "A feature of weight 2 counts twice: its marginal gets more of the task's share. Weights "
        "are public: take them from what is known, never from the rows."
    )
    key = f"{key_of('weights')}_{entries.rev}_{len(names)}_{entries.regime}"
    st.data_editor(
        pd.DataFrame({"feature": names, "weight": [entries.weights.get(n, 1.0) for n in names]}),
        key=key,
        hide_index=True,
        num_rows="fixed",
        disabled=["feature"],
        height=min(250, 38 + 35 * len(names)),
        width="stretch",
        column_config={"weight": st.column_config.NumberColumn("weight", step=0.1)},
        on_change=_weighted,
        args=(entries, names, key, entries.rev),
    )


def _weighted(entries: Entries, names: list[str], key: str, rev: int) -> None:
    if rev != entries.rev:  # a late message from a table that was put away
        return
    for row, changes in st.session_state[key]["edited_rows"].items():
        if changes.get("weight") is not None:
            entries.weights[names[int(row)]] = float(changes["weight"])


def _features(entries: Entries) -> None:
    choose(
        entries,
        "regime",
        "Protected features S",
        OPTIONS["task.regime"].choices,
        name="budget_regime",
        help="The same choice as on the page Structure.",
    )
    if entries.regime == "predictive":
        key = entry("budget_k", entries.k)
        st.number_input(
            OPTIONS["task.k"].words,
            min_value=1,
            max_value=10_000,
            value=entries.k,
            step=1,
            key=key,
            help=K_HELP,
            placeholder="Let the budget decide",
            on_change=keep,
            args=(entries, "k", key),
        )


def _synthesis(entries: Entries) -> None:
    for attribute, help_text in (("model", None), ("sampling", None), ("pairs", _PAIRS_HELP)):
        label, options = _asked(f"synthesis.{attribute}")
        key = entry(attribute, getattr(entries.synthesis, attribute))
        st.selectbox(
            label,
            list(options),
            format_func=options.__getitem__,
            key=key,
            index=list(options).index(getattr(entries.synthesis, attribute)),
            help=help_text,
            on_change=_keep_synthesis,
            args=(entries, attribute, key),
        )
    rows = min(10_000_000, entries.synthesis.rows or project().data.n)
    key = entry("rows", rows)
    st.number_input(
        OPTIONS["synthesis.rows"].words,
        min_value=1,
        max_value=10_000_000,
        value=rows,
        key=key,
        on_change=_keep_synthesis,
        args=(entries, "rows", key),
        help="As many as there are training rows, unless changed.",
    )


def _keep_synthesis(entries: Entries, attribute: str, key: str) -> None:
    if replaced(key):
        return
    value: Any = st.session_state[key]
    if attribute == "rows" and value == project().data.n:
        value = None  # follows the number of training rows
    entries.synthesis = replace(entries.synthesis, **{attribute: value})
