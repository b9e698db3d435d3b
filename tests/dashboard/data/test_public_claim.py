"""A table that is called public on a page and known as private: a refusal, and her own answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dashboard.data import declaration_sources
from dashboard.session.data_entries import DataEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from prism_core.data.table_identity import marks, remember_private
from prism_core.data.tables.raw_table import read_table
from prism_core.privacy.ledger import Ledger
from tests.support.pages import open_page

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest
    from streamlit.testing.v1.element_tree import Checkbox

pytestmark = [pytest.mark.app, pytest.mark.privacy]
ROWS = b"age,ward\n31,a\n42,b\n53,a\n"
OTHER = b"age,ward\n30,a\n40,b\n50,b\n"


def load(test: AppTest, content: bytes, name: str, *, public: bool) -> AppTest:
    # A file that was loaded is let go, and an empty uploader takes the widget's place.
    empty = next(one for one in test.file_uploader if one.key.startswith("upload_table"))
    empty.upload(name, content, "text/csv").run()
    tick(test).set_value(public).run()
    return press(test)


def tick(test: AppTest) -> Checkbox:
    """That the file which was chosen holds public rows."""
    (found,) = [box for box in test.checkbox if (box.key or "").startswith("upload_public")]
    return found


def press(test: AppTest) -> AppTest:
    test.button(key="upload_load").click().run()
    assert not test.exception
    return test


def errors(test: AppTest) -> str:
    return "\n".join(error.value for error in test.error).replace("\\", "")


def test_a_private_file_that_is_uploaded_again_as_public_is_questioned():
    test = load(open_page("data"), ROWS, "stays.csv", public=False)
    held = test.session_state["project"]
    assert (held.data.public, held.data.raw.rows) == (False, 3)
    # The same rows in another order and under another name: nothing is taken over in silence.
    again = b"ward,age\nb,42\na,31\na,53\n"
    load(test, again, "open.csv", public=True)
    assert test.session_state["project"].data.public is False
    assert "were loaded as private before" in errors(test)
    assert "42" not in errors(test)
    (decide,) = [box for box in test.checkbox if "I decide" in box.label]
    decide.check().run()
    press(test)
    if (
        test.session_state["project"].data.public is False
    ):  # what is open holds something of its own
        (replace,) = [b for b in test.button if b.label == "Replace what is open"]
        replace.click().run()
    taken = test.session_state["project"]
    assert (taken.data.public, taken.data.name) == (True, "open.csv")
    assert not taken.data.private_marks & marks(read_table(again))


def test_a_tick_for_one_file_says_nothing_of_the_next():
    test = load(open_page("data"), OTHER, "open.csv", public=True)
    assert test.session_state["project"].data.public is True
    test.file_uploader[0].upload("stays.csv", ROWS, "text/csv").run()
    assert tick(test).value is False
    # Nor where a file is changed for another before it is loaded.
    tick(test).check().run()
    test.file_uploader[0].upload("more.csv", OTHER, "text/csv").run()
    assert tick(test).value is False


def test_a_tick_for_one_place_says_nothing_of_the_next():
    test = open_page("data")
    for place in ("/data/open.csv", "/data/stays.csv"):
        test.text_input(key="place_text").set_value(place).run()
        (found,) = [box for box in test.checkbox if (box.key or "").startswith("place_public")]
        assert found.value is False
        found.check().run()


def test_rows_that_were_charged_in_an_earlier_session_are_questioned(tmp_path):
    remember_private(Ledger(), "ward 7", read_table(ROWS))
    test = load(open_page("data"), ROWS, "open.csv", public=True)
    assert test.session_state["project"].data.raw is None
    assert "charged as private, under “ward 7”" in errors(test)
    load(test, OTHER, "other.csv", public=True)
    assert test.session_state["project"].data.public is True
    assert errors(test) == ""


def test_a_schema_is_not_drafted_from_the_private_file_as_its_own_twin():
    private = read_table(ROWS, name="stays.csv")
    project = Project(
        data=DataEntries(name="stays", raw=private, private_marks=marks(private)),
        account=AccountEntries(asset="ward 7"),
    )
    test = open_page("data", project)
    test.radio(key="schema_way").set_value("twin").run()
    for content, drafted in ((ROWS, False), (OTHER, True)):
        test.file_uploader(key="upload_twin").upload("twin.csv", content, "text/csv").run()
        test.button(key="draft_twin").click().run()
        assert not test.exception
        assert (project.data.form_provenance == "public twin") is drafted
        assert ("were loaded as private before" in errors(test)) is not drafted


def test_a_schema_with_aliases_gets_a_sentence_on_the_page():
    raw = read_table(ROWS, name="stays.csv")
    test = open_page(
        "data",
        Project(
            data=DataEntries(name="stays", raw=raw, private_marks=marks(raw)),
        ),
    )
    bomb = "a: &a [x]\ncolumns: [{name: age, kind: *a}]\n"
    test.radio(key="schema_way").set_value("upload").run()
    test.file_uploader(key="upload_schema").upload("s.yaml", bomb.encode(), "text/yaml").run()
    test.button(key="use_schema").click().run()
    assert not test.exception
    assert "an anchor or an alias" in errors(test)
    assert declaration_sources._WAYS["twin"]
