"""Entries of the budget; whatever is typed is kept, usable or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.keep import from_percent, keep
from dashboard.state import project

_PRESETS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
_ACCOUNTANTS = {"zcdp": "zCDP (tight)", "basic": "Basic composition (the paper)"}
_ALLOCATIONS = {"closed_form": "Closed form (least expected error)", "uniform": "Uniform"}
_MODELS = {"pgm": "Graphical model (Private-PGM)", "naive_bayes": "Naive Bayes (the paper)"}
_SAMPLINGS = {"rounded": "Rounded (less variance)", "iid": "Independent draws"}


def section() -> None:
    """The left column of the page Budget."""
    _privacy()
    _sharing()
    with st.expander("Model and rows"):
        _synthesis()


def _privacy() -> None:
    entries = project().budget
    st.subheader("Privacy", anchor=False)
    st.number_input(
        "Epsilon", value=entries.epsilon, step=0.1, format="%.4g", key="epsilon",
        on_change=keep, args=(entries, "epsilon", "epsilon"),
        help="Bounds how much any one person can change what is released. Smaller is more private.",
    )  # fmt: skip
    st.session_state["epsilon_preset"] = entries.epsilon if entries.epsilon in _PRESETS else None
    st.pills(
        "Common values", _PRESETS, format_func=lambda value: f"{value:g}", key="epsilon_preset",
        on_change=_preset, label_visibility="collapsed",
    )  # fmt: skip
    st.text_input(
        "Delta", value=entries.delta, placeholder=f"1/n² = {1 / project().n ** 2:.2g}",
        key="delta", on_change=keep, args=(entries, "delta", "delta"),
        help="Probability that the bound does not hold. Leave empty for 1/n².",
    )  # fmt: skip


def _preset() -> None:
    chosen = st.session_state["epsilon_preset"]
    if chosen is not None:
        st.session_state["epsilon"] = chosen
        project().budget.epsilon = chosen


def _choose(owner: object, attribute: str, label: str, options: dict[str, str]) -> None:
    """A select box for one entry."""
    st.selectbox(
        label, list(options), format_func=options.__getitem__, key=attribute,
        index=list(options).index(getattr(owner, attribute)),
        on_change=keep, args=(owner, attribute, attribute),
    )  # fmt: skip


def _sharing() -> None:
    state = project()
    entries = state.budget
    st.subheader("Sharing out", anchor=False)
    _choose(entries, "allocation", "Within a pool", _ALLOCATIONS)
    _percent(
        "Background pool", 0, 60, "background",
        "For everything but the relations with the target: shapes of the other columns and how "
        "they go together.",
    )  # fmt: skip
    if state.regime == "predictive":
        _percent("Selection pool", 1, 30, "selection", "For choosing the k features privately.")
    if state.public:
        _choose(entries, "accountant", "Accountant", _ACCOUNTANTS)
    else:
        entries.accountant = "zcdp"
        st.caption("Accounting: zCDP, which composes over all releases of an asset.")


def _percent(label: str, low: int, high: int, pool: str, text: str) -> None:
    entries = project().budget
    st.slider(
        label, low, high, round(getattr(entries, pool) * 100), format="%d %%", key=f"{pool}_share",
        help=text, on_change=keep, args=(entries, pool, f"{pool}_share", from_percent),
    )  # fmt: skip


def _synthesis() -> None:
    state = project()
    for attribute, label, options in (
        ("model", "Model", _MODELS),
        ("sampling", "Sampling", _SAMPLINGS),
    ):
        st.selectbox(
            label, list(options), format_func=options.__getitem__, key=attribute,
            index=list(options).index(getattr(state.synthesis, attribute)),
            on_change=_keep_synthesis, args=(attribute,),
        )  # fmt: skip
    st.number_input(
        "Synthetic rows", min_value=1, max_value=10_000_000,
        value=state.synthesis.rows or state.n, key="rows",
        on_change=_keep_synthesis, args=("rows",),
        help="As many as there are training rows, unless changed.",
    )  # fmt: skip


def _keep_synthesis(attribute: str) -> None:
    state = project()
    value: Any = st.session_state[attribute]
    if attribute == "rows" and value == state.n:
        value = None  # follows the number of training rows
    state.synthesis = replace(state.synthesis, **{attribute: value})
