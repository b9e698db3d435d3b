"""Everything the drawing does, without it: edges as a list, undo, adding and turning edges."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard.state import project
from dashboard.widgets import mistakes, plain


def section() -> None:
    """The panel beside the drawing."""
    _history()
    _list()
    _add()
    _add_unmeasured()


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
        st.caption("Draw one, add one below, or upload a graph beneath the drawing.")
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
    names = project().graph.over(schema.names).nodes
    with st.form("edge_form", border=True):
        cause = st.selectbox("Cause", names, key="edge_cause", index=None)
        effect = st.selectbox("Effect", names, key="edge_effect", index=None)
        sent = st.form_submit_button("Add edge", icon=":material/add:", width="stretch")
    if not sent:
        return
    if cause is None or effect is None:
        st.error("Choose both a cause and an effect.")
        return
    _put((*project().graph.edges, (cause, effect)))


def _add_unmeasured() -> None:
    """A cause that is not in the table, with what it causes; it goes with its last edge."""
    schema = project().schema
    assert schema is not None
    if project().graph.provenance != "declared":
        return  # a learned graph says nothing about causes
    with st.expander("Something not in the table"), st.form("unmeasured_form", border=False):
        name = st.text_input(
            "An unmeasured cause", key="unmeasured_name", max_chars=100,
            help="It is drawn with a dashed border, is never in S and gets no budget. It changes "
            "what S has to hold, and which changes of the world S protects against.",
        )  # fmt: skip
        effects = st.multiselect("What it causes", schema.names, key="unmeasured_effects")
        sent = st.form_submit_button("Add it", icon=":material/add:", width="stretch")
    if not sent:
        return
    name = name.strip()
    if not name or not effects:
        st.error("Give it a name, and choose what it causes.")
        return
    if name in schema.names:
        st.error(f"{plain(name)} is a column of the table, so it is measured. Use another name.")
        return
    graph = project().graph
    fresh = tuple((name, effect) for effect in effects if (name, effect) not in graph.edges)
    _put((*graph.edges, *fresh), unmeasured=name)


def _put(edges: tuple[tuple[str, str], ...], unmeasured: str | None = None) -> None:
    """Take the edges, and perhaps a new node, if they make a graph without a cycle."""
    state = project()
    assert state.schema is not None
    graph = state.graph
    hidden = graph.unmeasured | ({unmeasured} if unmeasured is not None else set())
    with mistakes():
        replace(graph, unmeasured=hidden).over(state.schema.names, edges)
        graph.unmeasured = hidden
        graph.replace(edges)
        st.rerun()
