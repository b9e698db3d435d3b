"""The column to be predicted, and the regime."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from dashboard.parts import targets
from dashboard.state import project
from prism_core.planning.task import Regime, SelectionRule

_REGIMES = {
    "causal": (
        "Causal",
        "The world may shift: protect the direct causes, Pa(Y). Other hospital, other year, other "
        "patients: use this one. It needs a graph from knowledge.",
    ),
    "graphical": (
        "Graphical",
        "The world stays as it is: protect the Markov blanket, MB(Y). Same hospital, same kind of "
        "patients: effects of Y help to predict it, too.",
    ),
    "predictive": (
        "Predictive",
        "No graph is known: take all features, or choose k of them privately with a part of the "
        "budget. Nothing is claimed about causes.",
    ),
}

K_HELP = (
    "Left empty, the plan takes all features where the budget carries them, and eight otherwise. "
    "It decides by the declared columns, the number of rows and epsilon; nothing is spent on it."
)

_SELECTIONS: dict[SelectionRule, str] = {
    "greedy": "One after another, by association with Y",
    "one_shot": "All at once, by association with Y (faster)",
    "mutual_information": "All at once, by mutual information with Y (the paper)",
    "logistic": "Together, by a private logistic regression (weak below epsilon 16)",
}


def section() -> None:
    """Target and regime, side by side."""
    state = project()
    schema = state.schema
    assert schema is not None
    left, middle, right = st.columns([1.2, 1.6, 1], gap="medium")
    names = list(schema.names)
    chosen = left.selectbox(
        "Column to be predicted (Y)", names, key="target_choice",
        index=names.index(state.target) if state.target in names else None,
        placeholder="Choose a column",
    )  # fmt: skip
    state.target = chosen
    regime = middle.segmented_control(
        "Regime", list(get_args(Regime)), format_func=lambda key: _REGIMES[key][0],
        default=state.regime, required=True, key="regime_choice",
    )  # fmt: skip
    state.regime = regime or state.regime
    middle.caption(_REGIMES[state.regime][1])
    with left:
        targets.section()
    if state.regime == "predictive":
        most = max(1, len(schema.columns) - 1 - len(state.further))
        state.k = right.number_input(
            "Number of features k", 1, most, None if state.k is None else min(state.k, most),
            step=1, key="k_choice", placeholder="As many as the budget carries", help=K_HELP,
        )  # fmt: skip
        if state.k == most:
            right.caption(f"All {most} features: nothing is chosen, nothing is paid for choosing.")
        rules = list(_SELECTIONS)
        state.selection = right.selectbox(
            "How the features are chosen", rules, format_func=_SELECTIONS.__getitem__,
            index=rules.index(state.selection), key="selection_choice",
            help="Every way spends the selection pool, whatever the rows hold; only the names of "
            "the chosen columns leave the table.",
        )  # fmt: skip
