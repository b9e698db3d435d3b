"""Release: am I allowed, am I ready?"""

from __future__ import annotations

import streamlit as st

from dashboard.common.widgets import heading, onward, provenance_notice, require_earlier_steps
from dashboard.release import ledger_view, preparation, run_view
from dashboard.session.shelf import project, resume


def _question() -> str:
    # First: a run that another tab or process started takes the place of its preparation.
    resume()
    if project().release.job is None:
        return "Check the list, then run it once."
    return "The bundle (ZIP) of a finished run holds all that is handed over."


heading("Release", _question)
state = project()
run_view.unreadable_notice()
if state.release.job is None:
    here = state.data.raw is not None or state.data.awaits_table
    if not here or state.data.schema is None or state.structure.target is None:
        ledger_view.releases_section()  # also after a reload that found no project
        require_earlier_steps("Release")
    assert state.data.schema is not None
    provenance_notice(state.data.schema)
    preparation.section()
else:
    run_view.section()
    if state.release.folder is not None:
        onward("Release")
if not state.data.public:
    ledger_view.releases_section()
    with st.expander("Ledger: what was spent on whose data", icon=":material/receipt_long:"):
        ledger_view.section()
