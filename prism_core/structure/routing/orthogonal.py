"""Orthogonal routes: edges in straight pieces, down and across, between boxes.

An edge leaves its upper box and enters its lower one at ports, places of their own at the sides of
the boxes. In each strip of the plane it passes a free interval. It runs down as far as it can, and
crosses to its next place in a strip. Runs that share a strip stand apart, and so do the pieces that
cross there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from prism_core.structure.routing.strips import (
    ASIDE,
    BEYOND,
    HALF_HEAD,
    HEAD,
    LANE,
    SAME,
    SLANT,
    Box,
    Cell,
    Edge,
    Point,
    Strips,
    Taken,
    from_above,
    keep_apart,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_THIN = (HEAD, 2.0)  # margins where boxes stand too close for the usual ones
_TURN = 30.0  # a turn costs as much as so long a way
_FULL = 400.0  # and so does each edge more than an interval has lanes


class _Passage(NamedTuple):
    """The cheapest way so far to a place in an interval."""

    cost: float
    x: float
    cell: Cell
    before: _Passage | None


@dataclass(kw_only=True)
class _VerticalRun:
    """A piece that goes down, through the strips `first` to `last`, somewhere in an interval."""

    first: int
    last: int
    low: float
    high: float
    wanted: float
    x: float = math.nan


@dataclass(kw_only=True)
class _Line:
    """An edge from an upper box to a lower one, whichever is the cause.

    Attributes:
        first, last: the strips it passes.
        cells: one for each strip; empty when there is no way down.
        trace: where in them it would run by itself.
        start, end: the runs at its ports.
        runs: from top to bottom; the first and the last begin and end at a port.
        turns: the strip in which it crosses from each run to the next.
    """

    edge: Edge
    upper: str
    lower: str
    first: int = 0
    last: int = 0
    cells: list[Cell] = field(default_factory=list)
    trace: list[float] = field(default_factory=list)
    start: _VerticalRun = field(init=False)
    end: _VerticalRun = field(init=False)
    runs: list[_VerticalRun] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)


class Sheet:
    """Boxes cut into strips, and the edges that go down them."""

    def __init__(
        self, boxes: Mapping[str, Box], edges: Sequence[Edge], *, thin: bool = False
    ) -> None:
        self.boxes = boxes
        self.lines = [
            _Line(edge=edge, upper=upper, lower=lower)
            for edge in edges
            for upper, lower in [sorted(edge, key=lambda name: boxes[name].y)]
        ]
        if edges:
            self.strips = Strips(boxes, *(_THIN if thin else (BEYOND, ASIDE)))
            for line in self.lines:
                line.first = self.strips.first[line.upper]
                line.last = self.strips.last[line.lower]

    def ways(self) -> dict[Edge, tuple[Point, ...]]:
        """The way of each edge; those that find none are left out."""
        if not self.lines:
            return {}
        self.load: dict[tuple[int, float], int] = {}  # edges in an interval of a strip
        # Short ones first: they have the fewest strips in which to give way.
        for line in sorted(self.lines, key=lambda line: line.last - line.first):
            passage = self._passage(line)
            line.cells = [cell for cell, _ in passage]
            line.trace = [x for _, x in passage]
            for strip, cell in enumerate(line.cells, line.first):
                self.load[strip, cell.low] = self._load(strip, cell) + 1
        lines = [line for line in self.lines if line.cells]
        self._find_ports(lines)
        self._place_ports(lines)
        self.crowd: dict[int, int] = {}  # turns in a strip
        for line in lines:
            self._divide(line)
        self._place_runs(lines)
        self._place_turns(lines)
        return {line.edge: self._way(line) for line in lines}

    def missing(self) -> list[tuple[float, float]]:
        """After `ways`: the strips in which pieces that cross are closer than a lane.

        Returns:
            The height at which each begins, and how much higher it had to be.
        """
        return [(self.strips.levels[n], short) for n, short in self.short.items() if short > 0]

    # ---- the way down ----------------------------------------------------------------------------

    def _load(self, strip: int, cell: Cell) -> int:
        return self.load.get((strip, cell.low), 0)

    def _passage(self, line: _Line) -> list[tuple[Cell, float]]:
        """The free intervals on the way that goes aside least, turns least and is least full."""
        p, q = self.boxes[line.upper].x, self.boxes[line.lower].x
        ways: list[_Passage] = []
        if line.first <= line.last:
            ways = [
                _Passage(0.0, p, cell, None)
                for cell in self.strips.cells[line.first]
                if cell.holds(p)
            ]
        for strip in range(line.first + 1, line.last + 1):
            further: list[_Passage] = []
            for cell in self.strips.cells[strip]:
                over = max(self._load(strip, cell) + 1 - (cell.high - cell.low) / LANE, 0.0)
                best = None
                for way in ways:
                    low, high = max(cell.low, way.cell.low), min(cell.high, way.cell.high)
                    # Places that differ by less than SAME are one, so this is a touch and no way
                    # through.
                    if high - low < 2 * SAME:
                        continue
                    x = min(max(way.x, low), high)
                    aside = abs(x - way.x)
                    cost = way.cost + aside + _TURN * (aside > SAME) + _FULL * over
                    if best is None or cost < best.cost:
                        best = _Passage(cost, x, cell, way)
                if best:
                    further.append(best)
            ways = further
        arrived = [way for way in ways if way.cell.holds(q)]
        way = min(arrived, key=lambda way: way.cost + abs(way.x - q), default=None)
        passage: list[tuple[Cell, float]] = []
        while way is not None:
            passage.append((way.cell, way.x))
            way = way.before
        return passage[::-1]

    # ---- ports -----------------------------------------------------------------------------------

    def _find_ports(self, lines: Iterable[_Line]) -> None:
        """Where each edge may meet its boxes: intervals of their sides, in an order that nests."""
        sides: dict[tuple[str, bool], list[_Line]] = {}
        for line in lines:
            sides.setdefault((line.upper, True), []).append(line)
            sides.setdefault((line.lower, False), []).append(line)
        for (name, below), ends in sides.items():
            middle = {other: box.x for other, box in self.boxes.items()}
            ends.sort(
                key=lambda line: (
                    [*line.trace, middle[line.lower]]
                    if below
                    else [*([*line.trace, middle[line.lower]][::-1]), middle[line.upper]]
                )
            )
            wanted = [self._wanted(line, name) for line in ends]
            for run, line in zip(self._side(name, wanted), ends, strict=True):
                cell = line.cells[0 if below else -1]
                if min(run.high, cell.high) - max(run.low, cell.low) > SAME:
                    run.low, run.high = max(run.low, cell.low), min(run.high, cell.high)
                if below:
                    run.first = run.last = line.first
                    line.start = run
                else:
                    run.first = run.last = line.last
                    line.end = run

    def _wanted(self, line: _Line, name: str) -> float:
        """Straight where one box is over the other; else a little off the middle."""
        upper, lower, box = self.boxes[line.upper], self.boxes[line.lower], self.boxes[name]
        low = max(upper.x - upper.w / 2, lower.x - lower.w / 2)
        high = min(upper.x + upper.w / 2, lower.x + lower.w / 2)
        if low < high:
            return (low + high) / 2
        other = lower if name == line.upper else upper
        return box.x + math.copysign(box.w / 6, other.x - box.x)

    def _side(self, name: str, wanted: Sequence[float]) -> list[_VerticalRun]:
        box, count = self.boxes[name], len(wanted)
        room = box.w - 2 * SLANT  # where every outline has its side
        # Two heads side by side with a little between; less where the side is too short.
        apart = min(2 * HALF_HEAD + 2.0, room / count)
        low, high = box.x - room / 2, box.x + room / 2
        places = keep_apart(wanted, [apart] * (count - 1), low, high)
        # Half of what is free between neighbours belongs to each.
        fences = [low, *((a + b) / 2 for a, b in pairwise(places)), high]
        keep = min(HALF_HEAD + 0.5, apart / 2)
        return [
            _VerticalRun(
                first=0,
                last=0,
                wanted=place,
                low=left + (keep if number else 0.0),
                high=right - (keep if number < count - 1 else 0.0),
            )
            for number, (place, (left, right)) in enumerate(
                zip(places, pairwise(fences), strict=True)
            )
        ]

    def _place_ports(self, lines: Iterable[_Line]) -> None:
        """Settle ports: straight edges first, then each where nothing else runs in its strip."""
        self.taken = taken = Taken()
        rest: list[_VerticalRun] = []
        for line in sorted(lines, key=lambda line: line.last - line.first):
            start, end = line.start, line.end
            low = max(start.low, end.low, *(cell.low for cell in line.cells))
            high = min(start.high, end.high, *(cell.high for cell in line.cells))
            x = taken.free(line.first, line.last, low, high, (start.wanted + end.wanted) / 2)
            if low <= high and taken.clear(line.first, line.last, x) >= LANE / 2:
                start.x, start.last, line.runs = x, line.last, [start]
                taken.put(line.first, line.last, x)
            else:
                rest += [start, end]
        # The narrowest first, as they have the least choice.
        for run in sorted(rest, key=lambda run: run.high - run.low):
            run.x = taken.free(run.first, run.last, run.low, run.high, run.wanted)
            taken.put(run.first, run.last, run.x)

    # ---- pieces that go down ---------------------------------------------------------------------

    def _divide(self, line: _Line) -> None:
        """Divide the passage into as few runs as it takes, and find a strip for each turn."""
        start, end = line.start, line.end
        first, last = line.first, line.last

        if line.runs:  # straight
            return
        start.last, end.first = first, last
        while start.last < last and self._goes_on(line, start.x, start.last + 1):
            start.last += 1
        while end.first > first and self._goes_on(line, end.x, end.first - 1):
            end.first -= 1
        line.runs = [start]
        while line.runs[-1].last < end.first:
            before = line.runs[-1]
            run = self._further(line, before.last, end)
            self._turn(line, before, run, max(before.first, run.first), before.last)
            line.runs.append(run)
        before = line.runs[-1]
        self._turn(line, before, end, max(before.first, end.first), before.last)
        line.runs.append(end)
        self.taken.put(first + 1, start.last, start.x)
        self.taken.put(end.first, last - 1, end.x)

    def _goes_on(self, line: _Line, x: float, strip: int) -> bool:
        """Whether a run may keep its place in one strip more."""
        free = self.taken.clear(strip, strip, x) >= LANE / 2
        return free and line.cells[strip - line.first].holds(x)

    def _further(self, line: _Line, strip: int, end: _VerticalRun) -> _VerticalRun:
        """The run that begins in a strip at the latest and goes as far as it can."""
        first = line.first
        cells = line.cells
        low, high = cells[strip - first]
        begin = last = strip
        while last < line.last and last < end.first:
            cell = cells[last + 1 - first]
            left = min(high, cell.high) - max(low, cell.low)
            # What many edges share must not become a needle's eye: better turn once more.
            narrow = left < LANE * self._load(last + 1, cell) and left < high - low
            if left < SAME or (narrow and last > strip):
                break
            low, high = max(low, cell.low), min(high, cell.high)
            last += 1
        while begin > first:
            cell = cells[begin - 1 - first]
            if cell.low > low or cell.high < high:  # it must not narrow what is left
                break
            begin -= 1
        upper, lower = self.boxes[line.upper], self.boxes[line.lower]
        middle = (self.strips.levels[strip] + self.strips.levels[last + 1]) / 2
        # Boxes at one height would divide by 0.
        share = (middle - upper.y) / max(lower.y - upper.y, 1.0)
        wanted = upper.x + share * (lower.x - upper.x)
        return _VerticalRun(first=begin, last=last, low=low, high=high, wanted=wanted)

    def _turn(
        self, line: _Line, before: _VerticalRun, after: _VerticalRun, first: int, last: int
    ) -> None:
        """Cross from a run to the next in a strip that both reach: with room, open, least full."""

        def fit(strip: int) -> tuple[float, bool, int, int]:
            cell = line.cells[strip - line.first]
            # More room is not better: all edges would turn in the same strip.
            roomy = min(self.strips.height(strip), 2 * LANE)
            return roomy, cell.low == -cell.high, -self.crowd.get(strip, 0), -strip

        if line.turns:  # below the turn before, where it can be
            first = min(max(first, line.turns[-1] + 1), last)
        strip = max(range(first, last + 1), key=fit)
        self.crowd[strip] = self.crowd.get(strip, 0) + 1
        line.turns.append(strip)
        before.last = after.first = strip

    def _place_runs(self, lines: Sequence[_Line]) -> None:
        """Settle the runs between ports: none within a lane of another in the same strip."""
        inner = [run for line in lines for run in line.runs[1:-1]]
        # The longest first: it must be free in most strips.
        for run in sorted(inner, key=lambda run: (run.first - run.last, run.wanted)):
            run.x = self.taken.free(run.first, run.last, run.low, run.high, run.wanted)
            self.taken.put(run.first, run.last, run.x)

    # ---- pieces that run across ------------------------------------------------------------------

    def _place_turns(self, lines: Iterable[_Line]) -> None:
        """Settle the turns; in `self.short`, how much higher a strip had to be for full lanes."""
        self.short: dict[int, float] = {}
        strips: dict[int, list[tuple[_Line, int, float, float]]] = {}
        for line in lines:
            line.heights = [math.nan] * len(line.turns)
            for number, (strip, (before, after)) in enumerate(
                zip(line.turns, pairwise(line.runs), strict=True)
            ):
                strips.setdefault(strip, []).append((line, number, before.x, after.x))
        for strip, turns in strips.items():
            lanes: list[int] = []
            ordered = from_above([(line.edge, x, to) for line, _, x, to in turns])
            spans: list[tuple[Edge, float, float]] = []
            for place in ordered:
                line, _, x, to = turns[place]
                low, high = min(x, to) - SAME, max(x, to) + SAME
                over = [
                    lane
                    for lane, (edge, left, right) in zip(lanes, spans, strict=True)
                    if (left < high and low < right) or edge == line.edge
                ]
                lanes.append(max(over, default=-1) + 1)
                spans.append((line.edge, low, high))
            # Lanes count from 0, and there is a gap at both ends.
            step = self.strips.height(strip) / (max(lanes) + 2)
            self.short[strip] = (LANE - step) * (max(lanes) + 2)
            for place, lane in zip(ordered, lanes, strict=True):
                line, number, *_ = turns[place]
                line.heights[number] = self.strips.levels[strip] + (lane + 1) * step

    def _way(self, line: _Line) -> tuple[Point, ...]:
        upper, lower = self.boxes[line.upper], self.boxes[line.lower]
        points = [(line.runs[0].x, upper.y + upper.h / 2)]
        for y, (before, after) in zip(line.heights, pairwise(line.runs), strict=True):
            points += [(before.x, y), (after.x, y)]
        points.append((line.runs[-1].x, lower.y - lower.h / 2))
        return tuple(points if line.upper == line.edge[0] else points[::-1])
