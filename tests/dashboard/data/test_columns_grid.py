"""The grid of columns: what is needed is marked, all mistakes are told, rows change together."""

from __future__ import annotations

import pytest

from dashboard.data import columns_grid
from dashboard.session.data_entries import DataEntries
from dashboard.session.project import Project
from prism_core.data.schema import column_form
from prism_core.data.schema.column_form import blank_rows
from tests.support.pages import open_page, texts

pytestmark = pytest.mark.app
NAMES = ["id", "age", "income", "ward", "seen"]


@pytest.fixture
def blank() -> Project:
    return Project(
        data=DataEntries(name="stays", announced=300, form=[dict(row) for row in blank_rows(NAMES)])
    )


def typed(test, project: Project, edits: dict[int, dict[str, object]]):
    """What a person types into the grid, as the browser sends it."""
    test.session_state[f"columns_grid_{project.data.form_rev}"] = {
        "edited_rows": edits,
        "added_rows": [],
        "deleted_rows": [],
    }
    test.run()
    assert not test.exception
    return test


def marks(test) -> dict[str, list[str]]:
    """Cells that the grid shows as needed, by column."""
    (frame,) = (one.value for one in test.dataframe if "kind" in one.value)
    empty = frame.isna()
    return {
        str(name): [cell for cell in frame.columns if empty.loc[place, cell]]
        for place, name in frame["name"].items()
    }


def test_cells_that_a_kind_needs_are_marked_as_soon_as_it_is_chosen(blank):
    test = open_page("data", blank)
    assert marks(test) == {name: ["kind"] for name in NAMES}
    typed(test, blank, {1: {"kind": "numeric", "lower": "0"}, 3: {"kind": "categorical"}})
    # The editor keeps what is typed on top of its rows: they say where a mark is under it.
    found = marks(test)
    assert "upper" in found["age"]
    assert "levels" in found["ward"]
    assert "lower" not in found["ward"]
    assert blank.data.rows_of_form[1]["lower"] == "0"
    assert "decimals" not in found["age"]


def test_every_mistake_is_named_by_column_and_cell_at_once(blank):
    test = open_page("data", blank)
    wrong = {
        0: {"kind": "boolean"},
        1: {"kind": "numeric", "lower": "none", "upper": "120"},
        2: {"kind": "numeric", "lower": "0", "upper": "9", "bins": "some", "fill": "x"},
        3: {"kind": "categorical", "levels": "north | south", "other": "east"},
    }
    shown = texts(typed(test, blank, wrong))
    for line in ("age · Lower", "income · Bins", "income · Empty cells become"):
        assert f"**{line}:**" in shown
    assert "**ward · Unknown values become:**" in shown
    assert "**Kind** is needed: seen" in shown
    assert "5 cells need something" in shown
    test.button(key="apply_columns").click().run()
    assert blank.data.schema is None
    assert blank.data.rows_of_form[1]["lower"] == "none"


def test_kinds_are_given_to_many_columns_at_once(blank):
    test = open_page("data", blank)
    typed(test, blank, {0: {"kind": "boolean"}})
    test.button(key="many_empty").click().run()
    test.selectbox(key="many_kind").set_value("numeric").run()
    test.button(key="many_set").click().run()
    assert [row["kind"] for row in blank.data.rows_of_form] == ["boolean", *["numeric"] * 4]
    blank.data.show_form([{**row, "decimals": 0} for row in blank.data.rows_of_form[1:]])
    test.run()
    test.multiselect(key=f"many_names_{blank.data.form_rev}").set_value(["seen"]).run()
    test.selectbox(key="many_kind").set_value("date").run()
    test.button(key="many_set").click().run()
    assert [row["decimals"] for row in blank.data.rows_of_form] == [0, 0, 0, None]
    blank.data.show_form([dict(row) for row in blank_rows(NAMES)])
    test.run()
    test.multiselect(key=f"many_names_{blank.data.form_rev}").set_value(["id", "seen"]).run()
    test.button(key="many_drop").click().run()
    assert [row["name"] for row in blank.data.rows_of_form] == ["age", "income", "ward"]


def test_bounds_are_given_to_the_numbers_among_many_columns(blank):
    test = open_page("data", blank)
    typed(test, blank, {0: {"kind": "numeric"}, 1: {"kind": "numeric"}, 2: {"kind": "boolean"}})
    test.button(key="many_all").click().run()
    test.text_input(key=f"many_lower_{blank.data.form_rev}").set_value("0").run()
    test.text_input(key=f"many_upper_{blank.data.form_rev}").set_value("3").run()
    test.button(key="many_bounds").click().run()
    found = [(row["lower"], row["upper"]) for row in blank.data.rows_of_form]
    assert found == [("0", "3")] * 2 + [("", "")] * 3


def test_cells_that_few_columns_use_are_shown_where_one_is_filled_in_or_when_asked_for():
    assert "fill" not in columns_grid._order([{"name": "age"}])
    shown = columns_grid._order([{"name": "age", "fill": "0"}])
    assert "fill" in shown
    assert "other" not in shown


def test_columns_are_added_and_a_name_that_is_there_is_refused(blank):
    test = open_page("data", blank)
    test.text_area(key=f"add_names_{blank.data.form_rev}").set_value("dose\tgrade").run()
    test.button(key="add_columns").click().run()
    assert [row["name"] for row in blank.data.rows_of_form] == [*NAMES, "dose", "grade"]
    test.text_area(key=f"add_names_{blank.data.form_rev}").set_value("age").run()
    test.button(key="add_columns").click().run()
    assert "the same name more than once" in texts(test, "error")


def test_bins_are_proposed_put_in_and_said(blank):
    blank.data.show_form([row for row in blank.data.form if row["name"] in ("age", "income")])
    test = open_page("data", blank)
    bounds = {
        0: {"kind": "numeric", "lower": "0", "upper": "120"},
        1: {"kind": "numeric", "lower": "0", "upper": "500000"},
    }
    typed(test, blank, bounds)
    assert "Bins proposed from the bounds: income log 12 zero" in texts(test)
    test.button(key="apply_columns").click().run()
    assert blank.data.schema is not None
    assert blank.data.schema["age"].level_count == 8
    assert column_form.to_rows(blank.data.schema.columns)[1]["bins"] == "log 12 zero"
    assert blank.data.schema["income"].edges[0] == 0.0


def test_decimals_are_a_number_or_told(blank):
    blank.data.show_form([row for row in blank.data.form if row["name"] == "age"])
    test = open_page("data", blank)
    bounds = {"kind": "numeric", "lower": "0", "upper": "120"}
    typed(test, blank, {0: {**bounds, "decimals": "one"}})
    assert "**age · Decimals:**" in texts(test)
    typed(test, blank, {0: {**bounds, "decimals": "1"}})
    assert blank.data.rows_of_form[0]["decimals"] == 1
    assert "cell needs" not in texts(test)


def test_a_hundred_mistakes_are_counted_and_not_all_written_out():
    rows = [{**row, "kind": "numeric", "lower": "x"} for row in blank_rows(map(str, range(100)))]
    project = Project(
        data=DataEntries(name="wide", announced=300, form=[dict(row) for row in rows])
    )
    shown = texts(open_page("data", project))
    assert "200 cells need something" in shown
    assert "and 88 more" in shown
    assert "and 64 more" in shown


def test_typed_names_are_parted_by_what_a_spreadsheet_puts_between():
    assert columns_grid.typed_names("a\tb\r\nc; d ,e") == ("a", "b", "c", "d", "e")


def test_numbers_and_dates_without_bounds_are_chosen_at_once_and_many_are_learned(blank):
    test = open_page("data", blank)
    done = {"kind": "numeric", "lower": "0", "upper": "1"}
    typed(test, blank, {0: done, 1: {"kind": "numeric", "lower": "0"}, 4: {"kind": "date"}})
    assert test.button(key="many_numbers").label == "Numbers without bounds (1)"
    test.button(key="many_dates").click().run()
    test.text_input(key=f"many_lower_{blank.data.form_rev}").set_value("2020").run()
    test.text_input(key=f"many_upper_{blank.data.form_rev}").set_value("2021-06").run()
    test.button(key="many_bounds").click().run()
    assert (blank.data.rows_of_form[4]["lower"], blank.data.rows_of_form[4]["upper"]) == (
        "2020",
        "2021-06",
    )
    test.button(key="many_numbers").click().run()
    test.button(key="many_learn").click().run()
    assert [row["learn"] for row in blank.data.rows_of_form] == [False, True, False, False, False]
