"""Routes of edges round boxes, wherever the boxes stand, and their SVG paths.

An edge goes from its cause to its effect in straight pieces, down and across (`orthogonal`). No
edge runs behind a box, along another edge, or under the head of an arrow that is not its own:
around a box there is a margin longer than a head, and only its own edges enter it.

Where boxes stand side by side rather than one above the other, the same is done turned by a quarter
(a person may put them anywhere). Where there is no room at all an edge is a straight line.

Nothing is random, and a graph is routed in one go: the result depends on boxes and edges only.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from prism_core.structure.routing.orthogonal import Sheet
from prism_core.structure.routing.strips import HALF_HEAD, HEAD, Box, Edge, Point

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


CROWDED = 400_000
"""Edges times boxes; routing many more takes seconds."""
INSIDE = 6.0
"""How far a line begins inside of its box."""
_ROUND = 8.0  # radius of a bend
_CLEAR = 2 * HEAD + 2.0  # two boxes this far apart have room for an arrow between them


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
    # Thin margins last: they are for edges that find no way with the usual ones.
    for aside, thin in ((first, False), (not first, False), (first, True), (not first, True)):
        left = [edge for edge in edges if edge in clear[aside] and edge not in ways]
        sheet = Sheet(turned if aside else boxes, left, thin=thin)
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
    sheet = Sheet(boxes, edges)
    sheet.ways()
    return sheet.missing()


def svg_path(way: Sequence[Point]) -> str:
    """An SVG path along the way, with rounded bends.

    It begins a little inside of its box, which is to be drawn over it: some outlines are round.
    """
    x, y = _towards(way[0], way[1], -INSIDE)
    words = [f"M{x:g},{y:g}"]
    for before, corner, after in zip(way, way[1:], way[2:], strict=False):
        reach = min(_ROUND, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        (x, y), (to_x, to_y) = _towards(corner, before, reach), _towards(corner, after, reach)
        words.append(f"L{x:g},{y:g} Q{corner[0]:g},{corner[1]:g} {to_x:g},{to_y:g}")
    return " ".join([*words, f"L{way[-1][0]:g},{way[-1][1]:g}"])


def svg_head(way: Sequence[Point]) -> str:
    """The arrowhead at the end of the way, as an SVG path."""
    (x, y), end = way[-2], way[-1]
    # Two corners at one place have no direction; the head is drawn as a point.
    length = math.dist((x, y), end) or 1.0
    dx, dy = (end[0] - x) / length, (end[1] - y) / length
    back = (end[0] - HEAD * dx, end[1] - HEAD * dy)
    corners = [
        end,
        *((back[0] - s * HALF_HEAD * dy, back[1] + s * HALF_HEAD * dx) for s in (-1, 1)),
    ]
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
    # Two corners at one place would divide by 0.
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
