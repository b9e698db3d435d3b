"""Tables behind a database against cells, names and files made to change what others count."""

from __future__ import annotations

import datetime as dt
import traceback
from dataclasses import replace
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prism_core.data.encoding import encode
from prism_core.data.engines import duckdb_engine, out_of_core, servers
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables import address
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import TableError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release
from tests.support.noise import Tape

pytestmark = pytest.mark.privacy

X = Column(name="x", kind="numeric", lower=0, upper=10, edges=(3.8,))
Y = Column(name="y", kind="boolean")
K = Column(name="k", kind="categorical", levels=("a", "b", "c"), other="c")
NUMBERS = Schema(columns=(X, Y), one_row_per_person=True)


@pytest.fixture
def opened(tmp_path):
    made = []

    def make(text, **style) -> out_of_core.BigTable:
        made.append(
            out_of_core.open_table(address.parse(str(text), tmp_path), tmp_path / "ws", **style)
        )
        return made[-1]

    yield make
    for table in made:
        table.close()


def counts(table: out_of_core.BigTable, schema: Schema) -> dict[str, list[int]]:
    found = table.counted_there(schema, public=True).counts([(name,) for name in schema.names])
    return dict(zip(schema.names, (one.tolist() for one in found), strict=True))


def in_memory(paths, schema: Schema, **style) -> dict[str, list[int]]:
    """File by file, as somebody who reads each of them would."""
    tables = [encode(schema, read_table(path, **style)) for path in paths]
    return {
        name: sum(table.counts([(name,)])[0] for table in tables).tolist() for name in schema.names
    }


def two_files(folder, first) -> str:
    folder.mkdir()
    others = pd.DataFrame({"x": [3.7] * 50 + [3.4] * 50, "y": [True, False] * 50})
    pd.DataFrame({"x": first, "y": [True] * 3}).to_parquet(folder / "1.parquet")
    others.to_parquet(folder / "2.parquet")
    return str(folder / "*.parquet")


def test_a_missing_cell_of_one_file_does_not_round_the_cells_of_another(opened, tmp_path):
    for name, first in (("whole", [1, 2, 3]), ("missing", [1, 2, None])):
        table = opened(two_files(tmp_path / name, first))
        found = counts(table, NUMBERS)
        assert found == in_memory(sorted((tmp_path / name).iterdir()), NUMBERS)
        assert found["x"] == [103, 0]
        assert table.rows == 103
        assert len(table.some(103).frame) == 103


def test_neighbours_in_two_files_of_other_types_differ_by_one_person(opened, tmp_path):
    """T-RECORD: of all counts that are measured, one missing cell moves one person's."""
    plan, outputs, asked = None, None, []
    for name, first in (("whole", [1, 2, 3]), ("missing", [1, 2, None])):
        table = opened(two_files(tmp_path / name, first)).store(NUMBERS, public=False)
        plan = plan or design(
            Brief(
                NUMBERS,
                Task(target="y", regime="causal"),
                Budget(epsilon=1.0),
                table.n,
                dag=Dag(nodes=("x", "y"), edges=(("x", "y"),)),
                synthesis=Synthesis(model="naive_bayes", rows=10),
            )
        )
        noise = Tape(outputs, seed=1)
        release(plan, table, ledger=None, noise=noise, rng=np.random.default_rng(2))
        outputs = noise.outputs
        asked.append([value for value, _ in noise.counts])
        table.folder.close()
    assert len(asked[0]) == len(asked[1]) > 0
    for before, after in zip(*asked, strict=True):
        assert np.linalg.norm(before - after) <= np.sqrt(2)


@pytest.mark.parametrize("person", [["1", "2", "2"], [1, 2, 2], [1, None, 2]])
def test_one_row_of_a_person_across_files_of_other_types(opened, tmp_path, person):
    y = [True, True, True]
    pd.DataFrame({"mrn": person, "x": [1, 2, None], "y": y}).to_parquet(tmp_path / "1.parquet")
    other = pd.DataFrame({"mrn": ["1", "2", "3"], "x": ["1", "odd", "?"], "y": y})
    other.to_parquet(tmp_path / "2.parquet")
    persons = len({"" if one is None else str(one) for one in person} | {"1", "2", "3"})
    schema = Schema(columns=(X, Y), person_id="mrn", persons=persons)
    table = opened(tmp_path / "*.parquet")
    assert table.people("mrn") == persons
    assert counts(table, schema)["y"] == [0, persons]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_of_folders_are_no_columns(opened, tmp_path, kind):
    code = Column(name="code", kind="categorical", levels=("01", "02"), other="02")
    for value in ("01", "02"):
        folder = tmp_path / f"code={value}"
        folder.mkdir()
        frame = pd.DataFrame({"x": ["1"], "y": ["true"]})
        frame.to_csv(folder / "t.csv", index=False)
        frame.to_parquet(folder / "t.parquet")
    table = opened(tmp_path / "*" / f"t.{kind}")
    assert table.header == ("x", "y")
    with pytest.raises(TableError, match="no such column"):
        counts(table, Schema(columns=(code, X), one_row_per_person=True))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["t[1]", "t*", "t?", "d[1]/t", "d*/t", "it's [!a]"])
def test_a_name_is_a_name_and_no_pattern(opened, tmp_path, name, kind):
    def write(stem, rows):
        path = tmp_path / f"{stem}.{kind}"
        path.parent.mkdir(exist_ok=True)
        frame = pd.DataFrame({"x": ["1"] * rows, "y": ["true"] * rows})
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
        return path

    for decoy in ("t1", "d1/t", "it's b"):
        write(decoy, 9)
    assert opened(write(name, 5)).rows == 5


MESSY = {
    "quoted after a space": b' "a",1',
    "text after a quotation": b'"a"b,1',
    "two in one": b'"a""b",1',
    "short": b"a",
    "empty": b",",
    "lone carriage return": b"a\rb,1",
    "quoted line ends": b'"a\r\n\n",1',
    "long": b'"' + b"x" * 2_200_000 + b'",1',
}


@pytest.mark.parametrize("line", MESSY.values(), ids=MESSY)
def test_a_cell_is_cut_as_in_memory_and_moves_nobody_else(opened, tmp_path, line):
    schema = Schema(columns=(K, X), one_row_per_person=True)
    path = tmp_path / "t.csv"
    path.write_bytes(b"k,x\n" + b'a,1\n "b",7\n' * 20 + line + b"\n")
    found = counts(opened(path), schema)
    assert found == in_memory([path], schema)
    assert found["k"][0] >= 20


def test_a_long_quotation_may_stand_anywhere(opened, tmp_path, monkeypatch):
    """At a border of the chunks a line is still one line, and too long a line still refused."""
    monkeypatch.setattr("prism_core.data.tables.delimited.CHUNK", 7)
    path = tmp_path / "t.csv"
    for before in range(5, 9):
        start = "k,x\n" + "a,1\n" * before
        path.write_text(start + '"' + "b,9\n" * 50 + '",7\nb\n' + "a,1\n" * 9)
        assert opened(path).rows == before + 11
        for line in ("a,1,2\n", "a,1,\n"):
            path.write_text(start + line + "a,1\n" * 9)
            with pytest.raises(TableError, match="more cells than the header"):
                opened(path)


def test_every_byte_of_a_western_encoding_is_read(opened, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"k,x\n\x80\x9f\x81,1\n\xe9,2\n")
    schema = Schema(columns=(K, X), one_row_per_person=True)
    style = {"encoding": "latin-1"}
    assert counts(opened(path, **style), schema) == in_memory([path], schema, **style)


DAY = Column(name="v", kind="date", lower=0, upper=20_000, edges=(10_000.0,), nullable=True)
WORD = Column(name="v", kind="categorical", levels=("a", "2020-01-05"), other="a", nullable=True)
NUMBER = Column(name="v", kind="numeric", lower=0, upper=10, edges=(5.0,), nullable=True)
FAR = {
    "date32": pa.array([18_266, 3_333_333, -(2**31), 2**31 - 1], pa.int32()).cast(pa.date32()),
    "date64": pa.array([18_266 * 86_400_000, 3_333_333 * 86_400_000]).cast(pa.date64()),
    "ms": pa.array([1_578_182_400_000, 2**60]).cast(pa.timestamp("ms")),
    "us": pa.array([1_578_182_400_000_000, 2**62, -(2**62)]).cast(pa.timestamp("us")),
    "ns": pa.array([1_578_182_400_000_000_000, 2**62, -(2**62)]).cast(pa.timestamp("ns")),
    "zone": pa.array([1_578_182_400_000_000, 2**62]).cast(pa.timestamp("us", "Europe/Berlin")),
    "time": pa.array([3_600_000_000, 86_400_000_000]).cast(pa.time64("us")),
    "list": pa.array([[1], [dt.date(2020, 1, 5)], None][::2], pa.list_(pa.int64())),
    "uint64": pa.array([1, 2**64 - 1], pa.uint64()),
    "dictionary": pa.array(["a", "q"]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", FAR)
@pytest.mark.parametrize("column", [DAY, WORD, NUMBER], ids=["date", "word", "number"])
def test_no_value_of_a_type_stops_a_file_of_it(opened, tmp_path, kind, column):
    schema = Schema(columns=(column,), one_row_per_person=True)
    pq.write_table(pa.table({"v": FAR[kind]}), tmp_path / "t.parquet")
    table = opened(tmp_path / "t.parquet")
    found = counts(table, schema)
    assert found == in_memory([tmp_path / "t.parquet"], schema)
    assert sum(found["v"]) == table.rows == len(table.some(99).frame)


WIDEST = {
    "HUGEINT": "170141183460469231731687303715884105727",
    "UHUGEINT": "1",
    "DATE": "'20000-01-01'",
    "TIMESTAMP": "'infinity'",
    "TIMESTAMP_MS": "'290000-01-01'",
    "TIMESTAMP_S": "'290000-01-01'",
    "TIMESTAMPTZ": "'290000-01-01'",
    "TIME": "'24:00:00'",
    "TIMETZ": "'23:00:00+15'",
    "INTERVAL": "'83333333 years'",
    "BIT": "'101'",
    "BLOB": r"'\xFF'",
    "UUID": "'ffffffff-0000-0000-0000-000000000001'",
    "DECIMAL(38,10)": "9999999999999999999999",
    "INT[]": "[1]",
    "STRUCT(a INT)": "{'a': 1}",
    "MAP(VARCHAR, INT)": "map{'a': 1}",
    "ENUM('a', 'q')": "'q'",
    "FLOAT": "'nan'",
    "UBIGINT": "18446744073709551615",
}


def test_no_value_of_a_type_stops_a_table_of_it(opened, tmp_path):
    with duckdb.connect(str(tmp_path / "x.db")) as db:
        cells = [
            f"CAST({value} AS {kind}) AS v{i}" for i, (kind, value) in enumerate(WIDEST.items())
        ]
        db.execute(f"CREATE TABLE t AS SELECT {', '.join(cells)}")
    for column in (DAY, WORD, NUMBER):
        columns = tuple(replace(column, name=f"v{number}") for number in range(len(WIDEST)))
        table = opened("duckdb:///x.db?table=t")
        found = counts(table, Schema(columns=columns, one_row_per_person=True))
        assert {sum(one) for one in found.values()} == {1}
        assert len(table.some(9).frame) == 1


def test_a_view_cannot_read_other_files(opened, tmp_path):
    (tmp_path / "other.csv").write_text("x,y\n1,true\n")
    with duckdb.connect(str(tmp_path / "x.db")) as db:
        db.execute(f"CREATE VIEW t AS SELECT * FROM read_csv('{tmp_path / 'other.csv'}')")
        db.execute("CREATE TABLE own AS SELECT 1 AS x, true AS y")
        db.execute("CREATE VIEW good AS SELECT * FROM own")
    with pytest.raises(TableError, match="could not read"):
        counts(opened("duckdb:///x.db?table=t"), NUMBERS)
    assert counts(opened("duckdb:///x.db?table=good"), NUMBERS)["y"] == [0, 1]


BAD = {
    "bytes": b"k,x\na,1\nCANARY\xff\xfe,1\n",
    "cells": b"k,x\na,1\nCANARY,1,2\n",
    "quotation": b'k,x\na,1\n"CANARY,1\n',
    "header quotation": b'k,"x\nCANARY,1\nb,2\n',
    "header lines": b'k,"x\nCANARY,1"\nb,2\n',
    "header bytes": b"k,x\xff\nCANARY,1\n",
    "header bytes later": b"k,x\n" + b"a,1\n" * 40_000 + b"CANARY\xff\n",
    "binary": b"k,x\nCANARY\x01\xff\n",
    "zero byte": b"k,x\nCANARY\x00,1\n",
    "parquet": b"PAR1CANARY",
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_what_is_refused_says_so_without_a_cell(opened, tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    for read in (read_table, opened):
        with pytest.raises(TableError) as caught:
            read(path)
        told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
        assert "CANARY" not in told.replace('b"k', "")
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None


class Spark:
    """As much of a Spark session as is asked: files and their types."""

    def __init__(self, **files):
        self.files = files
        self.read = self

    def parquet(self, path):
        types = self.files.get(path, "those of whichever file Spark looks at")
        return SimpleNamespace(
            inputFiles=lambda: list(self.files), schema=SimpleNamespace(simpleString=lambda: types)
        )


def test_spark_is_not_asked_to_read_files_of_several_types_as_one():
    servers.check_types(Spark(a="struct<x:bigint>", b="struct<x:bigint>"), "folder", "t")
    with pytest.raises(TableError, match="same columns of the same types"):
        servers.check_types(Spark(a="struct<x:bigint>", b="struct<x:double>"), "folder", "t")


# --- the locks: what may look at the rows' statistics is off, or no row is read -----------------


def test_all_but_two_optimizers_are_off_wherever_duckdb_reads(opened, tmp_path):
    pd.DataFrame({"x": [1.0], "y": [True]}).to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("x,y\n1,true\n")
    with duckdb.connect(str(tmp_path / "x.db")) as db:
        db.execute("CREATE TABLE t AS SELECT 1.0 AS x, true AS y")
    for place in (tmp_path / "t.parquet", tmp_path / "t.csv", "duckdb:///x.db?table=t"):
        connection = opened(place).engine.connection
        known = {name for (name,) in connection.execute("FROM duckdb_optimizers()").fetchall()}
        query = "SELECT current_setting('disabled_optimizers'), current_setting('{}')"
        off, nan = connection.execute(query.format("parquet_can_have_nan")).fetchone()
        assert known - set(off.split(",")) == duckdb_engine.OPTIMIZERS
        assert {"statistics_propagation", "row_group_pruner", "filter_pushdown"} <= known
        assert nan is True


class Deaf:
    """A DuckDB of which the optimizers cannot be switched off, or not all of them."""

    def __init__(self, told: str, known: tuple[str, ...]) -> None:
        self.told, self.known, self.asked = told, known, ""

    def execute(self, sql: str) -> Deaf:
        self.asked = sql
        return self

    def fetchall(self) -> list[tuple[str]]:
        return [(name,) for name in self.known]

    def fetchone(self) -> tuple[str]:
        assert "current_setting" in self.asked
        return (self.told,)


STATISTICS = "statistics_propagation"


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ("", (STATISTICS, "fresh", "unused_columns")),
        (STATISTICS, (STATISTICS, "fresh", "unused_columns")),
        (f"{STATISTICS},fresh,unused_columns", (STATISTICS, "fresh", "unused_columns")),
        ("fresh", ("fresh", "unused_columns")),
    ],
)
def test_a_duckdb_that_keeps_its_optimizer_reads_no_row(told, known):
    with pytest.raises(TableError, match="does not let its optimizer be switched off"):
        duckdb_engine._row_by_row(Deaf(told, known))
    duckdb_engine._row_by_row(Deaf(f"fresh, {STATISTICS}", (STATISTICS, "fresh", "unused_columns")))


@pytest.mark.parametrize("last", [1.0, 9.0])
def test_a_maximum_does_not_recode_what_is_no_number(opened, tmp_path, last):
    """4,000 rows, 1,500 of them NaN, one value that may be the maximum."""
    values = np.random.default_rng(1).uniform(0.0, 4.0, 4_000)
    values[:1_500], values[-1] = np.nan, last
    x = replace(X, edges=(2.0, 5.0), nullable=True)
    levels = replace(K, name="x", levels=(0, 1, 2, 3), other=3, nullable=True)
    pq.write_table(pa.table({"x": pa.array(values, from_pandas=False)}), tmp_path / "t.parquet")
    table = opened(tmp_path / "t.parquet")
    low = int((values[1_500:] <= 2.0).sum())
    middle = int((values[1_500:] > 2.0).sum()) - (last == 9.0)
    found = counts(table, Schema(columns=(x,), one_row_per_person=True))
    assert found["x"] == [low, middle, int(last == 9.0), 1_500]
    found = counts(table, Schema(columns=(levels,), one_row_per_person=True))
    assert found["x"] == [0, int(last == 1.0), 0, 2_499 + int(last == 9.0), 1_500]


@pytest.mark.parametrize("last", [1.0, 2.5, np.inf, np.nan, None])
def test_a_persons_number_decides_on_no_other_person(opened, tmp_path, last):
    """IDs as floats with NaN: as many persons as in memory, whatever the largest ID is."""
    mrn = pa.array([0.0, np.nan, -0.0, 7.0, 7.0, np.nan, last], from_pandas=False)
    y = pa.array([True] * 7)
    pq.write_table(pa.table({"mrn": mrn, "y": y}), tmp_path / "t.parquet", row_group_size=3)
    persons = 3 + int(last is not None and not np.isnan(last))
    schema = Schema(columns=(Y,), person_id="mrn", persons=persons)
    memory = read_table(tmp_path / "t.parquet")
    assert memory.column("mrn").nunique() == persons
    table = opened(tmp_path / "t.parquet")
    assert table.people("mrn") == persons
    assert table.store(schema, public=False).n == persons
