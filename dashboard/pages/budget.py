"""Budget: what does this epsilon buy?"""

from __future__ import annotations

import streamlit as st

from dashboard.parts import budget_controls, budget_view
from dashboard.widgets import guard, heading, mistakes, onward

heading(
    "Budget",
    "Set how much privacy is spent and see what every marginal gets. Everything here is computed "
    "from the declaration and the number of rows; try as much as you like, nothing is spent.",
)
guard("Budget")
controls, view = st.columns([1, 2.6], gap="large")
with controls:
    budget_controls.section()
with view, mistakes():
    budget_view.section()
onward("Budget")
