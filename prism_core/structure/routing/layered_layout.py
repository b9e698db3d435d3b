"""A layered layout: every cause stands above its effects.

Sugiyama's method in its usual steps: nodes are put into rows, an edge that passes rows gets a slot
of its own in each of them, rows are ordered so that few edges cross, and places are found that keep
edges straight. So there is room for every edge beside the boxes;
`prism_core.structure.routing.routes`
leads it there. Nodes without an edge stand in a grid beneath.

Nothing is random: the same graph gets the same layout.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, TypeAlias

import networkx as nx

from prism_core.structure.routing.routes import missing_height
from prism_core.structure.routing.strips import ASIDE, LANE, Box, keep_apart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Edge: TypeAlias = tuple[str, str]
_Slot: TypeAlias = "str | tuple[Edge, int]"  # a node, or where an edge passes a row

_BETWEEN = 28.0  # from box to box in a row
_ROW_GAP = 20.0  # from row to row of the grid
_LEAST_GAP = 46.0  # from row to row, without lanes
_MARGIN = 24.0  # around a box where places come from elsewhere: an edge passes between two
_MOST_STRETCHED = 5.0
_SWEEPS = 8
_STRAIGHT = 4.0  # how much more an edge inside of its slots is kept straight than at its ends


def arrange(
    sizes: Mapping[str, tuple[float, float]], edges: Sequence[Edge], breadth: float
) -> dict[str, Box]:
    """Place every node.

    Args:
        sizes: width and height of each node's box, in node order.
        edges: (cause, effect) pairs of nodes, without a cycle.
        breadth: how wide a row of boxes may be. Edges that pass a row may make it wider, a single
            box too.

    Returns:
        A box for every node, in node order; the left upper corner of them all is (0, 0).
    """
    ends = {end for edge in edges for end in edge}
    rows = _rows({name: size for name, size in sizes.items() if name in ends}, edges, breadth)
    stack = _Stack(sizes=sizes, edges=edges, rows=rows)
    stack.order()
    stack.straighten()
    boxes = _opened(stack.boxes(), edges)
    boxes |= beneath([name for name in sizes if name not in ends], sizes, boxes, breadth)
    left, top, *_ = extent(boxes)
    return {
        name: Box(round(boxes[name].x - left, 1), round(boxes[name].y - top, 1), *size)
        for name, size in sizes.items()
    }


def _rows(
    sizes: Mapping[str, tuple[float, float]], edges: Sequence[Edge], breadth: float
) -> list[list[str]]:
    """Rows from causes to effects, none wider than `breadth`.

    As Coffman and Graham: nodes are taken from the last effects upwards, each as low as its effects
    and the room in a row allow; so a cause stands close to its effects.
    """
    graph = nx.DiGraph(edges)
    rank = {name: number for number, name in enumerate(sizes)}
    height: dict[str, int] = {}
    for name in reversed(list(nx.lexicographical_topological_sort(graph, rank.__getitem__))):
        height[name] = 1 + max((height[effect] for effect in graph.succ[name]), default=-1)
    row: dict[str, int] = {}
    used: list[float] = []
    for name in sorted(sizes, key=lambda name: height[name]):
        place = 1 + max((row[effect] for effect in graph.succ[name]), default=-1)
        # A new row takes any box, also one wider than a row may be, so that this ends.
        while place < len(used) and used[place] + sizes[name][0] > breadth:
            place += 1
        used.extend(0.0 for _ in range(place + 1 - len(used)))
        used[place] += sizes[name][0] + _BETWEEN
        row[name] = place
    rows: list[list[str]] = [[] for _ in used]
    for name in sizes:
        rows[-1 - row[name]].append(name)
    return rows


@dataclass(kw_only=True)
class _Stack:
    """Rows of slots while they are ordered and placed.

    Attributes:
        sizes, edges, rows: as in `arrange`; `rows` becomes rows of slots.
        above, below: the slots that a slot is joined to.
        x: middles of the slots.
    """

    sizes: Mapping[str, tuple[float, float]]
    edges: Sequence[Edge]
    rows: Sequence[Sequence[_Slot]]
    above: dict[_Slot, list[_Slot]] = field(default_factory=dict)
    below: dict[_Slot, list[_Slot]] = field(default_factory=dict)
    x: dict[_Slot, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows: list[list[_Slot]] = [list(row) for row in self.rows]
        where = {slot: number for number, row in enumerate(rows) for slot in row}
        for edge in self.edges:
            cause, effect = edge
            chain: list[_Slot] = [cause]
            for number in range(where[cause] + 1, where[effect]):
                rows[number].append((edge, number))
                chain.append((edge, number))
            for upper, lower in pairwise([*chain, effect]):
                self.below.setdefault(upper, []).append(lower)
                self.above.setdefault(lower, []).append(upper)
        self.rows = rows

    # ---- order within rows -----------------------------------------------------------------------

    def order(self) -> None:
        """Order each row by where its neighbours stand, down and up; keep the fewest crossings."""
        rows = [list(row) for row in self.rows]
        # The best so far is kept: a sweep can make it worse.
        best, fewest = rows, self._crossings(rows)
        for sweep in range(_SWEEPS):
            if not fewest:
                break
            down = sweep % 2 == 0
            rows = self._sorted(rows, down=down)
            crossings = self._crossings(rows)
            if crossings < fewest:
                best, fewest = rows, crossings
        self.rows = best

    def _sorted(self, rows: list[list[_Slot]], *, down: bool) -> list[list[_Slot]]:
        near = self.above if down else self.below
        place: dict[_Slot, float] = {}
        result: list[list[_Slot]] = []
        for row in rows if down else rows[::-1]:
            mean = {
                slot: sum(place[other] for other in near[slot]) / len(near[slot])
                if slot in near
                else (number + 0.5) / len(row)
                for number, slot in enumerate(row)
            }
            ordered = sorted(row, key=mean.__getitem__)
            # As a share of the row: neighbours may stand in rows of other lengths.
            place |= {slot: (number + 0.5) / len(row) for number, slot in enumerate(ordered)}
            result.append(ordered)
        return result if down else result[::-1]

    def _crossings(self, rows: list[list[_Slot]]) -> int:
        count = 0
        for upper, lower in pairwise(rows):
            place = {slot: number for number, slot in enumerate(lower)}
            # Crossings are inversions: a sorted list counts them without looking at all pairs of
            # edges.
            seen: list[int] = []
            for slot in upper:
                ends = sorted(place[other] for other in self.below.get(slot, ()))
                count += sum(len(seen) - bisect_right(seen, end) for end in ends)
                for end in ends:
                    insort(seen, end)
        return count

    # ---- places ----------------------------------------------------------------------------------

    def straighten(self) -> None:
        """Move slots towards their neighbours, row by row; none comes too close to the next."""
        gaps = [[self._apart(a, b) for a, b in pairwise(row)] for row in self.rows]
        for row, apart in zip(self.rows, gaps, strict=True):
            start = -sum(apart) / 2
            self.x |= zip(row, keep_apart([start] * len(row), apart, low=start), strict=True)
        rows = list(zip(self.rows, gaps, strict=True))
        for sweep in range(_SWEEPS):
            for row, apart in rows if sweep % 2 == 0 else rows[::-1]:
                # Half the way at first, so that rows do not swing; all of it in the last sweep
                # down and up.
                self._settle(row, apart, both=sweep >= _SWEEPS - 2)

    def _settle(self, row: Sequence[_Slot], apart: Sequence[float], *, both: bool) -> None:
        wanted, weights = [], []
        for slot in row:
            near = [*self.above.get(slot, ()), *self.below.get(slot, ())]
            pulls = [_STRAIGHT if _passes(slot) or _passes(other) else 1.0 for other in near]
            total = sum(pulls)
            mean = sum(pull * self.x[other] for pull, other in zip(pulls, near, strict=True))
            wanted.append(mean / total if both else (mean / total + self.x[slot]) / 2)
            weights.append(total)
        self.x |= zip(row, keep_apart(wanted, apart, weights=weights), strict=True)

    def _apart(self, left: _Slot, right: _Slot) -> float:
        """Least distance between the middles of two slots side by side."""
        halves = sum(self.sizes[slot][0] / 2 for slot in (left, right) if isinstance(slot, str))
        passing = _passes(left) + _passes(right)
        return halves + (_BETWEEN, ASIDE + LANE, LANE)[passing]

    def boxes(self) -> dict[str, Box]:
        """The boxes, row under row."""
        boxes: dict[str, Box] = {}
        top = 0.0
        for row in self.rows:
            names = [slot for slot in row if isinstance(slot, str)]
            tall = max((self.sizes[name][1] for name in names), default=0.0)
            for name in names:
                w, h = self.sizes[name]
                boxes[name] = Box(self.x[name], top + tall / 2, w, h)
            top += tall + _LEAST_GAP
        return boxes


def _opened(boxes: dict[str, Box], edges: Sequence[Edge]) -> dict[str, Box]:
    """Rows moved down until there is a lane for each edge that runs across between them."""
    missing = missing_height(boxes, edges)
    return {
        name: box._replace(y=box.y + sum(short for level, short in missing if level < box.y))
        for name, box in boxes.items()
    }


def _passes(slot: _Slot) -> bool:
    return not isinstance(slot, str)


def beneath(
    names: Sequence[str],
    sizes: Mapping[str, tuple[float, float]],
    boxes: Mapping[str, Box],
    breadth: float,
) -> dict[str, Box]:
    """Boxes for further nodes, in rows of equal cells beneath the rest, under its middle.

    Args:
        names: of the further nodes.
        sizes: width and height of their boxes.
        boxes: the rest; it stays where it is.
        breadth: how wide a row may be; as wide as the rest in any case.
    """
    if not names:
        return {}
    left, _, right, bottom = extent(boxes)
    cell = max(sizes[name][0] for name in names) + _ROW_GAP
    across = max(1, min(len(names), int((max(breadth, right - left) + _ROW_GAP) // cell)))
    start = (left + right) / 2 - across * cell / 2
    top = bottom + (_LEAST_GAP if boxes else 0.0)
    placed: dict[str, Box] = {}
    for first in range(0, len(names), across):
        row = names[first : first + across]
        tall = max(sizes[name][1] for name in row)
        for number, name in enumerate(row):
            placed[name] = Box(start + (number + 0.5) * cell, top + tall / 2, *sizes[name])
        top += tall + _ROW_GAP
    return placed


def stretched(
    sizes: Mapping[str, tuple[float, float]],
    places: Mapping[str, tuple[float, float]],
    room: tuple[float, float],
) -> dict[str, Box] | None:
    """Places of any unit stretched evenly, until no two boxes overlap.

    Args:
        sizes: width and height of the boxes.
        places: a place for each of them.
        room: width and height that the places take up at least, one of them.

    Returns:
        The boxes; None where some stand too close for that.
    """
    xs, ys = zip(*places.values(), strict=True)
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    if not wide and not high:
        return {n: Box(*places[n], *sizes[n]) for n in places} if len(places) == 1 else None
    least = min(length / span for length, span in zip(room, (wide, high), strict=True) if span)
    factor = least
    for one, other in combinations(places, 2):
        dx, dy = (abs(a - b) for a, b in zip(places[one], places[other], strict=True))
        w, h = ((a + b) / 2 + _MARGIN for a, b in zip(sizes[one], sizes[other], strict=True))
        factor = max(factor, min(w / dx if dx else math.inf, h / dy if dy else math.inf))
    if factor > least * _MOST_STRETCHED:
        return None
    return {
        n: Box(round(x * factor, 1), round(y * factor, 1), *sizes[n])
        for n, (x, y) in places.items()
    }


def extent(boxes: Mapping[str, Box]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of them all; zeros where there is none."""
    if not boxes:
        return 0.0, 0.0, 0.0, 0.0
    every = boxes.values()
    return (
        min(box.x - box.w / 2 for box in every),
        min(box.y - box.h / 2 for box in every),
        max(box.x + box.w / 2 for box in every),
        max(box.y + box.h / 2 for box in every),
    )
