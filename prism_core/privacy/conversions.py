"""Closed formulas between privacy parameters, rounded to the safe side.

rho is zero-concentrated DP (zCDP); epsilon and delta are approximate DP.
"""

from __future__ import annotations

import math

from prism_core.privacy.checks import delta_value, epsilon_value, positive

_STEPS = 200  # bisection steps; enough to reach adjacent floats from any bracket used here


def rho_to_delta(rho: float, epsilon: float) -> float:
    """Smallest proven delta of a rho-zCDP mechanism at `epsilon`.

    Canonne, Kamath, Steinke (2020), Proposition 12: for every alpha > 1,
    delta <= exp((alpha-1)(alpha rho - epsilon)) / (alpha-1) * (1 - 1/alpha)^alpha. Every alpha
    gives a valid bound, so an inexact minimiser is still safe.
    """
    if rho <= 0.0:
        return 0.0
    low, high = 1.0 + 1e-9, max(2.0, (epsilon + 1.0) / (2.0 * rho) + 2.0)
    for _ in range(_STEPS):
        alpha = (low + high) / 2.0
        slope = (2.0 * alpha - 1.0) * rho - epsilon + math.log1p(-1.0 / alpha)
        if slope < 0.0:
            low = alpha
        else:
            high = alpha
    exponent = (alpha - 1.0) * (alpha * rho - epsilon) + alpha * math.log1p(-1.0 / alpha)
    if exponent - math.log(alpha - 1.0) > 0.0:
        return 1.0
    return min(1.0, math.exp(exponent) / (alpha - 1.0))


def epsilon_to_rho(epsilon: float, delta: float) -> float:
    """Largest rho for which rho-zCDP still gives (epsilon, delta)-DP; rounded down."""
    epsilon_value(epsilon)
    delta_value(delta)
    low, high = 0.0, epsilon + 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if rho_to_delta(middle, epsilon) <= delta:
            low = middle
        else:
            high = middle
    return low


def rho_to_epsilon(rho: float, delta: float) -> float:
    """Smallest epsilon for which rho-zCDP gives (epsilon, delta)-DP; rounded up."""
    if rho <= 0.0:
        return 0.0
    delta_value(delta)
    # rho + 2 sqrt(rho ln(1/delta)) is the looser bound of Bun and Steinke (2016).
    low, high = 0.0, rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta)) + 1e-9
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if rho_to_delta(rho, middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def gaussian_delta(epsilon: float, sigma: float, sensitivity: float) -> float:
    """delta of the Gaussian mechanism at `epsilon` (Balle and Wang 2018, Theorem 8)."""
    from scipy.special import log_ndtr

    ratio = sensitivity / sigma
    first = float(log_ndtr(ratio / 2.0 - epsilon / ratio))
    second = epsilon + float(log_ndtr(-ratio / 2.0 - epsilon / ratio))
    return max(0.0, math.exp(first) - math.exp(min(second, first)))


def classic_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """sensitivity sqrt(2 ln(1.25/delta)) / epsilon (Dwork and Roth 2014); proven for epsilon < 1."""
    return sensitivity * math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """The paper's classic sigma where the analytic formula confirms it, else the analytic one.

    Rounded up: the result is checked against `gaussian_delta` before it is returned.
    """
    epsilon_value(epsilon)
    delta_value(delta)
    positive(sensitivity, "sensitivity")
    classic = classic_sigma(epsilon, delta, sensitivity)
    if gaussian_delta(epsilon, classic, sensitivity) <= delta:
        return classic
    low, high = classic, 2.0 * classic
    while gaussian_delta(epsilon, high, sensitivity) > delta:
        high *= 2.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if gaussian_delta(epsilon, middle, sensitivity) <= delta:
            high = middle
        else:
            low = middle
    return high
