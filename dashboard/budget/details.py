"""Details of the model: what most plans leave as it is, folded."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.budget import epsilon_entry, sharing
from dashboard.budget.edited_design import choose, entry, key_of, whole_number
from dashboard.common.fields import keeping, percent_entry, replaced
from dashboard.common.glossary import K_HELP
from dashboard.session.shelf import project
from prism_core.errors import PrismError
from prism_core.planning.interactions import LOOK_SHARE
from prism_core.planning.joint import JOINT_LIMIT
from prism_core.planning.regimes import given_by
from prism_core.planning.wishes.task import OPTIONS
from prism_core.text.markdown import plain
from prism_core.text.numbers import share_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dashboard.session.designs import Entries

_NUMERIC_ORDER = ("full", "moments", "second_moments", "thresholds")
_PAIRS_HELP = (
    "A level with few rows says little beside its own noise. Drawn together, it keeps what the "
    "levels of its column and the other marginals show in common, and neighbours share where "
    "levels have an order; counts of two features move the model only as far as their noise "
    "allows. Spends nothing; only the graphical model does it."
)


def section(entries: Entries) -> None:
    """The entries that have a good default."""
    with st.expander("Model details"):
        epsilon_entry.delta_section(entries.budget)
        _interactions(entries)
        _coarsening(entries)
        _joint(entries)
        _features(entries)
        _synthesis(entries)
    with st.expander("Shares and weights as numbers"):
        numbers(entries)
        weights(entries)


def _interactions(entries: Entries) -> None:
    """Which tables of several columns are measured, and how numbers are."""
    choose(
        entries,
        "three_way",
        *_asked("task.three_way"),
        help="Counts of the target with two features at once, for relations that no pair shows. "
        "Which two is chosen privately when the release runs: features that go together at each "
        "value of the target, or those that the model so far gets most wrong. Round by round: half "
        "of the task pool pays for rounds that each look for the marginal the model gets most "
        "wrong, measure it and fit the model again, until nothing is left to gain. Where the noise "
        "is too much for that, a smaller share looks for features that are near copies; "
        "the first look that finds none ends it, and the pairs get the rest.",
    )
    if entries.three_way != "none":
        whole_number(entries, "max_three_way", "Most 3-way tables", 1, 500)
    _numeric(entries)


def _asked(what: str) -> tuple[str, Mapping[str, str]]:
    """Label and choices of an option."""
    return OPTIONS[what].words, OPTIONS[what].choices


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
            f"{sharing.LABELS[pool]}, % of the budget",
            help=f"What is {sharing.ABOUT[pool]}",
        )
    rest = 1.0 - sum(getattr(budget, pool) for pool in entries.pools if pool != "task")
    if sharing.parts_of(entries):
        st.caption(
            f"The task gets the rest: **{share_text(rest)}**, and the share of a pool that the "
            "plan turns out not to use."
        )
    else:
        st.caption(":red[With these shares there is no plan. What to mend stands below.]")


def _take(entries: Entries, pool: str, share: float) -> None:
    entries.budget.share_out(**{pool: share})


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


def _coarsening(entries: Entries) -> None:
    """Whether bins and groups are found privately, and what that would cost."""
    choose(
        entries,
        "coarsen",
        *_asked("task.coarsen"),
        help="Numeric columns, and columns with many levels, are counted with the target on a fine "
        "grid that follows from the declaration. Where these noisy counts do not tell neighbours, "
        "or levels, apart, they are measured as one. So bounds suffice: nobody has to know "
        "which bins predict.",
    )
    try:
        plan = project().plan(entries)
    except PrismError:  # the page says it where the plan stands
        return
    if plan.coarsening is not None:
        st.caption(plain(plan.coarsening.sentence(plan.schema)))


def _joint(entries: Entries) -> None:
    st.toggle(
        "Causes at once where the noise allows it",
        value=entries.joint,
        help="One marginal of the target and several causes, for causes that act together. It is "
        f"measured where its expected error is at most {JOINT_LIMIT:.0%} of the rows. Causes that "
        "are known to act together are named on the page Structure. Without a graph a private look "
        f"for such features takes {LOOK_SHARE:.0%} of the budget.",
        **keeping(entries, "joint", key_of("joint"), entries.joint),
    )
    try:
        joint = project().plan(entries).joint
    except PrismError:  # the page says it where the plan stands
        return
    if joint is not None:
        names = plain(", ".join(joint.features)) or "none"
        st.caption(f"At once with the target: {names}. {plain(joint.reason)}")


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
        # Until it is known what is in S, every column may be.
        if (name != state.structure.target or entries.further) and (name in inside or not inside)
    ]
    if not names:
        return
    st.caption(
        "A feature of weight 2 counts twice: its marginal gets more of the task's share. Weights "
        "are public: take them from what is known, never from the rows."
    )
    # Edits are kept by the number of a row: other features need another table.
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
        st.number_input(
            OPTIONS["task.k"].words,
            min_value=1,
            max_value=10_000,
            value=entries.k,
            step=1,
            help=K_HELP,
            placeholder="Let the budget decide",
            **keeping(entries, "k", key_of("budget_k"), entries.k),
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
    # Entries may come from a file, and the widget raises for a value beyond its end.
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
