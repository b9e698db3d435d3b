"""Keeping what is typed at the moment it changes.

A script run may be cut short by the next click, so a value that is only read from a widget's
return value can be lost. A callback runs first, whatever page is shown next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable

_NOTHING = object()


def keep(
    owner: object, attribute: str, key: str, convert: Callable[[Any], Any] | None = None
) -> None:
    """For `on_change`: put the value of the widget `key` into `owner.attribute`."""
    value = st.session_state[key]
    setattr(owner, attribute, value if convert is None else convert(value))


def showing(key: str, value: object) -> str:
    """The widget `key`, made to show `value`; gives the key back.

    Only where it shows something else: setting what it shows already would take away what is
    being typed into it at this moment. The widget must not be given a value of its own then.
    """
    shown = st.session_state.get(key, _NOTHING)
    # NaN, which may be typed, is not itself.
    both_nan = shown != shown and value != value
    if shown is _NOTHING or not (shown == value or both_nan):
        st.session_state[key] = value
    return key


def from_percent(value: float) -> float:
    """Percents as a share."""
    return value / 100
