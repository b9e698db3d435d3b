"""Projection of noisy counts onto probability distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def to_simplex(values: NDArray[Any], *, total: float | None = None) -> NDArray[np.float64]:
    """The distribution nearest in l2 to values / total (paper, Proposition A.1).

    Negative totals are treated as 1, so the result is always a distribution. Post-processing.
    The total is the sum of the values unless it is known.
    Source: Duchi, Shalev-Shwartz, Singer, Chandra (2008), Figure 1.
    """
    flat = values.astype(np.float64).ravel()
    flat = flat / (max(flat.sum(), 1.0) if total is None else total)
    flat -= flat.max()  # the projection does not change; huge values stay exact near the top
    ordered = np.sort(flat)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, flat.size + 1)
    last = int(np.nonzero(ordered > excess)[0][-1])
    clipped = np.clip(flat - excess[last], 0.0, None)
    # Once more, as clipping leaves the sum a rounding away from 1.
    return (clipped / clipped.sum()).reshape(values.shape)
