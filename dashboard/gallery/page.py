"""Gallery: what is this good for, told in four stories to people who are in a hurry?"""

from __future__ import annotations

import streamlit as st

from dashboard.common.widgets import heading, mistakes
from dashboard.gallery import story_view
from prism_core.reproduction import STORIES

heading("Gallery", "Four stories that say when a table made for one prediction is worth it.")
st.info(
    "**Public rows only.** Every table here is generated or published, and every run has a seed: "
    "nothing is charged, and your own table is not opened.",
    icon=":material/public:",
)
for number, story in enumerate(STORIES, start=1):
    with st.container(border=True), mistakes():
        story_view.section(story, number)
