"""Closed formulas between privacy parameters, rounded to the safe side.

rho is zero-concentrated DP (zCDP); epsilon and delta are approximate DP. Every bisection runs
until its bracket is two adjacent floats. They are asked for on every move of a slider, so those
that take long remember their answers: public numbers, whoever asked.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from prism_core.privacy.events import L2_SENSITIVITY
from prism_core.privacy.parameters import delta_value, epsilon_value

_SUMMED = 200.0  # up to this sigma the discrete law is summed term by term


def rho_to_delta(rho: float, epsilon: float) -> float:
    """Smallest proven delta of a rho-zCDP mechanism at `epsilon`.

    Canonne, Kamath, Steinke (2020), Proposition 12: for every alpha > 1,
    delta <= exp((alpha-1)(alpha rho - epsilon)) / (alpha-1) * (1 - 1/alpha)^alpha. Every alpha
    gives a valid bound, so an inexact minimiser is still safe.
    """
    if rho <= 0.0:
        return 0.0
    alpha = _order(rho, epsilon)
    exponent = (alpha - 1.0) * (alpha * rho - epsilon) + alpha * math.log1p(-1.0 / alpha)
    # A delta above 1 says nothing, and exp could overflow.
    if exponent - math.log(alpha - 1.0) > 0.0:
        return 1.0
    return min(1.0, math.exp(exponent) / (alpha - 1.0))


def _order(rho: float, epsilon: float) -> float:
    """The alpha of the least bound: Newton's method on the slope of its logarithm.

    The slope rises and is concave, so steps from below never go too far; where one from above
    leaves the bracket, the bracket is halved instead.
    """
    # At 1 the bound divides by 0. At `high` the slope is above 1 - ln 2, so the root lies between.
    low, high = 1.0 + 1e-9, max(2.0, (epsilon + 1.0) / (2.0 * rho) + 2.0)
    # The least of the exponent alone, without the last factor: close to the root for small rho.
    alpha = min(max(low, (epsilon / rho + 1.0) / 2.0), high)
    # Every alpha is safe, so ending early costs sharpness and nothing else.
    for _ in range(200):
        slope = (2.0 * alpha - 1.0) * rho - epsilon + math.log1p(-1.0 / alpha)
        if slope < 0.0:
            low = alpha
        else:
            high = alpha
        following = alpha - slope / (2.0 * rho + 1.0 / (alpha * (alpha - 1.0)))
        if not low <= following <= high:
            following = (low + high) / 2.0
        if abs(following - alpha) <= 1e-13 * alpha:
            return following
        alpha = following
    return alpha


# typed: True equals 1.0 and would get its answer instead of the refusal.
@lru_cache(maxsize=4096, typed=True)
def epsilon_to_rho(epsilon: float, delta: float) -> float:
    """Largest rho for which rho-zCDP still gives (epsilon, delta)-DP; rounded down."""
    epsilon_value(epsilon, least=0.0)
    delta_value(delta)
    low, high = 0.0, epsilon + 1.0
    while low < (middle := (low + high) / 2.0) < high:
        if rho_to_delta(middle, epsilon) <= delta:
            low = middle
        else:
            high = middle
    return low


@lru_cache(maxsize=4096, typed=True)
def rho_to_epsilon(rho: float, delta: float) -> float:
    """Smallest epsilon for which rho-zCDP gives (epsilon, delta)-DP; rounded up."""
    if rho <= 0.0:
        return 0.0
    delta_value(delta)
    # rho + 2 sqrt(rho ln(1/delta)) is the looser bound of Bun and Steinke (2016).
    low, high = 0.0, rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta)) + 1e-9
    while low < (middle := (low + high) / 2.0) < high:
        if rho_to_delta(rho, middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def gaussian_delta(epsilon: float, sigma: float, sensitivity: float) -> float:
    """Delta of the Gaussian mechanism at `epsilon` (Balle and Wang 2018, Theorem 8)."""
    from scipy.special import log_ndtr

    ratio = sensitivity / sigma
    # In logarithms: e^epsilon alone could overflow, the product cannot.
    first = float(log_ndtr(ratio / 2.0 - epsilon / ratio))
    second = epsilon + float(log_ndtr(-ratio / 2.0 - epsilon / ratio))
    # The second is the smaller one but for rounding: delta must not come out negative.
    return max(0.0, math.exp(first) - math.exp(min(second, first)))


def counts_delta(epsilon: float, sigma: float) -> float:
    """Smallest delta at `epsilon` of integer discrete Gaussian noise on one marginal's counts.

    Replace-one moves two cells by +1 and -1, so the privacy loss is (1 + D) / sigma^2 with D the
    difference of two discrete Gaussians: P(D = d) = exp(-d^2 / (4 sigma^2)) T(d mod 2) / Z^2 with
    T(r) = sum_y exp(-(y + r/2)^2 / sigma^2). delta = E max(0, 1 - exp(epsilon - loss)), summed
    exactly. It can exceed `gaussian_delta` of the continuous law several times when sigma is
    below 1. Above `_SUMMED` a lattice this fine changes the integral by far less than the factor
    2 that is added (trapezoid rule: at most an eighth of the variation of the slope).
    """
    if sigma > _SUMMED:
        return min(1.0, 2.0 * gaussian_delta(epsilon, sigma, L2_SENSITIVITY))
    # What is left out is below exp(-72) of the whole, far less than the last factor covers.
    reach = math.ceil(12.0 * sigma) + 12
    cells = np.arange(-reach, reach + 1, dtype=np.float64)
    norm = np.exp(-(cells**2) / (2.0 * sigma**2)).sum()
    even, odd = (np.exp(-((cells + half) ** 2) / sigma**2).sum() for half in (0.0, 0.5))
    first = math.floor(epsilon * sigma**2)  # losses above epsilon start at d = first or earlier
    # One earlier, should the product have rounded up; a move too many gains 0.
    moves = np.arange(first - 1, first + 4 * reach, dtype=np.float64)
    law = np.exp(-(moves**2) / (4.0 * sigma**2)) * np.where(moves % 2.0 == 0.0, even, odd) / norm**2
    gain = -np.expm1(np.minimum(0.0, epsilon - (1.0 + moves) / sigma**2))
    return float((law * gain).sum()) * (1.0 + 1e-12)


def classic_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """The classic scale of Dwork and Roth (2014), proven for epsilon < 1.

    It is sensitivity sqrt(2 ln(1.25 / delta)) / epsilon.
    """
    return sensitivity * math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon


@lru_cache(maxsize=4096, typed=True)
def gaussian_sigma(epsilon: float, delta: float) -> float:
    """Noise of one marginal's counts: the paper's classic sigma where it is confirmed, else more.

    Rounded up: the result is checked against the analytic formula and against the discrete law
    that is really drawn (`counts_delta`) before it is returned.
    """
    epsilon_value(epsilon, least=0.0)
    delta_value(delta)

    def enough(sigma: float) -> bool:
        worst = max(gaussian_delta(epsilon, sigma, L2_SENSITIVITY), counts_delta(epsilon, sigma))
        return worst <= delta

    classic = classic_sigma(epsilon, delta, L2_SENSITIVITY)
    if enough(classic):
        return classic
    low, high = classic, 2.0 * classic
    while not enough(high):
        high *= 2.0
    while low < (middle := (low + high) / 2.0) < high:
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
