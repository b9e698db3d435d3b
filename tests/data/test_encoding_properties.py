"""Encoding is total, cell by cell, and undone by nothing: for random schemas and random cells."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prism_core.data.coverage import rows_outside
from prism_core.data.decoding import decode
from prism_core.data.encoding import encode, encode_column
from prism_core.data.schema.column import Column
from prism_core.data.schema.level import level_value
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import from_frame, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

HOSTILE = (
    "",
    " ",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "Infinity",
    "1e999",
    "-1e999",
    "9" * 400,
    "1" * 5000,
    "0x10",
    "0b1",
    "1_000",
    "1,5",
    "1.5",
    "--1",
    "3j",
    "1e",
    "true",
    "TRUE",
    "None",
    "<NA>",
    "?",
    "now",
    "today",
    "NaT",
    "2020-01-01",
    "2020-13-45",
    "0000-00-00",
    "0001-01-01",
    "9999-12-31",
    "10000-01-01",
    "2020-01-01T00:00:00.123456789",
    "2020-01-01T23:59:59-11:00",
    "2020-1-1",
    "20200101",
    "2020",
    "99999999999999",
    "18446744073709551615",
    "-9223372036854775809",
    "\x00",
    "1\x00",
    "\ud800",
    "\U0001f600",
    "٣",
    "１",
    "\u202e1",
    "\ufeff1",
    "-0.0",
    "5e-324",
)


def cells() -> st.SearchStrategy[list[str]]:
    number = st.floats().map(repr) | st.integers().map(str)
    dates = st.datetimes().map(lambda moment: moment.isoformat())
    any_text = st.text(st.characters(), max_size=12)  # surrogates too
    one = st.sampled_from(HOSTILE) | any_text | number | dates
    return st.lists(one, min_size=1, max_size=8)


def series(values: Sequence[object]) -> pd.Series:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return pd.Series(column, dtype=object)


def random_codes(schema: Schema, rows: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, column.size, rows) for column in schema.columns])


@pytest.mark.privacy
@given(st.from_type(Column), cells())
@example(
    Column(name="d", kind="date", lower=0, upper=2_900_000, edges=(2_000_000,)),
    ["9999-01-01", "2020-01-01T00:00:00.123456789"],
)
def test_every_cell_gets_a_code_and_no_cell_changes_another(column, values):
    codes = encode_column(column, series(values))
    assert codes.dtype == np.int32
    assert codes.shape == (len(values),)
    assert ((codes >= 0) & (codes < column.size)).all()
    alone = [int(encode_column(column, series([value]))[0]) for value in values]
    assert codes.tolist() == alone


@pytest.mark.privacy
@given(st.from_type(Column), cells())
def test_the_diagnostic_counts_without_failing(column, values):
    assert 0 <= rows_outside(column, series(values)) <= len(values)


@given(st.from_type(Column), st.sampled_from(["", "NA", " nan ", "null"]))
def test_missing_cells_follow_the_declaration(column, text):
    if text.strip() in {str(value) for value, _ in column.values} | {*column.labels()}:
        return  # declared as a level, and then it is one
    (code,) = encode_column(column, series([text]))
    if column.nullable:
        assert code == column.missing_code
    else:
        assert code < column.level_count


@given(st.from_type(Schema), st.integers(0, 2**32), st.integers(0, 30))
def test_decoded_rows_encode_to_the_same_codes(schema, seed, rows):
    codes = random_codes(schema, rows, seed)
    frame = decode(schema, codes, np.random.default_rng(seed))
    assert tuple(frame.columns) == schema.names
    assert_dtypes(schema, frame)
    raw = from_frame(with_ids(schema, frame))
    assert (encode(schema, raw, rng=KeepOrder()).codes == codes).all()


@given(st.from_type(Schema), st.integers(0, 2**32), st.integers(1, 30))
def test_rows_written_as_csv_read_back_to_the_same_codes(schema, seed, rows):
    codes = random_codes(schema, rows, seed)
    frame = with_ids(schema, decode(schema, codes, np.random.default_rng(seed)))
    text = io.StringIO()
    frame.to_csv(text, index=False, date_format="%Y-%m-%d")  # as the bundle writes it
    raw = read_table(text.getvalue().encode("utf-8"))
    assert raw.header == tuple(frame.columns)
    assert (encode(schema, raw, rng=KeepOrder()).codes == codes).all()


class KeepOrder:
    """Stands in for a generator: rows of distinct persons stay where they are."""

    def permutation(self, rows: int) -> np.ndarray:
        return np.arange(rows)


def with_ids(schema: Schema, frame: pd.DataFrame) -> pd.DataFrame:
    if schema.person_id is None:
        return frame
    return pd.concat([frame, pd.Series(range(len(frame)), name=schema.person_id)], axis=1)


def assert_special(column: Column, kind: object) -> None:
    numbers = [level_value(value) for value in column.special]
    if column.kind == "date" or any(n is None or abs(n) >= 2**53 for n in numbers):
        assert kind == "str"
    elif column.decimals == 0 and all(float(n).is_integer() for n in numbers if n is not None):
        assert kind == ("Int64" if column.nullable else "int64")
    else:
        assert kind == "float64"


def assert_dtypes(schema: Schema, frame: pd.DataFrame) -> None:
    for column in schema.columns:
        kind = frame[column.name].dtype
        if column.special:
            assert_special(column, kind)
            continue
        if column.kind == "boolean":
            assert kind == ("boolean" if column.nullable else "bool")
        elif column.kind == "date":
            assert kind == "datetime64[s]"
        elif column.kind == "numeric" and column.decimals == 0:
            assert kind == ("Int64" if column.nullable else "int64")
        elif column.kind == "numeric":
            assert kind == "float64"
        elif all(type(level) is int for level in column.levels):
            assert kind == ("Int64" if column.nullable else "int64")
