"""Keeping what was computed last, in this session only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def once(key: str, inputs: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What `make` gives, kept under `key` until the inputs are others.

    For figures of a plan: a page runs for every click, and most clicks change nothing here.
    """
    kept = st.session_state.get(key)
    if kept is None or kept[0] != inputs:
        kept = (inputs, make())
        st.session_state[key] = kept
    return kept[1]
