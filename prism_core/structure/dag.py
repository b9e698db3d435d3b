"""A directed acyclic graph over the columns of a table; public knowledge, never learned here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import networkx as nx

from prism_core.errors import CycleError, StructureError

if TYPE_CHECKING:
    from collections.abc import Iterable


_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class Dag:
    """A DAG, checked at birth.

    Attributes:
        nodes: node names, unique, in a stable order.
        edges: (cause, effect) pairs between nodes, unique.

    Raises:
        StructureError: for empty or unwritable names, repeated nodes or edges, self-loops and edges
            to unknown nodes.
        CycleError: naming every node of one cycle.
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for name in self.nodes:
            if not is_name(name):
                raise StructureError(
                    "A node has no usable name. Names must be text that is not empty.",
                    field="nodes",
                )
        if len(set(self.nodes)) != len(self.nodes):
            raise StructureError("A node appears twice in the graph.", field="nodes")
        known = set(self.nodes)
        for cause, effect in self.edges:
            if cause == effect:
                raise StructureError(
                    f"{cause!r} points to itself. Remove this edge.", field="edges"
                )
            missing = [name for name in (cause, effect) if name not in known]
            if missing:
                raise StructureError(
                    f"The edge {cause!r} → {effect!r} names {missing[0]!r}, which is not a node "
                    "of the graph.",
                    field="edges",
                )
        if len(set(self.edges)) != len(self.edges):
            raise StructureError("An edge appears twice in the graph.", field="edges")
        cycle = find_cycle(self.edges)
        if cycle:
            raise CycleError(cycle)

    @cached_property
    def graph(self) -> nx.DiGraph:
        """The graph as networkx knows it (a copy to read, not to edit)."""
        graph = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(self.edges)
        return graph

    def _known(self, name: str) -> str:
        if name not in self.nodes:
            raise StructureError(f"{name!r} is not a node of the graph.", field="target")
        return name

    def _ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        wanted = set(names)
        return tuple(node for node in self.nodes if node in wanted)

    def parents(self, name: str) -> tuple[str, ...]:
        """Pa(name): direct causes, in node order."""
        return self._ordered(self.graph.predecessors(self._known(name)))

    def children(self, name: str) -> tuple[str, ...]:
        """Direct effects, in node order."""
        return self._ordered(self.graph.successors(self._known(name)))

    def co_parents(self, name: str) -> tuple[str, ...]:
        """Other parents of the children, without those that are parents or children too."""
        children = set(self.children(name))
        others = {p for child in children for p in self.graph.predecessors(child)}
        return self._ordered(others - {name} - children - set(self.parents(name)))

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """MB(name): parents, children and co-parents (Koller and Friedman 2009)."""
        return self._ordered({*self.parents(name), *self.children(name), *self.co_parents(name)})

    def ancestors(self, name: str) -> tuple[str, ...]:
        """All direct and indirect causes, in node order."""
        return self._ordered(nx.ancestors(self.graph, self._known(name)))

    def over(self, names: Iterable[str]) -> Dag:
        """The same edges over the columns `names`; columns without an edge stay isolated.

        Raises:
            StructureError: naming the nodes that are not columns.
        """
        columns = tuple(names)
        strangers = [node for node in self.nodes if node not in set(columns)]
        if strangers:
            named = ", ".join(map(repr, strangers[:8]))
            more = " and others" if len(strangers) > 8 else ""
            raise StructureError(
                f"The graph has nodes that are not columns of the table: {named}{more}. Rename or "
                "remove them.",
                field="nodes",
            )
        return Dag(nodes=columns, edges=self.edges)


def is_name(value: object) -> bool:
    """Whether `value` can name a node: text that is not empty and can be written as UTF-8."""
    return isinstance(value, str) and value != "" and not _SURROGATE.search(value)


def find_cycle(edges: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The nodes of one directed cycle, the first repeated at the end; () when there is none."""
    try:
        found = nx.find_cycle(nx.DiGraph(list(edges)))
    except nx.NetworkXNoCycle:
        return ()
    return (*(edge[0] for edge in found), found[-1][1])
