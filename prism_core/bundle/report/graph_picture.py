"""The picture of a report's graph, as the page Structure draws it.

It runs from causes on top to effects below, as a page does. Of a graph that would be too small to
read, what stands next to the target and S is drawn, and the table under the figure lists every
column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.structure.roles import NodeRole, node_roles, touching
from prism_core.structure.routing.layered_layout import arrange
from prism_core.structure.routing.node_boxes import NODE_STYLES, NodeStyle, box_size, lines_of
from prism_core.structure.routing.routes import route, svg_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prism_core.planning.plan import Plan
    from prism_core.structure.dag import Dag
    from prism_core.structure.routing.strips import Box, Edge, Point

MOST = 40
"""Most columns that are drawn."""
PAPER = (650.0, 700.0)
"""Most a drawing may be wide and high on paper, in pixels of CSS."""
_FEWER = (MOST, 24, 12)
_LEGIBLE = 0.5  # letters of 6 points
_LARGEST = 0.8
# Which width lets letters be largest depends on the graph, so several are tried.
_BREADTHS = (600.0, 760.0, 960.0)
# Strokes are wider than the paths that the frame is computed from.
_EDGE = 6.0


@dataclass(frozen=True, kw_only=True)
class Node:
    """A column as it is drawn: its role, and where its box stands."""

    role: NodeRole
    box: Box

    @property
    def look(self) -> NodeStyle:
        """How its role is drawn."""
        return NODE_STYLES[self.role.role]

    @property
    def outline(self) -> str:
        """The SVG path of its border, around the middle of its box."""
        return self.look.outline(self.box.w, self.box.h)

    @property
    def second(self) -> str:
        """The SVG path of a second border within; empty where it has none."""
        inset = 10.0 if self.role.in_s else 8.0
        return self.look.outline(self.box.w - inset, self.box.h - inset) if self.look.double else ""

    @property
    def lines(self) -> tuple[str, ...]:
        """Its name, broken into lines."""
        return lines_of(self.role.name)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A graph on paper.

    Attributes:
        frame: left, top, width and height of the drawing, in its own unit.
        scale: pixels of CSS a unit.
        nodes: the columns that are drawn.
        paths: an SVG path for every edge between them.
        roles: of every column.
        left_out: how many columns are not drawn.
    """

    frame: tuple[float, float, float, float]
    scale: float
    nodes: tuple[Node, ...]
    paths: tuple[str, ...]
    roles: tuple[NodeRole, ...]
    left_out: int

    @property
    def looks(self) -> list[NodeStyle]:
        """The kinds of nodes in it, for its legend."""
        used = {node.role.role for node in self.nodes}
        return [look for role, look in NODE_STYLES.items() if role in used]


def picture(plan: Plan) -> Picture | None:
    """The plan's graph; None where it has none. Reads no row."""
    dag = plan.dag
    if dag is None:
        return None
    roles = node_roles(dag, plan.task.target, plan.s if plan.s_is_final else ())
    first = _by_nearness(dag, plan)
    # A graph smaller than several of the steps would be drawn the same way again: a set.
    counts = sorted({min(most, len(first)) for most in _FEWER}, reverse=True)
    drawn = [_drawn(dag, set(first[: counts[0]]))]
    while len(drawn) < len(counts) and drawn[-1].scale < _LEGIBLE:
        drawn.append(_drawn(dag, set(first[: counts[len(drawn)]])))
    sheet = drawn[-1]
    by_name = {role.name: role for role in roles}
    return Picture(
        frame=sheet.frame,
        scale=sheet.scale,
        nodes=tuple(Node(role=by_name[name], box=box) for name, box in sheet.boxes.items()),
        paths=tuple(map(svg_path, sheet.ways.values())),
        roles=roles,
        left_out=len(dag.nodes) - len(sheet.boxes),
    )


def _by_nearness(dag: Dag, plan: Plan) -> list[str]:
    """All columns: the target, S and what touches the target, the rest; without an edge last."""
    near = {*plan.s, *touching(dag, [plan.task.target])}
    # False comes first: the target, then what touches it, then whatever has an edge.
    return sorted(
        dag.nodes,
        key=lambda name: (name != plan.task.target, name not in near, not dag.graph.degree(name)),
    )


@dataclass(frozen=True, kw_only=True)
class _Sheet:
    boxes: Mapping[str, Box]
    ways: Mapping[Edge, tuple[Point, ...]]

    @property
    def frame(self) -> tuple[float, float, float, float]:
        xs = [x for way in self.ways.values() for x, _ in way]
        ys = [y for way in self.ways.values() for _, y in way]
        every = self.boxes.values()
        left = min([box.x - box.w / 2 for box in every] + xs) - _EDGE
        top = min([box.y - box.h / 2 for box in every] + ys) - _EDGE
        right = max([box.x + box.w / 2 for box in every] + xs) + _EDGE
        bottom = max([box.y + box.h / 2 for box in every] + ys) + _EDGE
        return left, top, round(right - left, 1), round(bottom - top, 1)

    @property
    def scale(self) -> float:
        *_, width, height = self.frame
        return round(min(PAPER[0] / width, PAPER[1] / height, _LARGEST), 3)


def _drawn(dag: Dag, shown: set[str]) -> _Sheet:
    """These columns and the edges between them, as wide as lets letters be largest."""
    names = [name for name in dag.nodes if name in shown]
    # Both ends: an arrow to a column that is not drawn would lead nowhere.
    edges = [edge for edge in dag.edges if shown.issuperset(edge)]
    # Room for arrows side by side at the border of its box.
    sizes = {name: box_size(lines_of(name), _most_arrows(name, edges)) for name in names}
    sheets = (_routed(sizes, edges, breadth) for breadth in _BREADTHS)
    return max(sheets, key=lambda sheet: sheet.scale)


def _routed(
    sizes: Mapping[str, tuple[float, float]], edges: Sequence[Edge], breadth: float
) -> _Sheet:
    boxes = arrange(sizes, edges, breadth)
    return _Sheet(boxes=boxes, ways=route(boxes, edges))


def _most_arrows(name: str, edges: Iterable[Edge]) -> int:
    """The larger of its numbers of causes and of effects."""
    ends = [(cause == name, effect == name) for cause, effect in edges]
    return max(sum(cause for cause, _ in ends), sum(effect for _, effect in ends))
