"""Do the noisy counts hold as much noise as they claim? Exact counts in their place do not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from prism_core.bundle.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.bundle.counted import Counted
    from prism_core.planning.plan import Plan
    from prism_core.synthesis.measure import Measurement

RARE = 1e-9
"""How often noise that is what it claims is called too small: once in 1e9 bundles."""

_CHOSEN = ("three-way", "adaptive", "tree")

_LEAST_SIGMA = 1.0
"""Noise in whole numbers has the variance sigma^2 only from here on (but for 1e-6); less is left
out."""


def quiet_findings(plan: Plan, measurements: Sequence[Measurement]) -> list[str]:
    """Whether the noise is smaller than claimed, as far as n and shared columns tell.

    The true counts are not known, but two things about them are: every marginal adds up to n, and
    marginals that share a column agree about it. So these are sums of squares of standard normal
    variables, to which the true counts add nothing:

    - per marginal, ((sum - n) / (sigma sqrt(cells)))^2: 1 degree of freedom;
    - per column in J marginals, the squared distances of its J margins, each less its own mean,
      from their mean weighted by 1 / variance: (J - 1) (values - 1) degrees.

    All of them are independent of each other: the total and the main effects of a table of
    independent noise of one variance are orthogonal contrasts. The whole is a chi-square, and less
    than its 1e-9 quantile is wrong. Noise is in whole numbers: every sum and margin is taken one
    count farther off than it is (triangle inequality), which more than makes up for it.

    Margins of marginals that were chosen at run time are left out: the choice looks at the noise of
    those before, so their distances are no chi-square. Their sums are: their own noise is fresh.

    A linear query counts with the counts that it holds (`counted`); their noise is a sum of rows of
    its own, independent of that of any other measurement.

    False alarms: below 1e-9 a bundle. Few marginals cannot get that far down, however exact, and
    then nothing is claimed; nor of one exact marginal among many noisy ones. Spends nothing.

    Args:
        plan: the plan made again; its n.
        measurements: the noisy counts, with the sigmas they claim.
    """
    from scipy.special import gammainc

    known = [m for m in counted(measurements) if m.sigma >= _LEAST_SIGMA]
    chosen = {query.clique for query in plan.queries if query.kind in _CHOSEN}
    squares = slack = 0.0
    degrees = len(known)
    for m in known:
        variance = m.sigma**2 * m.values.size
        squares += (float(m.values.sum(dtype="float64")) - plan.n) ** 2 / variance
        slack += 1.0 / variance
    for name, size in plan.sizes.items():
        shared = [m for m in known if name in m.clique and m.measured not in chosen]
        if len(shared) > 1:
            weights = np.array([size / (m.sigma**2 * m.values.size) for m in shared])
            squares += _distance(np.array([_margin(m, name) for m in shared]), weights)
            slack += size * float(weights.sum())
            degrees += (len(shared) - 1) * (size - 1)
    largest = (math.sqrt(squares) + math.sqrt(slack)) ** 2
    if not degrees or gammainc(degrees / 2.0, largest / 2.0) >= RARE:
        return []
    return [
        "The noisy counts have less noise than they claim: they fit n and each other too well to "
        "have been measured with these sigmas."
    ]


def _margin(m: Counted, name: str) -> NDArray[np.float64]:
    """Noisy counts of one column's values, less their mean. Shape (values,)."""
    axis = m.clique.index(name)
    others = tuple(i for i in range(m.values.ndim) if i != axis)
    margin = m.values.sum(axis=others, dtype=np.float64)
    return margin - margin.mean()


def _distance(margins: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Weighted squares around the weighted mean. Shapes (J, values) and (J,)."""
    middle = np.average(margins, axis=0, weights=weights)
    return float(weights @ ((margins - middle) ** 2).sum(axis=1))
