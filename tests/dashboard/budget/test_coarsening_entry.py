"""The entry for bins that are found privately, and what the page says of their cost."""

from __future__ import annotations

import pytest

from prism_core.planning import coarsening
from tests.support.budget_page import again, now, page, table
from tests.support.pages import texts

pytestmark = pytest.mark.app


def test_the_wish_reaches_the_plan_and_its_cost_is_told(project, monkeypatch):
    monkeypatch.setattr(coarsening, "NOISE_LIMIT", 1e9)
    project.designs.plan.regime = "predictive"
    test = page(project)
    now(test.selectbox, "coarsen").select("auto").run()
    plan = project.plan()
    assert plan.task.coarsen == "auto"
    assert plan.coarsening is not None
    again(test)
    assert now(test.selectbox, "coarsen").value == "auto"
    assert "fine grids" in texts(test)
    assert any("fine grid" in label for label in table(test)["marginal"])
    now(test.selectbox, "coarsen").select("never").run()
    assert project.plan().coarsening is None
