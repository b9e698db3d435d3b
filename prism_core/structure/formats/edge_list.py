"""Edge-list CSV with the header `from,to`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.errors import StructureError
from prism_core.structure.formats._sketch import Sketch, rows_of, table_of

if TYPE_CHECKING:
    from prism_core.structure.dag import Drawing


def read(text: str) -> Drawing:
    """A graph from lines `cause,effect` under the header `from,to`.

    A line with an empty `to` declares a node without an edge.
    """
    rows = rows_of(text, "edge list")
    if not rows or [cell.lower() for cell in rows[0][1]] != ["from", "to"]:
        raise StructureError("An edge list is a CSV whose first line is 'from,to'.", field="dag")
    sketch = Sketch(lambda number: f"row {number}")
    for number, cells in rows[1:]:
        if len(cells) != 2 or not cells[0]:
            raise StructureError(
                f"Line {number} of the edge list needs two cells: a cause and its effect.",
                field="edges",
            )
        sketch.node(cells[0], number)
        if cells[1]:
            sketch.edge(cells[0], cells[1], number)
    return sketch.drawing()


def write(drawing: Drawing) -> str:
    """The graph as an edge list; isolated nodes have an empty second cell."""
    dag = drawing.dag
    joined = {name for edge in dag.edges for name in edge}
    alone = [(node, "") for node in dag.nodes if node not in joined]
    return table_of([("from", "to"), *dag.edges, *alone], dag.nodes)
