"""Boxes on a plane that is cut into strips, and what is free between them.

The cuts are at the upper and lower ends of all boxes, margins included. So in a strip nothing
begins or ends, and what is free in it is a row of intervals.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

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
