"""Bounds and quantile bins from noisy counts. Post-processing: reads no row, spends nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.data.schema.column import Column
    from prism_core.learning.domain.requests import NumericRequest

_PENALTY = 8.0
"""What another step of the histogram must explain, in variances of one cell's noise."""
_STANDS_OUT = 2.0
"""Standard deviations of noise that some cumulative count must exceed to count as evidence."""
_SPREAD = 0.1
"""Share of the cells over which the outermost values are taken to spread in the forecast."""


def outside(request: NumericRequest, sigma: float, n: int) -> float:
    """Share of the values that may end up outside the learned bounds at one end. Data-free.

    The tail that is asked for, and as many as the noise can hide: values spread over L cells whose
    sum is below sigma sqrt(8 L) do not earn a step of their own in the histogram. L is taken as a
    tenth of the grid. An expectation for tails of that shape, not a guarantee.

    Args:
        request: the public bounds and grid.
        sigma: noise of a cell, in rows.
        n: public number of rows.
    """
    cells = max(1.0, _SPREAD * request.grid.level_count)
    return min(1.0, request.tail + sigma * math.sqrt(_PENALTY * cells) / n)


def learned_column(
    request: NumericRequest, noisy: NDArray[np.int64], sigma: float, n: int
) -> Column:
    """The column with learned bounds and edges; a usable column whatever the counts say.

    Bounds and edges are among the cuts of the public grid, so they have its decimals and every
    bin holds a cell. Where nothing stands out of the noise the grid itself is cut evenly.

    Args:
        request: the public bounds and grid.
        noisy: counts of the grid's cells, those of what is no number last.
        sigma: their noise.
        n: public number of rows; the true counts add up to it.
    """
    grid = request.grid
    cuts = np.array([grid.bounds[0], *grid.edges, grid.bounds[1]])
    reached, noise = cumulative(noisy, sigma, n, cells=grid.level_count)
    steps = piecewise(noisy[: grid.level_count], sigma)
    # Cells: cell i lies between the cuts i and i + 1.
    first, last = _bounds(steps, request.tail)
    if not np.any(reached > _STANDS_OUT * noise) or last < first:
        first, last = 0, len(reached) - 1
        reached = np.arange(1.0, len(reached) + 1.0)
    if cuts[last + 1] == cuts[first]:  # cell 0, a single point: it needs a neighbour for a width
        last += 1
    low, high = float(cuts[first]), float(cuts[last + 1])
    # Noise makes cumulative counts fall here and there, and the search needs them ascending.
    ascending = np.maximum.accumulate(np.maximum(reached, 0.0))
    wanted = ascending[-1] * np.arange(1, request.bins) / request.bins
    ends = cuts[1:][np.searchsorted(ascending, wanted, side="left")]
    # An edge at the lower bound parts {lower} from the rest; only cell 0 is such a point.
    inside = (ends < high) & ((ends > low) | ((ends == low) & (first == 0)))
    edges = tuple(float(edge) for edge in np.unique(ends[inside]))
    return request.column(low, high, edges)


def cumulative(
    noisy: NDArray[np.int64], sigma: float, n: int, *, cells: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cumulative counts of the first cells, which are numbers, and their standard deviations.

    All cells add up to n, which is public. Spreading the excess evenly is the least-squares
    estimate under that constraint; its variance after k of m cells is sigma^2 k (m - k) / m.
    """
    every = len(noisy)
    done = np.arange(1, every + 1)
    # As floats, since the excess is spread over the cells in fractions.
    running = np.cumsum(noisy.astype(np.float64))
    running += (n - running[-1]) * done / every
    noise = sigma * np.sqrt(done * (every - done) / every)
    return running[:cells], noise[:cells]


def piecewise(noisy: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    """The histogram as few level steps: penalised least squares over all partitions.

    Sums of many empty cells are noisier than what an end of the distribution holds; steps average
    the noise away where the counts are level. Exact by dynamic programming in O(cells^2)
    (Jackson et al. 2005, "An algorithm for optimal partitioning of data on an interval").

    Args:
        noisy: counts of the cells that are numbers.
        sigma: their noise.

    Returns:
        A count at least 0 for each cell.
    """
    cells = len(noisy)
    sums = np.concatenate([[0.0], np.cumsum(noisy, dtype=np.float64)])
    best, start = np.zeros(cells + 1), np.zeros(cells + 1, dtype=np.int64)
    for end in range(1, cells + 1):
        length = np.arange(end, 0, -1)
        # A step is a count of at least 0, so a negative sum explains nothing.
        gain = best[:end] + np.maximum(sums[end] - sums[:end], 0.0) ** 2 / length
        start[end] = int(np.argmax(gain))
        best[end] = gain[start[end]] - _PENALTY * sigma**2
    level, end = np.zeros(cells), cells
    while end > 0:
        begin = int(start[end])
        level[begin:end] = max(0.0, float(sums[end] - sums[begin])) / (end - begin)
        end = begin
    return level


def _bounds(steps: NDArray[np.float64], tail: float) -> tuple[int, int]:
    """First and last cell beyond which at most a share `tail` of the values lie."""
    reached = np.cumsum(steps)
    mass = float(reached[-1])
    # No step is above the noise: any bound would be made of noise alone.
    if not mass > 0.0:
        return 0, len(steps) - 1
    above = np.flatnonzero(reached > tail * mass)
    beyond = mass - np.concatenate([[0.0], reached[:-1]])
    rising = np.flatnonzero(beyond > tail * mass)
    return int(above[0]), int(rising[-1])
