"""A session of a reusable holdout, in a workspace of its own."""

from __future__ import annotations

import pytest

from prism_core.evaluation.inside_epsilon.holdout import open_holdout
from prism_core.privacy.ledger import Ledger
from tests.support.holdouts import FAR, HELD, MADE, plan_of
from tests.support.noise import Script


@pytest.fixture
def work(tmp_path):
    ledger = Ledger(tmp_path / "work")
    ledger.register("ward", epsilon=4.0, delta=1e-6)

    def start(plan=None, noise=None, held=HELD):
        return open_holdout(
            plan or plan_of(answers=2),
            MADE,
            held,
            workspace=tmp_path / "work",
            ledger=ledger,
            asset="ward",
            noise=noise or Script(FAR),
        )

    start.ledger, start.folder = ledger, tmp_path / "work"
    return start
