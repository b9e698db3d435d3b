"""Rows per person learned on the page Data: asked for, priced, charged, used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.common.steps import STEPS
from dashboard.session.data_entries import DataEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from prism_core.data.tables.raw_table import from_frame
from prism_core.learning.domain.outline_io import loads_outline
from prism_core.learning.domain.requests import RowsRequest
from prism_core.privacy.ledger import Ledger
from tests.dashboard.data.test_learning import learn, metrics
from tests.support.pages import open_page, texts

pytestmark = pytest.mark.app


@pytest.fixture
def project(schema, frame) -> Project:
    """A private table of 150 persons with two rows each, all columns declared."""
    frame = frame.assign(pid=[str(i // 2) for i in range(len(frame))])
    named = replace(schema, one_row_per_person=False, person_id="pid", persons=150)
    data = DataEntries(name="stays.csv", raw=from_frame(frame), schema=named)
    return Project(data=data, account=AccountEntries(asset="stays 2024"))


def missing(project: Project) -> str:
    return next(step for step in STEPS if step.title == "Data").missing(project)


def test_it_is_asked_for_on_people_and_priced_before_anything_is_read(project):
    test = open_page("data", project)
    test.number_input(key="people_max_rows").set_value(3).run()
    test.toggle(key="people_learn_rows").set_value(True).run()
    test.number_input(key="people_most_rows").set_value(6).run()
    plan = project.domain_plan("declared")
    assert plan.outline.learn_rows == RowsRequest(most=6)
    assert (plan.outline.max_rows, plan.outline.columns_to_learn) == (1, ())
    assert "Learning spends, ε" in metrics(test)
    (cost,) = (f.value for f in test.dataframe if "what comes out" in f.value)
    assert list(cost["what comes out"]) == ["how many rows of a person are used, 1 to 6"]
    assert missing(project).startswith("Learn how many rows")
    assert "how many rows of a person are used" in texts(test).lower()
    test.toggle(key="people_learn_rows").set_value(False).run()
    assert not missing(project)
    assert project.data.schema.max_rows == 3  # as it was typed before


def test_what_is_declared_can_be_downloaded_with_the_wish(project):
    project.data.learning.rows = True
    assert loads_outline(dumped(project)).learn_rows == RowsRequest()


def dumped(project: Project) -> str:
    from prism_core.data.schema import column_form
    from prism_core.learning.domain.outline_io import dumps_outline

    project.data.show_form(column_form.to_rows(project.data.schema.columns))
    return dumps_outline(project.data.outline("declared"))


@pytest.mark.slow
def test_learned_charged_and_in_use(project, workspace):
    test = open_page("data", project)
    test.toggle(key="people_learn_rows").set_value(True).run()
    learn(test, project)
    schema = project.data.schema
    assert schema.rows_learned
    assert schema.provenance == "declared"
    assert not project.data.learning.rows
    assert 1 <= schema.max_rows <= 10
    (charge,) = Ledger(workspace).charges()
    assert charge.rho == schema.prior.rho
    assert not missing(project)
