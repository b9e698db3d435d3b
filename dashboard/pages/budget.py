"""Budget: what does this epsilon buy, and for whom?"""

from __future__ import annotations

import streamlit as st

from dashboard.parts import (
    budget_designs,
    budget_privacy,
    budget_shares,
    budget_sharing,
    budget_view,
)
from dashboard.state import project
from dashboard.widgets import guard, heading, onward

heading(
    "Budget",
    "Set how much privacy is spent and see what every marginal gets. Everything here is computed "
    "from the declaration and the number of rows; try as much as you like, nothing is spent.",
)
guard("Budget")
budget_designs.section()
entries = project().edited
controls, view = st.columns([1, 2.6], gap="large")
with view:
    glance, bar, tabs = st.container(), st.container(), st.container()
with bar:  # before what shows the shares
    budget_shares.bar(entries)
with controls:
    budget_privacy.section(entries.budget)
    budget_sharing.section(entries)
with glance:
    plan = budget_view.glance(entries)
if plan is not None:
    with bar:
        budget_shares.idle(plan)
    with tabs:
        budget_view.tabs(entries, plan)
onward("Budget")
