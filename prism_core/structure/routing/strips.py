"""Strips of a plane with boxes: what is free in them, and the lanes of edges there.

Lanes are places of edges in the strips, so that none runs along another; `keep_apart` keeps points
on a line apart, for the layout and for the router.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Edge: TypeAlias = tuple[str, str]
Point: TypeAlias = tuple[float, float]

HEAD, HALF_HEAD = 9.0, 4.0
"""Length of an arrow's head, and half its breadth."""
BEYOND, ASIDE = 13.0, 9.0
"""Margin of a box at the sides where edges end (longer than a head), and at the others."""
SLANT = 11.0
"""How far the slanted sides of some outlines reach into their box."""
LANE = 8.0
"""From one edge to the next."""
SAME = 0.5
"""Places that differ less are one."""
_ROW = 30.0  # ends of boxes that differ less belong to one row (half of three lines of a name)


class Box(NamedTuple):
    """Middle and size of a box; y grows downwards."""

    x: float
    y: float
    w: float
    h: float

    @property
    def turned(self) -> Box:
        """With its axes swapped."""
        return Box(self.y, self.x, self.h, self.w)


class Cell(NamedTuple):
    """A free interval of a strip."""

    low: float
    high: float

    def holds(self, x: float) -> bool:
        """Whether a place is in it."""
        return self.low - SAME <= x <= self.high + SAME


class Strips:
    """The strips of a plane with boxes.

    Attributes:
        levels: the heights of the cuts, downwards; strip i lies between cuts i and i + 1.
        first: for each box, the strip right under it.
        last: for each box, the strip right over it.
        cells: what is free in each strip, from left to right.
    """

    def __init__(self, boxes: Mapping[str, Box], beyond: float, aside: float) -> None:
        self._boxes = boxes
        self._margins = _margins(boxes, beyond, aside)
        tops, bottoms = self._reaches()
        self.levels: list[float] = []
        number: dict[float, int] = {}
        for y in sorted({*tops.values(), *bottoms.values()}):
            # Cuts that differ by rounding alone are one.
            if not self.levels or y - self.levels[-1] > SAME / 100:
                self.levels.append(y)
            number[y] = len(self.levels) - 1
        self.first = {name: number[bottoms[name]] for name in boxes}
        self.last = {name: number[tops[name]] - 1 for name in boxes}
        blocked: list[list[tuple[float, float]]] = [[] for _ in self.levels[1:]]
        for name, box in boxes.items():
            reach = box.w / 2 + self._margins[name][1]
            for strip in range(self.last[name] + 1, self.first[name]):
                blocked[strip].append((box.x - reach, box.x + reach))
        self.cells = [_complement(each) for each in blocked]

    def height(self, strip: int) -> float:
        """From its upper to its lower cut."""
        return self.levels[strip + 1] - self.levels[strip]

    def _reaches(self) -> tuple[dict[str, float], dict[str, float]]:
        """Upper and lower ends of the boxes with their margins.

        In a row of boxes of several heights all reach as far as the tallest where nothing is in the
        way: else the strips between their ends would be too low for edges that turn.
        """
        tops, bottoms = (
            {n: b.y + sign * (b.h / 2 + self._margins[n][0]) for n, b in self._boxes.items()}
            for sign in (-1, 1)
        )
        sides = {
            n: (b.x - b.w / 2 - self._margins[n][1], b.x + b.w / 2 + self._margins[n][1])
            for n, b in self._boxes.items()
        }
        raised, lowered = dict(tops), dict(bottoms)
        for name, (left, right) in sides.items():
            beside = [
                (tops[other], bottoms[other])
                for other, (low, high) in sides.items()
                if other != name and low < right and left < high
            ]
            top, bottom = tops[name], bottoms[name]
            up = min(t for t in tops.values() if t >= top - _ROW)
            if not any(t < top and b > up - LANE for t, b in beside):
                raised[name] = up
            down = max(b for b in bottoms.values() if b <= bottom + _ROW)
            if not any(b > bottom and t < down + LANE for t, b in beside):
                lowered[name] = down
        return raised, lowered


def _margins(
    boxes: Mapping[str, Box], most_beyond: float, most_aside: float
) -> dict[str, tuple[float, float]]:
    """Margins above and beside each box: as wished, but never more than half the way to another."""
    margins: dict[str, tuple[float, float]] = {}
    for name, box in boxes.items():
        beyond, aside = most_beyond, most_aside
        for other, near in boxes.items():
            if other == name:
                continue
            x = abs(box.x - near.x) - (box.w + near.w) / 2
            y = abs(box.y - near.y) - (box.h + near.h) / 2
            if x < 2 * most_aside and y > 0:
                beyond = min(beyond, max(y / 2 - 1.0, 0.5))
            elif y < 2 * most_beyond and x > 0:
                aside = min(aside, max(x / 2 - 0.25, 0.5))
        margins[name] = (beyond, aside)
    return margins


def _complement(blocked: list[tuple[float, float]]) -> list[Cell]:
    """What is free between the intervals."""
    cells: list[Cell] = []
    reached = -math.inf
    for low, high in sorted(blocked):
        if low - reached > 2 * SAME:
            cells.append(Cell(reached, low))
        reached = max(reached, high)
    return [*cells, Cell(reached, math.inf)]


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
                    wanted,
                    low,
                    high,
                    *(other + sign * apart for other in inner for sign in (-1, 1)),
                    *(other + sign * at_ends for other in ends for sign in (-1, 1)),
                )
                if low <= x <= high
            ]
            for x in sorted(candidates, key=lambda x: abs(x - wanted)):
                if _clear(x, inner, apart) and _clear(x, ends, at_ends):
                    return x
        others = sorted({*inner, *ends})
        inside = [low, *(x for x in others if low < x < high), high]
        between = [wanted, low, high, *((a + b) / 2 for a, b in pairwise(inside))]
        return max(between, key=lambda x: min((abs(x - other) for other in others), default=1.0))


def _clear(x: float, others: Sequence[float], apart: float) -> bool:
    place = bisect_left(others, x)
    # The others are sorted, so the two beside x are the closest.
    near = others[max(place - 1, 0) : place + 1]
    # Candidates are set off by exactly `apart`: rounding must not make them too close.
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
        # By number where costs tie: the same graph gets the same routes.
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


def keep_apart(
    wanted: Sequence[float],
    gaps: Sequence[float],
    low: float = -math.inf,
    high: float = math.inf,
    weights: Sequence[float] | None = None,
) -> list[float]:
    """Places in the given order that differ least, in weighted squares, from the wanted ones.

    Isotonic regression by pooling adjacent violators, after the gaps are taken off; bounds are met
    by clipping, which keeps the optimum (Best and Chakravarti 1990).

    Args:
        wanted: where each point would stand by itself, in the order they must keep.
        gaps: least distance from each point to the next; one fewer than points.
        low: where the first may stand at the least; it gives way where the gaps need more room.
        high: where the last may stand at the most.
        weights: how much each wish counts; all alike by default.
    """
    if not wanted:
        return []
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    pools: list[tuple[float, float, int]] = []  # mean, weight, points
    for number, wish in enumerate(wanted):
        mean, weight, points = wish - offsets[number], weights[number] if weights else 1.0, 1
        while pools and pools[-1][0] > mean:
            before, its_weight, its_points = pools.pop()
            total = weight + its_weight
            mean = (mean * weight + before * its_weight) / total
            weight, points = total, points + its_points
        pools.append((mean, weight, points))
    highest = high - offsets[-1]
    level = [min(max(mean, low), highest) for mean, _, points in pools for _ in range(points)]
    return [base + offset for base, offset in zip(level, offsets, strict=True)]
