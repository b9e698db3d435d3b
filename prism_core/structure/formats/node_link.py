"""Node-link JSON, as networkx, d3 and vis-network write it."""

from __future__ import annotations

import json
from typing import Any

from prism_core.errors import StructureError
from prism_core.structure.dag import Dag


def read(text: str) -> Dag:
    """A graph from `{"nodes": [{"id": ...}], "edges": [{"source": ..., "target": ...}]}`.

    `links` is accepted for `edges`; an undirected or multi graph is refused.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise StructureError(f"The graph is not readable as JSON{place}.", field="dag") from None
    edges = document.get("edges", document.get("links")) if isinstance(document, dict) else None
    if not isinstance(edges, list) or not isinstance(document.get("nodes"), list):
        raise StructureError(
            "A node-link graph needs the lists 'nodes' and 'edges' (or 'links').", field="dag"
        )
    if document.get("directed", True) is False:
        raise StructureError(
            "The graph is undirected. Every edge needs a direction, from cause to effect.",
            field="edges",
        )
    nodes = [_name(node, "id", number) for number, node in enumerate(document["nodes"], 1)]
    pairs = [
        (_name(edge, "source", number), _name(edge, "target", number))
        for number, edge in enumerate(edges, 1)
    ]
    return Dag(nodes=tuple(nodes), edges=tuple(pairs))


def _name(entry: object, key: str, number: int) -> str:
    if key == "id" and isinstance(entry, (str, int)):
        return str(entry)
    if not isinstance(entry, dict) or not isinstance(entry.get(key), (str, int)):
        raise StructureError(
            f"Entry {number} of the graph has no {key!r}.",
            field="nodes" if key == "id" else "edges",
        )
    return str(entry[key])


def write(dag: Dag) -> str:
    """The graph as node-link JSON."""
    document: dict[str, Any] = {
        "directed": True,
        "multigraph": False,
        "graph": {},
        "nodes": [{"id": node} for node in dag.nodes],
        "edges": [{"source": cause, "target": effect} for cause, effect in dag.edges],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
