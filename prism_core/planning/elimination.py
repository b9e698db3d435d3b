"""Greedy elimination of columns from a graph whose neighbourhoods are the bits of whole numbers."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

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
