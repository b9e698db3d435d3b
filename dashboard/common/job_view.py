"""Job of a charged step on a page: watched, cancelled, its result taken once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.session.shelf import project
from prism_core.errors import PrismError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dashboard.session.data_entries import Learning
    from dashboard.session.graph import Blanket
    from dashboard.session.inspection import ComparatorEntries
    from dashboard.session.project import Project

    Find = Callable[[Project], Learning | Blanket | ComparatorEntries]


def section(
    key: str, find: Find, words: str, take: Callable[[Path], None], *, doing: str = "Learning"
) -> None:
    """The step under way; when it has ended, its result is taken or what it came to is kept.

    Args:
        key: of the button that cancels it, before `_cancel`.
        find: the entries that hold the job.
        words: what is learned.
        take: given the folder of the result.
        doing: what the step does, as the first word of a sentence.
    """
    entries = find(project())
    job = entries.job
    assert job is not None
    outcome = job.outcome()
    if outcome.state == "running":
        _watch(key, find, words, doing)
        return
    # Before it is taken: a result that cannot be taken must not be tried again in every run.
    entries.job, entries.message = None, ""
    if outcome.state == "done":
        try:
            take(job.result)
        except PrismError as error:  # the columns may have changed meanwhile
            entries.message = f"{error} What was charged stands."
    elif outcome.state == "cancelled":
        entries.message = (
            f"{doing} was cancelled. Before the first count nothing is spent; after it the charge "
            "stands. The ledger on the page Release says which."
        )
    else:
        entries.message = outcome.message
    job.remove()
    st.rerun()


# A fragment, so that what is typed elsewhere on the page is left alone. The job is looked up each
# time: another tab of the project may have taken its result.
@st.fragment(run_every=0.7)
def _watch(key: str, find: Find, words: str, doing: str) -> None:
    job = find(project()).job
    if job is None or job.outcome().state != "running":
        st.rerun()
        return
    if job.waiting:
        st.markdown(":material/hourglass_empty: Waiting until other runs have ended …")
    else:
        st.markdown(f":material/hourglass_top: {doing} {words} …")
    charge = (
        "Nothing is charged." if job.public else "The charge is written before the first count."
    )
    st.caption(f"{job.seconds:,.0f} s so far, in a process of its own. {charge}")
    if st.button(f"Cancel {doing.lower()}", key=f"{key}_cancel", icon=":material/stop_circle:"):
        with st.spinner("Stopping …"):
            job.cancel()
        st.rerun()
