"""The entry of epsilon, wherever it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.keep import replaced, showing

if TYPE_CHECKING:
    from dashboard.entries import BudgetEntries


def epsilon_entry(entries: BudgetEntries, base: str, label: str, *, help: str) -> None:
    """A text field: it hands over a comma as it is typed; see `dashboard.typed`."""
    text = entries.epsilon_text
    key = showing(base, text)
    st.text_input(
        label, value=text, key=key, placeholder="for example 0.5", help=help,
        on_change=_typed, args=(entries, key),
    )  # fmt: skip


def _typed(entries: BudgetEntries, key: str) -> None:
    if not replaced(key):
        entries.type_epsilon(str(st.session_state[key]))
