"""Lanes: places of edges in the strips of a plane, so that none runs along another."""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING

from prism_core.structure.strips import LANE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prism_core.structure.strips import Edge

_LEAST = 3.0  # between edges that nothing keeps further apart
# How far from others a run stands where it passes a strip, and where it turns in one; best first.
_WISHES = ((LANE, LANE / 2), (LANE, _LEAST), (LANE / 2, _LEAST), (LANE, 1.5), (LANE / 2, 1.5))
_ALONG, _BACK = 100.0, 400.0  # what it costs to run along another edge, and to go back up


class Taken:
    """Where runs stand in each strip."""

    def __init__(self) -> None:
        self.strips: dict[int, list[float]] = {}

    def put(self, first: int, last: int, x: float) -> None:
        """Take a place in the strips `first` to `last`."""
        for strip in range(first, last + 1):
            self.strips.setdefault(strip, []).append(x)

    def _near(self, strips: Iterable[int]) -> list[float]:
        return sorted({x for strip in strips for x in self.strips.get(strip, ())})

    def clear(self, first: int, last: int, x: float) -> float:
        """How far the next run in these strips is."""
        others = self._near(range(first, last + 1))
        return min((abs(x - other) for other in others), default=math.inf)

    def free(self, first: int, last: int, low: float, high: float, wanted: float) -> float:
        """The place nearest to the wanted one that is clear of all others, or the clearest one.

        In the strips between the first and the last a run passes from end to end and needs a lane
        of its own. Where it turns it may come closer to others: most of them end above it.
        """
        if low > high:
            return wanted
        wanted = min(max(wanted, low), high)
        if high - low < 6 * LANE:  # a narrow interval is filled from its side, or less fits in
            wanted = min(low + round((wanted - low) / LANE) * LANE, high)
        inner, ends = self._near(range(first + 1, last)), self._near({first, last})
        for apart, at_ends in _WISHES:
            candidates = [
                x
                for x in (
                    wanted, low, high,
                    *(other + sign * apart for other in inner for sign in (-1, 1)),
                    *(other + sign * at_ends for other in ends for sign in (-1, 1)),
                )
                if low <= x <= high
            ]  # fmt: skip
            for x in sorted(candidates, key=lambda x: abs(x - wanted)):
                if _clear(x, inner, apart) and _clear(x, ends, at_ends):
                    return x
        others = sorted({*inner, *ends})
        inside = [low, *(x for x in others if low < x < high), high]
        between = [wanted, low, high, *((a + b) / 2 for a, b in pairwise(inside))]
        return max(between, key=lambda x: min((abs(x - other) for other in others), default=1.0))


def _clear(x: float, others: Sequence[float], apart: float) -> bool:
    place = bisect_left(others, x)
    near = others[max(place - 1, 0) : place + 1]
    return all(abs(x - other) > apart - 1e-6 for other in near)


def from_above(turns: Sequence[tuple[Edge, float, float]]) -> list[int]:
    """An order of pieces that run across a strip, from top to bottom, with few crossings.

    Each comes down at its first place and goes on down at its second. Where one goes on at the
    place at which another comes down, the other must be above it, or they would run along each
    other. And an edge never goes back up.

    Args:
        turns: for each piece its edge, its first and its second place.

    Returns:
        Their numbers, the uppermost first.
    """
    cost = [[_above(one, other) for other in turns] for one in turns]
    waiting = list(range(len(turns)))
    for i, (edge, _, to) in enumerate(turns):
        for j, (other, x, _) in enumerate(turns):
            if i != j and edge == other and to == x:
                cost[j][i] += _BACK
    total = [sum(cost[i][j] - cost[j][i] for j in waiting) for i in waiting]
    order: list[int] = []
    while waiting:
        top = min(waiting, key=lambda i: (total[i], i))
        waiting.remove(top)
        order.append(top)
        for i in waiting:
            total[i] -= cost[i][top] - cost[top][i]
    return order


def _above(one: tuple[Edge, float, float], other: tuple[Edge, float, float]) -> float:
    """What it costs to lead `one` above `other`: crossings, and runs along each other."""
    (_, x, to), (_, its_x, its_to) = one, other
    low, high = min(x, to), max(x, to)
    its_low, its_high = min(its_x, its_to), max(its_x, its_to)
    crossings = (low < its_x < high) + (its_low < to < its_high)
    return crossings + _ALONG * (abs(to - its_x) < LANE / 2)
