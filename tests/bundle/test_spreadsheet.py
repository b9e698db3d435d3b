"""Tables as CSV: no cell is a formula, and what is written comes back for any schema."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.bundle.measurements_file import measurements_text as noisy_text
from prism_core.bundle.measurements_file import read_measurements as read_noisy
from prism_core.data.decoding import decode
from prism_core.data.encoding import encode
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import from_frame, read_table
from prism_core.data.tables.spreadsheet import csv_text, neutral, read_csv, restored
from prism_core.synthesis.measure import Measurement


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-2+3+cmd",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        "＝1",
        "－1+1",
        "-",
        "--3",
        "-3x",
        "=",
        "\ufeff=1",
    ],
)
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


_NUMBER = re.compile(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?")


@given(st.text())
def test_every_text_comes_back(text):
    assert restored(neutral(text)) == text
    marked = neutral(text)
    first = marked.lstrip()[:1]
    assert first not in {*"=+-@＝＋－＠"} - {""} or _NUMBER.fullmatch(marked)


@settings(max_examples=10)
@given(schema=st.from_type(Schema), data=st.data())
def test_rows_come_back_from_both_files(schema, data):
    rows = data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    codes = np.column_stack([rng.integers(0, column.size, rows) for column in schema.columns])
    table = decode(schema, codes, rng)
    with tempfile.TemporaryDirectory() as folder:
        path, parquet = Path(folder, "s.csv"), Path(folder, "s.parquet")
        path.write_bytes(csv_text(table).encode("utf-8"))
        table.to_parquet(parquet, index=False)
        raw, typed = read_csv(path), read_table(parquet)
    plain = from_frame(table)
    assert raw.header == typed.header == plain.header == schema.names
    assert raw.frame.equals(plain.frame)
    assert typed.frame.equals(plain.frame)
    assert (encode(_plain(schema), raw).codes == codes).all()
    for row in csv.reader(io.StringIO(csv_text(table))):
        for cell in row:
            assert cell.lstrip()[:1] not in {*"=+-@"} or _NUMBER.fullmatch(cell)


def _plain(schema: Schema) -> Schema:
    return Schema(columns=schema.columns, one_row_per_person=True)


@settings(max_examples=10)
@given(schema=st.from_type(Schema), seed=st.integers(0, 2**32))
def test_noisy_counts_come_back(schema, seed):
    rng = np.random.default_rng(seed)
    clique = schema.canonical(
        rng.choice(schema.names, size=min(2, len(schema.names)), replace=False)
    )
    values = rng.integers(-(2**40), 2**40, schema.shape(clique))
    made = Measurement(clique=clique, values=values, sigma=float(rng.random() + 0.1))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "measurements.json").write_text(noisy_text([made]), encoding="utf-8")
        (again,) = read_noisy(Path(folder), schema)
    assert again.clique == made.clique
    assert again.sigma == made.sigma
    assert (again.values == made.values).all()
    assert again.values.dtype == np.int64
