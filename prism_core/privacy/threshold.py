"""Tail of the discrete Gaussian, and the threshold of a stable histogram; rounded to be safe."""

from __future__ import annotations

import math

import numpy as np

from prism_core.privacy.checks import delta_value, positive

_SUMMED = 1_000.0  # up to this sigma the tail is summed term by term


def gaussian_tail(sigma: float, least: int) -> float:
    """P(N >= least) for discrete Gaussian noise N of scale sigma, rounded up.

    Summed term by term, over a normaliser that is bounded from below: by Poisson summation
    sum_k exp(-k^2 / (2 sigma^2)) >= sigma sqrt(2 pi), and the term k = 0 alone is 1. The terms
    left out are below exp(-72) of the first. Above `_SUMMED` the tail of the continuous law at
    `least` - 1 is used, which is never smaller (Canonne, Kamath, Steinke 2020, Proposition 25).
    """
    positive(sigma, "sigma")
    if least <= 0:
        return 1.0
    if sigma > _SUMMED:
        return min(1.0, 0.5 * math.erfc((least - 1) / (sigma * math.sqrt(2.0))) * (1.0 + 1e-9))
    steps = np.arange(math.ceil(12.0 * sigma) + 12, dtype=np.float64)
    first = -(float(least) ** 2) / (2.0 * sigma**2)
    terms = np.exp(-steps * (steps + 2.0 * least) / (2.0 * sigma**2))
    norm = max(1.0, sigma * math.sqrt(2.0 * math.pi))
    # The last term is the smallest float: a tail that underflows is not a tail of 0.
    return min(1.0, math.exp(first) * float(terms.sum()) / norm * (1.0 + 1e-9) + 5e-324)


def release_threshold(sigma: float, delta: float, least: int = 1) -> int:
    """Smallest whole threshold t with P(least + N > t) <= delta, N of scale sigma.

    Why this is what a stable histogram needs stands in `histograms.stable_histogram`.
    """
    delta_value(delta)
    low, high = 0, 1
    while gaussian_tail(sigma, high) > delta:
        low, high = high, 2 * high
    while low + 1 < high:
        middle = (low + high) // 2
        if gaussian_tail(sigma, middle) <= delta:
            high = middle
        else:
            low = middle
    return high + least - 1
