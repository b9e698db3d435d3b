"""One contract for every place of a table: a cell's code depends on the cell and the schema alone.

One row is replaced by a row of the hardest cells there are. All other codes stay as they were,
every code is the one of the cell alone, and nothing ends by an error. Deterministic: no false
alarms.
"""

from __future__ import annotations

import datetime as dt
import importlib.util
import shutil
import struct
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from math import inf, nan
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unit.postgres import NEEDED, load, started

from prism_core.data import address, big, servers
from prism_core.data.column import Column
from prism_core.data.encoding import encode, encode_column
from prism_core.data.schema import Schema
from prism_core.data.tables import arrow_texts, from_frame, read_table
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.privacy

SPARK = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("java") is None, reason="needs Java"),
    pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="needs pyspark"),
    pytest.mark.filterwarnings("ignore"),  # pyspark's own
]

Make = dict[str, Column]
DECLARED: Make = {
    "number": Column(name="_", kind="numeric", lower=0, upper=10, edges=(2.0, 5.0), nullable=True),
    "filled": Column(name="_", kind="numeric", lower=-3, upper=10, edges=(-1.0, 2.0), fill=4),
    "levels": Column(name="_", kind="categorical", levels=(0, 1, 2, 3), nullable=True, other=3),
    "words": Column(name="_", kind="categorical", levels=("a", "1", "2020-01-05", "inf"),
                    nullable=True, other="a"),
    "flag": Column(name="_", kind="boolean", nullable=True),
    "day": Column(name="_", kind="date", lower=0, upper=20_000, edges=(9_000.0, 18_000.0),
                  nullable=True),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Cells of one type of a file.

    Attributes:
        kind: the type.
        plain: ordinary cells, none of which says how far the others go.
        hard: what one person's cell may be as well.
        declared: the columns of `DECLARED` that such cells are read as.
    """

    kind: pa.DataType
    plain: tuple[Any, ...]
    hard: tuple[Any, ...]
    declared: tuple[str, ...]


NUMBERS = ("number", "filled", "levels")
CELLS = {
    # NaN without a null or an infinity beside it: what minimum and maximum do not tell of.
    "double": Cells(
        kind=pa.float64(), plain=(nan, 1.0, nan, 0.0, 2.0, nan), declared=(*NUMBERS, "words"),
        hard=(9.0, -9.0, nan, None, inf, -inf, -0.0, 0.5, 1e300, 1e16, 5e-324, 3.0),
    ),
    "gaps": Cells(
        kind=pa.float64(), plain=(nan, None, 1.0, -0.0, 3.0, 0.0), declared=NUMBERS,
        hard=(9.0, -9.0, 1.5, inf, -inf, nan, None, 1e300, 2.0**63, 1.0, 1e-9, 4.0),
    ),
    "none": Cells(
        kind=pa.float64(), plain=(nan,), declared=NUMBERS,
        hard=(9.0, nan, None, inf, -inf, 0.0, 1.0, 2.0, 1e300, 3.5, -0.0, -1.0),
    ),
    "single": Cells(
        kind=pa.float32(), plain=(nan, 1.0, 2.5, 0.0), declared=NUMBERS,
        hard=(9.0, nan, None, inf, -inf, -0.0, 1e30, 3.5),
    ),
    "whole": Cells(
        kind=pa.int64(), plain=(1, 2, 0, 3), declared=(*NUMBERS, "words"),
        hard=(9, None, -9, 2**62, -(2**63), 2**53 + 1, 10**15, 1),
    ),
    "small": Cells(
        kind=pa.int32(), plain=(1, 2, 2, 0), declared=("number", "flag"),
        hard=(9, None, -9, 2**31 - 1, -(2**31)),
    ),
    "text": Cells(
        kind=pa.string(), plain=("1", "2", "a", "1.5", "2020-01-05"),
        declared=("number", "levels", "words", "flag", "day"),
        hard=("9e9", None, "", "nan", "inf", "9" * 40, "true", "x y", "1e999", "20200105", "zz",
              "\u0663"),
    ),
    "day": Cells(
        kind=pa.date32(), plain=(dt.date(2020, 1, 5), dt.date(1990, 1, 1)),
        declared=("day", "words"),
        hard=(dt.date(9999, 12, 31), None, dt.date(1, 1, 1), dt.date(1582, 10, 10)),
    ),
    "moment": Cells(
        kind=pa.timestamp("us"), plain=(dt.datetime(2020, 1, 5, 23), dt.datetime(1990, 1, 1)),
        declared=("day", "words"),
        hard=(dt.datetime(9999, 12, 31, 23), None, dt.datetime(1, 1, 1), dt.datetime(1582, 1, 1)),
    ),
    "exact": Cells(
        kind=pa.decimal128(20, 2), plain=(Decimal("1.00"), Decimal("2.50")),
        declared=("number", "levels"),
        hard=(Decimal("9.00"), None, Decimal("-123456789012345678.25"), Decimal("3.00")),
    ),
    "bool": Cells(kind=pa.bool_(), plain=(True, False), declared=("flag", "words"), hard=(None,)),
}  # fmt: skip

SCHEMA = Schema(
    columns=(
        Column(name="row", kind="categorical", levels=tuple(f"r{i}" for i in range(12))),
        *(
            Column(**{**vars(DECLARED[name]), "name": f"{kind}_{name}"})
            for kind, cells in CELLS.items()
            for name in cells.declared
        ),
    ),
    one_row_per_person=True,
)
ROWS = SCHEMA["row"].level_count
PERSON = 7
"""The row of whoever is replaced."""


Rows = dict[str, list[Any]]


def plain(turn: int | None = None) -> Rows:
    """The cells of every type; with a turn, one row holds the hard cells of that turn."""
    rows = {
        kind: [cells.plain[i % len(cells.plain)] for i in range(ROWS)]
        for kind, cells in CELLS.items()
    }
    if turn is not None:
        for kind, cells in CELLS.items():
            rows[kind][PERSON] = cells.hard[turn % len(cells.hard)]
    return rows


def hard() -> Rows:
    """Hard cells in every row."""
    return {
        kind: [cells.hard[i % len(cells.hard)] for i in range(ROWS)]
        for kind, cells in CELLS.items()
    }


def table(rows: Rows) -> pa.Table:
    """The rows as a table: every column of `SCHEMA` with the cells of its type."""
    arrays = {"row": pa.array(SCHEMA["row"].levels, pa.string())}
    for kind, cells in CELLS.items():
        for name in cells.declared:
            arrays[f"{kind}_{name}"] = pa.array(rows[kind], cells.kind, from_pandas=False)
    return pa.table(arrays)


@cache
def code(kind: str, name: str, value: str) -> int:
    """The code of a cell, encoded as if there were no other."""
    cells = CELLS[kind]
    cell = next(one for one in (*cells.plain, *cells.hard) if repr(one) == value)
    texts = arrow_texts(pa.array([cell], cells.kind, from_pandas=False))
    return int(encode_column(DECLARED[name], texts)[0])


def alone(rows: Rows) -> np.ndarray:
    """The codes of all cells, each encoded by itself: shape (rows, columns)."""
    columns = [
        [code(kind, name, repr(one)) for one in rows[kind]]
        for kind, cells in CELLS.items()
        for name in cells.declared
    ]
    return np.column_stack([np.arange(ROWS), *columns])


# --- places -------------------------------------------------------------------------------


def in_order(codes: np.ndarray) -> np.ndarray:
    return codes[np.argsort(codes[:, 0])]


def behind(place: str, folder: Path, **style: str) -> np.ndarray:
    """The codes of a table behind a database, in the order of the rows' names."""
    opened = big.open_table(address.parse(place, folder), folder / "ws", **style)
    try:
        assert opened.rows == ROWS
        return streamed(opened)
    finally:
        opened.close()


def streamed(opened: big.BigTable) -> np.ndarray:
    parts = [
        np.column_stack([codes[name] for name in SCHEMA.names])
        for codes, _ in opened.stream(SCHEMA)
    ]
    return in_order(np.concatenate(parts))


def in_memory(rows: pa.Table, folder: Path) -> np.ndarray:
    pq.write_table(rows, folder / "t.parquet")
    return encode(SCHEMA, read_table(folder / "t.parquet")).codes


def in_a_frame(rows: pa.Table, folder: Path) -> np.ndarray:
    del folder
    frame = rows.to_pandas(types_mapper=pd.ArrowDtype)
    return encode(SCHEMA, from_frame(frame)).codes


def by_pyarrow(rows: pa.Table, folder: Path, **how: Any) -> np.ndarray:
    pq.write_table(rows, folder / "t.parquet", **how)
    return behind("t.parquet", folder)


def in_several_groups(rows: pa.Table, folder: Path) -> np.ndarray:
    return by_pyarrow(rows, folder, row_group_size=5)


def without_statistics(rows: pa.Table, folder: Path) -> np.ndarray:
    return by_pyarrow(rows, folder, write_statistics=False)


def with_wrong_statistics(rows: pa.Table, folder: Path) -> np.ndarray:
    path = folder / "t.parquet"
    pq.write_table(rows, path, row_group_size=5, write_page_index=True)
    assert lie(path) > 10
    return behind("t.parquet", folder)


def lie(path: Path) -> int:
    """Every minimum and maximum of 8 bytes in a Parquet file becomes another; returns how many."""
    content = path.read_bytes()
    (size,) = struct.unpack("<I", content[-8:-4])
    body, foot = content[: -8 - size], content[-8 - size :]
    changed = 0
    for group in range((known := pq.ParquetFile(path).metadata).num_row_groups):
        for column in range(known.num_columns):
            part = known.row_group(group).column(column)
            form = {"DOUBLE": "<d", "INT64": "<q"}.get(part.physical_type)
            if (
                form is None
                or known.schema.column(column).logical_type.type != "NONE"
                or not part.statistics.has_min_max
            ):
                continue
            for value in (part.statistics.min, part.statistics.max):
                # Compact Thrift writes the length, then the bytes.
                old, new = (b"\x08" + struct.pack(form, one) for one in (value, type(value)(77)))
                changed += foot.count(old)
                foot = foot.replace(old, new)
    path.write_bytes(body + foot)
    return changed


def by_duckdb(rows: pa.Table, folder: Path) -> np.ndarray:
    with duckdb.connect() as db:
        db.register("rows", rows)
        db.execute(f"COPY (FROM rows) TO '{folder / 't.parquet'}' (FORMAT parquet)")
    return behind("t.parquet", folder)


def by_pandas(rows: pa.Table, folder: Path) -> np.ndarray:
    rows.to_pandas(types_mapper=pd.ArrowDtype).to_parquet(folder / "t.parquet")
    return behind("t.parquet", folder)


def in_a_pattern(rows: pa.Table, folder: Path) -> np.ndarray:
    for number in range(3):
        pq.write_table(rows.slice(number * 4, 4), folder / f"t{number}.parquet")
    return behind("t?.parquet", folder)


def in_duckdb(rows: pa.Table, folder: Path) -> np.ndarray:
    with duckdb.connect(str(folder / "x.db")) as db:
        db.register("rows", rows)
        db.execute("CREATE TABLE t AS FROM rows")
    return behind("duckdb:///x.db?table=t", folder)


PLACES: tuple[Callable[[pa.Table, Path], np.ndarray], ...] = (
    in_memory, in_a_frame, by_pyarrow, in_several_groups, without_statistics,
    with_wrong_statistics, by_duckdb, by_pandas, in_a_pattern, in_duckdb,
)  # fmt: skip


TURNS = range(4)


@pytest.mark.parametrize("place", PLACES)
def test_one_row_changes_no_other_code(tmp_path, place):
    def codes(name: str, rows: Rows) -> np.ndarray:
        folder = tmp_path / name
        folder.mkdir()
        return place(table(rows), folder)

    check(codes)


def check(codes: Callable[[str, Rows], np.ndarray]) -> None:
    """The contract for a place: `codes` of rows, under a name, in their order."""
    others = [row for row in range(ROWS) if row != PERSON]
    before = codes("before", plain())
    np.testing.assert_array_equal(before, alone(plain()))
    for turn in TURNS:
        after = codes(f"turn{turn}", plain(turn))
        np.testing.assert_array_equal(after[others], before[others])
        np.testing.assert_array_equal(after, alone(plain(turn)))
    np.testing.assert_array_equal(codes("hard", hard()), alone(hard()))


@settings(
    max_examples=5,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_no_rows_at_all_change_a_code(tmp_path_factory, data):
    """Any cells in any order, plain and hard ones."""
    rows = {
        kind: data.draw(
            st.lists(st.sampled_from((*cells.plain, *cells.hard)), min_size=ROWS, max_size=ROWS)
        )
        for kind, cells in CELLS.items()
    }
    place = data.draw(st.sampled_from([by_pyarrow, in_several_groups, by_duckdb, in_duckdb]))
    found = place(table(rows), tmp_path_factory.mktemp("rows"))
    np.testing.assert_array_equal(found, alone(rows))


# --- servers ------------------------------------------------------------------------------

POSTGRES = {
    "double": "double precision", "gaps": "double precision", "none": "double precision",
    "single": "real", "whole": "bigint", "small": "integer", "text": "text", "day": "date",
    "moment": "timestamp", "exact": "numeric(20,2)", "bool": "boolean",
}  # fmt: skip


@pytest.fixture(scope="module")
def postgres():
    with started() as place:
        yield place


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession  # pyright: ignore[reportMissingImports]

    session = SparkSession.builder.master("local[1]").getOrCreate()
    yield session
    session.stop()


class TestPostgres:
    pytestmark = NEEDED

    def test_one_row_changes_no_other_code(self, postgres, tmp_path):
        def codes(name: str, rows: Rows) -> np.ndarray:
            stored = table(rows)
            kinds = {
                title: POSTGRES.get(title.split("_")[0], "text") for title in stored.schema.names
            }
            load(postgres, name, list(zip(*stored.to_pydict().values(), strict=True)), kinds)
            return behind(f"{postgres}?table={name}", tmp_path)

        check(codes)

    def test_no_value_of_a_type_ends_a_run(self, postgres, tmp_path):
        cells = {
            "date": "infinity", "timestamp": "-infinity", "timestamptz": "infinity",
            "numeric": "NaN", "numeric(9,2)": "NaN", "time": "24:00:00", "interval": "999 years",
            "uuid": "00000000-0000-0000-0000-000000000001", "bytea": r"\xff", "json": "[1]",
            "integer[]": "{1}", "inet": "::1", "double precision": "-0", "money": "1",
            "timetz": "24:00:00+15", "jsonb": "null", "char(3)": "a",
        }  # fmt: skip
        import psycopg

        with psycopg.connect(postgres.replace("postgres://", "postgresql://")) as db:
            kinds = ", ".join(f"v{i} {kind}" for i, kind in enumerate(cells))
            db.execute(f"create table odd ({kinds})")
            values = ", ".join(f"'{value}'" for value in cells.values())
            db.execute(f"insert into odd values ({values})")
            for huge in ("4713-01-01 BC", "5874897-12-31", "20000-01-01", "2020-01-05"):
                db.execute("insert into odd (v0, v3) values (%s, 1e1000::numeric)", [huge])
        for name in DECLARED:
            columns = tuple(
                Column(**{**vars(DECLARED[name]), "name": f"v{i}"}) for i in range(len(cells))
            )
            opened = big.open_table(address.parse(f"{postgres}?table=odd"), tmp_path / "ws")
            found = opened.counts(Schema(columns=columns), [("v0",)])
            assert found[0].sum() == len(opened.some(9).frame) == 5
            if name == "day":
                assert found[0].tolist() == [0, 0, 1, 4]
            opened.close()


class TestSpark:
    pytestmark = SPARK

    @pytest.mark.parametrize("written", ["pyarrow", "spark", "table"])
    def test_one_row_changes_no_other_code(self, spark, tmp_path, written):
        def codes(name: str, rows: Rows) -> np.ndarray:
            path = str(tmp_path / name)
            if written == "pyarrow":
                pq.write_table(table(rows), path, row_group_size=5)
            else:
                frame = spark.createDataFrame(table(rows)).repartition(3)
                if written == "table":
                    frame.createOrReplaceTempView(name)
                else:
                    frame.write.parquet(path)
            place = f"spark:///?table={name}" if written == "table" else f"spark://{path}"
            opened = big.open_table(address.parse(place), tmp_path / "ws")
            if written == "spark":  # by the embedded database, too
                np.testing.assert_array_equal(behind(f"{path}/*.parquet", tmp_path), alone(rows))
            return streamed(opened)  # its end would end the session

        check(codes)

    def test_a_session_that_does_not_take_a_setting_is_refused(self, spark):
        servers.check_session(spark)
        spark.conf.set("spark.sql.ansi.enabled", "true")
        with pytest.raises(TableError, match=r"does not take spark\.sql\.ansi\.enabled"):
            servers.check_session(spark)
