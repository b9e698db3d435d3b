"""Rehearse: which design predicts best, tried on rows that belong to nobody?"""

from __future__ import annotations

import streamlit as st

from dashboard.common.widgets import heading, onward, require_earlier_steps
from dashboard.rehearse import controls, curves

heading(
    "Rehearse",
    "Try designs out before the release, as often as you like: the real pipeline runs on "
    "stand-in rows.",
)
require_earlier_steps("Rehearse")
st.info(
    "**Stand-in rows only.** Your table is not opened here, nothing is spent, and no number on "
    "this page is about your patients: it says how designs compare on tables like the one you "
    "describe.",
    icon=":material/theater_comedy:",
)
controls.section()
curves.section()
onward("Rehearse")
