"""Keeping what is typed at the moment it changes.

A script run may be cut short by the next click, so a value that is only read from a widget's
return value can be lost. A callback runs first, whatever page is shown next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable


def keep(
    owner: object, attribute: str, key: str, convert: Callable[[Any], Any] | None = None
) -> None:
    """For `on_change`: put the value of the widget `key` into `owner.attribute`."""
    value = st.session_state[key]
    setattr(owner, attribute, value if convert is None else convert(value))


def from_percent(value: int) -> float:
    """A slider's percents as a share."""
    return value / 100
