"""Adjacency-matrix CSV: a row is a cause, a column an effect.

The first row names the columns; the first cell of each other row names its node, as pandas and R
write it. Without names of rows they are in the order of the columns. Cells are 1 or 0 (also 1.0,
0.0, TRUE, FALSE, or empty for 0). Two nodes that point at each other are what other programs write
for an undirected edge, and are refused with their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.errors import StructureError
from prism_core.structure.formats._sketch import Sketch, rows_of, shown, table_of

if TYPE_CHECKING:
    from prism_core.structure.dag import Drawing

_TRUTH = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False, "": False}


def read(text: str) -> Drawing:
    """The drawing in an adjacency matrix."""
    rows = rows_of(text, "adjacency matrix")
    if not rows:
        raise StructureError("The adjacency matrix is empty.", field="dag")
    sketch = Sketch(lambda mark: f"row {mark[0]}, cell {mark[1]}")
    names, body = rows[0][1], rows[1:]
    # A corner cell stands over the names of the rows.
    named = names[0] == "" or len(body) == len(names) - 1
    names = names[1:] if named else names
    for index, name in enumerate(names):
        sketch.node(name, (rows[0][0], index + 1 + named), once=True)
    if not names or len(body) != len(names):
        raise StructureError(
            f"The adjacency matrix has {len(names)} columns and {len(body)} rows. It must be "
            "square, with the names in its first row.",
            field="dag",
        )
    for index, (number, cells) in enumerate(body):
        own = cells[0] if named else names[index]
        values = cells[1:] if named else cells
        if own != names[index] or len(values) != len(names):
            raise sketch.refuse(
                (number, 1),
                f"the row must be the one of {shown(names[index])} and hold {len(names)} values: "
                "rows and columns have the same order.",
            )
        for column, value in enumerate(values):
            mark = (number, column + 1 + named)
            _cell(sketch, mark, names[index], names[column], value)
    return sketch.drawing()


def _cell(sketch: Sketch, mark: tuple[int, int], cause: str, effect: str, value: str) -> None:
    truth = _TRUTH.get(value.lower())
    if truth is None:
        raise sketch.refuse(
            mark,
            f"a cell must be 0 or 1, not {shown(value)}. Weights are not read: write 1 where there "
            "is an edge.",
            field="edges",
        )
    if not truth:
        return
    if (effect, cause) in sketch.edges:
        raise sketch.refuse(
            mark,
            f"{shown(effect)} and {shown(cause)} point at each other, which means an undirected "
            "edge. Keep one of the two directions.",
            field="edges",
        )
    sketch.edge(cause, effect, mark)


def write(drawing: Drawing) -> str:
    """The graph as an adjacency matrix with names of rows and columns."""
    nodes, edges = drawing.dag.nodes, set(drawing.dag.edges)
    rows = [[node, *("1" if (node, other) in edges else "0" for other in nodes)] for node in nodes]
    return table_of([["", *nodes], *rows], nodes)
