"""Columns that are not needed: named on Structure, left out with one click, and brought back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dashboard.session.graph import EditedGraph
from dashboard.structure import columns_not_needed
from prism_core.data.schema.codebook_source import CodebookReading, CodebookSource
from tests.dashboard.structure.test_structure import made, press
from tests.support.pages import open_page, texts

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema

pytestmark = pytest.mark.app
NAMES = ("age", "ward", "dose", "loose", "outcome")
EDGES = (("age", "outcome"), ("dose", "outcome"), ("ward", "age"), ("ward", "dose"))
PART = ":material/filter_alt: Columns not needed"


@pytest.fixture
def project():
    return made(NAMES, target="outcome", graph=EditedGraph(edges=EDGES))


def opened(project):
    return open_page("structure", project, structure_tabs=PART)


def test_one_click_leaves_out_what_the_target_does_not_need(project):
    protected = project.settled_s
    test = opened(project)
    assert "**2 columns are not needed** to predict outcome: ward, loose" in texts(test)
    press(test, "leave_out_columns")
    assert project.data.schema.names == ("age", "dose", "outcome")
    assert [row["name"] for row in project.data.rows_of_form] == ["age", "dose", "outcome"]
    # What the graph says of the others still holds: ward ties age and dose.
    assert set(project.structure.graph.edges) == set(EDGES)
    assert project.dag.unmeasured == ("ward",)
    assert project.settled_s == protected
    assert project.plan().schema.names == ("age", "dose", "outcome")
    assert "**Left out:** ward, loose" in texts(test)
    assert "Every column is used" in texts(test)


def test_they_come_back_where_they_stood(project):
    before = project.data.schema
    test = press(press(opened(project), "leave_out_columns"), "bring_columns_back")
    assert project.data.schema == before
    assert project.dag.unmeasured == ()
    assert "Left out:" not in texts(test)


def test_what_somebody_needs_is_kept(project):
    test = opened(project)
    test.multiselect(key="keep_columns_2").set_value(["loose"]).run()
    press(test, "leave_out_columns")
    assert project.data.schema.names == ("age", "dose", "loose", "outcome")


def test_a_choice_of_the_run_leaves_nothing_to_drop():
    project = made(NAMES, target="outcome", regime="predictive", k=2)
    assert columns_not_needed.not_needed(project) == ()
    test = opened(project)
    assert "may still be chosen by the run" in texts(test)
    assert not [one for one in test.button if one.key == "leave_out_columns"]


def test_provenance_and_looks_stay_on_record(project):
    source = CodebookSource(name="book.csv", sha256="0" * 64, format="redcap")
    schema: Schema = replace(project.data.schema, provenance="codebook", codebook=source)
    project.use_schema(schema)
    project.data.read = CodebookReading.of(schema)
    project.data.public = False
    columns_not_needed.leave_out(project, ["loose"])
    assert project.data.schema.codebook == source
    project.look("counted cells outside")
    columns_not_needed.leave_out(project, ["ward"])
    # Taking a column out tells nothing about the cells of the others.
    assert project.data.schema.provenance == "codebook"
    assert project.data.schema.looks[-1].columns == ("ward",)
    columns_not_needed.bring_back(project)
    assert project.data.schema.names == NAMES
    # What is declared anew after a look, without a source, counts as taken from the rows.
    assert project.data.schema.provenance == "private rows"
