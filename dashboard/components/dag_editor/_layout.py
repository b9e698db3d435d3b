"""Layout of what is shown: where columns stand and how edges run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from prism_core.structure.routing.layered_layout import arrange, beneath, extent, stretched
from prism_core.structure.routing.node_boxes import box_size, lines_of
from prism_core.structure.routing.routes import middle, route, svg_head, svg_path
from prism_core.structure.routing.strips import Box

if TYPE_CHECKING:
    from collections.abc import Mapping

Edges: TypeAlias = tuple[tuple[str, str], ...]
Places: TypeAlias = tuple[tuple[str, float, float], ...]

_ROOM: Final = (1100.0, 480.0)  # about what the drawing has on a screen
_BREADTHS: Final = (700.0, 1000.0, 1400.0, 2000.0, 3000.0)
_MANY: Final = 300  # columns; one breadth is tried for more, each takes seconds


@dataclass(frozen=True, kw_only=True)
class EdgePath:
    """How an edge runs: SVG paths of its line and of its head, and its middle."""

    edge: tuple[str, str]
    line: str
    head: str
    middle: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class ShownGraph:
    """A graph as it is to be shown.

    Attributes:
        boxes: of the columns that are shown.
        ways: of the edges between them.
        arranged: whether all places are new; else most were given.
    """

    boxes: Mapping[str, Box]
    ways: tuple[EdgePath, ...]
    arranged: bool

    @property
    def positions(self) -> dict[str, tuple[float, float]]:
        """The middle of each box."""
        return {name: (box.x, box.y) for name, box in self.boxes.items()}


def sizes_of(names: tuple[str, ...], edges: Edges) -> dict[str, tuple[float, float]]:
    """Width and height of every column's box: room for its name and for its arrows."""
    causes, effects = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for cause, effect in edges:
        causes[effect] += 1
        effects[cause] += 1
    return {name: box_size(lines_of(name), max(causes[name], effects[name])) for name in names}


@lru_cache(maxsize=16)  # the page runs again and again on the same graph
def shown_graph(
    names: tuple[str, ...], shown: frozenset[str], edges: Edges, places: Places, *, foreign: bool
) -> ShownGraph:
    """Place the columns that have no place, and lead the edges.

    Args:
        names: all columns, in table order.
        shown: those that are shown.
        edges: cause and effect.
        places: name, x and y of columns; of none: all are laid out.
        foreign: whether the places are in a unit of their own.
    """
    every = sizes_of(names, edges)
    sizes = {name: every[name] for name in names if name in shown}
    inner = tuple(edge for edge in edges if shown.issuperset(edge))
    given = {name: (x, y) for name, x, y in places if name in sizes}
    boxes: Mapping[str, Box] | None = None
    if given and foreign:
        boxes = stretched(sizes, given, _ROOM)
    elif given:
        boxes = {name: Box(*place, *sizes[name]) for name, place in given.items()}
    arranged = boxes is None
    if boxes is None:
        boxes = _arranged(sizes, inner)
    else:
        further = [name for name in sizes if name not in boxes]
        boxes = {**boxes, **beneath(further, sizes, boxes, _ROOM[0])}
    # The browser keeps whole pixels: a way counts for exactly these places.
    boxes = {n: box._replace(x=round(box.x), y=round(box.y)) for n, box in boxes.items()}
    ways = tuple(
        EdgePath(edge=edge, line=svg_path(way), head=svg_head(way), middle=middle(way))
        for edge, way in route(boxes, inner).items()
    )
    return ShownGraph(boxes=boxes, ways=ways, arranged=arranged)


def _arranged(sizes: Mapping[str, tuple[float, float]], edges: Edges) -> Mapping[str, Box]:
    """The layout that fills the screen with the largest letters."""
    best: tuple[float, Mapping[str, Box]] = (-1.0, {})
    for breadth in _BREADTHS if len(sizes) <= _MANY else _BREADTHS[-1:]:
        boxes = arrange(sizes, edges, breadth)
        _, _, right, bottom = extent(boxes)
        scale = min(_ROOM[0] / max(right, 1.0), _ROOM[1] / max(bottom, 1.0))
        if scale > best[0]:
            best = (scale, boxes)
    return best[1]
