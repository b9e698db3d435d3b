"""Binding on screen: whether the table that came is the one the design was made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.session.data_entries import count_anew, unbind
from dashboard.session.shelf import project
from prism_core.data.tables.binding import BindingCheck, binding_checks
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from dashboard.session.project import Project


def checks(state: Project) -> tuple[BindingCheck, ...]:
    """The lines of the comparison; none where the table came first. Reads no cell."""
    if state.data.raw is None or state.data.schema is None or state.data.announced is None:
        return ()
    raw = state.data.raw
    return binding_checks(state.data.schema, state.data.announced, raw.header, raw.rows, raw.name)


def differences() -> None:
    """What differs, and the ways out; nothing where the table fits."""
    state = project()
    found = [check for check in checks(state) if not check.fits]
    if not found or state.data.raw is None:
        return
    for check in found:
        st.error(plain(check.text), icon=":material/difference:")
    with st.container(horizontal=True):
        st.button(
            "Take the table away again",
            key="unbind_table",
            icon=":material/undo:",
            on_click=unbind,
            args=(state,),
            help="The design stays as it is, for the number of persons that was declared.",
        )
        # Only a number can be taken over from the table: other columns would be another
        # declaration.
        if any(check.field == "persons" for check in found):
            named = state.data.people.person_id is not None
            st.button(
                "Declare the persons again"
                if named
                else f"Design anew for {state.data.raw.rows:,} persons",
                key="count_anew",
                icon=":material/restart_alt:",
                on_click=count_anew,
                args=(state,),
                help="Another number makes another plan. What was approved is the old plan: an "
                "approval of it no longer holds.",
            )
