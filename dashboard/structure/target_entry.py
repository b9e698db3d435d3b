"""Target, regime and further targets."""

from __future__ import annotations

from typing import get_args

import pandas as pd
import streamlit as st

from dashboard.common.fields import keeping
from dashboard.common.glossary import K_HELP
from dashboard.session.shelf import project
from prism_core.errors import PrismError
from prism_core.planning.regimes import given_by
from prism_core.planning.wishes.targets import MOST_TARGETS
from prism_core.planning.wishes.task import OPTIONS, Regime, SelectionRule
from prism_core.text.markdown import plain

_REGIME_WORDS = {
    "causal": (
        "Causal",
        "For use elsewhere or later: protect the direct causes of Y (parents). Needs a graph.",
    ),
    "graphical": (
        "Graphical",
        "For the same kind of people: protect the causes of Y, its effects and their other causes.",
    ),
    "predictive": (
        "Predictive",
        "No graph needed: protect all columns, or k chosen privately.",
    ),
}


def section() -> None:
    """Target and regime, side by side."""
    state = project()
    plan = state.designs.plan
    schema = state.data.schema
    assert schema is not None
    left, right = st.columns([1, 1.25], gap="medium")
    names = list(schema.names)
    target = state.structure.target if state.structure.target in names else None
    state.structure.target = left.selectbox(
        "Column to be predicted (Y)",
        names,
        index=None if target is None else names.index(target),
        placeholder="Choose a column",
        **keeping(state.structure, "target", "target_choice", target),
    )
    right.segmented_control(
        "What to protect (regime)",
        list(get_args(Regime)),
        format_func=lambda key: _REGIME_WORDS[key][0],
        default=plan.regime,
        required=True,
        **keeping(plan, "regime", "regime_choice", plan.regime),
    )
    right.caption(_REGIME_WORDS[plan.regime][1])
    if state.structure.target is not None:
        with left.popover("More choices", icon=":material/tune:", width="stretch"):
            if plan.regime == "predictive":
                _number_of_features(len(schema.columns))
            further_section()


def _number_of_features(columns: int) -> None:
    plan = project().designs.plan
    most = max(1, columns - 1 - len(plan.further))
    # Columns may have gone since it was typed, and the widget raises for a value above its end.
    plan.k = None if plan.k is None else min(plan.k, most)
    st.number_input(
        "Number of features k",
        1,
        most,
        plan.k,
        step=1,
        placeholder="Let the budget decide",
        help=K_HELP,
        **keeping(plan, "k", "k_choice", plan.k),
    )
    if plan.k == most:
        st.caption(f"All {most} features: nothing is chosen, nothing is paid for choosing.")
    words = OPTIONS["task.selection"].choices
    rules: list[SelectionRule] = list(words)
    st.selectbox(
        "How the features are chosen",
        rules,
        format_func=words.__getitem__,
        index=rules.index(plan.selection),
        help="Every way spends the selection pool, whatever the rows hold; only the names of "
        "the chosen columns leave the table.",
        **keeping(plan, "selection", "selection_choice", plan.selection),
    )


def together_section() -> None:
    """A choice of features of S that the curator knows to act together on Y."""
    state = project()
    plan = state.designs.plan
    assert state.data.schema is not None
    names = [name for name in state.data.schema.names if name in state.settled_s]
    kept = [name for name in plan.together if name in names]
    # What was chosen before stays on screen, so that it can be taken back.
    if (len(names) < 2 or plan.further) and not kept:
        return
    chosen = st.multiselect(
        "These causes act together (optional)",
        names,
        default=kept,
        placeholder="None",
        help="A dose that depends on weight and age, say: no pair with the target shows it. They "
        "are measured with the target at once. The page Budget shows in how many cells and with "
        "what noise.",
        **keeping(plan, "together", "together_choice", kept, tuple),
    )
    if len(chosen) == 1:
        st.caption("Choose two or more.")


_FURTHER_KEY = "further_choice"


def further_section() -> None:
    """A choice of columns and, where there are some, a table of their weights and features."""
    state = project()
    plan = state.designs.plan
    assert state.data.schema is not None
    if state.structure.target is None:
        return
    names = [name for name in state.data.schema.names if name != state.structure.target]
    kept = [name for name in plan.further if name in names]

    def weighed(chosen: list[str]) -> dict[str, float]:
        """The chosen ones; a weight that was typed stays."""
        return {name: plan.further.get(name, 1.0) for name in chosen}

    plan.further = weighed(kept)
    chosen = st.multiselect(
        "Further columns to be predicted (optional)",
        names,
        default=kept,
        max_selections=MOST_TARGETS - 1,
        placeholder="None",
        help="Each is a target of its own, with its own S. They share the budget by their weights "
        "beside the 1 of Y. Not together with 3-way marginals or the naive Bayes model.",
        # With another target the choices are others, and Streamlit keeps what was chosen by the
        # key.
        **keeping(plan, "further", f"{_FURTHER_KEY}_{state.structure.target}", kept, weighed),
    )
    if chosen:
        _weights(chosen)
        _features()


def refusal() -> None:
    """Say where the targets cannot be protected together; nothing where they can."""
    try:
        project().plan()
    except PrismError as error:
        if error.field == "further":
            st.error(plain(str(error)), icon=":material/error:")


def _weights(chosen: list[str]) -> None:
    designs = project().designs
    # Edits are kept by the number of a row: other targets need another widget.
    key = f"{_FURTHER_KEY}_weights_{'|'.join(chosen)}"
    st.data_editor(
        pd.DataFrame({"target": chosen, "weight": [designs.plan.further[name] for name in chosen]}),
        key=key,
        hide_index=True,
        num_rows="fixed",
        disabled=["target"],
        width="stretch",
        column_config={"weight": st.column_config.NumberColumn("weight", step=0.1)},
        on_change=_weighted,
        args=(chosen, key),
    )


def _weighted(chosen: list[str], key: str) -> None:
    for row, changes in st.session_state[key]["edited_rows"].items():
        if changes.get("weight") is not None:
            project().designs.plan.further[chosen[int(row)]] = float(changes["weight"])


def _features() -> None:
    """S of every target, as the graph says."""
    state = project()
    plan = state.designs.plan
    if state.dag is None or plan.regime == "predictive":
        return
    kind = "Pa" if plan.regime == "causal" else "MB"
    for name in (state.structure.target or "", *plan.further):
        inside = ", ".join(given_by(state.dag, plan.regime, name)) or "nothing yet"
        st.caption(f"{kind}({plain(name)}): {plain(inside)}")
