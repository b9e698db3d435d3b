"""The page Data and a codebook: what it shows, what it fills the form with, and its provenance."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from dashboard.session.data_entries import DataEntries
from dashboard.session.project import Project
from prism_core.data.codebooks import read_codebook
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import read_table
from tests.support import codebooks
from tests.support.pages import open_page, texts
from tests.support.tables import CANARY

pytestmark = pytest.mark.app

CLOSED = "variable,label,type,min,max,values\nage,Age,integer,0,9,\nsex,,,,,1=m; 2=f\n"
OPEN = f"{CLOSED}note,Note,text,,,\npay,Pay,decimal,0,,\nid,ID,text,,,\n"


def upload(project: Project, content: bytes, name: str = "book.csv"):
    test = open_page("data", project)
    assert test.radio(key="schema_way").value == "codebook"  # what most people have comes first
    test.file_uploader(key="upload_codebook").upload(name, content, "text/csv").run()
    assert not test.exception, test.exception[0].value
    return test


def use(test):
    test.button(key="use_codebook").click().run()
    assert not test.exception, test.exception[0].value
    return test


@pytest.fixture
def design() -> Project:
    """A design before its table."""
    return Project(
        data=DataEntries(name="a design", announced=500),
    )


def test_a_codebook_without_open_places_is_in_use_at_once(design):
    test = use(upload(design, CLOSED.encode()))
    schema = design.data.schema
    assert schema is not None
    assert schema.columns == read_codebook(CLOSED.encode()).schema().columns
    assert schema.provenance == "codebook"
    assert schema.codebook is not None
    assert (schema.codebook.name, schema.codebook.by_hand) == ("book.csv", ())
    assert "book.csv" in texts(test)


def test_what_was_understood_and_what_is_open_is_shown(design):
    test = upload(design, OPEN.encode())
    shown = test.dataframe[0].value.set_index("column")
    assert shown.loc["age", "may hold"] == "0 to 9"
    assert shown.loc["sex", "may hold"] == "1 = m | 2 = f"
    assert "upper bound" in shown.loc["pay", "open"]
    assert shown.loc["age", "open"] == ""
    assert shown.loc["pay", "where"] == "line 5"
    taken = dict(test.dataframe[1].value.itertuples(index=False, name=None))
    assert taken["variable"] == "name of the column"


def test_open_columns_stand_in_the_form_with_what_is_known(design):
    test = upload(design, OPEN.encode())
    test.multiselect(key="codebook_left_out").set_value(["note"]).run()
    test.selectbox(key="codebook_person").set_value("id").run()
    use(test)
    rows = {row["name"]: row for row in design.data.rows_of_form}
    assert list(rows) == ["age", "sex", "pay"]
    assert (rows["pay"]["kind"], rows["pay"]["lower"], rows["pay"]["upper"]) == ("numeric", "0", "")
    assert design.data.schema is None
    assert design.data.person_hint == "id"


def test_what_is_typed_into_open_places_is_named_in_the_provenance(design):
    test = upload(design, OPEN.encode())
    test.multiselect(key="codebook_left_out").set_value(["note", "id"]).run()
    use(test)
    design.data.show_form(
        [
            {**row, "upper": row["upper"] or "5"} if row["name"] == "pay" else row
            for row in design.data.rows_of_form
        ]
    )
    test.run()
    test.button(key="apply_columns").click().run()
    assert not test.exception, test.exception[0].value
    assert design.data.schema is not None
    assert design.data.schema.provenance == "codebook"
    assert design.data.schema.codebook is not None
    assert design.data.schema.codebook.by_hand == ("pay",)


USUAL = "variable,label,type\nage,Age,integer\npay,Pay,decimal\n"


def test_usual_bounds_are_filled_in_and_named_as_suggested(design):
    test = upload(design, USUAL.encode())
    assert "age 0 to 120" in test.checkbox(key="codebook_usual").label
    assert test.dataframe[0].value.set_index("column").loc["pay", "suggested"] == ""
    use(test)
    rows = {row["name"]: row for row in design.data.rows_of_form}
    assert (rows["age"]["lower"], rows["age"]["upper"]) == ("0", "120")
    assert rows["pay"]["lower"] == ""
    assert design.data.schema is None  # she looks at them first
    assert "Bounds suggested, not in the codebook: age 0 to 120" in texts(test)
    design.data.show_form([{**row, "lower": "0", "upper": "90"} for row in rows.values()])
    test.run()
    assert "Bounds suggested" not in texts(test)


def test_usual_bounds_that_are_taken_are_done_by_hand_and_may_be_declined(design):
    test = use(upload(design, USUAL.split("pay")[0].encode()))
    test.button(key="apply_columns").click().run()
    assert not test.exception, test.exception[0].value
    assert design.data.schema is not None
    assert design.data.schema.codebook is not None
    assert design.data.schema.codebook.by_hand == ("age",)
    other = Project(data=DataEntries(name="another design", announced=500))
    test = upload(other, USUAL.encode())
    test.checkbox(key="codebook_usual").set_value(False).run()
    use(test)
    assert [row["lower"] for row in other.data.rows_of_form] == ["", ""]


def test_what_a_format_holds_is_filled_in_or_learned_within(design, tmp_path):
    frame = pd.DataFrame({"x": [1.5, 2.5], "n": [1.0, 2.0]})
    formats = {"x": "F8.2", "n": "F3"}
    codebooks.pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_format=formats)
    test = upload(design, (tmp_path / "t.sav").read_bytes(), "t.sav")
    wide = ["x", "n"]
    assert test.radio(key="codebook_wide").value == "blank"
    test.radio(key="codebook_wide").set_value("learn").run()
    use(test)
    rows = {row["name"]: row for row in design.data.rows_of_form}
    assert all(rows[name]["learn"] and rows[name]["lower"] for name in wide)
    assert [name for name, row in rows.items() if row["learn"]] == wide


def test_a_schema_of_our_own_may_stand_in_the_codebooks_place(design):
    own = schema_file.dumps(read_codebook(CLOSED.encode()).schema(one_row_per_person=True))
    test = upload(design, own.encode(), "schema.yaml")
    test.button(key="use_schema_here").click().run()
    assert not test.exception, test.exception[0].value
    assert design.data.schema is not None
    assert design.data.schema.names == ("age", "sex")


def test_a_table_that_carries_its_codebook_needs_no_second_upload(tmp_path):
    test = open_page("data")
    loader = next(one for one in test.file_uploader if one.key.startswith("upload_table"))
    loader.upload("visits.sav", codebooks.sav(tmp_path).read_bytes(), "application/x").run()
    test.button(key="upload_load").click().run()
    assert "nothing need be uploaded" in texts(test)
    shown = next(one.value for one in test.dataframe if "may hold" in one.value)
    assert "1 = female" in shown.set_index("column").loc["sex", "may hold"]
    use(test)
    rows = test.session_state["project"].data.rows_of_form
    assert "sex" in [row["name"] for row in rows]
    assert CANARY not in texts(test)


def test_free_text_and_identifiers_are_left_out_unless_she_says_otherwise(design):
    test = upload(design, codebooks.REDCAP.encode())
    left = test.multiselect(key="codebook_left_out").value
    assert {"study_id", "initials", "story", "scan", "hello", "job"} <= set(left)
    assert not {"height", "bmi"} & set(left)


def test_columns_that_the_table_has_not_are_left_out(design):
    rows = "age,ward,sex\n3,a,1\n4,b,2\n"
    project = Project(
        data=DataEntries(name="t.csv", raw=read_table(rows.encode(), name="t.csv")),
    )
    text = f"{CLOSED}pay,Pay,integer,0,9,\n"
    test = upload(project, text.encode())
    assert "Not in the table, and left out: pay" in texts(test)
    assert "not in the codebook: 1 column" in texts(test)
    use(test)
    assert project.data.schema is not None
    assert project.data.schema.names == ("age", "sex")


def test_a_package_of_several_tables_asks_which(design):
    content = json.dumps(codebooks.PACKAGE).encode()
    test = upload(design, content, "package.json")
    assert "visits, people" in texts(test)
    test.text_input(key="codebook_resource").set_value("visits").run()
    assert not test.exception
    assert test.dataframe[0].value["column"].tolist()[0] == "age"


def test_a_file_of_spss_gives_its_labels_and_no_row(design, tmp_path):
    test = upload(design, codebooks.sav(tmp_path).read_bytes(), "visits.sav")
    shown = test.dataframe[0].value.set_index("column")
    assert shown.loc["sex", "may hold"] == "1 = female | 2 = male | 9 = refused, or missing"
    assert CANARY not in texts(test) + shown.to_csv()


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\xff\xfe", b"<codeBook>", b"variable,label\n"]
)
def test_what_is_no_codebook_is_said(design, content):
    test = upload(design, content)
    assert any("codebook" in error.value.lower() or "XML" in error.value for error in test.error)
    assert design.data.form is None


def test_the_schema_is_offered_as_table_schema(design):
    test = use(upload(design, CLOSED.encode()))
    assert any("Table Schema" in str(button) for button in test.get("download_button"))


def test_the_preview_says_which_cells_may_be_empty_and_leaves_out_columns_without_a_word(design):
    test = upload(design, b"variable,type,min,max,missing\nage,number,0,9,NA\npay,number,0,9,\n")
    shown = test.dataframe[0].value.set_index("column")
    assert shown["may hold"].to_dict() == {"age": "0 to 9, or missing", "pay": "0 to 9"}
    assert "an empty cell of the table is counted as a value" in texts(test)
    assert not {"open", "remark", "meaning"} & set(shown.columns)
