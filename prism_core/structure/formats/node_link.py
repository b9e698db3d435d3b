"""Node-link JSON, as networkx, d3 and vis-network write it."""

from __future__ import annotations

import json
from typing import Any

from prism_core.errors import StructureError
from prism_core.structure.dag import MAX_NAME, Drawing, is_name
from prism_core.structure.formats._sketch import (
    Sketch,
    learning_entries,
    position,
    role_words,
    with_learning_entries,
)
from prism_core.text import untrusted


def read(text: str) -> Drawing:
    """A graph from `{"nodes": [{"id": ...}], "edges": [{"source": ..., "target": ...}]}`.

    `links` and `arcs` are accepted for `edges`, and pairs for its entries; an undirected graph is
    refused. Nodes may have `x`, `y` and `role`; the role `latent` says that a node is unmeasured.
    `provenance` and `learned` say that the graph was learned, and what that cost.
    """
    try:
        document = untrusted.from_json(text, untrusted.GRAPH)
    except ValueError as error:
        known = isinstance(error, json.JSONDecodeError)
        spot = f" (line {error.lineno}, column {error.colno})" if known else ""
        raise StructureError(f"The graph is not readable as JSON{spot}.", field="dag") from None
    edges = _edges(document) if isinstance(document, dict) else None
    if not isinstance(edges, list) or not isinstance(document.get("nodes"), list):
        raise StructureError(
            "A node-link graph needs the lists 'nodes' and 'edges' (or 'links').", field="dag"
        )
    # Other programs leave the entry out; their edges have a source and a target all the same.
    if document.get("directed", True) is not True:
        raise StructureError(
            "The graph is undirected. Every edge needs a direction, from cause to effect.",
            field="edges",
        )
    sketch = Sketch(lambda mark: f"{mark[0]} entry {mark[1]}", declared=True)
    for number, node in enumerate(document["nodes"], 1):
        _node(sketch, node, number)
    for number, edge in enumerate(edges, 1):
        if isinstance(edge, list) and len(edge) == 2:
            edge = {"source": edge[0], "target": edge[1]}
        ends = [_name(edge, key, number) for key in ("source", "target")]
        sketch.edge(ends[0], ends[1], ("edge", number))
    return with_learning_entries(sketch.drawing(), document)


def _edges(document: dict[str, Any]) -> object:
    return next((document[key] for key in ("edges", "links", "arcs") if key in document), None)


def _node(sketch: Sketch, node: object, number: int) -> None:
    name = sketch.node(_name(node, "id", number), ("node", number), once=True)
    if not isinstance(node, dict):
        return
    sketch.at(name, position(node.get("x"), node.get("y")))
    role = node.get("role")
    for word in role.split() if isinstance(role, str) else ():
        sketch.role(name, word)
    sketch.observed(name, node.get("observed"))


def _name(entry: object, key: str, number: int) -> str:
    value = entry.get(key) if isinstance(entry, dict) else entry if key == "id" else None
    usable = isinstance(value, str | int) and not isinstance(value, bool)
    if not usable or not is_name(str(value)):
        raise StructureError(
            f"Entry {number} of the graph has no {key!r} that is a text (of at most {MAX_NAME:,} "
            "characters) or a whole number.",
            field="nodes" if key == "id" else "edges",
        )
    # A number and its text are one name: nodes and ends of edges may be written either way.
    return str(value)


def write(drawing: Drawing) -> str:
    """The graph as node-link JSON."""
    nodes: list[dict[str, Any]] = []
    for name in drawing.dag.nodes:
        node: dict[str, Any] = {"id": name}
        if name in drawing.positions:
            node["x"], node["y"] = drawing.positions[name]
        roles = role_words(drawing, name)
        if roles:
            node["role"] = " ".join(roles)
        nodes.append(node)
    document: dict[str, Any] = {
        "directed": True,
        "multigraph": False,
        "graph": {},
        "nodes": nodes,
        "edges": [{"source": cause, "target": effect} for cause, effect in drawing.dag.edges],
        **learning_entries(drawing.dag),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
