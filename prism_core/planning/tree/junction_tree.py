"""Junction trees and the triangulations behind them, sized before a cell is allocated.

Planning runs on every move of a slider, so sets of columns are the bits of whole numbers, scores
are kept up to date instead of computed anew, and a heap finds the least one.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

Rule: TypeAlias = Literal["fill", "weight", "degree"]


def bits(mask: int) -> Iterator[int]:
    """Positions of the ones, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Elimination:
    """One run: remove the cheapest column, join its neighbours, repeat.

    Args:
        sizes: codes per column.
        near: neighbours of every column as bits; taken over and changed.
        rule: `fill` (fewest new edges), `weight` (smallest clique table) or `degree` (fewest
            neighbours, `late` columns after all others). Ties go to the next measure, then to
            the column's position.
        late: columns that `degree` eliminates last. Several of them do not count as neighbours:
            a leaf of a forest joined to many of them still goes before an inner node.
    """

    def __init__(self, sizes: list[int], near: list[int], rule: Rule, late: frozenset[int]) -> None:
        self._sizes = sizes
        self._near = near
        self._rule = rule
        self._late = late
        self._counted = ~sum(1 << node for node in late) if len(late) > 1 else -1
        # Exact products: sums of logarithms would make ties a matter of rounding.
        self._weight = [
            size * math.prod(sizes[other] for other in bits(mask))
            for size, mask in zip(sizes, near, strict=True)
        ]
        self._fill = [self._missing(mask) for mask in near]

    def maximal(self) -> list[tuple[int, ...]]:
        """Maximal cliques of the triangulated graph, columns ascending."""
        order: list[int] = []
        after: list[int] = [0] * len(self._sizes)  # neighbours at a column's elimination
        keys = [self._key(node) for node in range(len(self._sizes))]
        heap = [(key, node) for node, key in enumerate(keys)]
        heapq.heapify(heap)
        alive = (1 << len(self._sizes)) - 1
        while heap:
            key, node = heapq.heappop(heap)
            if not alive >> node & 1 or keys[node] != key:
                continue  # an older entry of a column whose score has changed
            alive ^= 1 << node
            after[node] = self._near[node]
            order.append(node)
            for other in bits(self._remove(node)):
                fresh = self._key(other)
                if fresh != keys[other]:
                    keys[other] = fresh
                    heapq.heappush(heap, (fresh, other))
        return _maximal(order, after)

    def _key(self, node: int) -> tuple[int, ...]:
        if self._rule == "fill":
            return self._fill[node], self._weight[node]
        if self._rule == "weight":
            return self._weight[node], self._fill[node]
        neighbours = (self._near[node] & self._counted).bit_count()
        return int(node in self._late), neighbours, self._weight[node]

    def _missing(self, mask: int) -> int:
        """Pairs of columns of a set that are not joined."""
        # Less one, as a column is no neighbour of its own; half, as each pair is seen from both
        # ends.
        absent = sum((mask & ~self._near[node]).bit_count() - 1 for node in bits(mask))
        return absent // 2

    def _remove(self, node: int) -> int:
        """Join the neighbours, drop the column; returns whose scores have changed."""
        around = self._near[node]
        touched = around
        for u in bits(around):
            absent = around & ~self._near[u] & ~((2 << u) - 1)  # each pair once
            for v in bits(absent):
                touched |= self._join(u, v)
        own = 1 << node
        for u in bits(around):
            self._near[u] &= ~own
            # Exact: the size is a factor of the product.
            self._weight[u] //= self._sizes[node]
            # The pairs (node, other) that were missing around u are gone.
            self._fill[u] -= (self._near[u] & ~around & ~(1 << u)).bit_count()
        return touched

    def _join(self, u: int, v: int) -> int:
        near = self._near
        common = near[u] & near[v]
        for other in bits(common):
            self._fill[other] -= 1
        self._fill[u] += (near[u] & ~near[v]).bit_count()
        self._fill[v] += (near[v] & ~near[u]).bit_count()
        near[u] |= 1 << v
        near[v] |= 1 << u
        self._weight[u] *= self._sizes[v]
        self._weight[v] *= self._sizes[u]
        return common


def _maximal(order: list[int], after: list[int]) -> list[tuple[int, ...]]:
    """Cliques that no other contains.

    A column's clique lies within another exactly when it equals the rest of a clique whose first
    eliminated neighbour the column is: of one more member.
    """
    when = {node: step for step, node in enumerate(order)}
    inside: set[int] = set()
    for node in order:
        if after[node]:
            first = min(bits(after[node]), key=when.__getitem__)
            if after[node].bit_count() == after[first].bit_count() + 1:
                inside.add(first)
    return [tuple(bits(after[node] | 1 << node)) for node in order if node not in inside]


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
    # The cliques themselves break ties: the same plan must give the same tree on every machine.
    return min(found, key=lambda cs: (total_cells(sizes, cs), cs))


def tree_fits(
    sizes: Mapping[str, int],
    cliques: Iterable[Sequence[str]],
    most: float,
    *,
    last: Sequence[str] = (),
) -> bool:
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
    # Min-degree first: its largest clique is the proven bound to which the others are held.
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
    # Sorted, so that rules which find the same cliques in another order agree.
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
        # Below every overlap, so that it is not taken a second time.
        best[index] = -1
        # Counted by column: only cliques that share one are touched, not all pairs of cliques.
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
    # The tree may be a forest: components that the root does not reach start by themselves.
    for start in (root, *near):
        queue: list[tuple[int, int | None]] = [(start, None)]
        while queue:
            index, above = queue.pop()
            if index in found:
                continue
            # A separator stands with the lower end of its edge, and the walk may come from either
            # end.
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
