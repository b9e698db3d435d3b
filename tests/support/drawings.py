"""What a drawing shows, read from its SVG as an eye would: points along each edge, and boxes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP = 1.0
"""Most distance between points along an edge."""
HEAD, HALF_HEAD = 9.0, 4.0
Rectangle = tuple[float, float, float, float]  # left, top, right, bottom
Points = NDArray[np.float64]

_TOKEN = re.compile(r"[A-Za-z]|-?\d+(?:\.\d+)?(?:e-?\d+)?")


def points(path: str) -> Points:
    """Points along an SVG path of the commands M, L, Q and C with absolute places."""
    words = _TOKEN.findall(path)
    taken: list[Points] = []
    here = np.zeros(2)
    command, place = "", 0
    while place < len(words):
        if words[place].isalpha():
            command, place = words[place], place + 1
        count = {"M": 1, "L": 1, "Q": 2, "C": 3}[command]
        numbers = [float(word) for word in words[place : place + 2 * count]]
        place += 2 * count
        corners = np.vstack([here, np.array(numbers).reshape(-1, 2)])
        if command != "M":
            taken.append(_bezier(corners))
        here = corners[-1]
    return np.vstack(taken)


def _bezier(corners: Points) -> Points:
    length = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum())
    t = np.linspace(0.0, 1.0, max(int(length / STEP) + 2, 3))[:, None]
    ways = [np.broadcast_to(corner, (len(t), 2)) for corner in corners]
    while len(ways) > 1:  # de Casteljau
        ways = [one * (1 - t) + other * t for one, other in pairwise(ways)]
    return ways[0]


def in_report(html: str, edges: Sequence[tuple[str, str]]) -> Seen:
    """The first graph of a report.

    Args:
        html: the report.
        edges: of the graph, in the order in which they are drawn.
    """
    svg = re.findall(r'<svg class="graph".*?</svg>', html, flags=re.DOTALL)[0]
    paths = re.findall(r'<path[^>]* d="([^"]+)" marker-end', svg)
    boxes: dict[str, Rectangle] = {}
    for name, group, inside in re.findall(
        r"<g[^>]*><title>([^:<]*):[^<]*</title>(?:<g([^>]*)>)?(.*?)</g>", svg, flags=re.DOTALL
    ):
        rectangle = re.findall(
            r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', inside
        )
        if rectangle:
            x, y, w, h = map(float, rectangle[0])
            boxes[name] = (x, y, x + w, y + h)
            continue
        right, down = re.findall(r"translate\(([-\d.]+),([-\d.]+)\)", group)[0]
        around = points_of_outline(re.findall(r'<path d="([^"]+)"', inside)[0])
        place = np.array([float(right), float(down)])
        (left, top), (last, bottom) = around.min(axis=0) + place, around.max(axis=0) + place
        boxes[name] = (left, top, last, bottom)
    drawn = [edge for edge in edges if set(edge) <= set(boxes)]
    return Seen(boxes, {e: points(path) for e, path in zip(drawn, paths, strict=True)})


def points_of_outline(path: str) -> Points:
    """The corners of an outline: a polygon, or sides (h, v) and arcs (a) that follow each other."""
    here, corners = np.zeros(2), []
    step = {"h": np.array([1.0, 0.0]), "v": np.array([0.0, 1.0])}
    for command, text in re.findall(r"([MLhva])([^MLhvaZ]*)", path):
        numbers = [float(word) for word in re.findall(r"-?\d+(?:\.\d+)?", text)]
        if command == "a" and numbers[3]:  # half an ellipse
            middle = here + np.array(numbers[-2:]) / 2
            reach = np.array([0.0, numbers[1]])
            corners += [middle - reach, middle + reach]
        if command in step:
            here = here + numbers[0] * step[command]
        else:
            here = np.array(numbers[-2:]) + (here if command == "a" else 0.0)
        corners.append(here)
    return np.array(corners)


@dataclass
class Seen:
    """A drawing: boxes by name, and points along the edge from each cause to each effect."""

    boxes: dict[str, Rectangle]
    edges: dict[tuple[str, str], Points]

    def behind_boxes(self) -> list[tuple[tuple[str, str], str]]:
        """Edges with a box that they cross and that is not one of their ends."""
        return [
            (edge, name)
            for name, rectangle in self.boxes.items()
            for edge in self._within(rectangle)
            if name not in edge
        ]

    def inside_ends(self) -> list[tuple[tuple[str, str], str]]:
        """Edges that run through one of their own ends; a line may begin under its border."""
        return [
            (edge, name)
            for name, (left, top, right, bottom) in self.boxes.items()
            for edge in self._within((left + 7.0, top + 7.0, right - 7.0, bottom - 7.0))
            if name in edge
        ]

    def under_heads(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Edges with another whose arrowhead they run under."""
        return [
            (edge, other)
            for other, way in self.edges.items()
            for edge in self._within(head(way))
            if edge != other
        ]

    def along(self, length: float) -> set[tuple[int, int]]:
        """Numbers of edges that share their way for longer than `length`: in all, not at once.

        Points share their way where they fall into one cell of 1.2 by 1.2; a second grid, moved by
        half a cell, sees what the first one parts. Edges that cross share two cells.
        """
        found: set[tuple[int, int]] = set()
        for offset in (0.0, 0.6):
            cells = np.floor((self._points + offset) / 1.2).astype(np.int64)
            cells -= cells.min(axis=0, initial=0)
            # One number for cell and edge: far faster to sort than rows of three.
            place = cells[:, 0] * (cells[:, 1].max(initial=0) + 1) + cells[:, 1]
            place, number = np.divmod(
                np.unique(place * len(self.edges) + self._numbers), max(1, len(self.edges))
            )
            same = np.diff(place) == 0
            pairs = zip(number[:-1][same].tolist(), number[1:][same].tolist(), strict=True)
            found |= {pair for pair, count in Counter(pairs).items() if count * 1.2 > length}
        return found

    @cached_property
    def _points(self) -> Points:
        return np.vstack([*self.edges.values(), np.zeros((0, 2))])

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        """Which edge each of the points belongs to."""
        return np.repeat(np.arange(len(self.edges)), [len(way) for way in self.edges.values()])

    @cached_property
    def _rightward(self) -> tuple[Points, NDArray[np.int64]]:
        """The points from left to right, and the edge of each."""
        order = np.argsort(self._points[:, 0], kind="stable")
        return self._points[order], self._numbers[order]

    def _within(self, rectangle: Rectangle) -> list[tuple[str, str]]:
        left, top, right, bottom = rectangle
        points, numbers = self._rightward
        first = np.searchsorted(points[:, 0], left, side="right")
        last = np.searchsorted(points[:, 0], right, side="left")
        y = points[first:last, 1]
        inside = (y > top) & (y < bottom)
        edges = list(self.edges)
        return [edges[number] for number in np.unique(numbers[first:last][inside])]


def head(way: Points) -> Rectangle:
    """The rectangle around the arrowhead at the end of a way."""
    end = way[-1]
    back = way[np.linalg.norm(way - end, axis=1) <= HEAD][0] - end
    dx, dy = (HALF_HEAD, 0.0) if abs(back[1]) > abs(back[0]) else (0.0, HALF_HEAD)
    xs, ys = sorted((end[0], end[0] + back[0])), sorted((end[1], end[1] + back[1]))
    return xs[0] - dx, ys[0] - dy, xs[1] + dx, ys[1] + dy
