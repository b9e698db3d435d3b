"""Rehearse: which design predicts best, tried on rows that belong to nobody?"""

from __future__ import annotations

import streamlit as st

from dashboard.common.widgets import heading, onward, require_earlier_steps
from dashboard.rehearse import controls, curves

heading(
    "Rehearse",
    "**Stand-in rows only.** Your table is not opened, nothing is spent, and no number on this "
    "page is about the people in it.",
)
require_earlier_steps("Rehearse")
settings, results = st.columns([1, 2.7], gap="medium")
with settings, st.container(border=True, gap="xsmall"):
    controls.section()
with results, st.container(gap="xsmall"):
    curves.section()
onward("Rehearse")
