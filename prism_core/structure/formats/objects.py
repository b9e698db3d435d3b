"""Lists of pairs, and graphs of networkx and pgmpy, as Python objects."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import networkx as nx

from prism_core.errors import StructureError
from prism_core.structure.dag import MAX_NAME, Dag, Drawing, is_name
from prism_core.structure.formats._sketch import (
    Sketch,
    learning_entries,
    position,
    with_learning_entries,
)


def from_networkx(graph: nx.Graph) -> Drawing:
    """The drawing in a networkx graph, or in pgmpy's DAG and networks, which are such graphs.

    Names must be text or whole numbers. Positions are the attribute `pos`, or `x` and `y`;
    unmeasured nodes, exposures and outcomes are taken from pgmpy's roles, or from the attribute
    `role`; DoWhy's attribute `observed` says which nodes are unmeasured, too. The
    graph's attributes `provenance` and `learned` say that it was learned, and what that cost.

    Raises:
        StructureError: for an undirected graph, an undirected edge of a PDAG, a name of another
            type, parallel edges, self-loops and cycles.
    """
    if not graph.is_directed():
        raise StructureError(
            "The graph is undirected. Use a networkx.DiGraph with edges from cause to effect.",
            field="edges",
        )
    loose = next(iter(getattr(graph, "undirected_edges", ()) or ()), None)
    if loose is not None:
        raise StructureError(
            f"The edge between {loose[0]!r} and {loose[1]!r} is undirected. Orient it first.",
            field="edges",
        )
    sketch = Sketch(lambda mark: f"node {mark}" if isinstance(mark, int) else str(mark))
    for number, (node, data) in enumerate(graph.nodes(data=True), 1):
        name = sketch.node(_name(node), number, once=True)
        pos = data.get("pos")
        pair = pos if isinstance(pos, tuple | list) and len(pos) == 2 else None
        sketch.at(name, position(*pair) if pair else position(data.get("x"), data.get("y")))
        role = data.get("role")
        for word in role.split() if isinstance(role, str) else ():
            sketch.role(name, word)
        sketch.observed(name, data.get("observed"))
    for number, edge in enumerate(graph.edges(), 1):
        sketch.edge(_name(edge[0]), _name(edge[1]), f"edge {number}")
    for attribute, role in (
        ("latents", "latent"),
        ("exposures", "exposure"),
        ("outcomes", "outcome"),
    ):
        for node in getattr(graph, attribute, ()) or ():
            if _name(node) in sketch.nodes:
                sketch.role(_name(node), role)
    return with_learning_entries(sketch.drawing(), graph.graph)


def from_pairs(pairs: Iterable[object]) -> Drawing:
    """The drawing whose edges are pairs of a cause and its effect; its nodes are their names.

    Raises:
        StructureError: for what is no pair of names, for self-loops, repeated edges and cycles.
    """
    # Walking through a mapping gives its keys: what they stand for would be lost without a word.
    if isinstance(pairs, Mapping):
        raise StructureError(
            "A graph cannot be read from a mapping. Give a list of pairs (cause, effect).",
            field="edges",
        )
    sketch = Sketch(lambda number: f"pair {number}")
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise sketch.refuse(
                number, "an edge is a pair of names (cause, effect).", field="edges"
            )
        sketch.edge(_name(pair[0]), _name(pair[1]), number)
    if not sketch.nodes:
        raise StructureError(
            "The list holds no pair. Give pairs of names (cause, effect).", field="edges"
        )
    return sketch.drawing()


def _name(node: Hashable) -> str:
    try:
        text = str(node)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        text = ""
    if not isinstance(node, str | int) or isinstance(node, bool) or not is_name(text):
        raise StructureError(
            f"A node of the graph is {type(node).__name__} {text[:80]!r}. Names must be text "
            f"that is not empty and at most {MAX_NAME:,} characters long, or whole numbers.",
            field="nodes",
        )
    return text


def to_networkx(drawing: Drawing | Dag) -> nx.DiGraph:
    """A networkx graph: positions are the attribute `pos`, `role` says what is unmeasured.

    What learning cost is an attribute of the graph.
    """
    drawing = drawing if isinstance(drawing, Drawing) else Drawing(dag=drawing)
    # A copy: a Dag keeps its graph, which must not be changed.
    graph = nx.DiGraph(drawing.dag.graph)
    graph.graph.update(learning_entries(drawing.dag))
    for name, place in drawing.positions.items():
        graph.nodes[name]["pos"] = place
    for name in drawing.dag.unmeasured:
        graph.nodes[name]["role"] = "latent"
    return graph


def to_pgmpy(drawing: Drawing | Dag) -> Any:  # noqa: ANN401  (pgmpy is optional)
    """A DAG of pgmpy, with its roles, and what learning it cost as attributes of the graph.

    Raises:
        StructureError: when pgmpy is not installed.
    """
    try:
        from pgmpy.base import DAG
    except ImportError:
        raise StructureError(
            "pgmpy is not installed. Install the extra: pip install 'prism-dashboard[networks]'.",
            field="format",
        ) from None
    drawing = drawing if isinstance(drawing, Drawing) else Drawing(dag=drawing)
    model = DAG()
    model.add_nodes_from(drawing.dag.nodes)
    model.add_edges_from(drawing.dag.edges)
    model.graph.update(learning_entries(drawing.dag))
    held = {
        "latents": drawing.dag.unmeasured,
        "exposures": drawing.exposure,
        "outcomes": drawing.outcome,
    }
    for role, names in held.items():
        if names:
            model.with_role(role, set(names), inplace=True)
    return model
