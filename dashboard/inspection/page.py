"""Inspect: can I trust it?"""

from __future__ import annotations

import streamlit as st

from dashboard.common.fields import keep
from dashboard.common.widgets import heading, onward, require_earlier_steps
from dashboard.inspection import (
    holdout_session,
    memorisation,
    private_numbers,
    results,
    shapes,
    side_by_side,
    subgroups,
    trust,
)
from dashboard.inspection.figure import badge
from dashboard.session.shelf import project
from prism_core.evaluation import OUTSIDE_EPSILON

SECTIONS = {
    "Can I trust it?": trust.section,
    "Where the error comes from": shapes.error_section,
    "Columns and pairs": shapes.shapes_section,
    "Subgroups": subgroups.section,
    "Memorisation": memorisation.section,
    "Compare": side_by_side.section,
    "Private numbers": private_numbers.section,
    "Ask the holdout": holdout_session.section,
}
# Sections whose numbers are differentially private. (No text: Streamlit would show it.)
INSIDE = ("Private numbers", "Ask the holdout")

heading("Inspect", "Does the synthetic table serve in place of the real one?")
require_earlier_steps("Inspect")
state = project()
if state.inspection.shown is None:
    results.section()
else:
    results.choose_target()
    names = list(SECTIONS)
    chosen = st.segmented_control(
        "Section",
        names,
        default=state.inspection.shown.section or names[0],
        key="inspect_section",
        required=True,
        label_visibility="collapsed",
        on_change=keep,
        args=(state.inspection.shown, "section", "inspect_section"),
    )
    section = chosen or names[0]
    if section not in INSIDE:
        badge(OUTSIDE_EPSILON)
    SECTIONS[section]()
    onward("Inspect")
