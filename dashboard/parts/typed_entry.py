"""Entries of numbers that decide what is spent: text fields, which hand over a comma as typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.keep import replaced, showing
from dashboard.typed import number_text, read_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.entries import BudgetEntries


def epsilon_entry(entries: BudgetEntries, base: str, label: str, *, help: str) -> None:
    """The entry of a design's epsilon, wherever it stands."""
    _field(base, label, entries.epsilon_text, entries.type_epsilon, help=help)


def number_entry(
    owner: object, attribute: str, base: str, label: str, *, value: float | None = None,
    help: str | None = None,
) -> None:  # fmt: skip
    """An entry of one number of `owner`; NaN where what is typed is none.

    Args:
        owner: what holds the number.
        attribute: under which name.
        base: key of the widget.
        label: of the field.
        value: what is shown; the owner's number when None.
        help: beside the label.
    """
    typed = f"{base} typed"

    def take(text: str) -> None:
        st.session_state[typed] = text
        setattr(owner, attribute, read_number(text))

    number = getattr(owner, attribute) if value is None else value
    _field(base, label, number_text(number, st.session_state.get(typed, "")), take, help=help)


def _field(
    base: str, label: str, text: str, take: Callable[[str], None], *, help: str | None
) -> None:
    key = showing(base, text)
    st.text_input(
        label, value=text, key=key, placeholder="for example 0.5", help=help,
        on_change=_typed, args=(take, key),
    )  # fmt: skip


def _typed(take: Callable[[str], None], key: str) -> None:
    if not replaced(key):
        take(str(st.session_state[key]))
