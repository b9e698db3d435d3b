"""Triangulation and junction trees, with their size known before a cell is allocated.

Planning runs on every move of a slider, so sets of columns are the bits of whole numbers, scores
are kept up to date instead of computed anew, and a heap finds the least one.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.planning.elimination import Elimination, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import networkx as nx
    from numpy.typing import NDArray

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
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(names)
    for clique in cliques:
        graph.add_edges_from(itertools.combinations(clique, 2))
    return graph


def maximal_cliques(
    sizes: Mapping[str, int], cliques: Iterable[Sequence[str]], *, last: Sequence[str] = ()
) -> tuple[Clique, ...]:
    """Maximal cliques of the best of three greedy triangulations.

    Min-fill, min-weight and min-degree with `last` eliminated last are tried. The third never
    makes a clique beyond {y, u, v} for the edges (u, v) of a forest when y = last joins some of
    its nodes, which bounds every plan of this product; several columns `last` count together as
    y. Of those whose largest clique keeps to the third's, the one with the fewest cells wins.
    """
    found = _triangulations(sizes, cliques, last)
    return min(found, key=lambda cs: (total_cells(sizes, cs), cs))


def tree_fits(
    sizes: Mapping[str, int], cliques: Iterable[Sequence[str]], most: float, *,
    last: Sequence[str] = (),
) -> bool:  # fmt: skip
    """Whether the cliques of `maximal_cliques` have at most so many cells together.

    The first triangulation that does is enough; the others need no look.
    """
    found = _triangulations(sizes, cliques, last)
    return any(total_cells(sizes, cs) <= most for cs in found)


def _triangulations(
    sizes: Mapping[str, int], cliques: Iterable[Sequence[str]], last: Sequence[str]
) -> Iterator[tuple[Clique, ...]]:
    """Min-degree, then those of min-fill and min-weight whose largest clique keeps to its own."""
    near, late = _neighbours(sizes, cliques), _places(sizes, last)
    first = _eliminated(sizes, near, "degree", late)
    yield first
    bound = largest_cells(sizes, first)  # fewer cells in all may come with a larger clique
    rules: tuple[Rule, ...] = ("fill", "weight")
    for rule in rules:
        found = _eliminated(sizes, near, rule, late)
        if largest_cells(sizes, found) <= bound:
            yield found


def _neighbours(sizes: Mapping[str, int], cliques: Iterable[Sequence[str]]) -> list[int]:
    """Of every column the others that stand in a clique with it, as bits."""
    place = {name: position for position, name in enumerate(sizes)}
    near = [0] * len(place)
    for clique in cliques:
        members = 0
        for name in clique:
            members |= 1 << place[name]
        for name in clique:
            near[place[name]] |= members
    return [mask & ~(1 << position) for position, mask in enumerate(near)]


def _places(sizes: Mapping[str, int], last: Sequence[str]) -> frozenset[int]:
    return frozenset(position for position, name in enumerate(sizes) if name in last)


def _eliminated(
    sizes: Mapping[str, int], near: Sequence[int], rule: Rule, late: frozenset[int]
) -> tuple[Clique, ...]:
    """Maximal cliques of one greedy triangulation."""
    names = tuple(sizes)
    members = sorted(Elimination(list(sizes.values()), list(near), rule, late).maximal())
    return tuple(tuple(names[i] for i in clique) for clique in members)


def largest_cells(sizes: Mapping[str, int], cliques: Iterable[Sequence[str]]) -> int:
    """Cells of the largest clique."""
    return max(math.prod(sizes[name] for name in clique) for clique in cliques)


def total_cells(sizes: Mapping[str, int], cliques: Iterable[Sequence[str]]) -> int:
    """Cells of all cliques together."""
    return sum(math.prod(sizes[name] for name in clique) for clique in cliques)


def junction_tree(cliques: Sequence[Clique]) -> JunctionTree:
    """A maximum-weight spanning tree of separators over maximal cliques, rooted and ordered.

    Prim's algorithm; among equally good parents the one that came first, which keeps trees flat.
    """
    holders = _holders(cliques)
    sets = [frozenset(clique) for clique in cliques]
    best = np.zeros(len(cliques), dtype=np.int64)  # columns shared with the tree so far
    parent = np.full(len(cliques), -1, dtype=np.int64)
    place: dict[int, int] = {}
    separators: list[Clique] = []
    for _ in cliques:
        index = int(np.argmax(best))
        above = int(parent[index])
        shared = sets[above] if above >= 0 else frozenset()
        separators.append(tuple(name for name in cliques[index] if name in shared))
        place[index] = len(place)
        best[index] = -1
        overlap = np.zeros(len(cliques), dtype=np.int64)
        for name in cliques[index]:
            overlap[holders[name]] += 1
        better = (overlap > best) & (best >= 0)
        best[better] = overlap[better]
        parent[better] = index
    return JunctionTree(
        cliques=tuple(cliques[index] for index in place),
        parents=tuple(place.get(int(parent[index])) for index in place),
        separators=tuple(separators),
    )


def rooted(tree: JunctionTree, names: Sequence[str]) -> tuple[tuple[int, Clique], ...]:
    """The tree's cliques from one on that holds `names`, each with its separator; () for roots.

    Of several the first that holds most of them. The tree's own order where that is its first
    clique, or where there are no names.
    """
    held = [sum(name in clique for name in names) for clique in tree.cliques]
    root = held.index(max(held))
    if root == 0:
        return tuple(enumerate(tree.separators))
    near: dict[int, list[int]] = {index: [] for index in range(len(tree.cliques))}
    for index, parent in enumerate(tree.parents):
        if parent is not None:
            near[index].append(parent)
            near[parent].append(index)
    found: dict[int, Clique] = {}
    for start in (root, *near):
        queue: list[tuple[int, int | None]] = [(start, None)]
        while queue:
            index, above = queue.pop()
            if index in found:
                continue
            child = index if above is None or tree.parents[index] == above else above
            found[index] = () if above is None else tree.separators[child]
            queue += [(other, index) for other in near[index]]
    return tuple(found.items())


def _holders(cliques: Sequence[Clique]) -> dict[str, NDArray[np.int64]]:
    found: dict[str, list[int]] = {}
    for index, clique in enumerate(cliques):
        for name in clique:
            found.setdefault(name, []).append(index)
    return {name: np.array(held, dtype=np.int64) for name, held in found.items()}


def forecast(
    sizes: Mapping[str, int], cliques: Iterable[Sequence[str]], *, last: Sequence[str] = ()
) -> Forecast:
    """Exact size of the junction tree of these cliques."""
    found = maximal_cliques(sizes, cliques, last=last)
    return Forecast(largest_clique=largest_cells(sizes, found), cells=total_cells(sizes, found))
