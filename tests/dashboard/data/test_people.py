"""Whose a row is, and how many rows of a person are used: entered on Data, and kept by the form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.session.data_entries import DataEntries
from dashboard.session.memory import RowSplit, split_rows
from dashboard.session.project import Project
from prism_core.data.schema import column_form, schema_file
from prism_core.data.tables.raw_table import from_frame
from prism_core.errors import TableError
from prism_core.learning.domain import outline_io
from prism_core.privacy.contribution import MOST_SHARED
from tests.support.pages import open_page, texts

pytestmark = pytest.mark.app


@pytest.fixture
def project(schema, frame) -> Project:
    frame = frame.assign(pid=[str(i // 2) for i in range(len(frame))])
    named = replace(schema, one_row_per_person=False, person_id="pid", persons=150)
    return Project(data=DataEntries(name="stays.csv", raw=from_frame(frame), schema=named))


def test_several_rows_of_a_person_are_entered_and_the_form_keeps_them(project):
    test = open_page("data", project)
    assert "150 rows stay" in texts(test)
    assert not any(str(box.key).startswith("people_weighting") for box in test.radio)
    test.number_input(key="people_max_rows").set_value(3).run()
    assert project.data.schema.max_rows == 3
    test.radio(key="people_weighting").set_value("persons").run()
    assert project.data.schema.weighting == "persons"
    assert "up to 3 rows of each" in texts(test)
    assert test.number_input(key="people_max_rows").max == MOST_SHARED
    rows = column_form.to_rows(project.data.schema.columns)
    rows[0]["nullable"] = not rows[0]["nullable"]
    project.data.show_form(rows)
    test.run()
    test.button(key="apply_columns").click().run()
    assert not test.exception
    assert (project.data.schema.max_rows, project.data.schema.weighting) == (3, "persons")


def test_what_was_entered_comes_back(project):
    test = open_page("data", project)
    test.number_input(key="people_max_rows").set_value(3).run()
    test.radio(key="people_weighting").set_value("persons").run()
    rows = [box for box in test.number_input if str(box.key).startswith("people_max_rows")]
    rows[0].set_value(1).run()
    assert project.data.schema.weighting == "rows"  # one row weighs one
    rows = [box for box in test.number_input if str(box.key).startswith("people_max_rows")]
    rows[0].set_value(3).run()
    assert (project.data.schema.max_rows, project.data.schema.weighting) == (3, "persons")
    test.radio(key="people_way").set_value("row").run()
    assert project.data.schema.one_row_per_person
    test.radio(key="people_way").set_value("id").run()
    test.number_input(key="people_number").set_value(150).run()
    assert (project.data.schema.max_rows, project.data.schema.weighting) == (3, "persons")


def test_people_on_both_sides_are_refused_whenever_the_column_is_named(project, frame):
    """Also where both files were loaded before it was said which column names the person."""
    data = project.data
    data.test = from_frame(data.raw.frame.iloc[:10])
    with pytest.raises(TableError) as caught:
        split_rows(project, RowSplit(schema=data.schema, kept=0, seed=1))
    assert caught.value.field == "holdout"


def test_a_declaration_that_is_opened_later_is_shown_and_not_overwritten(project):
    test = open_page("data", project)
    project.use_schema(replace(project.data.schema, max_rows=5))
    test.run()
    assert project.data.schema.max_rows == 5
    shown = next(box for box in test.number_input if str(box.key).startswith("people_max_rows"))
    assert shown.value == 5


def test_columns_that_are_learned_leave_it_as_declared():
    text = """
version: 1
provenance: declared
person_id: pid
persons: 150
max_rows: 3
weighting: persons
columns:
- {name: y, kind: boolean}
- {name: ward, kind: categorical, other: else, learn: {max_levels: 5}}
"""
    outline = outline_io.loads_outline(text)
    assert (outline.max_rows, outline.weighting) == (3, "persons")
    assert outline_io.loads_outline(outline_io.dumps_outline(outline)) == outline


def test_a_schema_is_written_as_it_is_entered(project):
    several = replace(project.data.schema, max_rows=4)
    assert schema_file.loads(schema_file.dumps(several)) == several
