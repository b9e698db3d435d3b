"""Composition of an asset's charges from their stored events, against an independent sum."""

from __future__ import annotations

import math

import pytest

from prism_core.errors import LedgerError, OverspentError, PrivacyError
from prism_core.privacy.accountants.accountant import Spent, accountant
from prism_core.privacy.accountants.conversions import epsilon_to_rho, rho_to_delta, rho_to_epsilon
from prism_core.privacy.events import ExponentialEvent, GaussianEvent, event_dict
from prism_core.privacy.ledger import Asset, Ledger
from prism_core.privacy.ledger.composition import Item, compose, cost, with_reserve
from prism_core.privacy.ledger.records import COMPOSITION_SENTENCE

pytestmark = pytest.mark.privacy

GAUSSIAN = {"event": "gaussian", "sigma": 10.0, "sensitivity": math.sqrt(2.0)}
APPROXIMATE = {"event": "approximate", "epsilon": 0.2, "delta": 4e-7}
EXPONENTIAL = {"event": "exponential", "epsilon": 0.2, "count": 5}


@pytest.fixture
def ledger(tmp_path, either_store):
    found = Ledger(tmp_path / "work")
    found.register("ward", epsilon=2.5, delta=1e-6)
    return found


def pay(ledger, epsilon, events=(), delta=1e-6):
    spent = Spent(epsilon=epsilon, delta=delta, rho=epsilon_to_rho(epsilon, delta))
    return ledger.charge(
        "ward", step="release", spent=spent, events=events, plan="h", accountant="zcdp"
    )


@pytest.mark.parametrize(
    ("event", "rho", "delta"),
    [
        (GAUSSIAN, 0.01, 0.0),
        (EXPONENTIAL, 5 * 0.04 / 8, 0.0),
        ({"event": "exponential", "epsilon": 0.2}, 0.04 / 8, 0.0),
        ({"event": "laplace", "epsilon": 0.1, "count": 3}, 0.015, 0.0),
        ({"event": "laplace", "scale": 20.0, "sensitivity": 2.0}, 0.005, 0.0),
        ({"event": "reserve", "rho": 0.125}, 0.125, 0.0),
        ({"event": "approximate", "epsilon": 0.2, "delta": 1e-7}, 0.02, 1e-7),
        ({"event": "composed", "events": [GAUSSIAN, EXPONENTIAL]}, 0.035, 0.0),
        ({"event": "composed", "count": 3, "events": [GAUSSIAN]}, 0.03, 0.0),
    ],
)
def test_the_cost_of_every_event(event, rho, delta):
    found = cost([event])
    assert found.rho == pytest.approx(rho, rel=1e-12)
    assert found.delta == delta
    assert cost([event, event]).rho == pytest.approx(2 * rho, rel=1e-12)


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"event": "staircase", "epsilon": 1.0},
        {"event": "gaussian", "sigma": 1.0},
        "gaussian",
        {"event": "composed"},
        {"event": "composed", "events": [{}]},
        {"event": "laplace"},
        {"event": "approximate", "delta": 1e-7},
        {"event": "approximate", "epsilon": 1.0},
    ],
)
def test_an_unknown_event_is_not_guessed(event):
    with pytest.raises(LedgerError, match="cannot account for"):
        cost([event])


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, None, "1", True])
def test_an_unusable_figure_is_refused(value):
    for event in (
        GAUSSIAN | {"sigma": value},
        GAUSSIAN | {"sensitivity": value},
        EXPONENTIAL | {"epsilon": value},
        EXPONENTIAL | {"count": value},
        APPROXIMATE | {"delta": value},
        APPROXIMATE | {"epsilon": value},
        {"event": "reserve", "rho": value},
        {"event": "laplace", "epsilon": value},
    ):
        with pytest.raises(PrivacyError):
            cost([event])


@pytest.mark.parametrize("event", [GaussianEvent(sigma=3.0), ExponentialEvent(epsilon=1, count=4)])
def test_the_stored_form_costs_what_the_event_says(event):
    assert cost([event_dict(event)]).rho == pytest.approx(event.rho, rel=1e-15)
    assert cost([event_dict(event)]).rho == pytest.approx(
        accountant("zcdp").spent([event], 1e-6).rho, rel=1e-15
    )


def test_what_is_kept_for_later_choices_is_an_event():
    found = with_reserve([GAUSSIAN], 0.025)
    assert found[-1]["event"] == "reserve"
    assert cost(found).rho == pytest.approx(0.025, rel=1e-12)
    assert with_reserve([GAUSSIAN], 0.01) == [GAUSSIAN]  # equal but for rounding: nothing kept
    assert with_reserve([GAUSSIAN], 0.01 * (1 - 1e-12)) == [GAUSSIAN]


def test_nothing_is_charged_below_its_events(ledger):
    with pytest.raises(LedgerError, match="cost more than the charge"):
        pay(ledger, 0.1, (GaussianEvent(sigma=2.0),))
    assert ledger.charges() == ()


def test_a_charge_keeps_its_events(ledger):
    number = pay(ledger, 1.0, (GaussianEvent(sigma=30.0, label="a × y"),))
    charge = ledger.get(number)
    assert [event["event"] for event in charge.events] == ["gaussian", "reserve"]
    assert charge.events[0]["label"] == "a × y"
    assert cost(charge.events).rho == pytest.approx(charge.rho, rel=1e-12)


def test_losses_compose_less_than_additively_and_both_sums_are_shown(ledger):
    for _ in range(3):
        pay(ledger, 0.5)
    balance = ledger.balance("ward")
    rho = 3 * epsilon_to_rho(0.5, 1e-6)
    assert balance.spent_rho == pytest.approx(rho, rel=1e-12)
    assert balance.spent_epsilon == pytest.approx(rho_to_epsilon(rho, 1e-6), rel=1e-9)
    assert balance.naive_epsilon == 1.5
    assert balance.naive_delta == pytest.approx(3e-6)
    assert balance.spent_epsilon < 0.6 * balance.naive_epsilon + 0.1
    assert balance.charges == 3


def test_the_sentence_about_the_rest_is_true(tmp_path):
    """COMPOSITION_SENTENCE: of 2.5, after 1, there is 2.23 left at a delta of 1e-5."""
    assert "after 1 of a lifetime of 2.5 there is 2.23 left" in COMPOSITION_SENTENCE
    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=2.5, delta=1e-5)
    pay(ledger, 1.0, delta=1e-5)
    balance = ledger.balance("ward")
    assert f"{balance.left_epsilon:.2f}" == "2.23"
    assert balance.spent_epsilon == pytest.approx(1.0)


def test_void_charges_are_in_neither_sum(ledger):
    ledger.mark(pay(ledger, 0.5), "void")
    balance = ledger.balance("ward")
    assert (balance.spent_rho, balance.naive_epsilon, balance.charges) == (0.0, 0.0, 0)


def test_approximate_events_take_delta_from_the_asset():
    asset = Asset(name="ward", epsilon=1.0, delta=1e-6)
    event = APPROXIMATE
    found = compose(asset, [Item(epsilon=0.5, delta=4e-7, rho=0.02, events=(event,))])
    assert found.spent_delta == 4e-7
    assert found.total_rho == epsilon_to_rho(1.0, 6e-7)
    assert found.total_rho < epsilon_to_rho(1.0, 1e-6)
    # The claim itself: (4e-7, rho)-approximate zCDP at the composed epsilon stays within 1e-6.
    assert 4e-7 + rho_to_delta(found.spent_rho, found.spent_epsilon) <= 1e-6
    closed = compose(asset, [Item(epsilon=0.5, delta=1e-6, rho=0.01, events=(event,) * 3)])
    assert (closed.total_rho, closed.spent_epsilon, closed.left_epsilon) == (0.0, math.inf, 0.0)
    assert closed.to_dict()["spent_epsilon_composed"] is None


def test_refreshed_extracts_share_the_lifetime(ledger):
    """Another n, another default delta, another spelling: still the same asset."""
    ledger.register("Ward ", epsilon=2.5, delta=1e-8)
    pay(ledger, 2.0)
    ledger.register("WARD", epsilon=2.5, delta=1e-9)
    with pytest.raises(OverspentError):
        ledger.charge(
            "ward",
            step="release",
            spent=Spent(epsilon=2.0, delta=1e-9, rho=epsilon_to_rho(2.0, 1e-9)),
            events=(),
            plan="h",
            accountant="zcdp",
        )
    assert len(ledger.assets()) == 1


@pytest.mark.parametrize(
    "other",
    [
        "zürich  3",
        "ZÜRICH 3",
        "Zu\u0308rich 3",
        "Ｚürich 3",
        "Zürich\u200b 3",
        "\ufeffZürich 3",
        "Zü\u00adrich 3",
        "Zürich \u200e3",
        "Zürich\n3",
        "Zu\u200b\u0308rich 3\x00",
    ],
)
def test_spellings_of_one_name_are_one_asset(tmp_path, other):
    ledger = Ledger(tmp_path)
    ledger.register("Zürich 3", epsilon=1.0, delta=1e-9)
    assert ledger.register(other, epsilon=1.0, delta=1e-9).name == "Zürich 3"
    assert len(ledger.assets()) == 1


def test_a_name_that_nobody_sees_is_none(tmp_path):
    for name in ("", " ", "\u200b", "\ufeff\u00ad"):
        with pytest.raises(LedgerError, match="needs a name"):
            Ledger(tmp_path).register(name, epsilon=1.0, delta=1e-9)


def test_corrections_are_rows_and_change_no_figure(ledger):
    number = pay(ledger, 0.5)
    before = ledger.balance("ward")
    ledger.correct(number, " was for the oncology team ")
    ledger.correct(number, "and for nobody else")
    charge = ledger.get(number)
    assert [c.note for c in charge.corrections] == [
        "was for the oncology team",
        "and for nobody else",
    ]
    assert ledger.balance("ward") == before
    assert charge.why == ""
    with pytest.raises(LedgerError, match="no charge 9"):
        ledger.correct(9, "x")
    with pytest.raises(LedgerError, match="needs words"):
        ledger.correct(number, " ")
    with pytest.raises(LedgerError, match="no charge 9"):
        ledger.get(9)


def test_no_state_but_the_four(ledger):
    number = pay(ledger, 0.5)
    for state in ("reserved", "spent", ""):
        with pytest.raises(LedgerError):
            ledger.mark(number, state)
    assert ledger.get(number).state == "reserved"
