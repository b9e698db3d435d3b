"""Edge-list CSV with the header `from,to`."""

from __future__ import annotations

import csv
import io

from prism_core.errors import StructureError
from prism_core.structure.dag import Dag


def read(text: str) -> Dag:
    """A graph from lines `cause,effect` under the header `from,to`.

    A line with an empty `to` declares a node without an edge.
    """
    try:
        lines = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error:
        raise StructureError("The edge list is not a regular CSV.", field="dag") from None
    rows = [row for row in lines if any(cell.strip() for cell in row)]
    if not rows or [cell.strip().lower() for cell in rows[0]] != ["from", "to"]:
        raise StructureError("An edge list is a CSV whose first line is 'from,to'.", field="dag")
    nodes: dict[str, None] = {}
    edges: list[tuple[str, str]] = []
    for number, row in enumerate(rows[1:], start=2):
        cells = [cell.strip() for cell in row]
        if len(cells) != 2 or not cells[0]:
            raise StructureError(
                f"Line {number} of the edge list needs two cells: a cause and its effect.",
                field="edges",
            )
        nodes[cells[0]] = None
        if cells[1]:
            nodes[cells[1]] = None
            edges.append((cells[0], cells[1]))
    return Dag(nodes=tuple(nodes), edges=tuple(edges))


def write(dag: Dag) -> str:
    """The graph as an edge list; isolated nodes have an empty second cell."""
    out = io.StringIO()
    # Older versions of csv leave a name with a carriage return unquoted.
    unusual = any("\r" in name for name in dag.nodes)
    quoting = csv.QUOTE_ALL if unusual else csv.QUOTE_MINIMAL
    writer = csv.writer(out, lineterminator="\n", quoting=quoting)
    writer.writerow(["from", "to"])
    writer.writerows(dag.edges)
    joined = {name for edge in dag.edges for name in edge}
    writer.writerows([node, ""] for node in dag.nodes if node not in joined)
    return out.getvalue()
