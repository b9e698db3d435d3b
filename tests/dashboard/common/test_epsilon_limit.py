"""The workspace's maximum epsilon, and what a plan warns of, on the pages before a charge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dashboard.session.data_entries import DataEntries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from prism_core.errors import BudgetError
from prism_core.privacy.ledger import default_workspace
from prism_core.structure import formats
from tests.support.pages import open_page, texts

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app


@pytest.fixture
def project(spurious) -> Project:
    return Project(
        data=DataEntries(
            name="stays.csv", raw=spurious.train, test=spurious.test, schema=spurious.schema
        ),
        structure=StructureEntries(
            target="Y", graph=EditedGraph(edges=formats.read(spurious.dag_json).edges)
        ),
        account=AccountEntries(asset="stays 2024", lifetime=1e6),
    )


def boxes(test: AppTest) -> list:
    return [box for box in test.checkbox if "maximum of 20" in box.label]


def test_above_the_maximum_nothing_is_planned_until_it_is_ticked(project):
    assert boxes(open_page("budget", project)) == []
    project.designs.plan.budget.epsilon = 30.0
    project.designs.plan.budget.delta = "0.5"
    test = open_page("budget", project)
    assert "epsilon = 30 is above the maximum of this workspace, 20" in texts(test)
    with pytest.raises(BudgetError, match="above the maximum"):
        project.plan()
    (box,) = boxes(test)
    box.check().run()
    assert not test.exception
    assert project.plan().budget.above_limit == 20.0
    assert "The curator said that it may be." in texts(test)
    assert "delta = 0.5 is not below 1/n" in texts(test)
    release = open_page("release", project)
    for said in ("The curator said that it may be.", "is not below 1/n", "protects very little"):
        assert said in texts(release)
    boxes(test)[0].uncheck().run()
    with pytest.raises(BudgetError, match="above the maximum"):
        project.plan()


def test_another_maximum_is_ticked_anew(project):
    project.designs.plan.budget.epsilon, project.designs.allowed_above = 30.0, 20.0
    assert project.plan().budget.above_limit == 20.0
    default_workspace().mkdir()
    (default_workspace() / "settings.toml").write_text("[limits]\nmax_epsilon = 5.0\n")
    with pytest.raises(BudgetError, match="this workspace, 5"):
        project.plan()


def test_public_rows_have_no_maximum(project):
    project.designs.plan.budget.epsilon, project.data.public = 30.0, True
    assert project.plan().budget.above_limit is None
    assert boxes(open_page("budget", project)) == []


@pytest.mark.parametrize("epsilon", [1e308, 1e300, 1e10, 5e-324, 1e-300])
@pytest.mark.parametrize("public", [True, False])
def test_no_number_ends_the_page(project, epsilon, public):
    project.designs.plan.budget.epsilon, project.data.public = epsilon, public
    assert texts(open_page("budget", project))
    assert texts(open_page("release", project))
