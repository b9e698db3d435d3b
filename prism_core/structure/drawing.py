"""A graph with what its file says about how to show it; decoration never changes the graph."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prism_core.errors import StructureError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prism_core.structure.dag import Dag


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A DAG, where its nodes stand, and the roles that its file gives them.

    Attributes:
        dag: the graph itself.
        positions: (x, y) of some nodes in the file's own unit, x to the right and y downwards.
        outcome: nodes marked as outcome, in node order.
        exposure: nodes marked as exposure, in node order.

    Raises:
        StructureError: when one of them names no node, or a position is not finite.
    """

    dag: Dag
    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    outcome: tuple[str, ...] = ()
    exposure: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = set(self.dag.nodes)
        for part in ("positions", "outcome", "exposure"):
            for name in getattr(self, part):
                if name not in known:
                    raise StructureError(
                        f"{part} names {name!r}, which is not a node of the graph.", field=part
                    )
        for name, place in self.positions.items():
            if len(place) != 2 or not all(math.isfinite(number) for number in place):
                raise StructureError(
                    f"The position of {name!r} must be two finite numbers.", field="positions"
                )
