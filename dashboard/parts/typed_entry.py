"""Entries of numbers with decimals: text fields, which hand over a comma as typed."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from dashboard.keep import from_percent, replaced, showing
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
    number = getattr(owner, attribute) if value is None else value
    _number(base, label, number, partial(setattr, owner, attribute), help=help)


def optional_entry(
    owner: object, attribute: str, base: str, label: str, *, placeholder: str, help: str
) -> None:
    """The same for a number that may be left out: None where nothing is typed."""
    number = getattr(owner, attribute)

    def take(found: float) -> None:
        empty = not str(st.session_state[f"{base} typed"]).strip()
        setattr(owner, attribute, None if empty else found)

    if number is None:  # also in another project, where something was typed in the last one
        st.session_state[f"{base} typed"] = ""
    _number(
        base, label, math.nan if number is None else number, take, help=help,
        placeholder=placeholder,
    )  # fmt: skip


def percent_entry(
    share: float, take: Callable[[float], None], base: str, label: str, *, help: str,
    width: int | Literal["stretch"] = "stretch",
) -> None:  # fmt: skip
    """An entry of a share, typed in percent; `take` gets the share, NaN where it is no number."""
    _number(
        base, label, round(share * 100.0, 9), lambda percent: take(from_percent(percent)),
        help=help, width=width, placeholder="for example 2.5",
    )  # fmt: skip


def _number(
    base: str, label: str, number: float, take: Callable[[float], None], **look: Any  # noqa: ANN401
) -> None:  # fmt: skip
    typed = f"{base} typed"

    def read(text: str) -> None:
        st.session_state[typed] = text
        take(read_number(text))

    _field(base, label, number_text(number, st.session_state.get(typed, "")), read, **look)


def _field(
    base: str, label: str, text: str, take: Callable[[str], None], *, help: str | None,
    placeholder: str = "for example 0.5", width: int | Literal["stretch"] = "stretch",
) -> None:  # fmt: skip
    key = showing(base, text)
    st.text_input(
        label, value=text, key=key, placeholder=placeholder, help=help, width=width,
        on_change=_typed, args=(take, key),
    )  # fmt: skip


def _typed(take: Callable[[str], None], key: str) -> None:
    if not replaced(key):
        take(str(st.session_state[key]))
