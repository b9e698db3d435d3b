"""Edges led round boxes, wherever the boxes stand.

An edge leaves its cause and enters its effect at a place of its own on their sides, and goes
between them in straight pieces, down and across. The plane is cut into strips at the upper and
lower sides of all boxes; in each strip an edge passes one of the free intervals between boxes.
Pieces that run down in one strip stand apart, and so do pieces that run across in it. So no edge
runs behind a box, along another edge, or under the head of an arrow that is not its own: around a
box there is a margin as long as a head, and only its own edges enter it.

Where boxes stand side by side rather than one above the other, the same is done turned by a quarter
(a person may put them anywhere). Where there is no room at all an edge is a straight line.

Nothing is random, and a graph is routed in one go: the result depends on boxes and edges only.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from prism_core.structure.spacing import keep_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Edge: TypeAlias = tuple[str, str]
Point: TypeAlias = tuple[float, float]

HEAD, HALF_HEAD = 9.0, 4.0
"""Length of an arrow's head, and half its breadth."""
BEYOND, ASIDE = 13.0, 9.0
"""Margin of a box at the sides where edges end (longer than a head), and at the others."""
LANE = 8.0
"""From one edge to the next."""
ROUND = 8.0
"""Radius of a bend."""
CROWDED = 400_000
"""Edges times boxes; routing many more takes seconds."""
_CLEAR = 2 * HEAD + 2.0  # two boxes this far apart have room for an arrow between them
_TURN = 30.0  # a turn costs as much as so long a way
_FULL = 400.0  # and so does an interval that is full
_SAME = 0.5
_ROW = 30.0  # ends of boxes that differ less belong to one row (half of three lines of a name)
_LEAST = 3.0  # between edges that nothing keeps further apart
_WIDE = 1e9
# How far from others a run stands where it passes a strip, and where it turns in one; best first.
_WISHES = ((LANE, LANE / 2), (LANE, _LEAST), (LANE / 2, _LEAST), (LANE, 1.5), (LANE / 2, 1.5))


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


def route(boxes: Mapping[str, Box], edges: Sequence[Edge]) -> dict[Edge, tuple[Point, ...]]:
    """The way of each edge, from the side of its cause to the side of its effect.

    Args:
        boxes: that stand in the way; they should not overlap.
        edges: pairs of names of boxes, each once.

    Returns:
        The corners of each edge's way; the last piece is straight for the length of a head. Where
        lines are so many that nobody follows one of them by eye, all are straight.
    """
    if len(edges) * len(boxes) > CROWDED:
        return {edge: _straight(boxes, edge) for edge in edges}
    turned = {name: box.turned for name, box in boxes.items()}
    clear = {False: _clear_edges(boxes, edges), True: _clear_edges(turned, edges)}
    # One way for the whole drawing where it can be: edges of both kinds cross more.
    first = len(clear[True]) > len(clear[False])
    ways: dict[Edge, tuple[Point, ...]] = {}
    for aside, thin in ((first, False), (not first, False), (first, True), (not first, True)):
        left = [edge for edge in edges if edge in clear[aside] and edge not in ways]
        sheet = _Sheet(turned if aside else boxes, left, thin=thin)
        for edge, way in sheet.ways().items():
            ways[edge] = tuple((y, x) for x, y in way) if aside else way
    return {
        edge: tuple((round(x, 1), round(y, 1)) for x, y in ways.get(edge) or _straight(boxes, edge))
        for edge in edges
    }


def _clear_edges(boxes: Mapping[str, Box], edges: Sequence[Edge]) -> set[Edge]:
    """The edges between boxes so far apart from top to bottom that an arrow fits between them."""
    return {
        (cause, effect)
        for cause, effect in edges
        if abs(boxes[cause].y - boxes[effect].y) - (boxes[cause].h + boxes[effect].h) / 2 >= _CLEAR
    }


def missing_height(boxes: Mapping[str, Box], edges: Sequence[Edge]) -> list[Point]:
    """Where edges that run across stand closer than a lane: (height, what is missing there)."""
    if not edges or len(edges) * len(boxes) > CROWDED:
        return []
    sheet = _Sheet(boxes, edges)
    sheet.ways()
    return [(sheet.levels[n], short) for n, short in sheet.short.items() if short > 0]


def svg_path(way: Sequence[Point]) -> str:
    """An SVG path along the way, with rounded bends."""
    words = [f"M{way[0][0]:g},{way[0][1]:g}"]
    for before, corner, after in zip(way, way[1:], way[2:], strict=False):
        reach = min(ROUND, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        (x, y), (to_x, to_y) = _towards(corner, before, reach), _towards(corner, after, reach)
        words.append(f"L{x:g},{y:g} Q{corner[0]:g},{corner[1]:g} {to_x:g},{to_y:g}")
    return " ".join([*words, f"L{way[-1][0]:g},{way[-1][1]:g}"])


def svg_head(way: Sequence[Point]) -> str:
    """The arrowhead at the end of the way, as an SVG path."""
    (x, y), end = way[-2], way[-1]
    length = math.dist((x, y), end) or 1.0
    dx, dy = (end[0] - x) / length, (end[1] - y) / length
    back = (end[0] - HEAD * dx, end[1] - HEAD * dy)
    corners = [end, *((back[0] - s * HALF_HEAD * dy, back[1] + s * HALF_HEAD * dx) for s in (-1, 1))]
    return "M" + " L".join(f"{round(x, 2):g},{round(y, 2):g}" for x, y in corners) + " Z"


def middle(way: Sequence[Point]) -> Point:
    """The point half the way along."""
    left = sum(math.dist(a, b) for a, b in pairwise(way)) / 2
    for a, b in pairwise(way):
        length = math.dist(a, b)
        if length >= left:
            return _towards(a, b, left)
        left -= length
    return way[-1]


def _towards(start: Point, end: Point, length: float) -> Point:
    share = length / (math.dist(start, end) or 1.0)
    return (
        round(start[0] + share * (end[0] - start[0]), 2),
        round(start[1] + share * (end[1] - start[1]), 2),
    )


def _straight(boxes: Mapping[str, Box], edge: Edge) -> tuple[Point, ...]:
    """From border to border on the line between the middles."""
    one, other = boxes[edge[0]], boxes[edge[1]]
    dx, dy = other.x - one.x, other.y - one.y
    ends = []
    for box, sign in ((one, 1.0), (other, -1.0)):
        share = min(box.w / 2 / abs(dx) if dx else 0.5, box.h / 2 / abs(dy) if dy else 0.5, 0.5)
        ends.append((box.x + sign * share * dx, box.y + sign * share * dy))
    return tuple(ends)


class _Cell(NamedTuple):
    """A free interval of a strip."""

    low: float
    high: float


class _Way(NamedTuple):
    """The cheapest way so far to a place in an interval."""

    cost: float
    x: float
    cell: _Cell
    before: _Way | None


@dataclass(kw_only=True)
class _Run:
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
    cells: list[_Cell] = field(default_factory=list)
    trace: list[float] = field(default_factory=list)
    start: _Run = field(init=False)
    end: _Run = field(init=False)
    runs: list[_Run] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)


class _Sheet:
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
            self.margins = _margins(boxes, HEAD if thin else BEYOND, 2.0 if thin else ASIDE)
            self._cut()

    def ways(self) -> dict[Edge, tuple[Point, ...]]:
        """The way of each edge; those that find none are left out."""
        if not self.lines:
            return {}
        load: dict[tuple[int, float], int] = {}
        for line in sorted(self.lines, key=lambda line: line.last - line.first):
            passage = self._passage(line, load)
            line.cells = [cell for cell, _ in passage]
            line.trace = [x for _, x in passage]
            for strip, cell in enumerate(line.cells, line.first):
                load[strip, cell.low] = load.get((strip, cell.low), 0) + 1
        lines = [line for line in self.lines if line.cells]
        self._find_ports(lines)
        self._place_ports(lines)
        self.crowd: dict[int, int] = {}  # turns in a strip
        for line in lines:
            self._divide(line)
        self._place_runs(lines)
        self._place_turns(lines)
        return {line.edge: self._way(line) for line in lines}

    # ---- strips and free intervals ---------------------------------------------------------------

    def _cut(self) -> None:
        tops, bottoms = self._reaches()
        levels: list[float] = []
        number: dict[float, int] = {}
        for y in sorted({*tops.values(), *bottoms.values()}):
            if not levels or y - levels[-1] > _SAME / 100:
                levels.append(y)
            number[y] = len(levels) - 1
        self.levels = levels
        self.first = {name: number[bottoms[name]] for name in self.boxes}  # strip under a box
        self.last = {name: number[tops[name]] - 1 for name in self.boxes}  # strip over a box
        blocked: list[list[tuple[float, float]]] = [[] for _ in levels[1:]]
        for name, box in self.boxes.items():
            reach = box.w / 2 + self.margins[name][1]
            for strip in range(self.last[name] + 1, self.first[name]):
                blocked[strip].append((box.x - reach, box.x + reach))
        self.cells = [_complement(each) for each in blocked]
        for line in self.lines:
            line.first, line.last = self.first[line.upper], self.last[line.lower]

    def _reaches(self) -> tuple[dict[str, float], dict[str, float]]:
        """Upper and lower ends of the boxes with their margins.

        In a row of boxes of several heights all reach as far as the tallest where nothing is in the
        way: else the strips between their ends would be too low for edges that turn.
        """
        tops, bottoms = (
            {n: b.y + sign * (b.h / 2 + self.margins[n][0]) for n, b in self.boxes.items()}
            for sign in (-1, 1)
        )
        sides = {
            n: (b.x - b.w / 2 - self.margins[n][1], b.x + b.w / 2 + self.margins[n][1])
            for n, b in self.boxes.items()
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

    def _room(self, strip: int) -> float:
        return self.levels[strip + 1] - self.levels[strip]

    def _passage(
        self, line: _Line, load: Mapping[tuple[int, float], int]
    ) -> list[tuple[_Cell, float]]:
        """The free intervals on the way that goes aside least, turns least and is least full."""
        p, q = self.boxes[line.upper].x, self.boxes[line.lower].x
        ways: list[_Way] = []
        if line.first <= line.last:
            ways = [_Way(0.0, p, cell, None) for cell in self.cells[line.first] if _in(p, cell)]
        for strip in range(line.first + 1, line.last + 1):
            further: list[_Way] = []
            for cell in self.cells[strip]:
                full = load.get((strip, cell.low), 0) >= (cell.high - cell.low) / LANE
                best = None
                for way in ways:
                    low, high = max(cell.low, way.cell.low), min(cell.high, way.cell.high)
                    if high - low < 2 * _SAME:
                        continue
                    x = min(max(way.x, low), high)
                    aside = abs(x - way.x)
                    cost = way.cost + aside + _TURN * (aside > _SAME) + _FULL * full
                    if best is None or cost < best.cost:
                        best = _Way(cost, x, cell, way)
                if best:
                    further.append(best)
            ways = further
        arrived = [way for way in ways if _in(q, way.cell)]
        way = min(arrived, key=lambda way: way.cost + abs(way.x - q), default=None)
        passage: list[tuple[_Cell, float]] = []
        while way is not None:
            passage.append((way.cell, way.x))
            way = way.before
        return passage[::-1]

    # ---- ports -----------------------------------------------------------------------------------

    def _find_ports(self, lines: Iterable[_Line]) -> None:
        """Where each edge may meet its boxes: an interval of their sides, in an order that nests."""
        sides: dict[tuple[str, bool], list[_Line]] = {}
        for line in lines:
            sides.setdefault((line.upper, True), []).append(line)
            sides.setdefault((line.lower, False), []).append(line)
        for (name, below), ends in sides.items():
            middle = {other: box.x for other, box in self.boxes.items()}
            ends.sort(
                key=lambda line: [*line.trace, middle[line.lower]]
                if below
                else [*([*line.trace, middle[line.lower]][::-1]), middle[line.upper]]
            )
            wanted = [self._wanted(line, name) for line in ends]
            for run, line in zip(self._side(name, wanted), ends, strict=True):
                cell = line.cells[0 if below else -1]
                if min(run.high, cell.high) - max(run.low, cell.low) > _SAME:
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

    def _side(self, name: str, wanted: Sequence[float]) -> list[_Run]:
        box, count = self.boxes[name], len(wanted)
        room = box.w - 2 * HALF_HEAD
        apart = min(2 * HALF_HEAD + 2.0, room / count)
        low, high = box.x - room / 2, box.x + room / 2
        places = keep_apart(wanted, [apart] * (count - 1), low, high)
        # Half of what is free between neighbours belongs to each.
        fences = [low, *((a + b) / 2 for a, b in pairwise(places)), high]
        keep = min(HALF_HEAD + 0.5, apart / 2)
        return [
            _Run(
                first=0, last=0, wanted=place,
                low=left + (keep if number else 0.0),
                high=right - (keep if number < count - 1 else 0.0),
            )
            for number, (place, (left, right)) in enumerate(
                zip(places, pairwise(fences), strict=True)
            )
        ]  # fmt: skip

    def _place_ports(self, lines: Iterable[_Line]) -> None:
        """Settle ports: straight edges first, then each where nothing else runs in its strip."""
        self.taken = taken = _Taken()
        rest: list[_Run] = []
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
        return free and _in(x, line.cells[strip - line.first])

    def _further(self, line: _Line, strip: int, end: _Run) -> _Run:
        """The run that begins in a strip at the latest and goes as far as it can."""
        first = line.first
        cells = line.cells
        low, high = cells[strip - first]
        begin = last = strip
        while last < line.last and last < end.first:
            cell = cells[last + 1 - first]
            left = min(high, cell.high) - max(low, cell.low)
            # What several edges share must not become a needle's eye; better turn once more.
            if left < _SAME or (left < 3 * LANE and last > strip and left < high - low):
                break
            low, high = max(low, cell.low), min(high, cell.high)
            last += 1
        while begin > first:
            cell = cells[begin - 1 - first]
            if cell.low > low or cell.high < high:  # it must not narrow what is left
                break
            begin -= 1
        upper, lower = self.boxes[line.upper], self.boxes[line.lower]
        middle = (self.levels[strip] + self.levels[last + 1]) / 2
        share = (middle - upper.y) / max(lower.y - upper.y, 1.0)
        wanted = upper.x + share * (lower.x - upper.x)
        return _Run(first=begin, last=last, low=low, high=high, wanted=wanted)

    def _turn(self, line: _Line, before: _Run, after: _Run, first: int, last: int) -> None:
        """Cross from a run to the next in a strip that both reach: with room, open, least full."""

        def fit(strip: int) -> tuple[float, bool, int, int]:
            cell = line.cells[strip - line.first]
            roomy = min(self._room(strip), 2 * LANE)  # more is not better: the rest would crowd
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
            ordered = _from_above([(line.edge, x, to) for line, _, x, to in turns])
            spans: list[tuple[Edge, float, float]] = []
            for place in ordered:
                line, _, x, to = turns[place]
                low, high = min(x, to) - _SAME, max(x, to) + _SAME
                over = [
                    lane
                    for lane, (edge, left, right) in zip(lanes, spans, strict=True)
                    if (left < high and low < right) or edge == line.edge
                ]
                lanes.append(max(over, default=-1) + 1)
                spans.append((line.edge, low, high))
            step = self._room(strip) / (max(lanes) + 2)
            self.short[strip] = (LANE - step) * (max(lanes) + 2)
            for place, lane in zip(ordered, lanes, strict=True):
                line, number, *_ = turns[place]
                line.heights[number] = self.levels[strip] + (lane + 1) * step

    def _way(self, line: _Line) -> tuple[Point, ...]:
        upper, lower = self.boxes[line.upper], self.boxes[line.lower]
        points = [(line.runs[0].x, upper.y + upper.h / 2)]
        for y, (before, after) in zip(line.heights, pairwise(line.runs), strict=True):
            points += [(before.x, y), (after.x, y)]
        points.append((line.runs[-1].x, lower.y - lower.h / 2))
        return tuple(points if line.upper == line.edge[0] else points[::-1])


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


def _in(x: float, cell: _Cell) -> bool:
    return cell.low - _SAME <= x <= cell.high + _SAME


def _complement(blocked: list[tuple[float, float]]) -> list[_Cell]:
    """What is free between the intervals."""
    cells: list[_Cell] = []
    reached = -math.inf
    for low, high in sorted(blocked):
        if low - reached > 2 * _SAME:
            cells.append(_Cell(reached, low))
        reached = max(reached, high)
    return [*cells, _Cell(reached, math.inf)]


class _Taken:
    """Where runs stand in each strip."""

    def __init__(self) -> None:
        self.strips: dict[int, list[float]] = {}

    def put(self, first: int, last: int, x: float) -> None:
        for strip in range(first, last + 1):
            self.strips.setdefault(strip, []).append(x)

    def _near(self, strips: Iterable[int]) -> list[float]:
        return sorted({x for strip in strips for x in self.strips.get(strip, ())})

    def clear(self, first: int, last: int, x: float) -> float:
        """How far the next run in these strips is."""
        return min((abs(x - other) for other in self._near(range(first, last + 1))), default=_WIDE)

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


def _from_above(turns: Sequence[tuple[Edge, float, float]]) -> list[int]:
    """An order of pieces that run across a strip, from top to bottom, with few crossings.

    Each comes down at its first place and goes on down at its second. What comes down where another
    leaves must be above it, or the two would run along each other; and an edge never goes back up.
    """
    cost = [[_above(one, other) for other in turns] for one in turns]
    waiting = list(range(len(turns)))
    for i, (edge, _, to) in enumerate(turns):
        for j, (other, x, _) in enumerate(turns):
            if i != j and edge == other and to == x:
                cost[j][i] += _FULL
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
    return crossings + 100.0 * (abs(to - its_x) < LANE / 2)
