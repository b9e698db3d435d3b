"""Editor of the graph: the drawing, and the same as a list of edges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.fields import keeping
from dashboard.common.widgets import mistakes
from dashboard.components.dag_editor import NodeView, Reply, dag_editor
from dashboard.session.shelf import project
from prism_core.structure.dag import Dag, find_cycle
from prism_core.structure.roles import node_roles, touching
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from dashboard.session.graph import Edges
    from dashboard.session.project import Project
    from prism_core.data.schema.column import Column

EDITOR_KEY = "dag_editor"
MANY = 60
"""With more columns than this, those far from Y and S are hidden at first."""
_LEVELS_NAMED = 5
_KNOWN = "canvas_known"
_HEIGHT = 446
"""Pixels of the drawing: with what stands above, it ends with a window of 800."""


def canvas_section(switch: DeltaGenerator) -> None:
    """The editor; takes over what was drawn and draws it again with its new roles.

    Args:
        switch: where the switch for the columns far from Y and S stands.
    """
    state = project()
    assert state.data.schema is not None and state.structure.target is not None
    graph = state.structure.graph
    _other_tab()
    dag = graph.over(state.data.schema.names)
    chosen = state.settled_s
    with switch:
        left_out = _left_out(state, dag, state.protected)
    changed = _take(_mounted(state, dag, chosen, left_out))
    # After the edit is taken: this tab's own changes are none of another tab.
    st.session_state[_KNOWN] = (graph.rev, graph.edges)
    if changed:
        st.rerun()  # roles and S follow from the new edges


@dataclass(frozen=True, kw_only=True)
class _LeftOut:
    """The columns that are not drawn.

    Attributes:
        far: from Y and S, in a graph of many columns.
        loose: without an edge; they stand in the tray.
    """

    far: frozenset[str]
    loose: frozenset[str]


def _mounted(state: Project, dag: Dag, chosen: frozenset[str], left_out: _LeftOut) -> Reply:
    graph = state.structure.graph
    return dag_editor(
        key=EDITOR_KEY,
        nodes=_nodes(state, dag, chosen, left_out),
        in_s=chosen,
        edges=graph.edges,
        positions=graph.positions,
        rev=graph.rev,
        height=_HEIGHT,
        foreign=graph.foreign,
        # Another target, or the switch, chooses other columns to hide: what was looked for is
        # hidden again.
        focus=f"{bool(left_out.far)}|{state.structure.target}",
        can_undo=bool(graph.past),
        can_redo=bool(graph.future),
    )


def _take(reply: Reply) -> bool:
    """Take over an edit, then do what was asked for; True when the page has to be drawn again."""
    graph, before = project().structure.graph, project().structure.graph.edges
    if reply.edit is not None:
        # Also where the edges are refused: where a column stands closes no cycle.
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
    # The browser shows the edge already; with another revision it has to draw Python's graph again.
    project().structure.graph.rev += 1
    return True


def _other_tab() -> None:
    """A second tab shares the project: what was drawn there must not be drawn over from here."""
    graph = project().structure.graph
    rev, edges = st.session_state.get(_KNOWN, (None, ()))
    if rev == graph.rev and edges != graph.edges:
        graph.rev += 1
        st.info("The graph was changed in another tab; this is how it stands now.")


def _left_out(state: Project, dag: Dag, chosen: frozenset[str]) -> _LeftOut:
    """The columns left out of the drawing, and the switch that shows those far from Y and S."""
    assert state.structure.target is not None
    tied = {name for edge in dag.edges for name in edge} | {state.structure.target}
    # On an empty drawing every column is without an edge, and there would be nothing to draw with.
    loose = frozenset(dag.nodes) - tied if dag.edges else frozenset[str]()
    near = touching(dag, (state.structure.target, *chosen))
    far = frozenset(dag.nodes) - set(near) - loose
    graph = state.structure.graph
    if not far:
        return _LeftOut(far=far, loose=loose)
    shown = len(dag.nodes) <= MANY if graph.show_all is None else graph.show_all
    st.toggle(
        "Show all columns",
        value=shown,
        help="Off: only the target, the protected columns and those with an edge to one of them.",
        **keeping(graph, "show_all", "graph_show_all", shown),
    )
    if shown:
        return _LeftOut(far=frozenset(), loose=loose)
    drawn = len(set(near) & set(dag.measured))
    st.caption(f"{drawn:,} of {len(dag.measured):,} columns are shown. Find one by its name.")
    return _LeftOut(far=far, loose=loose)


def _nodes(state: Project, dag: Dag, chosen: frozenset[str], left_out: _LeftOut) -> list[NodeView]:
    assert state.data.schema is not None and state.structure.target is not None
    hidden = left_out.far | left_out.loose
    found = {role.name: role for role in node_roles(dag, state.structure.target, chosen)}
    return [
        NodeView(
            name=column.name,
            role=found[column.name].role,
            tooltip=f"{found[column.name].text}. {_meaning(column)}{_levels(column)}",
            hidden=column.name in hidden,
            tray=column.name in left_out.loose,
        )
        for column in state.data.schema.columns
    ] + [
        NodeView(name=name, role="unmeasured", tooltip=found[name].text, hidden=name in hidden)
        for name in dag.unmeasured
    ]


def _meaning(column: Column) -> str:
    """What the column means, where that is declared, as a sentence before its levels."""
    words = column.description.strip().rstrip(".")
    return f"{words}. " if words else ""


def _levels(column: Column) -> str:
    """Kind and declared levels; public, they come from the schema."""
    labels, special = column.labels(), column.special_codes
    beside = ", ".join(labels[code] for code in special)
    labels = (*labels[: special.start], *labels[special.stop :])
    more = len(labels) - _LEVELS_NAMED
    named = ", ".join(labels[:_LEVELS_NAMED]) + (f" and {more} more" if more > 0 else "")
    kind, noun = column.kind.capitalize(), "bins" if column.binned else "levels"
    if column.groups is not None:
        noun = f"groups of {column.groups.count:,} codes"
    return f"{kind}, {len(labels)} {noun}: {named}{f'. Special: {beside}' if beside else ''}"


def edges_section() -> None:
    """The panel beside the drawing."""
    _history()
    _list()
    _add()
    _add_unmeasured()


def _history() -> None:
    graph = project().structure.graph
    undo, redo, clear = st.columns(3)
    if undo.button(
        "Undo", icon=":material/undo:", disabled=not graph.past, key="graph_undo", width="stretch"
    ):
        graph.undo()
        st.rerun()
    if redo.button(
        "Redo", icon=":material/redo:", disabled=not graph.future, key="graph_redo", width="stretch"
    ):
        graph.redo()
        st.rerun()
    if clear.button("Clear", disabled=not graph.edges, key="graph_clear", width="stretch"):
        graph.replace(())
        st.rerun()


def _list() -> None:
    graph = project().structure.graph
    target = project().structure.target
    count = len(graph.edges)
    st.markdown(f"**{count} edge{'' if count == 1 else 's'}**")
    if not graph.edges:
        st.caption("Draw one, add one below, or upload a graph.")
        return
    near = [edge for edge in graph.edges if target in edge]
    rest = [edge for edge in graph.edges if target not in edge]
    chosen = st.dataframe(
        [{"cause": cause, "effect": effect} for cause, effect in (*near, *rest)],
        hide_index=True,
        height=150,
        width="stretch",
        on_select="rerun",
        selection_mode="multi-row",
        # Marked rows are kept by number: another list has to be another widget.
        key=f"edge_list_{graph.rev}_{count}",
    )
    marked = {(*near, *rest)[row] for row in chosen["selection"]["rows"]}
    first, second = st.columns(2)
    if first.button(
        "Remove", disabled=not marked, key="edge_remove", width="stretch", icon=":material/delete:"
    ):
        graph.replace(tuple(edge for edge in graph.edges if edge not in marked))
        st.rerun()
    if second.button(
        "Reverse",
        disabled=not marked,
        key="edge_reverse",
        width="stretch",
        icon=":material/swap_horiz:",
    ):
        turned = [(b, a) if (a, b) in marked else (a, b) for a, b in graph.edges]
        _put(tuple(turned))


def _add() -> None:
    schema = project().data.schema
    assert schema is not None
    # With the unmeasured ones: an edge may begin there, too.
    names = project().structure.graph.over(schema.names).nodes
    # A form, so that nothing is added between the choice of the cause and that of the effect.
    with st.form("edge_form", border=True):
        cause = st.selectbox("Cause", names, key="edge_cause", index=None)
        effect = st.selectbox("Effect", names, key="edge_effect", index=None)
        sent = st.form_submit_button("Add edge", icon=":material/add:", width="stretch")
    if not sent:
        return
    if cause is None or effect is None:
        st.error("Choose both a cause and an effect.")
        return
    _put((*project().structure.graph.edges, (cause, effect)))


def _add_unmeasured() -> None:
    """A cause that is not in the table, with what it causes; it goes with its last edge."""
    schema = project().data.schema
    assert schema is not None
    if project().structure.graph.provenance != "declared":
        return  # a learned graph says nothing about causes
    with st.expander("Something not in the table"), st.form("unmeasured_form", border=False):
        name = st.text_input(
            "An unmeasured cause",
            key="unmeasured_name",
            max_chars=100,
            help="It is drawn with a dashed border, is never in S and gets no budget. It changes "
            "what S has to hold, and which changes of the world S protects against.",
        )
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
    graph = project().structure.graph
    # The same name may be typed again to give it more effects.
    fresh = tuple((name, effect) for effect in effects if (name, effect) not in graph.edges)
    _put((*graph.edges, *fresh), unmeasured=name)


def _put(edges: tuple[tuple[str, str], ...], unmeasured: str | None = None) -> None:
    """Take the edges, and perhaps a new node, if they make a graph without a cycle."""
    state = project()
    assert state.data.schema is not None
    graph = state.structure.graph
    hidden = graph.unmeasured | ({unmeasured} if unmeasured is not None else set())
    with mistakes():
        # Tried on a copy: edges that are refused must leave the graph as it was.
        replace(graph, unmeasured=hidden).over(state.data.schema.names, edges)
        graph.unmeasured = hidden
        graph.replace(edges)
        st.rerun()
