"""Entries of the design that is edited: the plan's, or those of a design beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.keep import keep, showing
from dashboard.scenarios import PLAN
from dashboard.state import project

if TYPE_CHECKING:
    from collections.abc import Mapping


def key_of(name: str) -> str:
    """Key of a widget for the design that is edited: designs share no widget."""
    letter = project().scenarios.edited
    return name if letter == PLAN else f"{name}_{letter}"


def entry(name: str, value: object) -> str:
    """Key of an entry's widget that shows `value`; see `showing`."""
    return showing(key_of(name), value)


def choose(
    owner: object, attribute: str, label: str, options: Mapping[Any, str], *,
    name: str = "", help: str | None = None,
) -> None:  # fmt: skip
    """A select box for one entry."""
    key = entry(name or attribute, getattr(owner, attribute))
    st.selectbox(
        label, list(options), format_func=options.__getitem__, key=key, help=help,
        index=list(options).index(getattr(owner, attribute)),
        on_change=keep, args=(owner, attribute, key),
    )  # fmt: skip


def whole_number(
    owner: object, attribute: str, label: str, low: int, high: int, *, name: str = "",
    help: str | None = None,
) -> None:  # fmt: skip
    """A number entry for whole numbers."""
    value = min(high, max(low, getattr(owner, attribute)))
    key = entry(name or attribute, value)
    st.number_input(
        label, min_value=low, max_value=high, value=value, step=1, key=key, help=help,
        on_change=keep, args=(owner, attribute, key),
    )  # fmt: skip
