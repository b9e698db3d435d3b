"""How a graph came about and what learning it cost, beside its nodes and edges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prism_core.errors import PrismError, StructureError
from prism_core.privacy.prior import Prior

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prism_core.structure.dag import Dag
    from prism_core.structure.drawing import Drawing


def told(dag: Dag) -> dict[str, Any]:
    """Entries `provenance` and `learned` of a graph that was learned; nothing for another one."""
    found: dict[str, Any] = {}
    if dag.learned:
        found["provenance"] = dag.provenance
    if dag.prior is not None:
        found["learned"] = dag.prior.to_dict()
    return found


def with_told(drawing: Drawing, entries: Mapping[str, Any]) -> Drawing:
    """The drawing with what `told` wrote about its graph.

    Raises:
        StructureError: when that cannot be read. A cost without its provenance was not written by
            this program; the graph refuses it.
    """
    learned = entries.get("learned")
    try:
        prior = None if learned is None else Prior.from_dict(learned)
    except PrismError as error:
        raise StructureError(
            f"What the graph cost cannot be read: {error}", field="learned"
        ) from None
    provenance = entries.get("provenance", "declared")
    return replace(drawing, dag=replace(drawing.dag, provenance=provenance, prior=prior))
