"""Formulas between privacy parameters, each against another way to compute the same thing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from prism_core.errors import BudgetError
from prism_core.privacy.accountants.conversions import (
    classic_sigma,
    counts_delta,
    epsilon_to_rho,
    gaussian_delta,
    gaussian_sigma,
    rho_to_delta,
    rho_to_epsilon,
)
from prism_core.privacy.events import L2_SENSITIVITY

pytestmark = pytest.mark.privacy

EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
DELTAS = (1e-2, 1e-4, 1e-6, 1e-9)
epsilons = st.floats(0.01, 20.0)
deltas = st.floats(1e-10, 0.1)


@pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.05, 0.5, 3.0, 20.0])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0, 20.0])
def test_rho_to_delta_is_the_least_bound_over_alpha(rho, epsilon):
    alpha = 1.0 + np.logspace(-6, 8, 200_000)
    exponent = (alpha - 1) * (alpha * rho - epsilon) + alpha * np.log1p(-1 / alpha)
    least = min(1.0, float(np.exp(np.min(exponent - np.log(alpha - 1)))))
    found = rho_to_delta(rho, epsilon)
    assert found <= least * (1 + 1e-9)  # at least as small as every alpha of the grid
    assert found >= least * (1 - 1e-4)  # and not smaller than the grid can explain


def test_a_pure_value_of_rho_to_delta():
    # delta of the Gaussian mechanism itself (exact) is below what zCDP proves, but not far.
    for rho in (0.01, 0.1, 1.0):
        for epsilon in (0.5, 2.0, 5.0):
            exact = gaussian_delta(epsilon, 1.0 / math.sqrt(2.0 * rho), 1.0)
            assert exact <= rho_to_delta(rho, epsilon)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_epsilon_and_rho_are_inverse(epsilon, delta):
    rho = epsilon_to_rho(epsilon, delta)
    assert rho_to_delta(rho, epsilon) <= delta
    assert rho_to_delta(rho * (1 + 1e-6), epsilon) > delta  # the largest
    assert rho_to_epsilon(rho, delta) <= epsilon
    assert rho_to_epsilon(rho, delta) == pytest.approx(epsilon, rel=1e-9)


@settings(max_examples=60)
@given(epsilon=epsilons, delta=deltas)
def test_conversions_round_to_the_safe_side(epsilon, delta):
    rho = epsilon_to_rho(epsilon, delta)
    assert rho_to_delta(rho, epsilon) <= delta
    back = rho_to_epsilon(rho, delta)
    assert rho_to_delta(rho, back) <= delta
    assert back <= epsilon * (1 + 1e-12)


@settings(max_examples=40)
@given(epsilon=epsilons, delta=deltas, factor=st.floats(1.001, 3.0))
def test_conversions_are_monotone(epsilon, delta, factor):
    rho = epsilon_to_rho(epsilon, delta)
    assert epsilon_to_rho(epsilon * factor, delta) > rho
    assert epsilon_to_rho(epsilon, min(0.5, delta * factor)) >= rho
    assert rho_to_epsilon(rho * factor, delta) > rho_to_epsilon(rho, delta)


def test_nothing_spent_is_epsilon_zero():
    assert rho_to_epsilon(0.0, 1e-6) == 0.0
    assert rho_to_delta(0.0, 1.0) == 0.0


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, None, "1", True])
def test_unusable_epsilon_or_delta_is_refused(bad):
    with pytest.raises(BudgetError):
        epsilon_to_rho(bad, 1e-6)
    with pytest.raises(BudgetError):
        epsilon_to_rho(1.0, bad)
    with pytest.raises(BudgetError):
        gaussian_sigma(bad, 1e-6)
    with pytest.raises(BudgetError):
        gaussian_sigma(1.0, bad)


@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.3, 20.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 20.0])
def test_gaussian_delta_against_integration(sigma, epsilon):
    """T-GAUSS. delta = int max(0, p - e^epsilon q), with p and q a sensitivity apart."""
    p = stats.norm(L2_SENSITIVITY, sigma)
    q = stats.norm(0.0, sigma)
    # p > e^epsilon q exactly right of this point.
    edge = epsilon * sigma**2 / L2_SENSITIVITY + L2_SENSITIVITY / 2.0
    start = max(edge, L2_SENSITIVITY)
    peak = p.logpdf(start)  # taken out, so that tails as small as 1e-1000 do not vanish
    # The integrand falls by e over about sigma^2 / start.
    x = np.linspace(edge, start + min(12.0 * sigma, 60.0 * sigma**2 / start), 400_001)
    gain = -np.expm1(np.minimum(0.0, epsilon + q.logpdf(x) - p.logpdf(x)))
    mass = float(integrate.trapezoid(np.exp(p.logpdf(x) - peak) * gain, x))
    brute = mass * math.exp(peak)
    assert gaussian_delta(epsilon, sigma, L2_SENSITIVITY) == pytest.approx(brute, rel=1e-6)


def _lattice_delta(epsilon: float, sigma: float, *, reach: int) -> float:
    """delta of two cells moved by (+1, -1) under integer noise, straight from the definition."""
    cells = np.arange(-reach, reach + 1)
    law = np.exp(-(cells.astype(float) ** 2) / (2 * sigma**2))
    law /= law.sum()
    before = np.outer(law, law)[1:-1, 1:-1]
    after = np.outer(law[:-2], law[2:])  # first cell one more, second one less
    return float(np.maximum(0.0, after - math.exp(epsilon) * before).sum())


@pytest.mark.parametrize("sigma", [0.3, 0.4, 0.55, 1.0, 3.3, 20.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
def test_counts_delta_against_the_definition(sigma, epsilon):
    brute = _lattice_delta(epsilon, sigma, reach=math.ceil(14 * sigma) + 14)
    if brute > 1e-13:  # below, the brute force is rounding error
        assert counts_delta(epsilon, sigma) == pytest.approx(brute, rel=1e-6)


def test_counts_delta_stays_above_the_definition_where_it_is_not_summed():
    for epsilon in (0.001, 0.01, 0.02):
        brute = _lattice_delta(epsilon, 210.0, reach=2_200)
        assert brute <= counts_delta(epsilon, 210.0) <= 2.1 * brute


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gaussian_sigma_keeps_its_promise(epsilon, delta):
    """T-GAUSS. For the continuous law, and for the integer noise that is really drawn."""
    sigma = gaussian_sigma(epsilon, delta)
    assert gaussian_delta(epsilon, sigma, L2_SENSITIVITY) <= delta
    if sigma < 60:
        brute = _lattice_delta(epsilon, sigma, reach=math.ceil(12 * sigma) + 12)
        assert brute <= delta * (1 + 1e-9) + 1e-15
    classic = classic_sigma(epsilon, delta, L2_SENSITIVITY)
    if epsilon <= 2.0:
        assert sigma == classic  # the paper's number, to the last digit
    else:
        assert sigma >= classic


@pytest.mark.parametrize(("epsilon", "delta"), [(20.0, 1e-4), (20.0, 1e-6), (10.0, 1e-6)])
def test_the_analytic_sigma_is_too_small_for_integer_noise(epsilon, delta):
    """Regression: calibrated on the continuous formula alone, delta was 1.9 to 4.4 times over."""
    low, high = 0.05, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        if gaussian_delta(epsilon, middle, L2_SENSITIVITY) <= delta:
            high = middle
        else:
            low = middle
    assert _lattice_delta(epsilon, high, reach=40) > 1.8 * delta
    assert gaussian_sigma(epsilon, delta) > high


def test_the_classic_sigma_is_not_used_at_epsilon_twenty():
    classic = classic_sigma(20.0, 1e-6, L2_SENSITIVITY)
    assert gaussian_delta(20.0, classic, L2_SENSITIVITY) > 1e-6
    assert gaussian_sigma(20.0, 1e-6) > 1.1 * classic


def test_a_remembered_answer_is_for_numbers_only():
    """True equals 1.0 as a key of a dictionary, and is no epsilon."""
    for conversion in (epsilon_to_rho, gaussian_sigma):
        assert conversion(1.0, 1e-6) == conversion(1.0, 1e-6)
        with pytest.raises(BudgetError):
            conversion(True, 1e-6)
