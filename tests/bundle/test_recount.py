"""The second accountant agrees with the first one, and sees what the first one is not told."""

from __future__ import annotations

import math

import pytest

from prism_core.bundle.verify.second_accountant import (
    basic_sum,
    library_epsilon,
    loss,
    normal_delta,
    normal_epsilon,
    renyi_epsilon,
)
from prism_core.errors import BundleError
from prism_core.privacy.accountants.accountant import accountant
from prism_core.privacy.accountants.conversions import gaussian_delta
from prism_core.privacy.events import (
    ApproximateEvent,
    ExponentialEvent,
    GaussianEvent,
    StableHistogramEvent,
    event_dict,
)

HISTOGRAM = StableHistogramEvent(sigma=8.0, threshold=60, delta=1e-9)
MIXES = {
    "one": [GaussianEvent(sigma=5.0)],
    "many": [GaussianEvent(sigma=3.0 + place) for place in range(40)],
    "choices": [GaussianEvent(sigma=20.0), ExponentialEvent(epsilon=0.05, count=9)],
    "failing": [GaussianEvent(sigma=9.0), ApproximateEvent(epsilon=0.1, delta=1e-8), HISTOGRAM],
    "tiny": [GaussianEvent(sigma=1e4)],
    "huge": [GaussianEvent(sigma=0.2)],
}
OVERDRAWN = ("failing", 1e-12)
"""Its events have more delta of their own."""


@pytest.mark.privacy
@pytest.mark.parametrize(
    ("mix", "delta"),
    [(mix, delta) for mix in MIXES for delta in (1e-5, 1e-7, 1e-12) if (mix, delta) != OVERDRAWN],
)
def test_it_agrees_with_zcdp_and_with_the_library(mix, delta):
    events = MIXES[mix]
    own = accountant("zcdp").spent(events, delta).epsilon
    plain = [event_dict(event) for event in events]
    assert renyi_epsilon(plain, delta) == pytest.approx(own, rel=1e-6)
    library = library_epsilon(plain, delta)
    assert library == pytest.approx(own, rel=5e-3)
    assert library >= own * (1.0 - 1e-9)


@pytest.mark.privacy
def test_every_event_counts_and_failure_comes_off_delta():
    plain = [event_dict(event) for event in MIXES["failing"]]
    assert loss(plain).failing == pytest.approx(1.1e-8)
    for place in range(3):
        fewer = [event for i, event in enumerate(plain) if i != place]
        assert renyi_epsilon(fewer, 1e-6) < renyi_epsilon(plain, 1e-6)
    assert renyi_epsilon(plain, 1e-8) == math.inf
    assert library_epsilon(plain, 1e-8) == math.inf


@pytest.mark.privacy
@pytest.mark.parametrize(
    "event",
    [
        {"event": "gaussian", "sigma": 0.0, "sensitivity": 1.0},
        {"event": "gaussian", "sigma": math.nan, "sensitivity": 1.0},
        {"event": "gaussian", "sigma": math.inf, "sensitivity": 1.0},
        {"event": "gaussian", "sigma": True, "sensitivity": 1.0},
        {"event": "gaussian", "sigma": 1.0},
        {"event": "exponential", "epsilon": 0.1, "count": 0},
        {"event": "exponential", "epsilon": -0.1, "count": 1},
        {"event": "free lunch", "epsilon": 0.1},
        {},
    ],
)
def test_what_is_not_certainly_known_is_refused(event):
    with pytest.raises(BundleError, match="An event"):
        loss([event])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("sigma", [0.8, 2.0, 30.0])
def test_the_closed_form_is_balle_and_wangs(epsilon, sigma):
    mine = normal_delta(epsilon, math.sqrt(2.0) / sigma)
    assert mine == pytest.approx(gaussian_delta(epsilon, sigma, math.sqrt(2.0)), abs=1e-15)
    if mine > 1e-12:
        plain = [event_dict(GaussianEvent(sigma=sigma))]
        assert normal_epsilon(plain, mine) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.privacy
def test_basic_composition_looks_at_the_noise():
    event = accountant("basic").gaussian(0.5, 1e-6, "a")
    plain = event_dict(event)
    choice = event_dict(ExponentialEvent(epsilon=0.1, count=3))
    assert basic_sum([plain, choice]) == pytest.approx((0.8, 1e-6))
    with pytest.raises(BundleError, match="less noise"):
        basic_sum([plain | {"sigma": event.sigma * 0.7}])
