"""From a wish to a budget: an error that is wanted, and what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.keep import from_percent, keep
from dashboard.parts.budget_entry import entry, key_of
from dashboard.state import project
from dashboard.widgets import plain
from prism_core.errors import PrismError
from prism_core.planning.inverse import epsilon_for_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.entries import Entries
    from prism_core.planning.plan import Plan


def section(entries: Entries, plan: Plan) -> None:
    """The wish, and buttons that find what it needs."""
    st.subheader("From a wish to a budget", anchor=False)
    scenarios = project().scenarios
    left, right = st.columns([1, 2.2], vertical_alignment="bottom")
    key = entry("wish", scenarios.wish * 100.0)
    left.number_input(
        "Expected error of the task marginals, at most % of n", step=0.5, format="%.4g", key=key,
        on_change=keep, args=(scenarios, "wish", key, from_percent),
        help="Mean over the marginals with the target: an expectation, not a guarantee.",
    )  # fmt: skip
    with right, st.container(horizontal=True, vertical_alignment="bottom"):
        for name, label in _QUESTIONS.items():
            if name != "k" or entries.regime == "predictive":
                st.button(label, key=key_of(f"wish_{name}"), on_click=_ask, args=(entries, name))
    _answer(entries, plan)
