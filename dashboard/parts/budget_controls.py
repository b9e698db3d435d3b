"""Entries of the budget; whatever is typed is kept, usable or not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.keep import from_percent, keep
from dashboard.state import project
from prism_core.privacy.accountants import CHARGEABLE, available

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prism_core.planning.task import ThreeWayRule
    from prism_core.privacy.accountants import AccountantName

_PRESETS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
_ACCOUNTANTS: dict[AccountantName, str] = {
    "zcdp": "zCDP (composes over releases)",
    "pld": "Privacy loss distributions (less noise)",
    "basic": "Basic composition (the paper)",
}
_THREE_WAYS: dict[ThreeWayRule, str] = {
    "none": "None",
    "cmi": "Features that go together (CMI)",
    "model_error": "Largest error of the model",
}
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


def _choose(
    owner: object, attribute: str, label: str, options: Mapping[Any, str], help: str | None = None
) -> None:
    """A select box for one entry."""
    st.selectbox(
        label, list(options), format_func=options.__getitem__, key=attribute, help=help,
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
    _choose(
        state, "three_way", "3-way marginals", _THREE_WAYS,
        help="Counts of the target with two features at once, for relations that no pair shows. "
        "Which two is chosen privately when the release runs: features that go together at each "
        "value of the target, or those that the model so far gets most wrong.",
    )  # fmt: skip
    if state.three_way != "none":
        _percent(
            "Choice pool", 1, 20, "choice", "For choosing the 3-way marginals. What they are "
            "measured with comes from the task pool.",
        )  # fmt: skip
    _accounting()


def _accounting() -> None:
    """The accountants that fit: what is charged composes, what was learned is deducted as zCDP."""
    state = project()
    entries = state.budget
    fitting = {name: _ACCOUNTANTS[name] for name in available()}
    if not state.public:
        fitting = {name: text for name, text in fitting.items() if name in CHARGEABLE}
    learned = bool(state.schema and state.schema.prior) or state.graph.prior is not None
    if learned:
        fitting = {"zcdp": _ACCOUNTANTS["zcdp"]}
    if entries.accountant not in fitting:
        entries.accountant = "zcdp"
    if len(fitting) == 1:
        st.caption(
            "Accounting: zCDP, by which what learning spent is deducted."
            if learned
            else "Accounting: zCDP, which composes over all releases of an asset."
        )
        return
    _choose(entries, "accountant", "Accountant", fitting, help="How privacy losses are added up.")
    if entries.accountant == "pld":
        st.caption(
            "About 5% less noise for the same epsilon and delta, where nothing is chosen "
            "when the release runs: a causal or graphical regime with the model naive Bayes "
            "(below, under *Model and rows*). The ledger charges the zCDP amount of that noise, "
            "which is a little more than the release's own epsilon."
        )


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
