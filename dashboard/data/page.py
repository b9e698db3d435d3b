"""Data: is my table described without looking inside it?"""

from __future__ import annotations

import streamlit as st

from dashboard.common.widgets import heading, onward, provenance_notice
from dashboard.data import columns_form, learn_columns, people, table_source, tabs
from dashboard.session.shelf import project


def _columns() -> None:
    """What each column may hold, and where that was learned."""
    columns_form.section()
    data = project().data
    if data.schema is None:
        return
    people.check_section()
    provenance_notice(data.schema)
    if data.schema.prior is not None:
        learn_columns.clipped_notice()
        st.caption(
            "You may still correct the learned columns by hand: that costs nothing, as long as "
            "the corrections do not come from a look at the rows."
        )


def _people() -> None:
    data = project().data
    if data.raw is None and not data.awaits_table:
        st.caption("It can be said once the rows are back.")
    elif data.schema is None and not data.to_learn:
        st.caption("Put the columns in use first.")
    else:
        people.section()


heading(
    "Data",
    "What may each column hold? No cell is read here unless you ask for it.",
)
table_source.section()
state = project()
if (
    state.data.raw is not None
    or state.data.awaits_table
    or (state.data.rows_let_go is not None and state.data.form is not None)
):
    # All three run whatever is open: what is typed in one decides what another says.
    tabs.fill({tabs.COLUMNS: _columns, tabs.PEOPLE: _people, tabs.LEARN: learn_columns.section})
onward("Data")
