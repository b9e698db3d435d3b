"""Data: is my table described without looking inside it?"""

from __future__ import annotations

import streamlit as st

from dashboard.common.widgets import heading, onward, provenance_notice
from dashboard.data import columns_form, learn_columns, people, table_source
from dashboard.session.shelf import project

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
    columns_form.section()
if state.data.schema is not None:
    provenance_notice(state.data.schema)
    if state.data.schema.prior is not None:
        learn_columns.clipped_notice()
        st.caption(
            "You may still correct the learned columns by hand: that costs nothing, as long as "
            "the corrections do not come from a look at the rows."
        )
here = state.data.raw is not None or state.data.awaits_table
if here and (state.data.schema is not None or state.data.to_learn):
    people.section()
learn_columns.section()
onward("Data")
