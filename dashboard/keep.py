"""Keeping what is typed at the moment it changes.

A script run may be cut short by the next click, so a value that is only read from a widget's
return value can be lost. A callback runs first, whatever page is shown next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable

_REPLACED = "keys of replaced widgets"


def keep(
    owner: object, attribute: str, key: str, convert: Callable[[Any], Any] | None = None
) -> None:
    """For `on_change`: put the value of the widget `key` into `owner.attribute`."""
    if replaced(key):
        return
    value = st.session_state[key]
    setattr(owner, attribute, value if convert is None else convert(value))


def showing(base: str, value: object) -> str:
    """Key of a widget that shows `value`; it has to be given this value, too.

    The key is `base` until something else changes the value: then the widget is another one,
    `base-1`, `base-2`, ... Setting the value of the one that is there would go wrong where two
    widgets stand for one value: the browser sends what all widgets show, and while one of them is
    moved quickly the others still show what was before, which would count as a change made there.
    Every `on_change` of such a widget asks `replaced` first.
    """
    count = f"{base} shown"
    place = st.session_state.get(count, 0)
    key = f"{base}-{place}" if place else base
    if key in st.session_state and not _same(st.session_state[key], value):
        st.session_state.setdefault(_REPLACED, set()).add(key)
        st.session_state[count] = place + 1
        key = f"{base}-{place + 1}"
    return key


def replaced(key: str) -> bool:
    """Whether another widget has taken the place of `key`; see `showing`.

    A message that was on its way from a slow browser may still tell what the old one showed, and
    Streamlit calls its `on_change` for it: nobody typed that.
    """
    return key in st.session_state.get(_REPLACED, ())


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401
    # NaN, which may be typed, is not itself.
    return bool(one == other) or (one != one and other != other)


def from_percent(value: float) -> float:
    """Percents as a share."""
    return value / 100
