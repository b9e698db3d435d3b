"""A causal-graph editor drawn with vis-network, for use inside a Streamlit page.

Protocol. Python sends nodes, roles, edges, places, the ways of edges and ``rev``. The browser owns
the edges and places of that ``rev`` and sends each change back as one state update ``graph = {rev,
edges, positions, ...}``. Python takes an update only if it carries the current ``rev`` and bumps
``rev`` whenever it changes the graph itself (upload, undo, reset): a change made in Python can then
never be undone by a late message from the browser. As long as ``rev`` and the column names stay, a
rerun recolours the drawing in place and moves nothing. Undo and redo belong to Python: their keys
arrive as a second state ``steps = {mount, total}``, all the steps asked for since the editor was
drawn. A state, because Streamlit loses a trigger that comes while it runs the page for a state; a
total, because a key may be faster than the answer to the one before.

Layout and ways are Python's (``prism_core.structure``), as those of the report are. The browser
measures nothing: sizes of boxes and lines of names come with the data. While a column is dragged,
and until Python has answered, the edges at it are straight lines; a way counts as long as both of
its ends stand where it was found.

Columns may be hidden. Their edges stay part of the graph; a column that was shown once stays until
``focus`` changes, so that nothing vanishes under the user's hand.

Column names come from files nobody has vetted. They travel only through the component's ``data``;
the browser side writes them with ``textContent`` and onto a canvas, never as markup.
"""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import streamlit as st
from streamlit.components.v2 import component

from dashboard.components._serve import PROJECT, serve
from dashboard.components.dag_editor._layout import ShownGraph, shown_graph, sizes_of
from dashboard.components.dag_editor._messages import (
    ROLES,
    Edit,
    NodeView,
    Reply,
    parse_edit,
    parse_steps,
)
from prism_core.structure.dag import find_cycle
from prism_core.structure.routing.node_boxes import IN_S, NODE_STYLES, lines_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamlit.components.v2.types import ComponentRenderer

__all__ = ["ROLES", "Edit", "NodeView", "Reply", "ShownGraph", "dag_editor", "shown_graph"]


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
        positions: Where columns stand, as an earlier ``Edit`` reported it. Empty: the graph is
            laid out. Columns missing from it are placed in rows beneath the rest.
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
    # What the user has just done is known before the drawing: so it is answered in the same run.
    state = st.session_state.get(key)
    edit = parse_edit(state.get("graph") if state else None, names=names, rev=rev)
    drawing = _shown(nodes, edges, positions, edit, focus=focus, foreign=foreign)
    result = renderer()(
        key=key,
        data={
            **_payload(nodes, in_s, edges if edit is None else edit.edges, drawing),
            # Python's, not the edit's: the browser owns those of this revision, and reads these
            # with another.
            "edges": [[cause, effect] for cause, effect in edges],
            "rev": rev,
            "height": height,
            "focus": focus,
            "arranged": drawing.arranged,
            "tidied": edit.tidied if edit else "",
            "history": {"undo": can_undo, "redo": can_redo},
        },
        height="content",
        # Streamlit keeps only those states that have a callback.
        on_graph_change=_ignore,
        on_steps_change=_ignore,
    )
    # The browser asked for a new layout: the page keeps it like places that were set by hand.
    if edit is not None and not edit.positions:
        edit = replace(edit, positions=drawing.positions)
    return Reply(edit=edit, steps=_fresh_steps(key, result.get("steps")))


def _shown(
    nodes: Sequence[NodeView],
    edges: Sequence[tuple[str, str]],
    positions: Mapping[str, tuple[float, float]],
    edit: Edit | None,
    *,
    focus: str,
    foreign: bool,
) -> ShownGraph:
    """What is to be shown: Python's graph, or the browser's where that is further."""
    # The layout goes by layers, which a cycle does not have; the page refuses such an edit.
    if edit is not None and not find_cycle(edit.edges):
        edges, positions, foreign = edit.edges, edit.positions, False
    revealed = edit.revealed if edit is not None and edit.focus == focus else frozenset[str]()
    return shown_graph(
        tuple(node.name for node in nodes),
        frozenset(node.name for node in nodes if not node.hidden or node.name in revealed),
        tuple(edges),
        tuple((name, x, y) for name, (x, y) in positions.items()),
        foreign=foreign,
    )


def _fresh_steps(key: str, value: object) -> int:
    """The steps asked for since the last run of this session."""
    steps = parse_steps(value)
    if steps is None:
        return 0
    done = f"{key} steps done"
    fresh = steps.since(st.session_state.get(done))
    # Kept in the session: the state stays, and would ask for the same steps in every run.
    st.session_state[done] = steps
    return fresh


def _ignore() -> None:
    """Do nothing: the page reads the edit from the return value."""


def _payload(
    nodes: Sequence[NodeView],
    in_s: frozenset[str],
    edges: Sequence[tuple[str, str]],
    drawing: ShownGraph,
) -> dict[str, Any]:
    names = {node.name for node in nodes}
    used = {node.role for node in nodes}
    sizes = sizes_of(tuple(node.name for node in nodes), tuple(edges))
    return {
        "nodes": [
            {
                "name": node.name,
                "role": node.role,
                "tooltip": node.tooltip,
                "in_s": node.name in in_s,
                "hidden": node.hidden,
                "tray": node.tray,
                "lines": lines_of(node.name),
                "size": sizes[node.name],
            }
            for node in nodes
        ],
        # Lists, not objects: a column may be called __proto__.
        "places": [[name, box.x, box.y] for name, box in drawing.boxes.items()],
        "ways": [[*way.edge, way.line, way.head, *way.middle] for way in drawing.ways],
        "looks": {
            role: {
                "hue": look.hue,
                "wash": look.wash,
                "corners": look.corners,
                "radius": look.radius,
                "ellipse": look.ellipse,
                "double": look.double,
                "dashed": look.dashed,
            }
            for role, look in NODE_STYLES.items()
        },
        "legend": [
            *(
                {"role": role, "in_s": False, "text": look.words}
                for role, look in NODE_STYLES.items()
                if role in used
            ),
            *([{"role": None, "in_s": True, "text": IN_S}] if names & in_s else []),
        ],
    }


_HERE: Final = Path(__file__).parent


def renderer() -> ComponentRenderer:
    """Return the callable that mounts the editor, with its assets known to the active runtime."""
    serve("dag_editor", package_root=_HERE, asset_dir="frontend")
    package_root, asset_dir = _vis_network_dir()
    serve("vis_network", package_root=package_root, asset_dir=asset_dir)
    return _component()


@cache
def _component() -> ComponentRenderer:
    return component(
        f"{PROJECT}.dag_editor", js="index.js", css="dag_editor.css", isolate_styles=True
    )


@cache
def _vis_network_dir() -> tuple[Path, str]:
    # find_spec, not import: importing pyvis pulls in IPython, for which the editor has no use.
    spec = importlib.util.find_spec("pyvis")
    root = Path(spec.origin).parent if spec is not None and spec.origin is not None else None
    # Versions sort as text here; pyvis 0.3.2 ships 9.0.4 and 9.1.2.
    found = sorted(root.glob("lib/vis-*/vis-network.min.js")) if root is not None else []
    if root is None or not found:
        raise RuntimeError("The graph editor needs pyvis with lib/vis-*/vis-network.min.js in it.")
    return root, found[-1].parent.relative_to(root).as_posix()
