"""Candidates: which marginals are measured or may be chosen, without a list of all pairs.

Task, one-way background, the candidates of the forest and of 3-way marginals. A wide table has half
a
million pairs, so a plan only asks how many there are and how large.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

import networkx as nx
import numpy as np

from prism_core.errors import PlanError
from prism_core.planning.large_columns import blame_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.tree.junction_tree import Clique


@dataclass(frozen=True, kw_only=True)
class Pairs(Sequence["Clique"]):
    """The pairs of columns with few enough cells, in the order of `itertools.combinations`.

    A plan is made on every move of a slider and only asks how many there are and how large; the
    pairs themselves are made when a release walks through them.

    Attributes:
        names: columns, in schema order.
        sizes: their codes.
        most: a pair has at most so many cells.
        tied: of pairs within these columns there is none.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    most: int
    tied: frozenset[str] = frozenset()

    def _all_cells(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Cells of every pair of columns, and which pairs count; shape (columns, columns)."""
        sizes = np.array(self.sizes, dtype=np.int64)
        cells = np.multiply.outer(sizes, sizes)
        kept = cells <= self.most
        if self.tied:
            inside = np.array([name in self.tied for name in self.names])
            kept &= ~np.logical_and.outer(inside, inside)
        return cells, np.triu(kept, 1)

    @cached_property
    def _facts(self) -> tuple[int, int]:
        cells, kept = self._all_cells()
        return int(np.count_nonzero(kept)), int(cells.sum(where=kept))

    @property
    def cells(self) -> int:
        """Cells of all pairs together."""
        return self._facts[1]

    def largest(self, count: int) -> list[int]:
        """Cells of the `count` largest pairs, descending."""
        cells, kept = self._all_cells()
        sizes = cells[kept]
        count = min(count, len(sizes))
        # Not sorted whole: a wide table has half a million pairs, and few are asked for.
        top = np.partition(sizes, len(sizes) - count)[len(sizes) - count :] if count else sizes[:0]
        return np.sort(top)[::-1].tolist()

    def __len__(self) -> int:
        return self._facts[0]

    def __iter__(self) -> Iterator[Clique]:
        _, kept = self._all_cells()
        # The upper triangle goes row by row, as `combinations` does; else the mask were of other
        # pairs.
        above = kept[np.triu_indices(len(self.names), 1)]
        return itertools.compress(itertools.combinations(self.names, 2), above.tolist())

    def __contains__(self, pair: object) -> bool:
        # By arithmetic: walking through the pairs would make half a million of them.
        if not isinstance(pair, tuple) or len(pair) != 2 or self.tied.issuperset(pair):
            return False
        places = [self._places.get(name, -1) for name in pair]
        # In schema order alone, as they are walked through; -1 is a stranger.
        return 0 <= places[0] < places[1] and (
            self.sizes[places[0]] * self.sizes[places[1]] <= self.most
        )

    @cached_property
    def _places(self) -> dict[object, int]:
        return {name: place for place, name in enumerate(self.names)}

    @overload
    def __getitem__(self, index: int) -> Clique: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Clique]: ...
    def __getitem__(self, index: int | slice) -> Clique | Sequence[Clique]:
        return tuple(self)[index]


MAX_CLIQUE_CELLS = 1_000_000
"""No clique of the junction tree gets larger; larger pairs are refused before any row is read."""

MAX_TREE_CELLS = 40_000_000
"""No junction tree gets larger (about 2.5 GiB during a fit)."""


@dataclass(frozen=True, kw_only=True)
class ForestCandidates:
    """Pairs of features that may join the background forest.

    Attributes:
        pairs: candidates in schema order.
        joined: columns that count as one node already.
        rounds: edges of a spanning forest over them; a fact of the schema alone.
    """

    pairs: Pairs
    joined: tuple[str, ...]
    rounds: int


def task_pairs(schema: Schema, s: Sequence[str], target: str) -> tuple[Clique, ...]:
    """All (X_j, Y), j in S.

    Raises:
        PlanError: when a pair is larger than any clique may be.
    """
    pairs = tuple(schema.canonical((name, target)) for name in s)
    for pair in pairs:
        if schema.cells(pair) > MAX_CLIQUE_CELLS:
            raise PlanError(
                f"The marginal {' × '.join(pair)} has {schema.cells(pair):,} cells and would not "
                f"fit in memory (at most {MAX_CLIQUE_CELLS:,}). {blame_pair(schema, pair)}",
                field="levels",
            )
    return pairs


def one_ways(schema: Schema, s: Sequence[str], targets: Sequence[str]) -> tuple[Clique, ...]:
    """One-way marginals that no task marginal covers."""
    covered = {*s, *targets}
    return tuple((name,) for name in schema.names if name not in covered)


def forest_candidates(
    schema: Schema, target: str | Sequence[str], joined: Sequence[str], base_cells: int
) -> ForestCandidates:
    """Candidates for the background forest over the features; Y is never an endpoint.

    A pair (u, v) is a candidate when the clique {Y, u, v} stays below the limits. The
    triangulation of a forest whose nodes are partly joined to Y needs no larger clique (see
    `maximal_cliques`), so whatever is chosen fits. With several targets Y is all of
    them together.

    Args:
        schema: the domain.
        target: Y, or all targets.
        joined: columns tied together already, when the joint (S, Y) is measured.
        base_cells: cells of the cliques measured anyway.
    """
    targets = (target,) if isinstance(target, str) else tuple(target)
    features = [name for name in schema.names if name not in targets]
    # 1 at least, as it divides; a single feature has no edge.
    rounds_at_most = max(1, len(features) - 1)
    # Even if every edge of the forest is the largest pair allowed, the tree fits.
    limit = min(MAX_CLIQUE_CELLS, (MAX_TREE_CELLS - base_cells) // rounds_at_most)
    pairs = Pairs(
        names=tuple(features),
        sizes=tuple(map(schema.size, features)),
        # The clique of the tree is {Y, u, v}: a pair has what Y leaves of its limit.
        most=limit // schema.cells(targets),
        tied=frozenset(joined),
    )
    # A spanning forest has as many edges as nodes less components, and joined columns are one node.
    groups = len(features) - max(0, len(joined) - 1)
    return ForestCandidates(
        pairs=pairs, joined=tuple(joined), rounds=groups - _components(pairs) if features else 0
    )


def _components(pairs: Pairs) -> int:
    """Connected components of the columns, joined by the pairs and by the ties.

    It is enough to look at pairs with the smallest column m: where (u, v) is a pair, u and m have
    at most as many cells, so (u, m) is one as well, or both are tied; and likewise (v, m).
    """
    least = min(pairs.sizes)
    smallest = pairs.names[pairs.sizes.index(least)]
    near = {
        name
        for name, size in zip(pairs.names, pairs.sizes, strict=True)
        if name == smallest or size * least <= pairs.most
    }
    alone = len(pairs.names) - len(near)
    if not pairs.tied:
        return 1 + alone
    far = pairs.tied - near
    if smallest in pairs.tied or len(far) < len(pairs.tied):  # one of them ties all to m
        return 1 + alone - len(far)
    # No pair leads from m to a tied column, so the ties are a component beside that of m.
    return 2 + alone - len(far)


@dataclass(frozen=True, kw_only=True)
class ThreeWayCandidates:
    """Pairs of features in S that may be measured together with Y.

    Attributes:
        pairs: candidates in schema order.
        rounds: how many are chosen; a fact of the schema and S alone.
    """

    pairs: tuple[Clique, ...]
    rounds: int


def three_way_candidates(
    s: Sequence[str], forest: ForestCandidates, at_most: int
) -> ThreeWayCandidates:
    """Candidates for 3-way marginals (X_i, X_j, Y): pairs of S that may join the forest.

    What is chosen is a forest over S, and the background forest goes on from it. So both
    together are one forest over the features out of `forest.pairs`, with Y joined to some
    nodes, which is what `forest_candidates` bounds: treewidth stays at 2 and the worst case of
    the forecast holds whatever is chosen. All 3-way marginals of a larger S would not have that.

    Args:
        s: the features S, in schema order.
        forest: candidates over all features, nothing joined yet.
        at_most: the most marginals wanted.
    """
    pairs = tuple(pair for pair in itertools.combinations(s, 2) if pair in forest.pairs)
    graph = nx.Graph()
    # Also those without a candidate: each is a component that no round can join.
    graph.add_nodes_from(s)
    graph.add_edges_from((u, v) for u, v in pairs)
    rank = len(s) - nx.number_connected_components(graph)
    return ThreeWayCandidates(pairs=pairs, rounds=min(at_most, rank))
