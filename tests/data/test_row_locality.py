"""One contract for every place of a table: a cell's code depends on the cell and the schema alone.

One row is replaced by a row of the hardest cells there are. All other codes stay as they were,
every code is the one of the cell alone, and nothing ends by an error. Deterministic: no false
alarms.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_core.data.encoding import encode
from prism_core.data.engines import out_of_core, servers
from prism_core.data.schema.schema import Schema
from prism_core.data.tables import address
from prism_core.data.tables.raw_table import from_frame, read_table
from prism_core.errors import TableError
from tests.support import spark
from tests.support.cells import (
    CELLS,
    DECLARED,
    PERSON,
    ROWS,
    SCHEMA,
    Rows,
    alone,
    hard,
    plain,
    table,
)
from tests.support.postgres import NEEDED, load, started

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

pytestmark = pytest.mark.privacy


# --- places -------------------------------------------------------------------------------


def in_order(codes: np.ndarray) -> np.ndarray:
    return codes[np.argsort(codes[:, 0])]


def behind(place: str, folder: Path, **style: str) -> np.ndarray:
    """The codes of a table behind a database, in the order of the rows' names."""
    opened = out_of_core.open_table(address.parse(place, folder), folder / "ws", **style)
    try:
        assert opened.rows == ROWS
        # Once for each place: beside the codes that come home, those that the database counts.
        if folder.name == "hard":
            np.testing.assert_array_equal(counted(opened), alone(hard()))
        return streamed(opened)
    finally:
        opened.close()


def counted(opened: out_of_core.BigTable) -> np.ndarray:
    """The codes read off the counts of every column beside the row's name."""
    there = opened.counted_there(SCHEMA, public=False)
    found = there.counts([("row", name) for name in SCHEMA.names[1:]])
    for counts in found:
        np.testing.assert_array_equal(counts.sum(axis=1), np.ones(ROWS))
    return np.column_stack([np.arange(ROWS), *(counts.argmax(axis=1) for counts in found)])


def streamed(opened: out_of_core.BigTable) -> np.ndarray:
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
    in_memory,
    in_a_frame,
    by_pyarrow,
    in_several_groups,
    without_statistics,
    with_wrong_statistics,
    by_duckdb,
    by_pandas,
    in_a_pattern,
    in_duckdb,
)


TURNS = range(4)
"""Each puts other hard cells into one row."""


@pytest.mark.parametrize("place", PLACES)
def test_one_row_changes_no_other_code(tmp_path, place):
    def codes(name: str, rows: Rows) -> np.ndarray:
        folder = tmp_path / name
        folder.mkdir()
        return place(table(rows), folder)

    # A table costs seconds to open, so a place takes every other turn; its neighbour has the rest.
    check(codes, TURNS[PLACES.index(place) % 2 :: 2])


def check(codes: Callable[[str, Rows], np.ndarray], turns: Sequence[int] = TURNS) -> None:
    """The contract for a place: `codes` of rows, under a name, in their order."""
    others = [row for row in range(ROWS) if row != PERSON]
    before = codes("before", plain())
    np.testing.assert_array_equal(before, alone(plain()))
    for turn in turns:
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
    "double": "double precision",
    "gaps": "double precision",
    "none": "double precision",
    "single": "real",
    "whole": "bigint",
    "small": "integer",
    "text": "text",
    "day": "date",
    "moment": "timestamp",
    "exact": "numeric(20,2)",
    "answer": "double precision",
    "coded": "bigint",
    "reply": "text",
    "bool": "boolean",
}


@pytest.fixture(scope="module")
def postgres():
    with started() as place:
        yield place


@pytest.fixture(scope="module")
def session(standalone_spark):
    from pyspark.sql import SparkSession  # pyright: ignore[reportMissingImports]

    builder: Any = SparkSession.builder.master(standalone_spark.master)
    for name, value in servers.SPARK.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


class TestPostgres:
    pytestmark = NEEDED

    def test_one_row_changes_no_other_code(self, postgres, tmp_path):
        def codes(name: str, rows: Rows) -> np.ndarray:
            stored = table(rows)
            kinds = {
                title: POSTGRES.get(title.split("_")[0], "text") for title in stored.schema.names
            }
            load(postgres, name, list(zip(*stored.to_pydict().values(), strict=True)), kinds)
            (tmp_path / name).mkdir()
            return behind(f"{postgres}?table={name}", tmp_path / name)

        check(codes)

    def test_no_value_of_a_type_ends_a_run(self, postgres, tmp_path):
        cells = {
            "date": "infinity",
            "timestamp": "-infinity",
            "timestamptz": "infinity",
            "numeric": "NaN",
            "numeric(9,2)": "NaN",
            "time": "24:00:00",
            "interval": "999 years",
            "uuid": "00000000-0000-0000-0000-000000000001",
            "bytea": r"\xff",
            "json": "[1]",
            "integer[]": "{1}",
            "inet": "::1",
            "double precision": "-0",
            "money": "1",
            "timetz": "24:00:00+15",
            "jsonb": "null",
            "char(3)": "a",
        }
        import psycopg

        with psycopg.connect(postgres.replace("postgres://", "postgresql://")) as db:
            kinds = ", ".join(f"v{i} {kind}" for i, kind in enumerate(cells))
            db.execute(f"create table odd ({kinds})")
            values = ", ".join(f"'{value}'" for value in cells.values())
            db.execute(f"insert into odd values ({values})")
            for huge in ("4713-01-01 BC", "5874897-12-31", "20000-01-01", "2020-01-05"):
                db.execute("insert into odd (v0, v3) values (%s, 1e1000::numeric)", [huge])
        for name in DECLARED:
            columns = tuple(replace(DECLARED[name], name=f"v{i}") for i in range(len(cells)))
            opened = out_of_core.open_table(address.parse(f"{postgres}?table=odd"), tmp_path / "ws")
            found = opened.counted_there(Schema(columns=columns), public=True).counts([("v0",)])
            assert found[0].sum() == len(opened.some(9).frame) == 5
            if name == "day":
                assert found[0].tolist() == [0, 0, 1, 4]
            opened.close()


class TestSpark:
    pytestmark = spark.NEEDED

    @pytest.mark.long  # Spark compiles a query of all these columns for minutes
    @pytest.mark.parametrize("written", ["pyarrow", "spark", "table"])
    def test_one_row_changes_no_other_code(self, session, tmp_path, written):
        def codes(name: str, rows: Rows) -> np.ndarray:
            path = str(tmp_path / name)
            if written == "pyarrow":
                pq.write_table(table(rows), path, row_group_size=5)
            else:
                frame = session.createDataFrame(table(rows)).repartition(3)
                if written == "table":
                    frame.createOrReplaceTempView(name)
                else:
                    frame.write.parquet(path)
            place = f"spark:///?table={name}" if written == "table" else f"spark://{path}"
            opened = out_of_core.open_table(address.parse(place), tmp_path / "ws")
            if written == "spark":  # by the embedded database, too
                np.testing.assert_array_equal(behind(f"{path}/*.parquet", tmp_path), alone(rows))
            if name == "hard":
                np.testing.assert_array_equal(counted(opened), alone(rows))
            return streamed(opened)  # its end would end the session

        check(codes)

    def test_a_session_that_does_not_take_a_setting_is_refused(self, session):
        servers.check_session(session)
        session.conf.set("spark.sql.ansi.enabled", "true")
        with pytest.raises(TableError, match=r"does not take spark\.sql\.ansi\.enabled"):
            servers.check_session(session)
