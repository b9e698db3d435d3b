"""The function a page calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from dashboard.components.dag_editor._assets import renderer
from dashboard.components.dag_editor._model import (
    ROLES,
    NodeView,
    Reply,
    Role,
    parse_edit,
    parse_steps,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What the legend says. Sent as data, so that the words live in one place and in Python.
_ROLE_WORDS: Final[dict[Role, str]] = {
    "target": "Target: the column to predict",
    "parent": "Parent: points at the target",
    "child": "Child: the target points at it",
    "co_parent": "Co-parent: shares a child with the target",
    "tied": "Tied to the target or its effects by an unmeasured cause",
    "ancestor": "Indirect cause: acts through others",
    "selected": "Selected: chosen from the data",
    "other": "Other column",
    "unmeasured": "Unmeasured: not in the table, never in S",
}
_IN_S_WORDS: Final = "Thick border: in S, kept together with the target"


def dag_editor(
    *,
    key: str,
    nodes: Sequence[NodeView],
    in_s: frozenset[str],
    edges: Sequence[tuple[str, str]],
    positions: Mapping[str, tuple[float, float]],
    rev: int,
    height: int = 560,
    focus: str = "",
    foreign: bool = False,
    can_undo: bool = False,
    can_redo: bool = False,
) -> Reply:
    """Draw the graph and return what the user did on this revision, if anything.

    Args:
        key: Widget key; ``st.session_state[key]`` holds ``{"graph": {...}, "steps": {...}}``.
        nodes: The columns, in table order, then what is unmeasured. Names must be unique.
        in_s: Names drawn with a thick border: the set S.
        edges: Cause and effect. Read by the browser only when it first draws and when ``rev`` or
            the set of names changes.
        positions: Where columns stand, as an earlier ``Edit`` reported it. Empty: the browser lays
            the graph out. Columns missing from it are placed in rows beneath the rest.
        rev: The revision of ``edges``. Bump it whenever Python, not the user, changes the graph.
        height: Height of the drawing in pixels, without toolbar and legend.
        focus: Names the choice of hidden columns. When it changes, columns that the user looked
            for are hidden again.
        foreign: Whether the positions come from a file, in a unit of its own.
        can_undo: Whether there is something to undo.
        can_redo: Whether there is something to redo.

    Returns:
        The edit, absent when the user has made none on this revision or what arrived is not
        well-formed, and the steps to undo or redo, each told once. Cycles are refused in the
        browser but not here: check them again.

    Raises:
        ValueError: If two nodes have the same name.
    """
    names = frozenset(node.name for node in nodes)
    if len(names) != len(nodes):
        raise ValueError("nodes must have unique names.")
    result = renderer()(
        key=key,
        data={
            **_payload(nodes, in_s, edges, positions),
            "rev": rev,
            "height": height,
            "focus": focus,
            "foreign": foreign,
            "history": {"undo": can_undo, "redo": can_redo},
        },
        height="content",
        # Streamlit keeps only those states that have a callback.
        on_graph_change=_ignore,
        on_steps_change=_ignore,
    )
    return Reply(
        edit=parse_edit(result.get("graph"), names=names, rev=rev),
        steps=_fresh_steps(key, result.get("steps")),
    )


def _fresh_steps(key: str, value: object) -> int:
    """The steps asked for since the last run of this session."""
    steps = parse_steps(value)
    if steps is None:
        return 0
    done = f"{key} steps done"
    fresh = steps.since(st.session_state.get(done))
    st.session_state[done] = steps
    return fresh


def _ignore() -> None:
    """Do nothing: the page reads the edit from the return value."""


def _payload(
    nodes: Sequence[NodeView],
    in_s: frozenset[str],
    edges: Sequence[tuple[str, str]],
    positions: Mapping[str, tuple[float, float]],
) -> dict[str, Any]:
    names = {node.name for node in nodes}
    used = {node.role for node in nodes}
    return {
        "nodes": [
            {
                "name": node.name,
                "role": node.role,
                "tooltip": node.tooltip,
                "in_s": node.name in in_s,
                "hidden": node.hidden,
            }
            for node in nodes
        ],
        "edges": [[cause, effect] for cause, effect in edges],
        # Pairs, not an object: a column may be called __proto__.
        "positions": [[name, x, y] for name, (x, y) in positions.items() if name in names],
        "legend": [
            *(
                {"role": role, "in_s": False, "text": _ROLE_WORDS[role]}
                for role in ROLES
                if role in used
            ),
            *([{"role": None, "in_s": True, "text": _IN_S_WORDS}] if names & in_s else []),
        ],
    }
