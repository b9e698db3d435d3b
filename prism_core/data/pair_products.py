"""Counts of all pairs of narrow columns at once, as one product of matrices.

A table of zeros and ones with a column for every code of every column, multiplied with itself,
holds the counts of all pairs. A processor multiplies matrices so much faster than it fills
tables that this wins where columns are narrow, however many of the products nobody asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema import Schema

NARROW = 16
"""Most codes of a column that is counted so; a wider one costs more here than by itself."""

_LEVELS = 4_096  # of all columns together: 128 MiB of counts, 128 MiB of ones
_ROWS = 8_192  # at a time; fewer than 2^24, up to where 32-bit floats hold every whole number


class PairProducts:
    """Adds up the pairs of these columns over chunks of rows; as private as the rows.

    Args:
        schema: the domain.
        names: the columns.
    """

    def __init__(self, schema: Schema, names: Sequence[str]) -> None:
        ends = np.cumsum([schema.size(name) for name in names])
        self._span = {
            name: slice(int(end) - schema.size(name), int(end))
            for name, end in zip(names, ends, strict=True)
        }
        self._counts = np.zeros((int(ends[-1]), int(ends[-1])), dtype=np.int64)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed."""
        return tuple(self._span)

    def add(self, codes: Mapping[str, NDArray[np.integer]], rows: int) -> None:
        """Count more rows; codes by column, shape (rows,)."""
        for start in range(0, rows, _ROWS):
            size = min(_ROWS, rows - start)
            ones = np.zeros((size, len(self._counts)), dtype=np.float32)
            every = np.arange(size)
            for name, span in self._span.items():
                ones[every, span.start + codes[name][start : start + size]] = 1.0
            self._counts += (ones.T @ ones).astype(np.int64)

    def holds(self, clique: Sequence[str]) -> bool:
        """Whether it is a pair of these columns."""
        return len(clique) == 2 and clique[0] in self._span and clique[1] in self._span

    def counts(self, clique: Sequence[str]) -> NDArray[np.int64]:
        """Counts of a pair, axes in its order."""
        first, second = clique
        return np.ascontiguousarray(self._counts[self._span[first], self._span[second]])


def products_for(schema: Schema, cliques: Iterable[Sequence[str]]) -> PairProducts | None:
    """What counts the pairs of narrow columns among these marginals, where that is faster.

    Depends on the declared domain alone.
    """
    pairs = [
        clique for clique in cliques
        if len(clique) == 2 and max(schema.shape(clique)) <= NARROW
    ]  # fmt: skip
    names = schema.canonical(name for pair in pairs for name in pair)
    levels = sum(map(schema.size, names))
    # Half of all pairs at least, or most of the product is for nothing.
    few = not pairs or 4 * len(pairs) < len(names) * (len(names) - 1)
    return None if few or levels > _LEVELS else PairProducts(schema, names)
