"""Inspect: can I trust it?"""

from __future__ import annotations

import streamlit as st

from dashboard.keep import keep
from dashboard.parts import (
    inspect_compare,
    inspect_error,
    inspect_holdout,
    inspect_private,
    inspect_run,
    inspect_shapes,
    inspect_subgroups,
    inspect_trust,
)
from dashboard.parts.inspect_figure import badge
from dashboard.state import project
from dashboard.widgets import guard, heading, onward
from prism_core.evaluation import OUTSIDE_EPSILON

SECTIONS = {
    "Can I trust it?": inspect_trust.section,
    "Where the error comes from": inspect_error.section,
    "Columns and pairs": inspect_shapes.section,
    "Subgroups": inspect_subgroups.section,
    "Compare": inspect_compare.section,
    "Private numbers": inspect_private.section,
    "Ask the holdout": inspect_holdout.section,
}
# Sections whose numbers are differentially private. (No text: Streamlit would show it.)
INSIDE = ("Private numbers", "Ask the holdout")

heading(
    "Inspect",
    "Train on synthetic rows, test on real ones kept aside, and compare the shapes.",
)
guard("Inspect")
state = project()
if state.inspection is None:
    inspect_run.section()
else:
    inspect_run.choose_target()
    names = list(SECTIONS)
    chosen = st.segmented_control(
        "Section", names, default=state.inspection.section or names[0], key="inspect_section",
        required=True, label_visibility="collapsed", on_change=keep,
        args=(state.inspection, "section", "inspect_section"),
    )  # fmt: skip
    section = chosen or names[0]
    if section not in INSIDE:
        badge(OUTSIDE_EPSILON)
    SECTIONS[section]()
    onward("Inspect")
