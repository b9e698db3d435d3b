"""Bounds and quantile bins from noisy counts. Post-processing: reads no row, spends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.data.column import Column
    from prism_core.learning.requests import NumericRequest

TAIL = 0.001
"""Share of the values that may fall outside the learned bounds at each end (they are clipped)."""
_STANDS_OUT = 2.0
"""Standard deviations of noise that a cumulative count must exceed to count as evidence."""


def learned_column(
    request: NumericRequest, noisy: NDArray[np.int64], sigma: float, n: int
) -> Column:
    """The column with learned bounds and edges; a usable column whatever the counts say.

    Bounds and edges are among the cuts of the public grid, so they have its decimals and every
    bin holds a cell. Where nothing stands out of the noise the grid itself is cut evenly.

    Args:
        request: the public bounds and grid.
        noisy: counts of the grid's cells, "no number" last.
        sigma: their noise.
        n: public number of rows; the true counts add up to it.
    """
    grid = request.grid
    cuts = np.array([grid.bounds[0], *grid.edges, grid.bounds[1]])
    reached, noise = cumulative(noisy, sigma, n)
    first, last = _bounds(reached, noise)
    if first is None or last is None or last < first:
        first, last = 0, len(reached) - 1
        reached = np.arange(1.0, len(reached) + 1.0)
    last = max(last, 1)  # cell 0 is a single point and needs a neighbour to have a width
    low, high = float(cuts[first]), float(cuts[last + 1])
    ascending = np.maximum.accumulate(np.maximum(reached, 0.0))
    wanted = ascending[-1] * np.arange(1, request.bins) / request.bins
    ends = cuts[1:][np.searchsorted(ascending, wanted, side="left")]
    # An edge at the lower bound parts {lower} from the rest; only cell 0 is such a point.
    inside = (ends < high) & ((ends > low) | ((ends == low) & (first == 0)))
    edges = tuple(float(edge) for edge in np.unique(ends[inside]))
    return request.column(low, high, edges)


def cumulative(
    noisy: NDArray[np.int64], sigma: float, n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cumulative counts of the cells that are numbers, and their standard deviations.

    All cells add up to n, which is public. Spreading the excess evenly is the least-squares
    estimate under that constraint; its variance after k of m cells is sigma^2 k (m - k) / m.
    """
    cells = len(noisy)
    done = np.arange(1, cells + 1)
    running = np.cumsum(noisy.astype(np.float64))
    running += (n - running[-1]) * done / cells
    noise = sigma * np.sqrt(done * (cells - done) / cells)
    return running[:-1], noise[:-1]


def _bounds(
    reached: NDArray[np.float64], noise: NDArray[np.float64]
) -> tuple[int | None, int | None]:
    """First and last cell that stand out of the noise, from either end."""
    mass = max(0.0, float(reached[-1]))
    above = np.flatnonzero(reached > TAIL * mass + _STANDS_OUT * noise)
    # What lies in cell k and beyond it: sums of as many cells have the same noise at either end.
    beyond = mass - np.concatenate([[0.0], reached[:-1]])
    rising = np.flatnonzero(beyond > TAIL * mass + _STANDS_OUT * noise[::-1])
    return (
        int(above[0]) if above.size else None,
        int(rising[-1]) if rising.size else None,
    )
