"""The page Data takes files of SPSS, Stata and SAS, and a sheet that is chosen by its name."""

from __future__ import annotations

import pytest

from tests.support.file_kinds import write
from tests.support.pages import open_page, texts
from tests.support.tables import small_frame
from tests.support.workbooks import xlsx

pytestmark = pytest.mark.app


@pytest.fixture
def content(tmp_path):
    def of(kind: str) -> bytes:
        path = tmp_path / f"rows.{kind}"
        write(small_frame(60), path, kind)
        return path.read_bytes()

    return of


def uploaded(test, name: str, content: bytes):
    empty = next(one for one in test.file_uploader if one.key.startswith("upload_table"))
    empty.upload(name, content, "application/octet-stream").run()
    assert not test.exception
    return test


@pytest.mark.parametrize("kind", ["sav", "dta", "xpt"])
def test_a_file_of_statistics_is_loaded(kind, content):
    test = uploaded(open_page("data"), f"rows.{kind}", content(kind))
    assert not [one for one in test.selectbox if "sheet" in (one.key or "")]
    test.button(key="upload_load").click().run()
    raw = test.session_state["project"].data.raw
    assert (raw.rows, raw.header) == (60, tuple(small_frame(1)))


def test_the_sheet_is_chosen_by_its_name(content):
    test = uploaded(open_page("data"), "rows.xlsx", content("xlsx"))
    (choice,) = [one for one in test.selectbox if one.label == "Sheet with the table"]
    assert choice.options == ["Notes", "Rows"]
    choice.set_value("Rows").run()
    test.button(key="upload_load").click().run()
    project = test.session_state["project"]
    assert project.data.raw.rows == 60
    assert project.data.name == "rows.xlsx#Rows"


def test_only_a_text_is_asked_for_its_separator_and_encoding(content):
    def asked(test) -> set[str]:
        return {one.key for one in test.selectbox if one.key} & {
            "upload_separator",
            "upload_encoding",
        }

    assert len(asked(uploaded(open_page("data"), "rows.csv", b"a,b\n1,2\n"))) == 2
    assert not asked(uploaded(open_page("data"), "rows.sav", content("sav")))


def test_one_sheet_is_not_asked_for():
    test = uploaded(open_page("data"), "w.xlsx", xlsx({"A": [["a"], [1], [2]]}))
    assert not [one for one in test.selectbox if one.label == "Sheet with the table"]
    test.button(key="upload_load").click().run()
    assert test.session_state["project"].data.raw.rows == 2


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (xlsx({"S": [["a", "b"], [1, 2]]}, "A2:B2"), "merged cells, which begin in A2"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "not a readable spreadsheet"),
        ("EncryptedPackage".encode("utf-16-le"), "protected by a password"),
        (b"$FL2@(#)" + bytes(99), "not a readable file of SPSS"),
    ],
)
def test_a_refusal_loses_nothing_and_the_next_file_is_read(file, said):
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" if said.startswith("protected") else b""
    test = uploaded(open_page("data"), "w.xlsx", head + file)
    if not test.error:
        test.button(key="upload_load").click().run()
    assert not test.exception
    assert said in texts(test, "error")
    assert test.session_state["project"].data.raw is None
    uploaded(test, "t.csv", b"a,b\n1,2\n")
    test.button(key="upload_load").click().run()
    assert test.session_state["project"].data.raw.rows == 1
