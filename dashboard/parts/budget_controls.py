"""Entries of the budget; whatever is typed is kept, usable or not."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

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
    _synthesis()


def _privacy() -> None:
    entries = project().budget
    st.subheader("Privacy", anchor=False)
    entries.epsilon = st.number_input(
        "Epsilon", value=entries.epsilon, step=0.1, format="%.4g", key="epsilon",
        help="Bounds how much any one person can change what is released. Smaller is more private.",
    )  # fmt: skip
    st.pills(
        "Common values", _PRESETS, format_func=lambda value: f"{value:g}", key="epsilon_preset",
        default=entries.epsilon if entries.epsilon in _PRESETS else None,
        on_change=_preset, label_visibility="collapsed",
    )  # fmt: skip
    entries.delta = st.text_input(
        "Delta", value=entries.delta, placeholder=f"1/n² = {1 / project().n ** 2:.2g}",
        key="delta",
        help="Probability that the bound does not hold. Leave empty for 1/n².",
    )  # fmt: skip


def _preset() -> None:
    chosen = st.session_state["epsilon_preset"]
    if chosen is not None:
        st.session_state["epsilon"] = chosen


def _sharing() -> None:
    state = project()
    entries = state.budget
    st.subheader("Sharing out", anchor=False)
    entries.allocation = st.selectbox(
        "Within a pool", list(_ALLOCATIONS), format_func=_ALLOCATIONS.__getitem__,
        index=list(_ALLOCATIONS).index(entries.allocation), key="allocation",
    )  # fmt: skip
    entries.background = _percent(
        "Background pool", 0, 60, entries.background, "background_share",
        "For everything but the relations with the target: shapes of the other columns and how "
        "they go together.",
    )  # fmt: skip
    if state.regime == "predictive":
        entries.selection = _percent(
            "Selection pool", 1, 30, entries.selection, "selection_share",
            "For choosing the k features privately.",
        )  # fmt: skip
    if state.public:
        entries.accountant = st.selectbox(
            "Accountant", list(_ACCOUNTANTS), format_func=_ACCOUNTANTS.__getitem__,
            index=list(_ACCOUNTANTS).index(entries.accountant), key="accountant",
        )  # fmt: skip
    else:
        entries.accountant = "zcdp"
        st.caption("Accounting: zCDP, which composes over all releases of an asset.")


def _percent(label: str, low: int, high: int, share: float, key: str, text: str) -> float:
    chosen = st.slider(label, low, high, round(share * 100), format="%d %%", key=key, help=text)
    return chosen / 100


def _synthesis() -> None:
    state = project()
    with st.expander("Model and rows"):
        model = st.selectbox(
            "Model", list(_MODELS), format_func=_MODELS.__getitem__,
            index=list(_MODELS).index(state.synthesis.model), key="model",
        )  # fmt: skip
        sampling = st.selectbox(
            "Sampling", list(_SAMPLINGS), format_func=_SAMPLINGS.__getitem__,
            index=list(_SAMPLINGS).index(state.synthesis.sampling), key="sampling",
        )  # fmt: skip
        rows = st.number_input(
            "Synthetic rows", min_value=1, max_value=10_000_000,
            value=state.synthesis.rows or state.n, key="synthetic_rows",
        )  # fmt: skip
        state.synthesis = replace(state.synthesis, model=model, sampling=sampling, rows=int(rows))
