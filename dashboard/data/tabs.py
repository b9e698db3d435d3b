"""Tabs of the page Data: one question each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.session.shelf import project

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

COLUMNS = "Columns"
PEOPLE = "People and rows"
LEARN = "Learn columns"

_NEXT = "data_tab_next"


def fill(parts: Mapping[str, Callable[[], None]]) -> None:
    """Show the tabs, each with its part; the first question that is open comes first.

    Args:
        parts: what draws each tab, by label.
    """
    key = f"data_tab_{project().key}"  # another project begins with a question of its own
    asked = st.session_state.pop(_NEXT, None)
    if asked is not None or key not in st.session_state:
        st.session_state[key] = asked or _first()
    for tab, part in zip(st.tabs(list(parts), key=key, on_change="rerun"), parts, strict=True):
        with tab:
            parts[part]()


def go_on(to: str = "") -> None:
    """Open another tab with the next run.

    Args:
        to: its label; by default that of the first question that has no answer yet.
    """
    # The tabs of this run are drawn already; a widget that is drawn takes no other value.
    st.session_state[_NEXT] = to or _first()


def _first() -> str:
    data = project().data
    if data.learning.job is not None:
        return LEARN
    waits = data.schema is not None and not data.schema.people_declared
    return PEOPLE if waits else COLUMNS
