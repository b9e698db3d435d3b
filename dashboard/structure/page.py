"""Structure: what drives Y, and what will be protected?"""

from __future__ import annotations

import streamlit as st

from dashboard.common.widgets import heading, mistakes, onward, require_earlier_steps
from dashboard.session.shelf import project
from dashboard.structure import (
    export_graph,
    graph_editor,
    implications,
    import_graph,
    learn_blanket,
    target_entry,
)
from prism_core.explain.features_statement import features_statement
from prism_core.text.markdown import plain

heading(
    "Structure",
    "Choose what is to be predicted and draw what causes what. The graph decides which relations "
    "get most of the privacy budget; it comes from knowledge, never from the rows.",
)
require_earlier_steps("Structure")
target_entry.section()
state = project()
taken = st.session_state.pop("graph_taken", None)
if taken:
    st.success(taken, icon=":material/check:")
if state.structure.target is not None:
    summary = st.container(border=True)
    drawing, panel = st.columns([3, 1.15], gap="medium")
    with drawing:
        graph_editor.canvas_section()
    with panel:
        graph_editor.edges_section()
    learn_blanket.section()
    # Written after the drawing, so that it speaks of the edges just drawn.
    with summary, mistakes():
        features = (
            len(state.data.schema.columns) - 1 - len(state.designs.plan.further)
            if state.data.schema
            else None
        )
        text = features_statement(state.settled_task(), state.dag, features)
        st.markdown(f":material/shield: {plain(text)}")
        target_entry.refusal()
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
for tab, part in ((files, import_graph), (meaning, implications), (away, export_graph)):
    if tab.open:
        with tab:
            part.section()
waiting = import_graph.pending()
if waiting:
    st.warning(waiting, icon=":material/pending:")
onward("Structure")
