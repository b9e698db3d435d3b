"""The declared value that stands for a bin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.data.column import Column


def representatives(column: Column) -> NDArray[np.float64]:
    """The value that stands for each bin, in the column's own unit; shape (level_count,).

    The middle of the bin; of a bin with whole numbers (or a fixed number of decimals) the middle
    of the values it holds, so a bin of one value is that value. It is also the mean of what
    `encoding.decode` draws in the bin (where no decimals are declared, but for their rounding to
    a thousandth of it). Public: it follows from the declaration alone.
    """
    if column.decimals is None:
        ends = [column.bin_bounds(code) for code in range(column.level_count)]
        return np.array([(low + high) / 2.0 for low, high in ends])
    scale = 10.0**column.decimals
    steps = [column.grid(code) for code in range(column.level_count)]
    return np.array([(first + last) / 2.0 / scale for first, last in steps])
