"""Budget: what does this epsilon buy, and for whom?"""

from __future__ import annotations

import streamlit as st

from dashboard.budget import (
    details,
    edited_design,
    epsilon_entry,
    overview,
    rows_of_person,
    sharing,
)
from dashboard.common.widgets import heading, onward, require_earlier_steps
from dashboard.session.shelf import project

heading("Budget", "How much privacy to spend, and on what. Nothing is spent here.")
require_earlier_steps("Budget")
edited_design.section()
entries = project().designs.edited_entries
controls, view = st.columns([1, 3], gap="medium")
with view:
    glance, bar, tabs = st.container(), st.container(), st.container()
with bar:  # before what shows the shares
    sharing.bars(entries)
with controls:
    epsilon_entry.section(entries.budget)
    sharing.section(entries)
    details.section(entries)
with glance:
    plan = overview.glance(entries)
if plan is not None:
    with bar:
        sharing.idle(plan)
    with tabs:
        overview.tabs(entries, plan)
    with controls:
        rows_of_person.section(plan)
onward("Budget")
