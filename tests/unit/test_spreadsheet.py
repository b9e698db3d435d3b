"""Cells that a spreadsheet would execute are made neutral, and come back as they were."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from prism_core.bundle.spreadsheet import csv_text, neutral, read_csv, restored


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1",
     "－1+1", "-", "--3", "-3x", "=", "\ufeff=1"],
)  # fmt: skip
def test_what_would_be_executed_is_marked(text):
    assert neutral(text) == f"'{text}"
    assert restored(neutral(text)) == text


@pytest.mark.parametrize(
    "text",
    ["-3", "+3", "-0.5", "-.5", "-1e-05", "+1E9", "3", "", "north", "a=b", "2020-01-01", "é"],
)
def test_numbers_and_plain_texts_stay(text):
    assert neutral(text) == text
    assert restored(text) == text


@pytest.mark.parametrize("text", ["'", "'=1", "''", "'north"])
def test_an_apostrophe_of_its_own_comes_back(text):
    assert neutral(text) == f"'{text}"
    assert restored(neutral(text)) == text


def test_headers_are_cells_too(tmp_path):
    frame = pd.DataFrame({"=cmd": [-3, 4], "plain": ["=1", "'x"]})
    path = tmp_path / "s.csv"
    path.write_text(csv_text(frame), encoding="utf-8")
    assert path.read_text().splitlines() == ["'=cmd,plain", "-3,'=1", "4,''x"]
    again = read_csv(path)
    assert again.header == ("=cmd", "plain")
    assert again.frame["plain"].tolist() == ["=1", "'x"]
    assert again.frame["=cmd"].tolist() == ["-3", "4"]


def test_a_spreadsheet_that_cuts_at_semicolons_finds_no_cell_to_execute():
    text = csv_text(pd.DataFrame({"a": ["x;=1+1", "y"], "b": [1, 2]}))
    cells = [cell for row in csv.reader(io.StringIO(text), delimiter=";") for cell in row]
    assert not any(cell.startswith("=") for cell in cells)
    assert text.splitlines()[1] == '"x;=1+1","1"'


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
@pytest.mark.parametrize("text", ["0\n0", "0\r0", "0\r\n0", '0"0', "0,0", "", "'", "0;\n0"])
def test_a_break_inside_a_cell_is_no_new_line(tmp_path, names, text):
    frame = pd.DataFrame({name: [text, "1"] for name in names}, dtype=str)
    file = tmp_path / "s.csv"
    file.write_bytes(csv_text(frame).encode())
    back = read_csv(file).frame
    assert back.to_numpy().tolist() == frame.to_numpy().tolist()
