"""PRISM Studio: navigation only."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

from dashboard import runs
from dashboard.state import project, remember
from dashboard.steps import DEMO, DONE_ICON, GALLERY, STEPS

_ASSETS = Path(__file__).parent / "assets"


@st.cache_resource(show_spinner=False)
def _swept() -> bool:
    """Once a process: what a crash left of private rows is deleted."""
    runs.sweep()
    return True


# A file of our own: a material icon here would be fetched from a font host.
st.set_page_config(page_title="PRISM Studio", page_icon=_ASSETS / "icon.svg", layout="wide")
_swept()
st.html(_ASSETS / "app.css")
st.logo(_ASSETS / "logo.svg", size="large")
remember()
_demo = DEMO in sys.argv
st.navigation(
    [
        st.Page(
            step.page,
            title=step.title,
            icon=step.icon if step.missing(project()) else DONE_ICON,
            default=position == 0 and not _demo,
        )
        for position, step in enumerate(STEPS)
    ]
    + [st.Page(GALLERY, title="Gallery", icon=":material/collections_bookmark:", default=_demo)],
    position="top",
).run()
