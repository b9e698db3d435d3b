"""Whether what is entered now is still what a finished run was made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.parts.entry_words import change_table
from dashboard.state import project
from dashboard.widgets import plain
from prism_core.bundle.approved import changes, settings
from prism_core.errors import PrismError

if TYPE_CHECKING:
    from dashboard.worker import Job
    from prism_core.planning.plan import Plan


def notice(job: Job[Plan] | None) -> None:
    """Say that the plan has moved on, and which entries differ; nothing while it has not.

    Args:
        job: the run that the page shows, finished or stopped.
    """
    state = project()
    if job is None or state.schema is None or state.raw is None:
        return
    made = f"plan {job.plan.hash[:12]}"
    try:
        found = changes(settings(job.plan), state.plan())
    except PrismError as error:
        st.warning(
            f"**This run was made with an earlier plan** ({made}). What is entered now makes no "
            f"plan: {plain(str(error))} Nothing of it is in this run.",
            icon=":material/history:",
        )
        return
    if not found:
        return
    entries = "1 entry differs" if len(found) == 1 else f"{len(found):,} entries differ"
    st.warning(
        f"**This run was made with an earlier plan** ({made}). {entries} in what is entered now, "
        "and nothing of that is in this run, its files or its report: it takes another run.",
        icon=":material/history:",
    )
    st.dataframe(
        change_table(found, "in this run"), hide_index=True, width="stretch", key="moved_on"
    )
