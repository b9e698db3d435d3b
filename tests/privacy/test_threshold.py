"""Tail of the discrete Gaussian and the threshold: against exact sums, minimal, closed."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from prism_core.errors import BudgetError, PrismError, PrivacyError
from prism_core.privacy.accountants.accountant import accountant
from prism_core.privacy.accountants.conversions import rho_to_epsilon
from prism_core.privacy.events import (
    ExponentialEvent,
    GaussianEvent,
    StableHistogramEvent,
    event_dict,
    event_from_dict,
    failure,
    gaussian_tail,
    release_threshold,
)
from prism_core.privacy.learning_charge import LearningCharge

pytestmark = pytest.mark.privacy

WHOLE = ("threshold", "least")
BAD = (None, math.nan, 0, 0.0, -1.0, math.inf)


def exact_tail(sigma: float, least: int) -> float:
    """P(N >= least) by plain summation of the law, apart from the program's own sums."""
    reach = math.ceil(40 * sigma) + 40
    law = [math.exp(-(k**2) / (2 * sigma**2)) for k in range(-reach, reach + 1)]
    return math.fsum(law[reach + least :]) / math.fsum(law)


@pytest.mark.parametrize("sigma", [0.2, 0.4, 1.0, 3.3, 50.0])
def test_the_tail_is_never_below_the_exact_one_and_close(sigma):
    for least in range(1, math.ceil(6 * sigma) + 3):
        exact = exact_tail(sigma, least)
        bound = gaussian_tail(sigma, least)
        assert bound >= exact
        if sigma >= 1.0 and exact > 0:
            assert bound <= exact * (1 + 1e-6)  # the bound of the normaliser is tight from 1 on
    assert gaussian_tail(sigma, 0) == gaussian_tail(sigma, -3) == 1.0


def test_the_two_formulas_agree_where_they_meet():
    for share in (0.5, 1, 3, 6):
        below = gaussian_tail(999.99, round(1000 * share))
        above = gaussian_tail(1000.01, round(1000 * share))
        assert below <= above <= below * 1.02


def test_a_tail_too_small_for_a_float_is_not_zero():
    assert gaussian_tail(1.0, 100) > 0.0


@pytest.mark.parametrize("sigma", [0.3, 1.0, 7.5, 120.0, 3_000.0])
@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-10, 1e-250])
@pytest.mark.parametrize("least", [1, 4])
def test_the_threshold_is_the_smallest_that_delta_covers(sigma, delta, least):
    threshold = release_threshold(sigma, delta, least)
    assert gaussian_tail(sigma, threshold - least + 1) <= delta
    lower = threshold - least
    assert lower == 0 or gaussian_tail(sigma, lower) > delta


def event(**changes) -> StableHistogramEvent:
    threshold = release_threshold(2.0, 1e-6) + int(changes.get("least") == 5) * 4
    return StableHistogramEvent(**({"sigma": 2.0, "threshold": threshold, "delta": 1e-6} | changes))


@pytest.mark.parametrize("part", ["sigma", "threshold", "delta", "least", "sensitivity"])
@pytest.mark.parametrize("value", BAD)
def test_an_event_that_guarantees_nothing_cannot_be_made(part, value):
    with pytest.raises((PrivacyError, BudgetError)):
        event(**{part: value})


@pytest.mark.parametrize("part", WHOLE)
@pytest.mark.parametrize("value", [20.5, True, "20"])
def test_thresholds_are_whole_numbers(part, value):
    with pytest.raises(PrivacyError, match="whole"):
        event(**{part: value})


def test_a_threshold_too_low_for_its_delta_is_refused():
    good = event()
    for worse in ({"threshold": good.threshold - 1}, {"sigma": 2.2}, {"delta": 1e-7}, {"least": 2}):
        with pytest.raises(PrivacyError, match="too low"):
            replace(good, **worse)
    assert event(least=5).threshold == release_threshold(2.0, 1e-6, 5) == good.threshold + 4


def test_rho_is_that_of_two_moving_cells():
    assert Fraction(event().rho).limit_denominator(1000) == Fraction(1, 4)


def test_the_delta_of_histograms_goes_before_rho_is_converted():
    events = (event(), event(), GaussianEvent(sigma=3.0, delta=0.1))
    assert 2e-6 <= failure(events) <= 2.000001e-6  # the delta of a Gaussian is another thing
    spent = accountant("zcdp").spent(events, 1e-5)
    assert spent.rho == pytest.approx(1 / 4 + 1 / 4 + 1 / 9)
    assert spent.epsilon == rho_to_epsilon(spent.rho, 1e-5 - 2e-6)
    assert spent.epsilon > rho_to_epsilon(spent.rho, 1e-5)
    with pytest.raises(BudgetError, match="delta"):  # nothing of delta is left
        accountant("zcdp").spent(events, 2e-6)
    with pytest.raises(BudgetError, match="zcdp"):
        accountant("basic").spent(events, 1e-5)


@pytest.mark.parametrize(
    "made",
    [
        lambda: event(label="ward"),
        lambda: GaussianEvent(sigma=2.0),
        lambda: ExponentialEvent(epsilon=0.1),
    ],
    ids=["histogram", "gaussian", "exponential"],
)
def test_events_survive_their_text(made):
    assert event_from_dict(event_dict(made())) == made()


@pytest.mark.parametrize("document", [{}, {"event": "laplace"}, {"event": "gaussian", "x": 1}])
def test_what_is_no_event_is_refused(document):
    with pytest.raises(PrivacyError, match="event"):
        event_from_dict(document)


@pytest.mark.parametrize(
    "document", [None, 3, {}, {"events": [], "delta": 1e-5}, {"events": 3, "delta": 1e-5}]
)
def test_a_prior_without_events_is_refused(document):
    with pytest.raises(PrismError):
        LearningCharge.from_dict(document)


@pytest.mark.parametrize(
    ("change", "delta"),
    [({}, 1e-6), ({}, None), ({"sigma": 1e9}, 1e-5), ({"threshold": 1}, 1e-5)],
    ids=["nothing of delta left", "no delta", "another sigma", "another threshold"],
)
def test_a_prior_that_does_not_add_up_is_refused(change, delta):
    with pytest.raises(PrismError):
        LearningCharge.from_dict({"events": [event_dict(event()) | change], "delta": delta})


def test_a_prior_computes_its_sums_itself():
    prior = LearningCharge(events=(event(),), delta=1e-5, plan="h", charge=3)
    written = prior.to_dict() | {"rho": 0.0, "epsilon": 0.0, "delta_of_histograms": 0.0}
    assert LearningCharge.from_dict(written) == prior
    assert prior.rho == event().rho
    assert np.isclose(prior.spent.epsilon, rho_to_epsilon(prior.rho, 1e-5 - 1e-6))
