"""The graph of a report as boxes and arrows on paper: places only, drawn by the template.

It runs from causes on top to effects below, as a page does. Of a large graph, what stands next to
the target and S is drawn, and the table under the figure lists every column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx

from prism_core.structure.roles import node_roles, touching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.plan import Plan
    from prism_core.structure.dag import Dag
    from prism_core.structure.roles import NodeRole

MOST = 24
"""Most columns that are drawn."""
WIDE, HIGH = 124, 30
"""Size of a box; a unit is a pixel on screen."""
_RIGHT, _DOWN = 140, 68
_ABREAST = 5
_LETTERS = 16
_SWEEPS = 4


@dataclass(frozen=True, kw_only=True)
class Box:
    """A column: its role and the left upper corner of its box."""

    role: NodeRole
    x: float
    y: float

    @property
    def look(self) -> str:
        """The name of its look in the style sheet."""
        return "s" if self.role.in_s else self.role.role

    @property
    def label(self) -> str:
        """Its name, cut in the middle where it is long."""
        name = "".join(c if c.isprintable() else " " for c in self.role.name)
        if len(name) <= _LETTERS:
            return name
        tail = (_LETTERS - 1) // 2
        return name[: _LETTERS - 1 - tail] + "…" + name[len(name) - tail :]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A graph on paper.

    Attributes:
        width, height: of the drawing.
        boxes: the columns that are drawn.
        paths: an SVG path for every edge between them.
        roles: of every column.
        left_out: how many columns are not drawn.
    """

    width: float
    height: float
    boxes: tuple[Box, ...]
    paths: tuple[str, ...]
    roles: tuple[NodeRole, ...]
    left_out: int


def picture(plan: Plan) -> Picture | None:
    """The plan's graph; None where it has none. Reads no row."""
    dag = plan.dag
    if dag is None:
        return None
    target = plan.task.target
    roles = node_roles(dag, target, plan.s if plan.s_is_final else ())
    shown = _shown(dag, plan)
    rows = _rows(dag, shown)
    widest = max(len(row) for row in rows)
    by_name = {role.name: role for role in roles}
    boxes = tuple(
        Box(
            role=by_name[name], x=2.0 + (widest - len(row)) * _RIGHT / 2.0 + place * _RIGHT,
            y=2.0 + down * _DOWN,
        )
        for down, row in enumerate(rows)
        for place, name in enumerate(row)
    )  # fmt: skip
    corners = {box.role.name: box for box in boxes}
    return Picture(
        width=(widest - 1) * _RIGHT + WIDE + 4.0, height=(len(rows) - 1) * _DOWN + HIGH + 4.0,
        boxes=boxes, roles=roles, left_out=len(dag.nodes) - len(boxes),
        paths=tuple(
            _path(corners[cause], corners[effect])
            for cause, effect in dag.edges
            if cause in corners and effect in corners
        ),
    )  # fmt: skip


def _shown(dag: Dag, plan: Plan) -> list[str]:
    """Columns with an edge; of many the target, S and what touches the target, first come first."""
    joined = [name for name in dag.nodes if dag.graph.degree(name) or name == plan.task.target]
    if len(joined) <= MOST:
        return joined
    near = {plan.task.target, *plan.s, *touching(dag, [plan.task.target])}
    first = sorted(joined, key=lambda name: (name != plan.task.target, name not in near))
    kept = set(first[:MOST])
    return [name for name in joined if name in kept]


def _rows(dag: Dag, shown: Sequence[str]) -> list[list[str]]:
    """Generations from causes to effects, each ordered by where its neighbours stand.

    A generation that is too wide for a page takes several rows.
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(shown)
    graph.add_edges_from(
        (cause, effect) for cause, effect in dag.edges if cause in graph and effect in graph
    )
    order = {name: place for place, name in enumerate(dag.nodes)}
    layers = [sorted(layer, key=order.__getitem__) for layer in nx.topological_generations(graph)]
    for sweep in range(_SWEEPS):
        near = graph.pred if sweep % 2 == 0 else graph.succ
        places = {name: place for layer in layers for place, name in enumerate(layer)}
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            means = {
                name: sum(places[other] for other in near[name]) / len(near[name])
                if near[name]
                else float(places[name])
                for name in layer
            }
            layer[:] = [name for *_, name in sorted((means[n], order[n], n) for n in layer)]
            places |= {name: place for place, name in enumerate(layer)}
    return [
        layer[start : start + _ABREAST]
        for layer in layers
        for start in range(0, len(layer), _ABREAST)
    ]


def _path(cause: Box, effect: Box) -> str:
    """From the lower side of the cause to the upper side of the effect."""
    x, y = cause.x + WIDE / 2, cause.y + HIGH
    to_x, to_y = effect.x + WIDE / 2, effect.y - 3.0
    bend = (to_y - y) / 2
    return f"M{x:g},{y:g} C{x:g},{y + bend:g} {to_x:g},{to_y - bend:g} {to_x:g},{to_y:g}"
