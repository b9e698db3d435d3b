"""Everything the drawing does, without a mouse: edges as a list, undo, files."""

from __future__ import annotations

import streamlit as st

from dashboard.state import project
from dashboard.widgets import mistakes
from prism_core.structure import formats
from prism_core.structure.dag import Dag


def section() -> None:
    """The panel beside the drawing."""
    _history()
    _list()
    _add()
    _files()


def _history() -> None:
    graph = project().graph
    undo, redo, clear = st.columns(3)
    if undo.button(
        "Undo", icon=":material/undo:", disabled=not graph.past, key="graph_undo", width="stretch"
    ):
        graph.undo()
        st.rerun()
    if redo.button(
        "Redo", icon=":material/redo:", disabled=not graph.future, key="graph_redo",
        width="stretch",
    ):  # fmt: skip
        graph.redo()
        st.rerun()
    if clear.button("Clear", disabled=not graph.edges, key="graph_clear", width="stretch"):
        graph.replace(())
        st.rerun()


def _list() -> None:
    graph = project().graph
    target = project().target
    count = len(graph.edges)
    st.markdown(f"**{count} edge{'' if count == 1 else 's'}**")
    if not graph.edges:
        st.caption("Draw one, add one below, or upload a graph.")
        return
    near = [edge for edge in graph.edges if target in edge]
    rest = [edge for edge in graph.edges if target not in edge]
    chosen = st.dataframe(
        [{"cause": cause, "effect": effect} for cause, effect in (*near, *rest)],
        hide_index=True, height=230, width="stretch", on_select="rerun",
        selection_mode="multi-row", key=f"edge_list_{graph.rev}_{count}",
    )  # fmt: skip
    marked = {(*near, *rest)[row] for row in chosen["selection"]["rows"]}
    first, second = st.columns(2)
    if first.button(
        "Remove", disabled=not marked, key="edge_remove", width="stretch", icon=":material/delete:"
    ):
        graph.replace(tuple(edge for edge in graph.edges if edge not in marked))
        st.rerun()
    if second.button(
        "Reverse", disabled=not marked, key="edge_reverse", width="stretch",
        icon=":material/swap_horiz:",
    ):  # fmt: skip
        turned = [(b, a) if (a, b) in marked else (a, b) for a, b in graph.edges]
        _put(tuple(turned))


def _add() -> None:
    schema = project().schema
    assert schema is not None
    with st.form("edge_form", border=True):
        cause = st.selectbox("Cause", schema.names, key="edge_cause", index=None)
        effect = st.selectbox("Effect", schema.names, key="edge_effect", index=None)
        sent = st.form_submit_button("Add edge", icon=":material/add:", width="stretch")
    if not sent:
        return
    if cause is None or effect is None:
        st.error("Choose both a cause and an effect.")
        return
    _put((*project().graph.edges, (cause, effect)))


def _put(edges: tuple[tuple[str, str], ...]) -> None:
    """Take the edges if they make a graph without a cycle."""
    state = project()
    assert state.schema is not None
    with mistakes():
        Dag(nodes=state.schema.names, edges=edges)
        state.graph.replace(edges)
        st.rerun()


def _files() -> None:
    state = project()
    with st.popover("Upload or download", icon=":material/folder_open:", width="stretch"):
        file = st.file_uploader(
            "Graph: node-link JSON or a CSV with the header from,to", type=["json", "csv"],
            key="upload_graph",
        )  # fmt: skip
        if file is not None and st.button("Use this graph", type="primary", key="use_graph"):
            with mistakes():
                assert state.schema is not None
                read = formats.read(file.getvalue())
                state.graph.load(read.over(state.schema.names))
                st.rerun()
        if state.dag is not None:
            st.download_button(
                "Download JSON", formats.write(state.dag, "node-link"), "dag.json",
                key="graph_json",
            )  # fmt: skip
        if state.dag is not None and not state.dag.learned:
            st.download_button(
                "Download CSV", formats.write(state.dag, "edge-list"), "dag.csv", key="graph_csv"
            )
