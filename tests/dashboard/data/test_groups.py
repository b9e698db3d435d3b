"""The page Data: a column of many codes gets its map, is applied, and stays a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dashboard.session.data_entries import DataEntries, People
from dashboard.session.project import Project
from prism_core.data.schema import column_form, schema_file
from prism_core.data.tables.raw_table import read_table
from tests.support.pages import open_page

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest


@pytest.fixture
def project(canary) -> Project:
    """A table with codes, of which nothing but the kinds is declared; a private code among them."""
    rows: list[dict[str, Any]] = [dict(row) for row in column_form.blank_rows(["icd", "y"])]
    rows[0] |= {"kind": "categorical", "other": "other"}
    rows[1] |= {"kind": "boolean"}
    lines = "".join(f"{code},{y}\n" for code in ("I50.1", "E11.9", canary) for y in (0, 1))
    return Project(
        data=DataEntries(
            name="stays.csv",
            raw=read_table(f"icd,y\n{lines}".encode(), name="stays.csv"),
            form=rows,
            draft_people=People(one_row_per_person=True),
        ),
    )


def said(test: AppTest) -> str:
    parts = (*test.markdown, *test.caption, *test.error)
    return "\n".join(part.value for part in parts).replace("\\", "")


def test_a_pasted_map_is_used_applied_and_taken_off(project, canary):
    test = open_page("data", project)
    test.text_area(key="groups_text").set_value("I50.1,heart\nI50.9,heart\nE11.9,sugar").run()
    test.button(key="use_groups").click().run()
    assert not test.exception
    assert "Now: 3 codes in 2 groups" in said(test)
    test.button(key="apply_columns").click().run()
    column = project.data.schema["icd"]
    assert column.levels == ("heart", "sugar", "other")
    assert column.groups.codes == (("I50.1", "I50.9"), ("E11.9",), ("other",))
    assert schema_file.loads(schema_file.dumps(project.data.schema)) == project.data.schema
    assert "These columns are in use" in said(test)
    assert canary not in said(test)
    test.button(key="drop_groups").click().run()
    assert project.data.rows_of_form[0]["groups"] == ""
    assert "Changes are not in use" in said(test)


def test_codes_are_grouped_by_their_first_characters(project):
    test = open_page("data", project)
    test.text_area(key="groups_text").set_value("I50.1\nI50.9\nE11.9").run()
    test.checkbox(key="groups_by_prefix").check().run()
    test.button(key="use_groups").click().run()
    test.button(key="apply_columns").click().run()
    assert project.data.schema["icd"].levels == ("I50", "E11", "other")


def test_a_mistake_in_the_map_names_the_column_and_the_line(project):
    test = open_page("data", project)
    test.text_area(key="groups_text").set_value("I50.1,heart\nI50.9").run()
    assert test.button(key="use_groups").disabled
    assert "Column 'icd': groups of codes: line 2 must hold a code and its group" in said(test)
    assert project.data.rows_of_form[0]["groups"] == ""


def test_declared_levels_are_the_codes_where_none_are_pasted(project):
    codes = [
        f"{letter}{tens:02d}.{digit}" for letter in "EI" for tens in range(50) for digit in range(5)
    ]
    project.data.form[0]["levels"] = " | ".join([*codes, "other"])
    test = open_page("data", project)
    assert test.button(key="use_groups").disabled
    assert "upload or paste one" in said(test)
    assert "upload or paste one" in test.button(key="use_groups").help
    test.checkbox(key="groups_by_prefix").check().run()
    assert "500 codes in 100 groups" in said(test)
    assert not test.button(key="use_groups").disabled
    test.button(key="use_groups").click().run()
    assert "Now: 500 codes in 100 groups" in said(test)
    test.button(key="apply_columns").click().run()
    groups = project.data.schema["icd"].groups
    assert (len(groups.groups), groups.groups[-1]) == (101, "other")
    assert groups.codes[0] == ("E00.0", "E00.1", "E00.2", "E00.3", "E00.4")
    # Now that the levels are groups there is no code left, and the button says so.
    assert test.button(key="use_groups").disabled
    assert "type them under" in test.button(key="use_groups").help


def test_levels_with_commas_between_are_one_level_and_booleans_come_out_as_such(project):
    assert "One level only" not in said(open_page("data", project))
    project.data.form[0] |= {"levels": "heart, lung, other"}
    project.data.form_edited = None
    test = open_page("data", project)
    assert "One level only: icd" in "".join(box.value for box in test.warning)
    assert "1 boolean column will be written as true and false" in said(test)
