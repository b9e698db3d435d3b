"""Triangulation and junction trees, with their size known before a cell is allocated."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Clique = tuple[str, ...]

BYTES_PER_CELL = 8 * 8
"""Eight float64 arrays of the model's size live at once during a fit (measured upper bound)."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """Size of the junction tree, known from the plan alone.

    Attributes:
        largest_clique: number of cells of the largest clique.
        cells: number of cells of all cliques together.
        exact: False when it is the worst case over choices made at run time.
    """

    largest_clique: int
    cells: int
    exact: bool = True

    @property
    def megabytes(self) -> float:
        """Memory of the fit, in MiB."""
        return self.cells * BYTES_PER_CELL / 2**20


@dataclass(frozen=True, kw_only=True)
class JunctionTree:
    """Maximal cliques in an order in which each meets its predecessors in its separator.

    Attributes:
        cliques: maximal cliques in schema order of their columns; every column is in one.
        parents: index of the clique a clique hangs on, None for the root of a component.
        separators: columns shared with the parent clique; () for roots.
    """

    cliques: tuple[Clique, ...]
    parents: tuple[int | None, ...]
    separators: tuple[Clique, ...]


def interaction_graph(names: Iterable[str], cliques: Iterable[Sequence[str]]) -> nx.Graph:
    """Columns joined when they stand in one clique."""
    graph = nx.Graph()
    graph.add_nodes_from(names)
    for clique in cliques:
        graph.add_edges_from(itertools.combinations(clique, 2))
    return graph


def maximal_cliques(
    sizes: Mapping[str, int], cliques: Iterable[Sequence[str]], *, last: Sequence[str] = ()
) -> tuple[Clique, ...]:
    """Maximal cliques of the best of three greedy triangulations.

    Min-fill, min-weight and min-degree with `last` eliminated last are tried and the one with
    the fewest cells wins. The third never makes a clique beyond {y, u, v} for the edges (u, v)
    of a forest when y = last joins some of its nodes, which bounds every plan of this product.
    """
    graph = interaction_graph(sizes, cliques)
    order = {name: position for position, name in enumerate(sizes)}
    keys: list[Callable[[nx.Graph, str], tuple[float, ...]]] = [
        lambda g, v: (_fill(g, v), _weight(g, v, sizes)),
        lambda g, v: (_weight(g, v, sizes), _fill(g, v)),
        lambda g, v: (v in last, g.degree(v), _weight(g, v, sizes)),
    ]
    found = [_eliminate(graph, key, order) for key in keys]
    return min(found, key=lambda cs: (total_cells(sizes, cs), cs))


def total_cells(sizes: Mapping[str, int], cliques: Iterable[Sequence[str]]) -> int:
    """Cells of all cliques together."""
    return sum(math.prod(sizes[name] for name in clique) for clique in cliques)


def _fill(graph: nx.Graph, node: str) -> int:
    near = list(graph.neighbors(node))
    return sum(not graph.has_edge(u, v) for u, v in itertools.combinations(near, 2))


def _weight(graph: nx.Graph, node: str, sizes: Mapping[str, int]) -> float:
    return math.log(sizes[node]) + sum(math.log(sizes[other]) for other in graph.neighbors(node))


def _eliminate(
    graph: nx.Graph, key: Callable[[nx.Graph, str], tuple[float, ...]], order: Mapping[str, int]
) -> tuple[Clique, ...]:
    work = graph.copy()
    scores = {node: (*key(work, node), order[node]) for node in work}
    cliques: list[frozenset[str]] = []
    while scores:
        node = min(scores, key=scores.__getitem__)
        near = list(work.neighbors(node))
        cliques.append(frozenset([node, *near]))
        work.add_edges_from(itertools.combinations(near, 2))
        work.remove_node(node)
        del scores[node]
        # Fill-in can change the score of anything within two steps.
        touched = set(near).union(*(work.neighbors(other) for other in near))
        for other in touched:
            scores[other] = (*key(work, other), order[other])
    kept: list[frozenset[str]] = []
    for clique in cliques:  # a later clique never contains an earlier one's node
        if not any(clique <= other for other in kept):
            kept.append(clique)
    ordered = [tuple(sorted(clique, key=order.__getitem__)) for clique in kept]
    return tuple(sorted(ordered, key=lambda clique: [order[name] for name in clique]))


def junction_tree(cliques: Sequence[Clique]) -> JunctionTree:
    """A maximum-weight spanning tree of separators over maximal cliques, rooted and ordered."""
    graph = nx.Graph()
    graph.add_nodes_from(range(len(cliques)))
    sets = [set(clique) for clique in cliques]
    for i, j in itertools.combinations(range(len(cliques)), 2):
        shared = len(sets[i] & sets[j])
        if shared:
            graph.add_edge(i, j, weight=shared)
    tree = nx.maximum_spanning_tree(graph)
    order: list[int] = []
    parents: dict[int, int | None] = {}
    for start in sorted(tree):
        if start in parents:
            continue
        parents[start] = None
        order.append(start)
        for parent, child in nx.bfs_edges(tree, start, sort_neighbors=sorted):
            parents[child] = parent
            order.append(child)
    place = {clique: position for position, clique in enumerate(order)}
    separators: list[Clique] = []
    for index in order:
        parent = parents[index]
        shared = set() if parent is None else sets[parent]
        separators.append(tuple(name for name in cliques[index] if name in shared))
    return JunctionTree(
        cliques=tuple(cliques[index] for index in order),
        parents=tuple(
            None if parents[index] is None else place[parents[index]]  # type: ignore[index]
            for index in order
        ),
        separators=tuple(separators),
    )


def forecast(
    sizes: Mapping[str, int], cliques: Iterable[Sequence[str]], *, last: Sequence[str] = ()
) -> Forecast:
    """Exact size of the junction tree of these cliques."""
    found = maximal_cliques(sizes, cliques, last=last)
    cells = [math.prod(sizes[name] for name in clique) for clique in found]
    return Forecast(largest_clique=max(cells), cells=sum(cells))
