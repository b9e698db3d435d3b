"""Log bins for quantities of many magnitudes (income, say), from declared bounds alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HAIR = 1e-9  # of the unit: what stands for "just below 0" where values have no grid


def log_edges(
    lower: float,
    upper: float,
    bins: int,
    decimals: int | None = None,
    *,
    unit: float = 1.0,
    zero: bool = False,
) -> tuple[float, ...]:
    """Interior edges of at most `bins` bins that are equally wide in log magnitude.

    They are equally spaced in asinh(value / unit), which is linear up to `unit` and logarithmic
    beyond it, the same on both sides of 0. Only the declared bounds are used, never a row, so
    the edges cost nothing. Where values have decimals, edges are rounded to their grid, and fewer
    bins come out where two would hold the same values.

    Args:
        lower: lower bound.
        upper: upper bound.
        bins: most bins wanted, the one of zero included.
        decimals: of the values; None for full precision.
        unit: the smallest magnitude that matters.
        zero: whether 0 is a bin of its own, for columns that are mostly 0; each side of it then
            has bins in proportion to its length in logs, and at least one.

    Raises:
        SchemaError: for a unit that is not above 0, or when zero is wanted and lies outside.
    """
    if not 0.0 < unit < math.inf:
        raise SchemaError("unit must be a number above 0.", field="unit")
    if not zero:
        cuts = log_cuts(lower, upper, bins, unit)
    else:
        if not lower <= 0.0 < upper:
            raise SchemaError(
                "zero can be a bin of its own only where lower is at most 0 and upper above it.",
                field="zero",
            )
        cuts = _around_zero(lower, upper, bins, unit, decimals)
    return _on_grid(cuts, lower, upper, decimals)


def log_cuts(lower: float, upper: float, bins: int, unit: float) -> NDArray[np.float64]:
    """Values that part [lower, upper] into `bins` pieces of equal length in asinh(value / unit)."""
    ends = np.arcsinh(np.array([lower, upper]) / unit)
    return unit * np.sinh(np.linspace(ends[0], ends[1], bins + 1)[1:-1])


def _around_zero(
    lower: float, upper: float, bins: int, unit: float, decimals: int | None
) -> NDArray[np.float64]:
    above, below = math.asinh(upper / unit), math.asinh(-lower / unit)
    left = max(1, round((bins - 1) * below / (above + below))) if below > 0.0 else 0
    right = max(1, bins - 1 - left)
    found = [np.zeros(1), log_cuts(0.0, upper, right, unit)]
    if left:
        # Bins are (edge, edge]: one step down, and those below 0 mirror those above.
        step = unit * _HAIR if decimals is None else 10.0**-decimals
        found.append(np.append(log_cuts(lower, 0.0, left, unit), 0.0) - step)
    return np.concatenate(found)


def _on_grid(
    cuts: NDArray[np.float64], lower: float, upper: float, decimals: int | None
) -> tuple[float, ...]:
    if decimals is None:
        return tuple(float(cut) for cut in np.unique(cuts) if lower <= cut < upper)
    scale = 10**decimals
    # Six digits, as in `Column.grid`: they undo the float error of 0.1 * 10.
    first, last = math.ceil(round(lower * scale, 6)), math.floor(round(upper * scale, 6))
    steps = sorted({int(step) for step in np.round(cuts * scale)})
    # The lower bound may be an edge, which makes it a bin of its own; the upper one may not.
    return tuple(step / scale for step in steps if first <= step < last)
