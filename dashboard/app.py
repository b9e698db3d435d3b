"""PRISM Studio: navigation only."""

from __future__ import annotations

import streamlit as st

from dashboard.steps import STEPS

st.set_page_config(page_title="PRISM Studio", page_icon=":material/blur_on:", layout="wide")
st.navigation(
    [
        st.Page(step.page, title=step.title, icon=step.icon, default=position == 0)
        for position, step in enumerate(STEPS)
    ],
    position="top",
).run()
