"""The ledger on a page: figures, states in words, and nothing to change."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from prism_core.privacy.accountants.accountant import Spent
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.ledger import Ledger

pytestmark = pytest.mark.app


def view() -> AppTest:
    def script():
        from dashboard.release import ledger_view

        ledger_view.section()

    test = AppTest.from_function(script, default_timeout=60).run()
    assert not test.exception
    return test


def test_assets_and_charges_are_shown():
    ledger = Ledger()
    ledger.register("ward *7*", epsilon=2.5, delta=1e-5)
    spent = Spent(epsilon=1.0, delta=1e-5, rho=epsilon_to_rho(1.0, 1e-5))
    for _ in range(2):
        ledger.charge(
            "ward *7*",
            step="release",
            spent=spent,
            events=(),
            plan="h",
            accountant="zcdp",
            why="test",
        )
    ledger.mark(1, "done")
    ledger.mark(2, "void")
    ledger.correct(1, "a word")
    test = view()
    assets, charges = (frame.value for frame in test.dataframe)
    assert list(assets["data asset"]) == ["ward *7*"]
    assert assets["left for one release"][0] == pytest.approx(2.23, abs=0.005)
    assert assets["spent, composed"][0] == pytest.approx(1.0)
    assert assets["spent, as a plain sum"][0] == 1.0
    assert list(charges["number"]) == [2, 1]
    assert list(charges["state"]) == ["not spent: no mechanism ran", "spent: finished"]
    assert list(charges["notes"]) == ["", "a word"]
    assert list(charges["why"]) == ["test", "test"]
    assert "compose less than additively" in test.caption[0].value
    assert not test.button
    assert not test.text_input


def test_an_empty_and_a_broken_ledger(workspace):
    assert "holds no data asset yet" in view().caption[0].value
    (workspace / "ledger.sqlite").write_bytes(b"not a database, and longer than a header " * 40)
    assert "ledger" in view().error[0].value
