"""Export of the graph as a file for another tool."""

from __future__ import annotations

import streamlit as st

from dashboard.common.widgets import mistakes
from dashboard.session.shelf import project
from prism_core.structure import formats
from prism_core.structure.dag import Drawing

_WORDS = {
    "dagitty": ("DAGitty", "txt"),
    "node-link": ("JSON (networkx, d3)", "json"),
    "edge-list": ("CSV: one edge a line", "csv"),
    "adjacency": ("CSV: matrix of 0 and 1", "csv"),
    "dot": ("DOT (Graphviz)", "dot"),
    "graphml": ("GraphML", "graphml"),
    "gml": ("GML", "gml"),
    "bif": ("BIF (structure only)", "bif"),
    "model-string": ("bnlearn model string", "txt"),
}


def section() -> None:
    """One choice, one button."""
    state = project()
    if state.dag is None:
        st.caption("Draw or upload a graph first.")
        return
    choice, button = st.columns([1, 1], vertical_alignment="bottom")
    forms = [form for form in _WORDS if form in formats.holding(state.dag)]
    form = choice.selectbox(
        "Format", forms, format_func=lambda key: _WORDS[key][0], key="graph_format"
    )
    with mistakes():
        assert state.dag is not None
        drawing = Drawing(
            dag=state.dag,
            positions={k: v for k, v in state.graph.positions.items() if k in state.dag.graph},
            outcome=() if state.target is None else (state.target,),
        )
        button.download_button(
            "Download the graph",
            formats.write(drawing, form),
            f"dag.{_WORDS[form][1]}",
            key="graph_download",
            icon=":material/download:",
        )
