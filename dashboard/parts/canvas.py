"""The drawing of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.dag_editor import NodeView, dag_editor
from dashboard.state import project
from dashboard.widgets import plain
from prism_core.structure.dag import Dag, find_cycle
from prism_core.structure.roles import ROLE_TEXT, roles

if TYPE_CHECKING:
    from dashboard.state import Project

EDITOR_KEY = "dag_editor"
_DRAWN = {"ancestor": "other"}


def section() -> None:
    """The editor; takes over what was drawn and draws it again with its new roles."""
    state = project()
    assert state.schema is not None and state.target is not None
    edit = dag_editor(
        key=EDITOR_KEY, nodes=_nodes(state), in_s=_in_s(state), edges=state.graph.edges,
        positions=state.graph.positions, rev=state.graph.rev, height=520,
    )  # fmt: skip
    if edit is None:
        return
    if edit.positions:
        state.graph.positions = edit.positions
    if edit.edges == state.graph.edges:
        return
    cycle = find_cycle(edit.edges)
    if cycle:
        st.error(f"That edge would close a cycle: {plain(' → '.join(cycle))}. It was not added.")
        state.graph.rev += 1
        return
    state.graph.drawn(edit.edges)
    st.rerun()  # roles and S follow from the new edges


def _nodes(state: Project) -> list[NodeView]:
    assert state.schema is not None and state.target is not None
    dag = Dag(nodes=state.schema.names, edges=state.graph.edges)
    found = roles(dag, state.target)
    return [
        NodeView(
            name=column.name,
            role=_DRAWN.get(found[column.name], found[column.name]),
            tooltip=f"{ROLE_TEXT[found[column.name]]}; {column.kind}, {column.size} levels",
        )
        for column in state.schema.columns
    ]


def _in_s(state: Project) -> frozenset[str]:
    dag = state.dag
    if dag is None or state.regime == "predictive" or state.target is None:
        return frozenset()
    chosen = dag.parents if state.regime == "causal" else dag.markov_blanket
    return frozenset(chosen(state.target))
