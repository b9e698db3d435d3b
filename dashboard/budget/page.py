"""Budget: what does this epsilon buy, and for whom?"""

from __future__ import annotations

import streamlit as st

from dashboard.budget import edited_design, epsilon_entry, overview, sharing
from dashboard.common.widgets import heading, onward, require_earlier_steps
from dashboard.session.shelf import project

heading(
    "Budget",
    "Set how much privacy is spent and see what every marginal gets. Everything here is computed "
    "from the declaration and the number of rows; try as much as you like, nothing is spent.",
)
require_earlier_steps("Budget")
edited_design.section()
entries = project().designs.edited_entries
controls, view = st.columns([1, 2.6], gap="large")
with view:
    glance, bar, tabs = st.container(), st.container(), st.container()
with bar:  # before what shows the shares
    sharing.bar(entries)
with controls:
    epsilon_entry.section(entries.budget)
    sharing.section(entries)
with glance:
    plan = overview.glance(entries)
if plan is not None:
    with bar:
        sharing.idle(plan)
    with tabs:
        overview.tabs(entries, plan)
onward("Budget")
