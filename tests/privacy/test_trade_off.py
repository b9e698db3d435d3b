"""The most a test can gain, against the optimal test on exact laws: never below its power."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from prism_core.errors import BudgetError, PrivacyError
from prism_core.privacy.accountants.trade_off_bound import (
    TradeOff,
    loss_bound,
    only_counts,
    profile_powers,
    trade_off,
)
from prism_core.privacy.events import (
    ApproximateEvent,
    ExponentialEvent,
    GaussianEvent,
    StableHistogramEvent,
)

pytestmark = pytest.mark.privacy

RATES = (0.0, 1e-6, 1e-4, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9, 0.999, 1.0)


# --- exact laws of two neighbours, as two arrays of probabilities over the same atoms ----------


def marginal(sigma):
    """Noise on the two cells that a replaced row moves, as its sufficient statistic D."""
    reach = math.ceil(14 * sigma) + 2
    cells = np.arange(-reach, reach + 1)
    law = np.exp(-(cells**2) / (2 * sigma**2))
    difference = np.convolve(law / law.sum(), law / law.sum())
    d = np.arange(-2 * reach, 2 * reach + 1)
    return difference, difference * np.exp(-(1 + d) / sigma**2)


def choice(epsilon):
    """An exponential mechanism between two candidates whose scores swap."""
    p = 1 / (1 + math.exp(-epsilon / 2))
    return np.array([p, 1 - p]), np.array([1 - p, p])


def failing(epsilon, delta):
    """The worst (epsilon, delta) step: with probability delta it tells all."""
    p = (1 - delta) / (1 + math.exp(-epsilon))
    q = (1 - delta) / (1 + math.exp(epsilon))
    return np.array([delta, p, q, 0.0]), np.array([0.0, q, p, delta])


def product(*laws):
    p, q = np.ones(1), np.ones(1)
    for one, other in laws:
        p, q = np.outer(p, one).ravel(), np.outer(q, other).ravel()
        kept = p + q > 1e-22  # below what the comparisons see
        p, q = p[kept], q[kept]
    return p, q


def optimal(laws, rates):
    """Power of the Neyman-Pearson test, randomised where an atom is split."""
    p, q = product(*laws)
    with np.errstate(divide="ignore"):
        order = np.argsort(-(np.log(p) - np.log(q)), kind="stable")
    alarms = np.concatenate([[0.0], np.cumsum(q[order])])
    hits = np.concatenate([[0.0], np.cumsum(p[order])])
    free = hits[alarms <= 0.0].max()  # atoms that only one neighbour has
    return np.maximum(free, np.interp(rates, alarms, hits))


def tail(laws, t):
    """P(loss > t)."""
    p, q = product(*laws)
    return float(p[p > math.exp(t) * q].sum())


CASES = {
    "one": ([GaussianEvent(sigma=2.0)], [marginal(2.0)]),
    "coarse": ([GaussianEvent(sigma=0.6)], [marginal(0.6)]),
    "three": ([GaussianEvent(sigma=2.0)] * 3, [marginal(2.0)] * 3),
    "unequal": (
        [GaussianEvent(sigma=2.5), GaussianEvent(sigma=6.0)],
        [marginal(2.5), marginal(6.0)],
    ),
    "choices": ([ExponentialEvent(epsilon=0.7, count=10)], [choice(0.7)] * 10),
    "mixed": (
        [ExponentialEvent(epsilon=1.0, count=3), GaussianEvent(sigma=3.0)],
        [choice(1.0)] * 3 + [marginal(3.0)],
    ),
    "approximate": (
        [ApproximateEvent(epsilon=0.5, delta=1e-3), GaussianEvent(sigma=3.0)],
        [failing(0.5, 1e-3), marginal(3.0)],
    ),
}
COUNTS = ("one", "coarse", "three", "unequal")


@pytest.mark.parametrize("name", CASES)
def test_no_test_does_better(name):
    events, laws = CASES[name]
    truth, found = optimal(laws, RATES), trade_off(events).powers(RATES)
    assert (found >= truth - 1e-9 * truth - 1e-13).all()
    assert (found <= 1.0).all()


@pytest.mark.parametrize("name", COUNTS)
def test_the_composed_distribution_is_sharp(name):
    """With it the bound meets the optimal test to about a hundredth, and never from below."""
    events, laws = CASES[name]
    truth = optimal(laws, RATES)
    plain, found = trade_off(events), trade_off(events, exact=True)
    sharp = found.powers(RATES)
    assert found.exact
    assert not plain.exact
    assert (sharp >= truth - 1e-9 * truth - 1e-13).all()
    assert (sharp <= plain.powers(RATES)).all()
    seen = np.array(RATES) >= 1e-4
    assert (sharp[seen] <= truth[seen] * 1.02 + 1e-6).all()


@pytest.mark.parametrize("name", ["three", "mixed", "choices"])
def test_a_smaller_loss_would_be_noticed(name):
    """Half of what was spent is not enough anywhere in the middle: the checks above can fail."""
    events, laws = CASES[name]
    half = TradeOff(rho=trade_off(events).rho / 2)
    inside = (0.01, 0.05, 0.2, 0.5)
    assert (half.powers(inside) < optimal(laws, inside)).all()


def test_zcdp_alone_is_close_to_the_gaussian_law():
    """Fine noise is nearly continuous, whose trade-off is known: G_mu with mu = sqrt(2 rho)."""
    rho = 0.02
    rates = np.array([0.001, 0.01, 0.05, 0.5])
    gaussian = stats.norm.cdf(stats.norm.ppf(rates) + math.sqrt(2 * rho))
    found = TradeOff(rho=rho).powers(rates)
    assert (found >= gaussian).all()
    assert (found <= 1.15 * gaussian).all()


def test_it_is_sharper_than_pairs_of_epsilon_and_delta():
    from prism_core.privacy.accountants.conversions import rho_to_delta

    rho = 0.02
    profile = tuple((e, rho_to_delta(rho, e)) for e in np.linspace(0.0, 3.0, 200).tolist())
    pairs = profile_powers(RATES, profile)
    found = TradeOff(rho=rho).powers(RATES)
    assert (found <= 1.005 * pairs + 1e-12).all()  # the grid of orders costs a little
    assert found[6] < 0.99 * pairs[6]


def test_one_pair_gives_the_two_lines():
    """TPR <= e^epsilon FPR + delta, and 1 - e^-epsilon (1 - FPR - delta) from the complement."""
    found = profile_powers((0.1, 0.9), ((math.log(2.0), 0.01),))
    assert found == pytest.approx([0.21, 1 - 0.5 * 0.09], rel=1e-9)


@settings(max_examples=40)
@given(
    rho=st.floats(0.0, 30.0),
    lost=st.floats(0.0, 0.5),
    rates=st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6),
)
def test_power_rises_with_the_rate_and_the_loss(rho, lost, rates):
    rates = sorted(rates)
    found = TradeOff(rho=rho, failing=lost).powers(rates)
    assert (found >= rates).all()
    assert (found <= 1.0).all()
    assert (np.diff(found) >= -1e-9).all()
    assert (TradeOff(rho=rho * 1.5 + 0.01, failing=lost).powers(rates) >= found - 1e-9).all()


def test_the_ends():
    nothing = TradeOff(rho=0.0)
    assert nothing.powers((0.0, 0.3, 1.0)).tolist() == [0.0, 0.3, 1.0]
    assert TradeOff(rho=0.1, failing=1e-3).power(0.0) == pytest.approx(1e-3)
    assert TradeOff(rho=500.0).power(0.01) == pytest.approx(1.0)


def test_what_learning_names_may_lose_is_in_it():
    event = StableHistogramEvent(sigma=10.0, threshold=80, delta=1e-6)
    found = trade_off([event])
    assert found.failing >= 1e-6
    assert found.power(0.0) >= 1e-6
    assert not only_counts([event])


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan], ids=repr)
def test_rates_outside_their_range_are_refused(bad):
    with pytest.raises(PrivacyError, match="rate of false alarms"):
        TradeOff(rho=0.1).power(bad)


@pytest.mark.parametrize(
    "bad",
    [
        {"rho": math.nan},
        {"rho": -1.0},
        {"rho": math.inf},
        {"rho": 0.1, "failing": 1.0},
        {"rho": 0.1, "failing": math.nan},
        {"rho": 0.1, "profile": ((math.nan, 0.1),)},
        {"rho": 0.1, "profile": ((0.1, 1.5),)},
    ],
    ids=repr,
)
def test_what_is_no_loss_is_refused(bad):
    with pytest.raises(PrivacyError):
        TradeOff(**bad)


@pytest.mark.parametrize(
    "event",
    [
        ExponentialEvent(epsilon=0.1),
        ApproximateEvent(epsilon=0.1, delta=1e-6),
        GaussianEvent(sigma=3.0, sensitivity=1.0),
    ],
    ids=lambda event: type(event).__name__,
)
def test_distributions_are_composed_for_counts_only(event):
    with pytest.raises(PrivacyError, match="counts only"):
        trade_off([event], exact=True)


def test_without_the_extra_the_refusal_says_what_to_install(monkeypatch):
    from prism_core.privacy.accountants import loss_distribution

    def missing():
        raise BudgetError("pip install 'prism-dashboard[pld]'", field="accountant")

    monkeypatch.setattr(loss_distribution, "_library", missing)
    with pytest.raises(BudgetError, match=r"prism-dashboard\[pld\]"):
        trade_off([GaussianEvent(sigma=7.771)], exact=True)
    assert trade_off([GaussianEvent(sigma=7.771)]).power(0.01) > 0.01


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("delta", [1e-2, 1e-4])
def test_a_loss_is_passed_with_at_most_the_stated_chance(name, delta):
    events, laws = CASES[name]
    found = trade_off(events)
    if found.failing >= delta:
        with pytest.raises(PrivacyError, match="larger"):
            loss_bound(found.rho, found.failing, delta)
        return
    t = loss_bound(found.rho, found.failing, delta)
    assert tail(laws, t) <= delta
    assert tail(laws, 0.45 * t) > delta  # and it is no more than twice of what is needed


def test_a_loss_bound_by_hand():
    by_hand = 0.02 + 2 * math.sqrt(0.02 * math.log(1e8))
    assert loss_bound(0.02, 0.0, 1e-8) == pytest.approx(by_hand, rel=1e-11)
    assert loss_bound(0.02, 0.0, 1e-8) >= by_hand
    assert loss_bound(0.02, 1e-9, 1e-8) > by_hand
    assert loss_bound(0.0, 0.0, 1e-8) == 0.0
    for bad in (0.0, 1.0, math.nan):
        with pytest.raises(BudgetError):
            loss_bound(0.02, 0.0, bad)
