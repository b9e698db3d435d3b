"""Structure: what drives Y, and what will be protected?"""

from __future__ import annotations

import streamlit as st

from dashboard.common.widgets import heading, mistakes, onward, require_earlier_steps
from dashboard.session.shelf import project
from dashboard.structure import (
    columns_not_needed,
    export_graph,
    graph_editor,
    implications,
    import_graph,
    learn_blanket,
    target_entry,
)
from prism_core.explain.features_statement import features_statement
from prism_core.text.markdown import plain

_PARTS = {
    ":material/upload_file: Upload or paste a graph": import_graph,
    ":material/lightbulb: What the graph implies": implications,
    ":material/filter_alt: Columns not needed": columns_not_needed,
    ":material/download: Download": export_graph,
}

heading(
    "Structure",
    "Draw what causes what, from knowledge. The causes of the target get most of the budget.",
)
require_earlier_steps("Structure")
state = project()
# Of one height, whatever stands in it: what is drawn below must not move.
with st.container(border=True, height=148, key="structure_strip"):
    entries, summary = st.columns([1.5, 1], gap="medium")
    with entries:
        target_entry.section()
if state.structure.target is not None:
    drawing, panel = st.columns([3, 1.05], gap="medium")
    with panel:
        # Places first: the panel stands beside the drawing, and has to be filled after it has
        # answered.
        lists, switch = st.container(), st.container()
    with drawing:
        graph_editor.canvas_section(switch)
    with lists:
        graph_editor.edges_section()
    learn_blanket.section()
    # Written after the drawing, so that it speaks of the edges just drawn.
    with summary, st.container(key="structure_s", gap="xsmall"), mistakes():
        features = (
            len(state.data.schema.columns) - 1 - len(state.designs.plan.further)
            if state.data.schema
            else None
        )
        text = features_statement(state.settled_task(), state.dag, features)
        st.markdown(f":material/shield: {plain(text)}")
        target_entry.refusal()
        target_entry.together_section()
# Only at first: whoever closes the part meant it.
if "structure_tabs" not in st.session_state:
    st.session_state["structure_tabs"] = None if state.structure.graph.edges else next(iter(_PARTS))
chosen = st.segmented_control(
    "More about the graph", list(_PARTS), key="structure_tabs", label_visibility="collapsed"
)
taken = st.session_state.pop("graph_taken", None)
if taken:
    st.success(taken, icon=":material/check:")
if chosen is not None:
    _PARTS[chosen].section()
waiting = import_graph.pending()
if waiting:
    st.warning(waiting, icon=":material/pending:")
onward("Structure")
