"""Start: what is this, and where was I?"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.common.open_project import samples_section
from dashboard.common.steps import AFTER_SAMPLE, STEPS, first_gap
from dashboard.common.widgets import heading
from dashboard.key import access, identity
from dashboard.session.shelf import project
from dashboard.start import budgets, projects
from prism_core.text.markdown import plain

_PICTURE = Path(__file__).parents[1] / "assets" / "start.svg"
_WAYS = {
    "file": ("Your table", ":material/upload_file:", "CSV, Parquet, SPSS, Stata, SAS, Excel"),
    "codebook": ("A codebook", ":material/menu_book:", "Design first; the table comes later"),
    "saved": ("A saved project", ":material/folder_open:", "Go on where you stopped"),
}


_STAGES = (
    "Your table stays on this machine",
    "What predicts is counted, with noise",
    "A synthetic table leaves",
    "with a certificate and a report",
)


def _picture() -> None:
    """The way from the table to the release, in one line."""
    with st.container(border=True, gap="xsmall"):
        st.image(_PICTURE, width="stretch", alt=" ".join(_STAGES))
        first = "Your table stays on this server" if identity.hosted() else _STAGES[0]
        stages = (first, *_STAGES[1:])
        for column, words in zip(st.columns([1, 1.6, 1.3, 0.9]), stages, strict=True):
            column.markdown(words, text_alignment="center")


def _go_on() -> None:
    """The project that is open, and the first step that is not done."""
    state = project()
    if state.data.raw is None and not state.data.awaits_table:
        return
    gap = first_gap(state, "")
    step = STEPS[-1] if gap is None else gap[0]
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"Open now: **{plain(state.data.name)}**", width="stretch")
        if st.button(f"Go on with {step.title}", type="primary", key="start_go_on"):
            st.switch_page(step.page)


def _ways() -> None:
    """Where one's own work begins: each button opens its part of the page Data."""
    for column, (name, (title, icon, words)) in zip(
        st.columns(len(_WAYS)), _WAYS.items(), strict=True
    ):
        with column.container(border=True, height="stretch"):
            if st.button(title, icon=icon, key=f"start_{name}", width="stretch"):
                # No widget has this key, so it outlives the switch to another page.
                st.session_state["data_way"] = name
                st.switch_page(STEPS[0].page)
            st.caption(words)


heading(
    "Start",
    "Make a **synthetic table** from which others can predict one column, with a proven limit on "
    "what it tells about any person.",
)
_picture()
_go_on()
if access.granted():
    projects.section()
    st.markdown("**Open**")
    _ways()
st.markdown("**Or try a sample.** Generated rows; nothing in them belongs to a person.")
samples_section(short=True, then=AFTER_SAMPLE)
if access.granted():
    budgets.section()
