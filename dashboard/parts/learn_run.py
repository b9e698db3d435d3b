"""Learning under way, and taking what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import job as child
from dashboard.state import project
from prism_core.data import form, schema_io

if TYPE_CHECKING:
    from dashboard.worker import Job, Outcome
    from prism_core.learning.plan import DomainPlan


def section() -> None:
    """The step under way; when it has ended, its result goes into the form."""
    job = project().learning.job
    assert job is not None
    outcome = job.outcome()
    if outcome.state == "running":
        _watch()
        return
    _take(job, outcome)
    st.rerun()


@st.fragment(run_every=0.7)
def _watch() -> None:
    job = project().learning.job
    if job is None or job.outcome().state != "running":
        st.rerun()
        return
    names = len(job.plan.outline.requests)
    st.markdown(f":material/hourglass_top: Learning {names} column{'' if names == 1 else 's'} …")
    st.caption(
        f"{job.seconds:,.0f} s so far, in a process of its own. The charge is written before the "
        "first count."
    )
    if st.button("Cancel learning", key="learn_cancel", icon=":material/stop_circle:"):
        with st.spinner("Stopping …"):
            job.cancel()
        st.rerun()


def _take(job: Job[DomainPlan], outcome: Outcome) -> None:
    state = project()
    state.learning.job = None
    if outcome.state == "done":
        schema = schema_io.load(job.result / child.SCHEMA)
        state.use_schema(schema)
        state.show_form(form.to_rows(schema.columns))
        state.form_provenance = schema.provenance
        state.learning.message = ""
    elif outcome.state == "cancelled":
        state.learning.message = (
            "Learning was cancelled. Before the first count nothing is spent; after it the charge "
            "stands. The ledger on the page Release says which."
        )
    else:
        state.learning.message = outcome.message
    job.remove()
