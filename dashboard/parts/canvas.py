"""The drawing of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.dag_editor import NodeView, dag_editor
from dashboard.keep import keep
from dashboard.state import project
from dashboard.widgets import plain
from prism_core.structure.dag import Dag, find_cycle
from prism_core.structure.roles import node_roles, touching

if TYPE_CHECKING:
    from dashboard.components.dag_editor import Reply
    from dashboard.state import Edges, Project
    from prism_core.data.column import Column

EDITOR_KEY = "dag_editor"
MANY = 60
"""With more columns than this, those far from Y and S are hidden at first."""
_LEVELS_NAMED = 5
_KNOWN = "canvas_known"


def section() -> None:
    """The editor; takes over what was drawn and draws it again with its new roles."""
    state = project()
    assert state.schema is not None and state.target is not None
    graph = state.graph
    _other_tab()
    dag = graph.over(state.schema.names)
    chosen = state.settled_s
    drawing, switch = st.container(), st.container()
    with switch:  # beneath the drawing, but known before it
        hidden = _hidden(state, dag, state.protected)
    with drawing:
        changed = _take(_drawn(state, dag, chosen, hidden))
    st.session_state[_KNOWN] = (graph.rev, graph.edges)
    if changed:
        st.rerun()  # roles and S follow from the new edges


def _drawn(state: Project, dag: Dag, chosen: frozenset[str], hidden: frozenset[str]) -> Reply:
    graph = state.graph
    return dag_editor(
        key=EDITOR_KEY, nodes=_nodes(state, dag, chosen, hidden), in_s=chosen, edges=graph.edges,
        positions=graph.positions, rev=graph.rev, height=520, foreign=graph.foreign,
        focus=f"{bool(hidden)}|{state.target}", can_undo=bool(graph.past),
        can_redo=bool(graph.future),
    )  # fmt: skip


def _take(reply: Reply) -> bool:
    """Take over an edit, then do what was asked for; True when the page has to be drawn again."""
    graph, before = project().graph, project().graph.edges
    if reply.edit is not None:
        graph.moved(reply.edit.positions)
        if reply.edit.edges != graph.edges and not _refused(reply.edit.edges):
            graph.drawn(reply.edit.edges)
    graph.go(reply.steps)
    # An edit and its undoing in one run leave the edges as they were; the browser must be told.
    return graph.edges != before or bool(reply.steps)


def _refused(edges: Edges) -> bool:
    """The browser refuses cycles; what it sends is checked all the same."""
    cycle = find_cycle(edges)
    if not cycle:
        return False
    st.error(f"That edge would close a cycle: {plain(' → '.join(cycle))}. It was not added.")
    project().graph.rev += 1
    return True


def _other_tab() -> None:
    """A second tab shares the project: what was drawn there must not be drawn over from here."""
    graph = project().graph
    rev, edges = st.session_state.get(_KNOWN, (None, ()))
    if rev == graph.rev and edges != graph.edges:
        graph.rev += 1
        st.info("The graph was changed in another tab; this is how it stands now.")


def _hidden(state: Project, dag: Dag, chosen: frozenset[str]) -> frozenset[str]:
    """The columns left out of the drawing, and the switch that shows them."""
    assert state.target is not None
    near = touching(dag, (state.target, *chosen))
    far = frozenset(dag.nodes) - set(near)
    graph = state.graph
    if not far:
        return frozenset()
    shown = len(dag.nodes) <= MANY if graph.show_all is None else graph.show_all
    switch, words = st.columns([1, 2.6], vertical_alignment="center")
    # Without an entry of its own the switch would turn by itself when `shown` does.
    st.session_state["graph_show_all"] = shown
    switch.toggle(
        "Show all columns", key="graph_show_all", on_change=keep,
        args=(graph, "show_all", "graph_show_all"),
        help="Off: only Y, S and the columns that have an edge with one of them are drawn.",
    )  # fmt: skip
    if shown:
        words.caption(f"All {len(dag.measured):,} columns are shown.")
        return frozenset()
    drawn = len(set(near) & set(dag.measured))
    words.caption(
        f"{drawn:,} of {len(dag.measured):,} columns are shown: Y, S and what has an edge with "
        "them. Find a column by its name to bring it in."
    )
    return far


def _nodes(
    state: Project, dag: Dag, chosen: frozenset[str], hidden: frozenset[str]
) -> list[NodeView]:
    assert state.schema is not None and state.target is not None
    found = {role.name: role for role in node_roles(dag, state.target, chosen)}
    return [
        NodeView(
            name=column.name,
            role=found[column.name].role,
            tooltip=f"{found[column.name].text}. {_levels(column)}",
            hidden=column.name in hidden,
        )
        for column in state.schema.columns
    ] + [
        NodeView(name=name, role="unmeasured", tooltip=found[name].text, hidden=name in hidden)
        for name in dag.unmeasured
    ]


def _levels(column: Column) -> str:
    """Kind and declared levels; public, they come from the schema."""
    labels = column.labels()
    more = len(labels) - _LEVELS_NAMED
    named = ", ".join(labels[:_LEVELS_NAMED]) + (f" and {more} more" if more > 0 else "")
    kind, noun = column.kind.capitalize(), "bins" if column.binned else "levels"
    if column.groups is not None:
        noun = f"groups of {column.groups.count:,} codes"
    return f"{kind}, {len(labels)} {noun}: {named}"
