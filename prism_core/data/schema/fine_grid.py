"""Fine grid of a column: public cells that divide its declared bins, for counts that find bins.

It follows from the declaration alone. A declared bin is a union of its fine cells, so codes of the
fine grid give the declared codes, whatever stands in a cell.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema

FINE_CELLS = 64
"""Cells of the grid, about: each declared bin is divided into so many together."""

_HALVINGS = 10
"""Cells towards 0 that halve: a quantity of many magnitudes has most of its values there."""


def fine_column(column: Column) -> Column:
    """The column with its bins divided; itself where it has levels, or fine bins already."""
    if not column.binned or 2 * column.level_count > FINE_CELLS:
        return column
    zero = column.kind == "numeric"
    edges = _fine_edges(*column.bounds, column.edges, column.decimals, zero=zero)
    if column.special:
        edges = column.roomy(edges)
        # A declared bin must stay a union of cells.
        if not set(column.edges).issubset(edges):
            return column
    return replace(column, edges=edges, open_bins=False)


# By bounds and edges: columns that compare equal may still write their values differently.
@cache
def _fine_edges(
    low: float, high: float, declared: tuple[float, ...], decimals: int | None, *, zero: bool
) -> tuple[float, ...]:
    cuts, parts = (low, *declared, high), FINE_CELLS // (len(declared) + 1)
    found = {
        _on_grid(start + (end - start) * i / parts, decimals)
        for start, end in itertools.pairwise(cuts)
        for i in range(1, parts)
    }
    if zero and low <= 0.0 < high:
        first = min((edge for edge in (*found, *declared) if edge > 0.0), default=high)
        halves = (_on_grid(first / 2**i, decimals) for i in range(1, _HALVINGS + 1))
        found |= {0.0, *(half for half in halves if half > 0.0)}
    # An edge at the lower bound makes a cell of it alone, which only 0 is given.
    inside = {edge for edge in found if low < edge < high or edge == low == 0.0}
    return tuple(sorted(inside.union(declared)))


def _on_grid(value: float, decimals: int | None) -> float:
    if decimals is None:
        return float(value)
    scale = 10**decimals
    return float(np.floor(value * scale + 0.5) / scale)


def declared_codes(column: Column) -> NDArray[np.int32]:
    """The declared code of every code of the fine grid."""
    fine = fine_column(column)
    # A cell lies in the bin that its upper end lies in; the last has none above it.
    bins = np.searchsorted(np.array(column.edges), np.array([*fine.edges, np.inf]), side="left")
    extra = column.level_count + np.arange(fine.size - fine.level_count)
    found = np.concatenate([bins, extra]) if column.binned else np.arange(column.size)
    return found.astype(np.int32)


def middle_codes(column: Column) -> NDArray[np.int32]:
    """For every declared code the middle one of its fine codes.

    It stands for a row of which no more than the declared code is known.
    """
    codes = declared_codes(column)
    starts = np.searchsorted(codes, np.arange(column.size), side="left")
    ends = np.searchsorted(codes, np.arange(column.size), side="right")
    return ((starts + ends - 1) // 2).astype(np.int32)


def fine_schema(schema: Schema) -> Schema:
    """The schema with every column on its fine grid."""
    return replace(schema, columns=tuple(map(fine_column, schema.columns)))
