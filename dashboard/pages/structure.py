"""Structure: what drives Y, and what will be protected?"""

from __future__ import annotations

import streamlit as st

from dashboard.parts import (
    bring,
    canvas,
    edges_panel,
    implied,
    learn_graph,
    take_away,
    target,
    targets,
)
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
taken = st.session_state.pop("graph_taken", None)
if taken:
    st.success(taken, icon=":material/check:")
if state.target is not None:
    summary = st.container(border=True)
    drawing, panel = st.columns([3, 1.15], gap="medium")
    with drawing:
        canvas.section()
    with panel:
        edges_panel.section()
    learn_graph.section()
    # Written after the drawing, so that it speaks of the edges just drawn.
    with summary, mistakes():
        features = len(state.schema.columns) - 1 - len(state.further) if state.schema else None
        text = statement(state.settled_task(), state.dag, features)
        st.markdown(f":material/shield: {plain(text)}")
        targets.refusal()
files, meaning, away = st.tabs(
    [
        ":material/upload_file: Upload or paste a graph",
        ":material/lightbulb: What the graph implies",
        ":material/download: Download",
    ],
    key="structure_tabs",
    on_change="rerun",
)
# Only the tab that is open is worked out.
for tab, part in ((files, bring), (meaning, implied), (away, take_away)):
    if tab.open:
        with tab:
            part.section()
waiting = bring.pending()
if waiting:
    st.warning(waiting, icon=":material/pending:")
onward("Structure")
