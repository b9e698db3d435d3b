"""Further columns to be predicted with the same release, and what each one counts."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.state import project
from dashboard.widgets import plain
from prism_core.errors import PrismError
from prism_core.planning.regimes import given_by
from prism_core.planning.target import MOST_TARGETS

_KEY = "further_choice"


def section() -> None:
    """A choice of columns and, where there are some, a table of their weights and features."""
    state = project()
    assert state.schema is not None
    if state.target is None:
        return
    names = [name for name in state.schema.names if name != state.target]
    kept = [name for name in state.further if name in names]
    chosen = st.multiselect(
        "Further columns to be predicted (optional)", names, default=kept,
        max_selections=MOST_TARGETS - 1, key=f"{_KEY}_{state.target}", placeholder="None",
        help="Each is a target of its own, with its own S. They share the budget by their weights "
        "beside the 1 of Y. Not together with 3-way marginals or the naive Bayes model.",
    )  # fmt: skip
    if list(state.further) != chosen:
        state.further = {name: state.further.get(name, 1.0) for name in chosen}
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
    state = project()
    key = f"{_KEY}_weights_{'|'.join(chosen)}"
    st.data_editor(
        pd.DataFrame({"target": chosen, "weight": [state.further[name] for name in chosen]}),
        key=key, hide_index=True, num_rows="fixed", disabled=["target"], width="stretch",
        column_config={"weight": st.column_config.NumberColumn("weight", step=0.1)},
        on_change=_weighted, args=(chosen, key),
    )  # fmt: skip


def _weighted(chosen: list[str], key: str) -> None:
    for row, changes in st.session_state[key]["edited_rows"].items():
        if changes.get("weight") is not None:
            project().further[chosen[int(row)]] = float(changes["weight"])


def _features() -> None:
    """S of every target, as the graph says."""
    state = project()
    if state.dag is None or state.regime == "predictive":
        return
    kind = "Pa" if state.regime == "causal" else "MB"
    for name in (state.target or "", *state.further):
        inside = ", ".join(given_by(state.dag, state.regime, name)) or "nothing yet"
        st.caption(f"{kind}({plain(name)}): {plain(inside)}")
