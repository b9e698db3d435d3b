"""The page Data and a table without its header: nothing of its first line is shown."""

from __future__ import annotations

import pytest

from dashboard.session.data_entries import DataEntries
from dashboard.session.project import Project
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import read_table
from tests.support.pages import open_page, texts

pytestmark = [pytest.mark.app, pytest.mark.privacy]


@pytest.fixture
def bare(frame, canary) -> Project:
    """A project of rows whose first became the header, as when a file has no line of names."""
    rows = frame.copy()
    rows.loc[0, "ward"] = canary
    raw = read_table(rows.to_csv(index=False, header=False).encode(), name="bare.csv")
    return Project(
        data=DataEntries(name="bare.csv", raw=raw),
    )


def test_a_schema_for_it_is_refused(bare, schema, canary):
    test = open_page("data", bare)
    test.radio(key="schema_way").set_value("upload").run()
    content = schema_file.dumps(schema).encode()
    test.file_uploader(key="upload_schema").upload("s.yaml", content, "text/yaml").run()
    test.button(key="use_schema").click().run()
    assert "The first line of 'bare.csv' does not hold the names of columns" in texts(test)
    assert canary not in texts(test)
    assert bare.data.schema is None


def test_its_first_line_does_not_become_a_form(bare, canary):
    test = open_page("data", bare)
    test.radio(key="schema_way").set_value("header").run()
    test.button(key="draft_header").click().run()
    assert "looks like a row and not like names of columns" in texts(test)
    assert canary not in texts(test)
    assert bare.data.form is None


def test_it_is_not_offered_as_the_column_that_names_the_person(bare, frame, canary):
    test = open_page("data", bare)
    test.radio(key="schema_way").set_value("twin").run()
    content = frame.to_csv(index=False).encode()
    test.file_uploader(key="upload_twin").upload("t.csv", content, "text/csv").run()
    test.button(key="draft_twin").click().run()
    bare.data.form[0] |= {"learn": True}
    bare.data.form_edited, bare.data.form_rev = None, bare.data.form_rev + 1
    test.run()
    test.radio(key="people_way").set_value("id").run()
    assert "looks like a row and not like names of columns" in texts(test)
    assert canary not in str([box.options for box in test.selectbox])


def test_names_in_another_case_are_named(frame, schema):
    raw = read_table(frame.rename(columns=str.upper).to_csv(index=False).encode(), name="t.csv")
    project = Project(
        data=DataEntries(name="t.csv", raw=raw),
    )
    test = open_page("data", project)
    test.radio(key="schema_way").set_value("upload").run()
    content = schema_file.dumps(schema).encode()
    test.file_uploader(key="upload_schema").upload("s.yaml", content, "text/yaml").run()
    test.button(key="use_schema").click().run()
    assert "it has 'AGE' for 'age'" in texts(test)
