"""Structure: what drives Y, and what will be protected?"""

from __future__ import annotations

import streamlit as st

from dashboard.parts import canvas, edges_panel, learn_graph, target
from dashboard.state import project
from dashboard.widgets import guard, heading, mistakes, onward, plain
from prism_core.planning.statement import statement

heading(
    "Structure",
    "Choose what is to be predicted and draw what causes what. The graph decides which relations "
    "get most of the privacy budget; it comes from knowledge, never from the rows.",
)
guard("Structure")
target.section()
state = project()
if state.target is not None:
    drawing, panel = st.columns([3, 1.15], gap="medium")
    with drawing:
        canvas.section()
    with panel:
        edges_panel.section()
    learn_graph.section()
    # Written after the drawing, so that it speaks of the edges just drawn.
    with st.container(border=True), mistakes():
        st.markdown(f":material/shield: {plain(statement(state.task(), state.dag))}")
onward("Structure")
