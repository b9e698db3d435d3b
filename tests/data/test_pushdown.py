"""What a database encodes is what memory encodes: row by row and marginal by marginal."""

from __future__ import annotations

import datetime as dt
import itertools
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_core.data.encoding import EncodedTable, encode
from prism_core.data.engines import out_of_core
from prism_core.data.schema.code_groups import CodeGroups
from prism_core.data.schema.column import Column
from prism_core.data.schema.level import level_text
from prism_core.data.schema.schema import Schema
from prism_core.data.tables import address
from prism_core.data.tables.raw_table import read_table

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = (
    "",
    " ",
    "nan",
    "NaN",
    "NA",
    "n/a",
    "nUlL",
    "None",
    "<NA>",
    "?",
    ".",
    "inf",
    "-inf",
    "Infinity",
    "1e999",
    "9" * 40,
    "0x10",
    "1_000",
    "1,5",
    "1.5",
    "1.50",
    "01",
    "1.0",
    "+1",
    "-0",
    "-0.0",
    "--1",
    "1e",
    "5.",
    ".5",
    "true",
    "TRUE",
    "True",
    " yes ",
    "No",
    "T",
    "0",
    "1",
    "2",
    "1.000",
    "2020-01-01",
    "2020-02-29",
    "2021-02-29",
    "2020-13-45",
    "0000-01-01",
    "0001-01-01",
    "9999-12-31",
    "2020-04-31",
    "2020",
    "202001",
    "20200101",
    "2020-01-01T23:59:59",
    "2020-1-1",
    "2020-02-30 x",
    "18446744073709551615",
    "9007199254740993",
    "123456789012345",
    "1234567890123456",
    "\u0663",
    "\uff11",
    "\u00a0x",
    "x ",
    "\tx",
    "e5",
    "zq0",
    "zq1",
    "other",
    "a\nb",
    "a,b",
    'a"b',
    "\u00c5ngstr",
)


def spelled(column: Column) -> list[str]:
    """Texts near the declaration: levels, edges, and both with white space or another case."""
    exact = [level_text(level) for level, _ in column.values]
    exact += [
        repr(float(edge)) for edge in (*column.edges, *(column.bounds if column.binned else ()))
    ]
    exact += [str(int(edge)) for edge in column.edges]
    exact += [level_text(value) for value in column.special]
    exact += [str(number) for number in column.special_numbers]
    return exact + [f" {text}\t" for text in exact] + [text.upper() for text in exact]


def text_cells(column: Column) -> st.SearchStrategy[str]:
    number = st.floats().map(repr) | st.integers(-(10**17), 10**17).map(str)
    decimal = st.decimals(-(10**6), 10**6, places=2).map(str)
    dates = st.dates().map(lambda day: day.isoformat())
    word = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=6)
    near = spelled(column)
    one = st.sampled_from(HOSTILE) | number | decimal | dates | word
    return (st.sampled_from(near) | one) if near else one


TYPED: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "bool": (pa.bool_(), st.booleans()),
    "int8": (pa.int8(), st.integers(-128, 127)),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5)),
    "uint64": (pa.uint64(), st.integers(0, 2**64 - 1) | st.integers(0, 5)),
    "float64": (pa.float64(), st.floats() | st.integers(-5, 5).map(float) | st.just(-0.0)),
    "float32": (pa.float32(), st.floats(width=32)),
    "date": (pa.date32(), st.dates()),
    "timestamp": (pa.timestamp("us"), st.datetimes(dt.datetime(1000, 1, 1))),
    "decimal": (
        pa.decimal128(10, 2),
        st.decimals(-(10**6), 10**6, places=2) | st.just(Decimal("1.00")),
    ),
}


def _for_databases(schema: Schema) -> bool:
    """No person-ID; names that differ in case alone are refused."""
    return schema.person_id is None and len({*map(str.lower, schema.names)}) == len(schema.names)


@st.composite
def texts(draw: st.DrawFn) -> tuple[Schema, pd.DataFrame]:
    schema = draw(st.from_type(Schema).filter(_for_databases))
    rows = draw(st.integers(1, 12))
    columns = {
        column.name: draw(st.lists(text_cells(column), min_size=rows, max_size=rows))
        for column in schema.columns
    }
    return schema, pd.DataFrame(columns, dtype=object)


@st.composite
def typed(draw: st.DrawFn) -> tuple[Schema, pa.Table]:
    schema = draw(st.from_type(Schema).filter(_for_databases))
    rows = draw(st.integers(1, 12))
    arrays = {}
    for column in schema.columns:
        kind = draw(st.sampled_from(["text", *TYPED]))
        arrow, cells = TYPED.get(kind, (pa.string(), text_cells(column)))
        values = draw(st.lists(st.none() | cells, min_size=rows, max_size=rows))
        if kind == "float64":
            edges = [float(edge) for edge in column.edges] or [0.0]
            values = [draw(st.sampled_from([value, *edges])) for value in values]
        arrays[column.name] = pa.array(values, arrow, from_pandas=False)
    return schema, pa.table(arrays)


def assert_same(schema: Schema, path: Path, workspace: Path) -> None:
    memory = encode(schema, read_table(path))
    table = out_of_core.open_table(address.parse(str(path)), workspace)
    try:
        assert table.rows == memory.n
        cliques = [c for k in (1, 2, 3) for c in itertools.combinations(schema.names, k)]
        expected = memory.counts(cliques)
        stored = table.store(schema, public=False)
        assert sorted(map(tuple, rows_of(table, schema))) == sorted(map(tuple, memory.codes))
        for found in (
            table.counted_there(schema, public=True).counts(cliques),
            stored.counts(cliques),
        ):
            for clique, counts, wanted in zip(cliques, found, expected, strict=True):
                assert counts.dtype == np.int64
                assert counts.shape == schema.shape(clique)
                assert (counts == wanted).all()
        assert_rows(stored.sample(memory.n, np.random.default_rng(1)), memory)
        stored.folder.close()
    finally:
        table.close()


def rows_of(table: out_of_core.BigTable, schema: Schema) -> np.ndarray:
    parts = [np.column_stack([codes[n] for n in schema.names]) for codes, _ in table.stream(schema)]
    return np.concatenate(parts)


def assert_rows(found: EncodedTable, wanted: EncodedTable) -> None:
    assert sorted(map(tuple, found.codes)) == sorted(map(tuple, wanted.codes))


SLOW = settings(
    max_examples=10,  # each opens two databases
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.mark.privacy
def test_every_hostile_cell_in_every_kind_of_column(tmp_path, schema):
    """Levels as texts, numbers and flags, bins, dates; nullable or not; with `other` or not."""
    kinds = [*schema.columns]
    kinds += [replace(c, name=f"{c.name}_2", nullable=not c.nullable) for c in schema.columns]
    kinds += [Column(name="mixed", kind="categorical", levels=("x", 1, 2.5, True, "01"))]
    groups = CodeGroups(groups=("a", "b"), codes=(("I50.1", "1", "x"), ("other", "01")))
    kinds += [Column(name="grouped", kind="categorical", groups=groups, other="b")]
    everything = [*HOSTILE, *(text for column in kinds for text in spelled(column))]
    frame = pd.DataFrame({column.name: everything for column in kinds}, dtype=object)
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert_same(Schema(columns=tuple(kinds)), tmp_path / "t.csv", tmp_path / "ws")


@pytest.mark.privacy
@SLOW
@given(texts())
def test_csv_counts_are_those_of_memory(tmp_path_factory, drawn):
    schema, frame = drawn
    folder = tmp_path_factory.mktemp("csv")
    frame.to_csv(folder / "t.csv", index=False)
    assert_same(schema, folder / "t.csv", folder / "ws")


@pytest.mark.privacy
@SLOW
@given(typed())
def test_parquet_counts_are_those_of_memory(tmp_path_factory, drawn):
    schema, table = drawn
    folder = tmp_path_factory.mktemp("parquet")
    pq.write_table(table, folder / "t.parquet")
    assert_same(schema, folder / "t.parquet", folder / "ws")
