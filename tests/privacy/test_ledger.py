"""The ledger: charged before, never above, never undone."""

from __future__ import annotations

import json
import math
import multiprocessing
import sqlite3
import sys
from dataclasses import replace
from types import ModuleType

import pytest

from prism_core.errors import BudgetError, LedgerError, OverspentError, PrivacyError
from prism_core.privacy.accountants.accountant import Spent, accountant
from prism_core.privacy.accountants.conversions import epsilon_to_rho, rho_to_epsilon
from prism_core.privacy.events import ExponentialEvent, GaussianEvent
from prism_core.privacy.ledger import WORKSPACE_VARIABLE, Asset, Ledger, default_workspace

pytestmark = pytest.mark.privacy

EVENTS = (GaussianEvent(sigma=200.0, label="a × y"), ExponentialEvent(epsilon=0.01, count=2))


@pytest.fixture
def ledger(tmp_path, either_store):
    found = Ledger(tmp_path / "work")
    found.register("ward", epsilon=1.0, delta=1e-6)
    return found


def spend(epsilon: float) -> Spent:
    return Spent(epsilon=epsilon, delta=1e-6, rho=epsilon_to_rho(epsilon, 1e-6))


def charge(ledger: Ledger, epsilon: float, asset: str = "ward") -> int:
    return ledger.charge(
        asset,
        step="release",
        spent=spend(epsilon),
        events=EVENTS,
        plan="h",
        accountant="zcdp",
        why="test",
    )


@pytest.fixture
def file_ledger(tmp_path):
    """One whose file the test looks into."""
    found = Ledger(tmp_path / "work")
    found.register("ward", epsilon=1.0, delta=1e-6)
    return found


def test_a_charge_is_on_disk_when_the_call_returns(file_ledger):
    ledger = file_ledger
    number = charge(ledger, 0.4)
    with sqlite3.connect(ledger.path) as db:
        row = db.execute("SELECT id, plan, epsilon, why, events FROM charges").fetchone()
    db.close()
    assert row[:4] == (number, "h", 0.4, "test")
    assert json.loads(row[4])[0]["sigma"] == 200.0
    (found,) = ledger.charges("ward")
    assert (found.id, found.state, found.asset) == (number, "reserved", "ward")


def test_charges_compose_by_rho(ledger):
    for _ in range(3):
        charge(ledger, 0.3)
    rho = 3 * epsilon_to_rho(0.3, 1e-6)
    balance = ledger.balance("ward")
    assert balance.spent_rho == pytest.approx(rho, rel=1e-12)
    assert balance.spent_epsilon == pytest.approx(rho_to_epsilon(rho, 1e-6), rel=1e-9)
    assert balance.spent_epsilon < 0.9  # epsilons do not add up under zCDP
    assert balance.left_rho == pytest.approx(epsilon_to_rho(1.0, 1e-6) - rho)
    assert 0.0 < balance.left_epsilon < 1.0


def test_overspending_is_refused_with_nothing_written(ledger):
    charge(ledger, 0.9)
    before = ledger.charges()
    with pytest.raises(OverspentError, match="lifetime epsilon of 1;") as caught:
        charge(ledger, 0.9)
    assert caught.value.field == "epsilon"
    assert ledger.charges() == before
    assert charge(ledger, 0.2)  # what fits still fits


def test_the_whole_lifetime_fits_in_one_charge(ledger):
    charge(ledger, 1.0)
    balance = ledger.balance("ward")
    assert balance.left_rho == 0.0
    assert balance.left_epsilon == 0.0
    assert balance.spent_epsilon <= 1.0
    with pytest.raises(OverspentError):
        ledger.charge(
            "ward", step="release", spent=spend(0.001), events=(), plan="h", accountant="zcdp"
        )


def test_what_is_left_can_be_spent_to_the_last_digit(ledger):
    charge(ledger, 0.37)
    left = ledger.balance("ward").left_epsilon
    rule = accountant("zcdp")
    rho = rule.amount(left, 1e-6)
    ledger.charge(
        "ward",
        step="release",
        spent=Spent(epsilon=left, delta=1e-6, rho=rho),
        events=(),
        plan="h",
        accountant="zcdp",
    )
    assert ledger.balance("ward").spent_rho <= epsilon_to_rho(1.0, 1e-6)


@pytest.mark.parametrize("state", ["reserved", "done", "failed"])
def test_a_charge_counts_in_every_state_but_void(ledger, state):
    number = charge(ledger, 0.5)
    if state != "reserved":
        ledger.mark(number, state)
    assert ledger.balance("ward").spent_rho > 0.0
    assert ledger.charges()[0].state == state


def test_a_void_charge_does_not_count_and_stays_on_record(ledger):
    ledger.mark(charge(ledger, 0.9), "void")
    assert ledger.balance("ward").spent_rho == 0.0
    assert ledger.charges()[0].state == "void"
    assert charge(ledger, 0.9) == 2


@pytest.mark.parametrize("closed", ["done", "failed", "void"])
def test_a_closed_charge_cannot_be_undone(ledger, closed):
    number = charge(ledger, 0.5)
    ledger.mark(number, closed)
    for state in ("void", "done", "reserved"):
        with pytest.raises(LedgerError, match="closed"):
            ledger.mark(number, state)
    assert ledger.charges()[0].state == closed
    with pytest.raises(LedgerError, match="closed"):
        ledger.mark(99, "void")


@pytest.mark.parametrize("rho", [-0.1, 0.0, math.nan, math.inf])
def test_no_charge_gives_budget_back(ledger, rho):
    bad = replace(spend(0.1), rho=rho)
    with pytest.raises(PrivacyError, match="rho"):
        ledger.charge("ward", step="release", spent=bad, events=(), plan="h", accountant="zcdp")
    assert ledger.charges() == ()


def test_registering_twice(ledger):
    again = ledger.register(" ward ", epsilon=1.0, delta=1e-6)
    assert again == Asset(name="ward", epsilon=1.0, delta=1e-6)
    assert ledger.assets() == (again,)
    with pytest.raises(LedgerError, match="cannot be changed to 2") as caught:
        ledger.register("ward", epsilon=2.0, delta=1e-6)
    assert caught.value.field == "lifetime_epsilon"
    assert ledger.register("ward", epsilon=1.0, delta=1e-3).delta == 1e-6  # the first stays
    assert ledger.balance("ward").total_rho == epsilon_to_rho(1.0, 1e-6)


def test_assets_do_not_share_a_budget(ledger):
    ledger.register("clinic", epsilon=0.5, delta=1e-6)
    charge(ledger, 0.4, "clinic")
    assert ledger.balance("ward").spent_rho == 0.0
    assert [c.asset for c in ledger.charges("clinic")] == ["clinic"]
    assert ledger.charges("ward") == ()


def test_unknown_assets_and_bad_lifetimes_are_refused(ledger):
    with pytest.raises(LedgerError, match="no asset 'x'"):
        charge(ledger, 0.1, "x")
    with pytest.raises(LedgerError, match="no asset 'x'"):
        ledger.balance("x")
    with pytest.raises(LedgerError, match="needs a name"):
        ledger.register("  ", epsilon=1.0, delta=1e-6)
    for epsilon, delta in ((0.0, 1e-6), (math.nan, 1e-6), (math.inf, 1e-6), (1.0, 1.0)):
        with pytest.raises(BudgetError):
            ledger.register("new", epsilon=epsilon, delta=delta)


def test_the_ledger_survives_being_opened_again(ledger):
    charge(ledger, 0.4)
    again = Ledger(ledger.path.parent)
    assert again.charges() == ledger.charges()
    with pytest.raises(OverspentError):
        charge(again, 0.95)


def test_a_newer_ledger_is_refused(file_ledger):
    ledger = file_ledger
    with sqlite3.connect(ledger.path) as db:
        db.execute("UPDATE meta SET version = 99")
    db.close()
    with pytest.raises(LedgerError, match="newer version"):
        Ledger(ledger.path.parent)


def test_an_unusable_workspace_is_refused(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("x")
    with pytest.raises(LedgerError, match="cannot be opened") as caught:
        Ledger(blocked)
    assert caught.value.field == "workspace"


def test_a_broken_ledger_is_a_ledger_error(file_ledger):
    ledger = file_ledger
    ledger.path.write_bytes(b"not a database, and longer than a header " * 40)
    with pytest.raises(LedgerError, match="is damaged, or is no ledger"):
        charge(ledger, 0.1)


def test_the_workspace_comes_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv(WORKSPACE_VARIABLE, str(tmp_path))
    assert default_workspace() == tmp_path
    monkeypatch.delenv(WORKSPACE_VARIABLE)
    assert default_workspace().name == ".prism"


def _race(folder, barrier, results):
    barrier.wait()
    try:
        results.put(charge(Ledger(folder), 0.9))
    except OverspentError:
        results.put(None)


@pytest.mark.slow
def test_of_two_processes_that_race_for_one_budget_exactly_one_wins(ledger, monkeypatch):
    # A page test before this one may have left a page as the main module; processes import it.
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(2), context.Queue()
    both = [
        context.Process(target=_race, args=(ledger.path.parent, barrier, results)) for _ in range(2)
    ]
    for process in both:
        process.start()
    found = [results.get(timeout=120) for _ in both]
    for process in both:
        process.join(timeout=60)
    assert sorted(value is None for value in found) == [False, True]
    assert len(ledger.charges()) == 1


def test_two_spellings_of_a_name_share_one_budget(tmp_path, either_store):
    ledger = Ledger(tmp_path)
    ledger.register("Ward 3", epsilon=1.0, delta=1e-9)
    assert ledger.register("ward 3", epsilon=1.0, delta=1e-9).name == "Ward 3"
    assert len(ledger.assets()) == 1
    assert ledger.balance("WARD 3").asset.name == "Ward 3"


def test_a_prospect_is_the_balance_of_an_asset_just_registered(tmp_path, either_store):
    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=1.5, delta=1e-6)
    assert Ledger.prospect("ward", epsilon=1.5, delta=1e-6) == ledger.balance("ward")
    with pytest.raises(BudgetError, match="lifetime epsilon"):
        Ledger.prospect("ward", epsilon=math.nan, delta=1e-6)
