"""One contract for every accountant: what is shared out is spent, and never more."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from prism_core.errors import BudgetError, PrivacyError
from prism_core.planning.allocation import allocate
from prism_core.privacy.accountants.accountant import ACCOUNTANTS, accountant
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.accountants.loss_distribution import scaled
from prism_core.privacy.events import (
    L1_SENSITIVITY,
    L2_SENSITIVITY,
    ApproximateEvent,
    ComposedEvent,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    event_dict,
    failure,
)

pytestmark = pytest.mark.privacy

DELTA = 1e-6
EVERY = pytest.mark.parametrize("name", sorted(ACCOUNTANTS))


@EVERY
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("m", [1, 2, 7, 40, 200])
def test_spend_is_never_above_and_hardly_below_the_declaration(name, epsilon, m):
    """T-ACCOUNT. The last query of a plan is never refused for a float's last digit."""
    if name == "pld" and epsilon < 0.1 and m > 7:
        pytest.skip("the same arithmetic as at 0.1 on a grid a hundred times as long")
    rule = accountant(name)
    amount = rule.amount(epsilon, DELTA)
    choosing = amount * 0.1
    costs = [float(2 + (7 * i) % 23) for i in range(m)]
    delta = DELTA * (1 - 1e-12) / m
    parts = allocate(amount - choosing, costs, "closed_form", rule.exponent)
    events = [rule.gaussian(part, delta, "") for part in parts]
    if not rule.fixed_only:  # where noise is fixed beforehand nothing is chosen
        events.append(rule.exponential(choosing, 3, ""))
    events = scaled(events, rule.factor(events, epsilon, DELTA))
    spent = rule.spent(events, DELTA)
    assert spent.epsilon <= epsilon
    assert spent.epsilon >= epsilon * (1 - (1e-6 if name != "pld" else 5e-4))
    assert spent.delta <= DELTA


@EVERY
@pytest.mark.parametrize("count", [2, 10, 1000])
def test_count_is_that_many_singles(name, count):
    rule = accountant(name)
    once = ExponentialEvent(epsilon=0.013, count=count)
    many = [ExponentialEvent(epsilon=0.013)] * count
    assert once.rho == pytest.approx(sum(event.rho for event in many), rel=1e-12)
    left, right = rule.spent([once], DELTA), rule.spent(many, DELTA)
    assert left.epsilon == pytest.approx(right.epsilon, rel=1e-9)
    assert left.rho == pytest.approx(right.rho, rel=1e-12)


@EVERY
def test_an_amount_buys_what_it_says(name):
    rule = accountant(name)
    for amount in (1e-6, 0.01, 0.7, 5.0):
        gaussian = rule.gaussian(amount, DELTA, "a")
        chosen = rule.exponential(amount, 7, "b")
        single = rule.spent([chosen], DELTA)
        if name != "basic":
            assert amount * (1 - 1e-12) <= gaussian.rho <= amount
            assert amount * (1 - 1e-12) <= chosen.rho <= amount
        else:
            assert gaussian.epsilon == amount
            assert single.epsilon == pytest.approx(amount, rel=1e-12)
        assert (gaussian.label, chosen.label) == ("a", "b")


@EVERY
def test_more_events_cost_more(name):
    rule = accountant(name)
    event = rule.gaussian(0.01, DELTA / 4, "")
    costs = [rule.spent([event] * count, DELTA).epsilon for count in (1, 2, 3, 4)]
    assert costs == sorted(set(costs))
    for other in (
        ExponentialEvent(epsilon=0.2),
        LaplaceEvent(scale=10.0),
        ApproximateEvent(epsilon=0.2, delta=DELTA / 10),
    ):
        assert rule.spent([event, other], DELTA).epsilon > costs[0]


@EVERY
def test_the_order_of_events_does_not_matter(name):
    rule = accountant(name)
    events = [
        *(rule.gaussian(amount, DELTA / 9, "") for amount in (0.02, 0.01, 0.03)),
        ExponentialEvent(epsilon=0.1),
        LaplaceEvent(scale=20.0),
    ]
    assert rule.spent(events, DELTA) == rule.spent(events[::-1], DELTA)


@EVERY
def test_composed_events_are_their_parts(name):
    rule = accountant(name)
    event, choice = rule.gaussian(0.01, DELTA / 9, ""), ExponentialEvent(epsilon=0.1, count=2)
    inner = ComposedEvent(events=(event, choice), count=3)
    nested = rule.spent([ComposedEvent(events=(inner, event), count=2)], DELTA)
    flat = rule.spent([event, choice] * 6 + [event] * 2, DELTA)
    assert nested.epsilon == pytest.approx(flat.epsilon, rel=1e-9)
    assert nested.delta == pytest.approx(flat.delta, rel=1e-12)
    assert nested.rho == pytest.approx(flat.rho, rel=1e-12)


@EVERY
def test_a_pure_step_costs_its_epsilon_at_most(name):
    """Laplace: sensitivity / scale. No accountant may say less than what delta can hide."""
    event = LaplaceEvent(scale=4.0, sensitivity=2.0)
    spent = accountant(name).spent([event], DELTA)
    assert event.epsilon == pytest.approx(0.5)
    if name != "zcdp":  # zCDP forgets that the loss is bounded
        assert spent.epsilon <= 0.5 * 1.011
    assert spent.epsilon >= 0.5 - 1e-3
    assert spent.rho == pytest.approx(0.125)


@EVERY
def test_the_delta_of_a_step_is_subtracted_first(name):
    """The rest has less delta and costs more epsilon; nothing fits when delta is used up."""
    rule = accountant(name)
    gaussian = rule.gaussian(0.02, DELTA / 4, "")
    step = ApproximateEvent(epsilon=1e-6, delta=0.7 * DELTA)
    without, within = (rule.spent(events, DELTA) for events in ([gaussian], [gaussian, step]))
    assert within.epsilon > without.epsilon
    if name == "basic":
        assert within.delta == pytest.approx(0.95 * DELTA)
        return
    assert within.epsilon == pytest.approx(rule.spent([gaussian], 0.3 * DELTA).epsilon, rel=2e-3)
    assert within.epsilon > rule.spent([gaussian], 0.31 * DELTA).epsilon
    if name == "zcdp":
        with pytest.raises(BudgetError, match="use up all of delta"):
            rule.spent([gaussian, step, step], DELTA)
    else:
        assert rule.spent([gaussian, step, step], DELTA).epsilon == math.inf


@pytest.mark.parametrize("bad", [0, 0.0, -1, math.nan, math.inf, None, 1.5, True], ids=repr)
def test_events_that_mean_nothing_are_refused(bad):
    with pytest.raises(PrivacyError, match="count"):
        ComposedEvent(events=(), count=bad)
    if bad not in (1.5,):
        with pytest.raises(PrivacyError, match="scale"):
            LaplaceEvent(scale=bad)
        with pytest.raises(PrivacyError, match="sensitivity"):
            LaplaceEvent(scale=1.0, sensitivity=bad)
        with pytest.raises(PrivacyError, match="epsilon"):
            ApproximateEvent(epsilon=bad, delta=0.1)
    with pytest.raises(BudgetError, match="delta"):
        ApproximateEvent(epsilon=1.0, delta=bad)


def test_failures_add_up_through_nesting():
    step = ApproximateEvent(epsilon=1.0, delta=1e-8)
    nested = [step, ComposedEvent(events=(step, GaussianEvent(sigma=1.0)), count=3)]
    assert 4e-8 <= failure(nested) <= 4.000001e-8
    assert failure([GaussianEvent(sigma=1.0, delta=0.1)]) == 0.0


def test_basic_refuses_noise_it_was_not_asked_for():
    """A Gaussian event without shares would count as free."""
    for event in (
        GaussianEvent(sigma=40.0),
        GaussianEvent(sigma=40.0, epsilon=0.1),
        GaussianEvent(sigma=40.0, delta=1e-8),
    ):
        with pytest.raises(BudgetError, match="given nothing"):
            accountant("basic").spent([event], DELTA)


@EVERY
def test_more_budget_buys_less_noise(name):
    rule = accountant(name)
    sigmas = [
        rule.gaussian(rule.amount(epsilon, DELTA), DELTA, "").sigma
        for epsilon in (0.1, 0.5, 1.0, 4.0, 20.0)
    ]
    assert sigmas == sorted(sigmas, reverse=True)


@EVERY
@pytest.mark.parametrize("count", [1, 2, 10, 1000])
def test_closed_forms(name, count):
    """rho of k Gaussian events is k / sigma^2 in counts, of k choices k epsilon^2 / 8."""
    events = [GaussianEvent(sigma=40.0, epsilon=0.1, delta=1e-9)] * count
    spent = accountant(name).spent(events, DELTA)
    assert spent.rho == pytest.approx(count / 40.0**2, rel=1e-12)
    if name == "basic":
        assert spent.epsilon == pytest.approx(0.1 * count)
        assert spent.delta == pytest.approx(1e-9 * count)
    chosen = accountant(name).spent([ExponentialEvent(epsilon=0.2, count=count)], DELTA)
    assert chosen.rho == pytest.approx(count * 0.2**2 / 8, rel=1e-12)


def test_zcdp_of_one_query_is_the_whole_rho():
    rule = accountant("zcdp")
    event = rule.gaussian(rule.amount(1.0, DELTA), DELTA, "")
    assert 1.0 / event.sigma**2 == pytest.approx(epsilon_to_rho(1.0, DELTA), rel=1e-9)


def test_replace_one_moves_two_cells():
    assert math.sqrt(2.0) == L2_SENSITIVITY
    assert L1_SENSITIVITY == 2.0
    assert GaussianEvent(sigma=1.0).rho == pytest.approx(1.0)


def test_the_exponents_are_those_of_the_closed_forms():
    assert accountant("zcdp").exponent == pytest.approx(2 / 3)
    assert accountant("basic").exponent == pytest.approx(1 / 2)


def test_basic_ignores_no_delta():
    rule = accountant("basic")
    event = rule.gaussian(0.1, 1e-7, "")
    assert event.delta == 1e-7
    assert rule.spent([event, replace(event, delta=2e-7)], 1e-6).delta == pytest.approx(3e-7)


def test_an_unknown_accountant_is_refused():
    with pytest.raises(BudgetError, match="accountant must be one of") as caught:
        accountant("renyi")
    assert caught.value.field == "accountant"


def test_events_as_plain_values():
    assert event_dict(GaussianEvent(sigma=2.0, label="a")) == {
        "event": "gaussian",
        "sigma": 2.0,
        "sensitivity": L2_SENSITIVITY,
        "delta": 0.0,
        "epsilon": 0.0,
        "label": "a",
    }
    assert event_dict(ExponentialEvent(epsilon=0.5, count=3, label="b")) == {
        "event": "exponential",
        "epsilon": 0.5,
        "count": 3,
        "label": "b",
    }
    step = ApproximateEvent(epsilon=0.5, delta=1e-9, label="c")
    assert event_dict(ComposedEvent(events=(step, LaplaceEvent(scale=4.0)), count=2)) == {
        "event": "composed",
        "count": 2,
        "label": "",
        "events": [
            {"event": "approximate", "epsilon": 0.5, "delta": 1e-9, "label": "c"},
            {
                "event": "laplace",
                "scale": 4.0,
                "sensitivity": 2.0,
                "label": "",
                "epsilon": math.nextafter(0.5, 1.0),
            },
        ],
    }


def test_an_accountant_without_its_library_is_not_available(monkeypatch):
    from prism_core.privacy.accountants import accountant as accountants

    monkeypatch.setattr(accountants.importlib.util, "find_spec", lambda name: object())
    assert accountants.available() == ("zcdp", "basic", "pld")
    monkeypatch.setattr(accountants.importlib.util, "find_spec", lambda name: None)
    assert accountants.available() == ("zcdp", "basic")
