"""Spreadsheets: one sheet is a table, or a refusal names the sheet and the cell."""

from __future__ import annotations

import datetime as dt
import io
import traceback
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from prism_core.data.engines.out_of_core import open_table
from prism_core.data.table_identity import file_mark, marks
from prism_core.data.tables.address import parse, split_sheet
from prism_core.data.tables.raw_table import read_table
from prism_core.data.tables.workbook_file import sheet_names
from prism_core.errors import TableError
from prism_core.runs.inputs import address, open_rows
from tests.support.tables import CANARY
from tests.support.workbooks import Broken, BrokenFormula, ods, ods_cell, xls, xlsb, xlsx

ROWS = [["id", "n"], ["01", 1], ["b", 2.5]]
CELLS = {"id": ["01", "b"], "n": ["1", "2.5"]}
ODS = [[ods_cell(cell) for cell in row] for row in ROWS]


def cells(content: bytes, **more: str) -> dict[str, list[str]]:
    return read_table(content, name="w.xlsx", **more).frame.to_dict("list")


def refused(content: bytes, **more: str) -> TableError:
    with pytest.raises(TableError) as caught:
        read_table(content, name="w.xlsx", **more)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert str(caught.value).endswith(".")
    return caught.value


@pytest.mark.parametrize(
    "content",
    [xlsx({"A": ROWS}), ods({"A": ODS}), xlsb("A", ROWS), xls("A", ROWS)],
    ids=["xlsx", "ods", "xlsb", "xls"],
)
def test_the_one_sheet_is_the_table(content, tmp_path):
    assert cells(content) == CELLS
    assert cells(content, sheet="A") == CELLS
    assert sheet_names(content, "w") == ("A",)
    path = tmp_path / "named.csv"  # by its content, whatever it is called
    path.write_bytes(content)
    assert read_table(path).frame.to_dict("list") == CELLS


def test_what_a_cell_shows_is_its_text():
    content = xlsx(
        {
            "A": [
                ["day", "moment", "time", "long", "flag", "n", "word"],
                [
                    dt.date(2020, 1, 2),
                    dt.datetime(2020, 1, 2, 3, 4, 5),
                    dt.time(3, 4),
                    dt.timedelta(hours=30),
                    True,
                    1e20,
                    " 1.0 ",
                ],
                [dt.date(1901, 1, 1), None, None, dt.timedelta(minutes=61), False, -3, "TRUE"],
            ]
        }
    )
    assert cells(content) == {
        "day": ["2020-01-02", "1901-01-01"],
        "moment": ["2020-01-02T03:04:05", ""],
        "time": ["03:04:00", ""],
        "long": ["30:00:00", "01:01:00"],
        "flag": ["true", "false"],
        "n": ["1e+20", "-3"],
        "word": [" 1.0 ", "TRUE"],
    }


def test_empty_rows_are_nobodys_and_a_table_may_begin_anywhere():
    rows = [[None] * 3, [None, "id", "n"], [None, "a", 1], [None] * 3, [None, "b", None]]
    assert cells(xlsx({"A": rows})) == {"id": ["a", "b"], "n": ["1", ""]}


def test_several_sheets_are_listed_and_one_is_named(tmp_path):
    content = xlsx({"Notes": [["a"], [1]], "Ward 1": ROWS})
    error = refused(content)
    assert error.sheets == ("Notes", "Ward 1")
    assert "several sheets: 'Notes', 'Ward 1'" in str(error)
    assert cells(content, sheet="Ward 1") == CELLS
    assert refused(content, sheet="ward").sheets == error.sheets
    path = tmp_path / "w.xlsx"
    path.write_bytes(content)
    for source in (f"{path}#Ward 1", Path(f"{path}#Ward 1")):
        assert read_table(source).frame.to_dict("list") == CELLS
    assert open_rows(address(f"{path}#Ward 1")).frame.to_dict("list") == CELLS
    with pytest.raises(TableError, match="Name the one that holds the rows"):
        open_rows(address(str(path)))


def test_a_hidden_sheet_is_not_the_table_but_may_be_named():
    content = xlsx({"A": ROWS, "Lists": [["x"], [1]]}, hide="Lists")
    assert cells(content) == CELLS
    assert cells(content, sheet="Lists") == {"x": ["1"]}


def test_a_sheet_of_another_file_is_refused(tmp_path):
    path = tmp_path / "stays.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match="no spreadsheet"):
        read_table(f"{path}#Ward")
    with pytest.raises(TableError, match="no such file"):
        read_table(str(tmp_path / "absent.xlsx#Ward"))


def test_a_file_whose_name_has_the_mark_is_itself(tmp_path):
    path = tmp_path / "stays.xlsx#1"
    path.write_bytes(xlsx({"A": ROWS}))
    assert split_sheet(path) == (path, "")
    assert read_table(path).frame.to_dict("list") == CELLS
    assert split_sheet(Path("a#b.csv")) == (Path("a#b.csv"), "")
    assert split_sheet(Path("a.ods#b#c")) == (Path("a.ods"), "b#c")


def test_a_workbook_that_is_not_loaded_has_the_same_cells(tmp_path):
    path = tmp_path / "w.xlsx"
    path.write_bytes(xlsx({"Notes": [["a"], [1]], "Ward 1": ROWS}))
    for text in (f"{path}#Ward 1", f"{tmp_path}/*.xlsx#Ward 1"):
        table = open_table(parse(text), tmp_path / "workspace")
        try:
            assert table.header == ("id", "n")
            found = table.some(10).frame.sort_values("id").reset_index(drop=True)
            pd.testing.assert_frame_equal(found, read_table(f"{path}#Ward 1").frame)
        finally:
            table.close()
    with pytest.raises(TableError, match="several sheets"):
        open_table(parse(str(path)), tmp_path / "workspace")


def test_two_sheets_are_two_tables_and_one_is_known_again(tmp_path):
    path = tmp_path / "w.xlsx"
    path.write_bytes(xlsx({"A": ROWS, "B": [["id", "n"], ["c", 3]]}))
    one, other = (marks(read_table(f"{path}#{name}")) for name in "AB")
    assert not one & other
    assert file_mark(Path(f"{path}#A")) in one
    assert file_mark(Path(f"{path}#A")) not in other
    # Spaces around the name find the same sheet, so it is no other table.
    assert read_table(f"{path}# A ").sha256 == read_table(f"{path}#A").sha256
    assert file_mark(Path(f"{path}# A ")) in one


# --- refusals --------------------------------------------------------------------------------


def test_merged_cells_are_refused_with_sheet_and_cell():
    content = xlsx({"Ward 1": [*ROWS, ["c", 3]]}, "A3:A4")
    assert "The sheet 'Ward 1' of 'w.xlsx' has merged cells, which begin in A3" in str(
        refused(content)
    )
    spanned = ods({"S": [*ODS, [ods_cell("c", 'table:number-columns-spanned="2"')]]})
    assert "The sheet 'S' of 'w.xlsx' has merged cells, which begin in A4" in str(refused(spanned))
    assert "begin in B2" in str(refused(xlsb("S", ROWS, (1, 2, 1, 1))))
    assert "begin in B2" in str(refused(xls("S", ROWS, (1, 2, 1, 1))))


ERROR = 'calcext:value-type="error"'


@pytest.mark.parametrize(
    "content",
    [
        xlsx({"S": [*ROWS, [CANARY, "#N/A"]]}),
        xlsx({"S": [*ROWS, [CANARY, "#DIV/0!"]]}),
        ods(
            {
                "other": [[ods_cell("#N/A", ERROR)]],
                "S": [*ODS, [ods_cell(CANARY), ods_cell("#N/A", ERROR)]],
            }
        ),
        xlsb("S", [*ROWS, [CANARY, Broken()]]),
        xls("S", [*ROWS, [CANARY, Broken()]]),
        xls("S", [*ROWS, [CANARY, BrokenFormula()]]),
        xls("S", [*ROWS, [CANARY, Broken()], *([f"x{i}", i] for i in range(400))]),
    ],
    ids=["xlsx", "xlsx, division", "ods", "xlsb", "xls", "xls, formula", "xls of large sectors"],
)
def test_an_error_is_refused_with_sheet_and_cell(content):
    assert "The sheet 'S' of 'w.xlsx' has an error in B4" in str(refused(content, sheet="S"))


def test_a_text_that_looks_like_an_error_in_another_sheet_is_no_matter():
    content = xlsx({"S": ROWS, "other": [["a"], ["#N/A"]]})
    assert cells(content, sheet="S") == CELLS


def with_result(content: bytes, cell: str) -> bytes:
    """The workbook with another XML for its formula."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name.endswith("sheet1.xml"):
                assert b"<f>1+1</f>" in part
                start = part.index(b'<c r="B4"')
                end = part.index(b"</c>", start) + 4
                part = part[:start] + cell.encode() + part[end:]
            new.writestr(name, part)
    return out.getvalue()


def test_a_formula_is_its_result_and_refused_without_one():
    content = xlsx({"S": [*ROWS, ["c", "=1+1"]]})
    assert "has a formula in B4 that was saved without its result" in str(refused(content))
    done = with_result(content, '<c r="B4"><f>1+1</f><v>2</v></c>')
    assert cells(done)["n"] == ["1", "2.5", "2"]
    text = with_result(content, '<c r="B4" t="str"><f>1+1</f><v></v></c>')
    assert cells(text)["n"] == ["1", "2.5", ""]
    formula = 'table:formula="of:=1+1"'
    assert cells(ods({"S": [*ODS, [ods_cell("c"), ods_cell(2, formula)]]}))["n"][-1] == "2"
    bare = f"<table:table-cell {formula}/>"
    assert "a formula in B4" in str(refused(ods({"S": [*ODS, [ods_cell("c"), bare]]})))


@pytest.mark.parametrize(
    ("rows", "cell", "why"),
    [
        ([["A table of stays", None], *ROWS], "B1", "no name of a column"),
        ([["id", None, "n"], ["a", CANARY, 1]], "B1", "no name of a column"),
        ([["id", "n"], ["person", "how many"], ["a", 1], ["b", None]], "B2", "second row of names"),
    ],
)
def test_what_is_above_the_table_is_refused_with_its_cell(rows, cell, why):
    error = str(refused(xlsx({"S": rows})))
    assert f"in {cell}" in error or f"{cell} is" in error
    assert why in error


@pytest.mark.parametrize(
    "rows",
    [
        [["id", "n"], ["a", "b"], ["c", "d"]],
        [["id", "n"], ["a", "NA"], ["b", 1]],
        [["id", "n"], ["a", "x"], ["b", "y"], ["c", 1]],
        [["id", "n"], ["a", "x"]],
    ],
)
def test_a_row_of_texts_may_be_a_persons(rows):
    assert len(cells(xlsx({"S": rows}))["id"]) == len(rows) - 1


def test_names_that_repeat_are_refused():
    assert "the same name more than once" in str(refused(xlsx({"S": [["a", "a"], [1, 2]]})))


def test_an_empty_sheet_and_one_without_rows_are_refused():
    assert "is empty" in str(refused(xlsx({"S": []})))
    assert "a header but no rows" in str(refused(xlsx({"S": [["a", "b"]]})))


def test_a_password_is_named():
    locked = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    )
    assert "protected by a password" in str(refused(locked))
    with pytest.raises(TableError, match="protected by a password"):
        sheet_names(locked, "w")


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_file_cut_short_is_refused(part):
    content = xlsx({"S": [*ROWS, *([f"{CANARY}{i}", i] for i in range(500))]})
    error = refused(content[: int(part * len(content))])
    assert "is not a readable spreadsheet" in str(error)


def test_a_damaged_sheet_is_refused():
    content = xlsx({"S": ROWS})
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, part[: len(part) // 2] if "sheet1" in name else part)
    assert "is not a readable spreadsheet" in str(refused(out.getvalue()))


@pytest.mark.privacy
@pytest.mark.parametrize(
    "hard", [[None, None], ["é" * 9, "1"], [1e308, True], ["", dt.date(1900, 1, 1)]]
)
def test_a_changed_row_changes_no_other(hard):
    before = cells(xlsx({"S": [*ROWS, ["c", 3]]}))
    after = cells(xlsx({"S": [*ROWS, hard]}))
    for name in before:
        assert before[name][:2] == after[name][:2]


def test_a_workbook_that_unpacks_to_far_more_than_its_cells_is_refused_before_it_is_parsed():
    content = xlsx({"Rows": [["a", "b"], [1, 2]]})
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as before,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as after,
    ):
        for name in before.namelist():
            part = before.read(name)
            wide = part.replace(b"<sheetData>", b"<sheetData>" + b" " * 200_000_000)
            after.writestr(name, wide if "sheet1" in name else part)
    assert len(packed.getvalue()) < 1_000_000
    for read in (
        lambda: sheet_names(packed.getvalue(), "t"),
        lambda: read_table(packed.getvalue(), name="t"),
    ):
        with pytest.raises(TableError, match="unpacks to far more"):
            read()
