"""A story's small run: begun, watched while it grows, cancelled, taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import worker
from dashboard.state import project
from dashboard.widgets import mistakes
from prism_core.experiments.reproduce import rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.experiments.reproduce import Row, Story


def runs(story: Story) -> bool:
    """Whether this story runs now."""
    job = project().gallery.job
    return job is not None and job.plan.name == story.name


def button(story: Story) -> None:
    """Begin the run; one story at a time."""
    gallery = project().gallery
    busy = gallery.job is not None
    if st.button(
        "Run it here", key=f"gallery_{story.name}_run", icon=":material/play_arrow:",
        type="primary", disabled=busy or bool(story.missing),
        help=story.missing or ("Another story is running." if busy and not runs(story) else None),
    ):  # fmt: skip
        with mistakes():
            gallery.messages.pop(story.name, None)
            gallery.job = worker.tell(story)
            st.rerun()


@st.fragment(run_every=0.8)
def watch(story: Story, draw: Callable[[tuple[Row, ...]], None]) -> None:
    """Grows with every run; the rest of the page waits until the last.

    Args:
        story: that runs.
        draw: the figure of the rows so far.
    """
    gallery = project().gallery
    job = gallery.job
    if job is None:
        st.rerun()
        return
    outcome = job.outcome()
    told = worker.told(job)
    if outcome.state != "running":
        if outcome.state == "done":
            gallery.found[story.name] = rows(told)
        else:
            cancelled = outcome.state == "cancelled"
            gallery.messages[story.name] = "Stopped." if cancelled else outcome.message
        job.remove()
        gallery.job = None
        st.rerun()
    st.markdown("**Running on this machine**")
    bar, stop = st.columns([4, 1], vertical_alignment="center")
    total = len(story.asked())
    bar.progress(len(told) / total, text=f"{len(told)} of {total} runs, {job.seconds:,.0f} s")
    if stop.button(
        "Stop", key=f"gallery_{story.name}_cancel", icon=":material/stop_circle:", width="stretch"
    ):
        with st.spinner("Stopping …"):
            job.cancel()
        st.rerun()
    if told:
        draw(rows(told))
    else:
        st.caption("The first run is under way: the engine is loaded, then a model fitted …")
