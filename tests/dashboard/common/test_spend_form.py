"""The one form of every charge: nothing runs but what was confirmed, by whoever has the key."""

from __future__ import annotations

import ast

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.session.data_entries import DataEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from prism_core.privacy.ledger import Ledger
from tests.support.product import nodes_by_function

pytestmark = [pytest.mark.app, pytest.mark.privacy]


def page():
    from types import SimpleNamespace

    import streamlit as st

    from dashboard.common import spend_form
    from prism_core.privacy.accountants.accountant import Spent
    from prism_core.privacy.accountants.conversions import epsilon_to_rho
    from prism_core.privacy.ledger.charging import Price

    amount = float(st.text_input("Amount", "0.2", key="amount"))
    spent = Spent(epsilon=amount, delta=1e-6, rho=epsilon_to_rho(amount, 1e-6))
    name = f"plan of {amount}"
    price = Price(spent=spent, events=(), plan=name)
    plan = SimpleNamespace(hash=name, delta=1e-6, price=price, warnings=())
    words = spend_form.Spending(
        kind=st.session_state.get("kind", "evaluation"),
        key="step",
        step="This step",
        label="Spend",
        rehearsal_label="Rehearse",
        begun="counting has begun",
        tick=st.session_state.get("by") == "tick",
    )
    run = st.session_state.setdefault("ran", [])
    spend_form.spend_form(words, plan, lambda: run.append(amount))


def opened(by: str = "word") -> AppTest:
    test = AppTest.from_function(page, default_timeout=30)
    test.session_state["project"] = Project(
        data=DataEntries(name="a.csv"),
        account=AccountEntries(asset="Ward 7", lifetime=1.0),
    )
    test.session_state["by"] = by
    return test


def confirm(test: AppTest, by: str) -> AppTest:
    if by == "tick":
        return test.checkbox(key="step_confirm_0").check()
    return test.text_input(key="step_confirm_0").set_value("ward 7")


@pytest.mark.parametrize("by", ["word", "tick"])
def test_an_amount_that_comes_with_the_click_is_not_spent(by):
    test = opened(by).run()
    confirm(test, by).run()
    assert not test.button(key="step_run").disabled
    test.text_input(key="amount").set_value("0.7")
    test.button(key="step_run").click().run()
    assert test.session_state["ran"] == []
    confirm(test, by).run()
    test.button(key="step_run").click().run()
    assert test.session_state["ran"] == [0.7]


@pytest.mark.parametrize("by", ["word", "tick"])
def test_another_asset_that_comes_with_the_click_is_not_charged(by):
    test = opened(by).run()
    confirm(test, by).run()
    test.text_input(key="asset_name").set_value("Ward 8")
    test.button(key="step_run").click().run()
    assert test.session_state["ran"] == []


def test_another_word_and_what_the_asset_does_not_cover_confirm_nothing():
    test = opened().run()
    test.text_input(key="step_confirm_0").set_value("ward 8").run()
    test.button(key="step_run").click().run()
    assert test.session_state["ran"] == []
    assert "Type “Ward 7” into the field above" in test.error[0].value
    Ledger().register("ward 7", epsilon=0.1, delta=1e-6)
    test = opened().run()
    confirm(test, "word").run()
    assert test.button(key="step_run").disabled
    assert "needs epsilon" in test.error[0].value


def test_a_stranger_sees_no_form_and_no_word_of_the_ledger(stranger):
    Ledger().register("Ward 7", epsilon=1.7321, delta=1e-6)
    test = stranger(opened())
    test.session_state["sample project"] = test.session_state["project"]
    test.run()
    assert not test.exception
    assert "needs the key" in test.error[0].value
    assert [one.key for one in (*test.button, *test.checkbox)] == []
    assert [one.key for one in test.text_input] == ["amount"]


STARTED_BY = {
    ("start", "dashboard/release/preparation.py:_launch"),
    ("learn", "dashboard/data/learn_columns.py:_run"),
    ("learn_graph", "dashboard/structure/learn_blanket.py:_run"),
    ("compare", "dashboard/inspection/comparator_form.py:_start"),
    ("run_private_numbers", "dashboard/inspection/private_numbers.py:_run"),
    ("run_open_holdout", "dashboard/inspection/holdout_session.py:_open"),
}


def test_what_charges_is_started_in_one_function_each():
    """By syntax: another one would need a confirmation of its own."""
    found = {
        (ast.unparse(node.func).removeprefix("worker."), place)
        for place, node in nodes_by_function()
        if place.startswith("dashboard/") and isinstance(node, ast.Call)
    }
    names = {name for name, _ in STARTED_BY}
    assert {one for one in found if one[0] in names} == STARTED_BY
