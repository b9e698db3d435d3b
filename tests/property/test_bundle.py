"""Any schema: what is written comes back, and no cell of the CSV is a formula."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.bundle.noisy import read as read_noisy
from prism_core.bundle.noisy import text as noisy_text
from prism_core.bundle.spreadsheet import csv_text, neutral, read_csv, restored
from prism_core.data.encoding import decode, encode
from prism_core.data.schema import Schema
from prism_core.data.tables import from_frame, read_table
from prism_core.synthesis.measure import Measurement

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
