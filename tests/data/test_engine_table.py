"""Rows that stay in their database: the counts of memory, few scans, and one snapshot."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prism_core.data.encoding import encode
from prism_core.data.engines import engine_table, out_of_core
from prism_core.data.engines.servers import IbisEngine
from prism_core.data.engines.stored_table import StoredTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables import address
from prism_core.data.tables.raw_table import from_frame, read_table
from prism_core.errors import PrivacyError, TableError
from prism_core.planning.asked_marginals import asked_marginals
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.runs import inputs
from tests.support import bundles
from tests.support.cells import ALIKE, COLLATED, ODD
from tests.support.engines import OnWorkers, released_alike, write_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.privacy


@pytest.fixture
def frame(frame) -> pd.DataFrame:
    """The small table with cells that no database is trusted to read."""
    for place, column in enumerate(frame.columns):
        frame.loc[place * 25 : place * 25 + len(ODD) - 1, column] = ODD
    return frame


@pytest.fixture
def opened(tmp_path, frame) -> Iterator[out_of_core.BigTable]:
    write_texts(frame, tmp_path / "t.parquet")
    table = out_of_core.open_table(address.parse("t.parquet", tmp_path), tmp_path / "ws")
    yield table
    table.close()


def test_counts_are_those_of_memory_and_nothing_is_counted_twice(opened, frame, schema):
    memory = encode(schema, from_frame(frame))
    there = opened.counted_there(schema, public=False)
    assert (there.n, there.schema, there.public) == (memory.n, schema, False)
    cliques = [c for k in (1, 2, 3) for c in itertools.permutations(schema.names[:4], k)]
    for found, wanted in zip(there.counts(cliques), memory.counts(cliques), strict=True):
        np.testing.assert_array_equal(found, wanted)
    # One for the cells that are read at home, one for the counts.
    assert there.scans == 2
    assert there.bytes_home > 0
    there.counts(cliques[::-1])
    there.counts([("age",)])
    assert there.scans == 2
    (last,) = there.counts([schema.names[-2:]])
    np.testing.assert_array_equal(last, memory.counts([schema.names[-2:]])[0])
    assert there.scans == 3


def test_more_marginals_than_one_query_takes_are_counted_in_several(
    opened, frame, schema, monkeypatch
):
    pairs = list(itertools.combinations(schema.names, 2))
    monkeypatch.setattr(engine_table, "MOST_SETS", 1)
    monkeypatch.setattr(engine_table, "wider", lambda schema, wanted: {c: c for c in wanted})
    assert not engine_table.one_scan(schema, pairs)
    there = opened.counted_there(schema, public=False)
    memory = encode(schema, from_frame(frame)).counts(pairs)
    for found, wanted in zip(there.counts(pairs), memory, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert there.scans == 1 + len(pairs)


def test_what_is_handed_out_is_a_copy(opened, schema):
    there = opened.counted_there(schema, public=False)
    (first,) = there.counts([("age", "ward")])
    first += 1
    (again,) = there.counts([("age", "ward")])
    assert again.sum() == first.sum() - first.size
    with pytest.raises(ValueError, match="once"):
        there.counts([("age", "age")])


def test_every_scan_sees_the_same_row_of_a_person(tmp_path, frame, schema):
    frame["mrn"] = [str(row // 3) for row in range(len(frame))]
    frame["row"] = [f"r{row}" for row in range(len(frame))]
    write_texts(frame, tmp_path / "t.parquet")
    rows = Column(name="row", kind="categorical", levels=tuple(frame["row"]))
    people = Schema(columns=(rows, *schema.columns), person_id="mrn", persons=100)
    opened = out_of_core.open_table(address.parse("t.parquet", tmp_path), tmp_path / "ws")
    draws = []
    for _ in range(2):
        there = opened.counted_there(people, public=False)
        (first,) = there.counts([("row",)])
        (second,) = there.counts([("row", "age")])
        assert there.scans == 3
        np.testing.assert_array_equal(second.sum(axis=1), first)
        assert first.reshape(100, 3).sum(axis=1).tolist() == [1] * 100
        draws.append(first)
    assert (draws[0] != draws[1]).any()  # alike by chance: 3**-100
    wrong = Schema(columns=people.columns, person_id="mrn", persons=99)
    with pytest.raises(PrivacyError) as caught:
        opened.counted_there(wrong, public=False).counts([("age",)])
    assert caught.value.field == "persons"
    assert "100" not in str(caught.value)
    opened.close()


def test_rows_that_change_between_scans_are_refused(opened, frame, schema, tmp_path):
    there = opened.counted_there(schema, public=False)
    there.counts([("age",)])
    changed = frame.copy()
    # The number of rows and every count but those of one column stay as they were.
    changed.loc[[298, 299], "ward"] = ["north", "south"]
    frame.loc[[298, 299], "ward"] = ["south", "south"]
    write_texts(frame, tmp_path / "t.parquet")
    there = opened.counted_there(schema, public=False)
    there.counts([("age",)])
    write_texts(changed, tmp_path / "t.parquet")
    with pytest.raises(TableError) as caught:
        there.counts([("smoker",)])
    assert caught.value.field == "train"
    # Who asks anew gets the rows that are there now.
    opened.counted_there(schema, public=False).counts([("smoker",)])


def test_a_cell_that_came_after_the_cells_were_read_is_noticed(
    opened, frame, schema, tmp_path, monkeypatch, canary
):
    grouped = type(opened.engine).grouped

    def later(engine, query):
        frame.loc[7, "grade"] = f" {canary} "
        write_texts(frame, tmp_path / "t.parquet")
        return grouped(engine, query)

    monkeypatch.setattr(type(opened.engine), "grouped", later)
    with pytest.raises(TableError) as caught:
        opened.counted_there(schema, public=False).counts([("grade",)])
    assert caught.value.field == "train"
    assert canary not in str(caught.value)


TASKS = {
    **bundles.TASKS,
    "adaptive": Task(target="readmitted", max_joint_cells=0, three_way="adaptive"),
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_release_is_that_of_memory(opened, frame, schema, task):
    """Where all is known beforehand, a database that is gone after the charge costs nothing."""
    memory = encode(schema, from_frame(frame), public=True)
    plan = design(Brief(schema, task, Budget(), memory.n, dag=bundles.DAG))
    asked = asked_marginals(plan)
    assert asked.complete == (not plan.selections)
    assert not asked.rows
    assert engine_table.one_scan(schema, asked.cliques)
    there = opened.counted_there(schema, public=True)
    there.prefetch(asked.cliques)
    assert there.scans == 2
    if asked.complete:
        opened.close()
    ours, theirs = (released_alike(plan, table) for table in (there, memory))
    assert there.scans == 2 or not asked.complete
    assert {query.clique for query in ours.plan.queries} == {m.clique for m in ours.measurements}
    np.testing.assert_array_equal(ours.codes, theirs.codes)
    for mine, wanted in zip(ours.measurements, theirs.measurements, strict=True):
        np.testing.assert_array_equal(mine.values, wanted.values)


def test_the_rows_of_a_regression_are_kept_at_home(opened, schema):
    task = Task(target="readmitted", regime="predictive", k=2, selection="logistic")
    asked = asked_marginals(design(Brief(schema, task, Budget(), 300)))
    assert asked.rows
    table = inputs.ready(schema, opened, public=False, rng=np.random.default_rng(), asked=asked)
    assert isinstance(table, StoredTable)
    table.folder.close()
    with pytest.raises(TableError, match="stay in their database"):
        next(opened.counted_there(schema, public=False).batches(["age"]))


def test_a_table_of_more_rows_than_can_be_kept_is_counted_where_it_is(opened, schema, monkeypatch):
    task = Task(target="readmitted", regime="predictive", k=2)
    asked = asked_marginals(design(Brief(schema, task, Budget(), 300)))
    for most, kind in ((300, StoredTable), (299, engine_table.EngineTable)):
        monkeypatch.setattr(inputs, "MOST_ROWS", most)
        table = inputs.ready(schema, opened, public=False, rng=np.random.default_rng(), asked=asked)
        assert isinstance(table, kind)
        if isinstance(table, StoredTable):
            table.folder.close()


def test_cells_that_a_collation_calls_equal_are_told_apart(tmp_path):
    """A code would else depend on what another row holds."""
    cells = [*ALIKE, "rest"]
    path = tmp_path / "collated.db"
    with duckdb.connect(str(path)) as db:
        db.execute("CREATE TABLE stays (v VARCHAR COLLATE NOCASE)")
        db.executemany("INSERT INTO stays VALUES (?)", [[cell] for cell in cells])
    there = out_of_core.open_table(address.parse(f"duckdb:///{path}?table=stays"), tmp_path / "ws")
    try:
        memory = encode(COLLATED, from_frame(pd.DataFrame({"v": cells})))
        for rows in (
            there.counted_there(COLLATED, public=True),
            there.store(COLLATED, public=True),
        ):
            assert rows.counts([("v",)])[0].tolist() == memory.counts([("v",)])[0].tolist()
    finally:
        there.close()


def test_a_database_that_does_not_count_has_its_rows_stored(opened, schema):
    """BigQuery's, which no test reaches: Ibis reads, and nothing there counts."""
    reads = IbisEngine(backend=None, tables=opened.engine.tables, name="stays")
    with pytest.raises(TableError) as caught:
        replace(opened, engine=reads).counted_there(schema, public=False)
    assert caught.value.field == "train"


@pytest.mark.parametrize("batch", [7, 1_000])
def test_workers_count_what_memory_counts(opened, frame, schema, batch):
    """The functions that Spark's workers run."""
    memory = encode(schema, from_frame(frame))
    there = replace(opened, engine=OnWorkers(opened.engine, batch)).counted_there(
        schema, public=False
    )
    pairs = list(itertools.combinations(schema.names, 2))
    for found, wanted in zip(there.counts(pairs), memory.counts(pairs), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_a_zero_below_zero_ends_no_run_on_workers(tmp_path, kind):
    """In columns of floats that are encoded at home: days, and levels that are too many to send."""
    whole = Column(name="v", kind="categorical", levels=tuple(range(150)), nullable=True)
    day = Column(name="d", kind="date", lower=0, upper=20_000, edges=(9_000.0,), nullable=True)
    schema = Schema(columns=(whole, day), one_row_per_person=True)
    cells = pa.array([-0.0, 0.0, 3.0, math.nan, None, -0.0], kind)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"v": cells, "d": cells}), path)
    wanted = encode(schema, read_table(path)).counts([("v", "d")])[0]
    table = out_of_core.open_table(address.parse("t.parquet", tmp_path), tmp_path / "ws")
    for engine in (table.engine, OnWorkers(table.engine, 2)):
        there = replace(table, engine=engine).counted_there(schema, public=False)
        np.testing.assert_array_equal(there.counts([("v", "d")])[0], wanted)
    table.close()


def test_workers_notice_a_cell_that_nobody_was_told_of(opened, schema, monkeypatch):
    monkeypatch.setattr(OnWorkers, "tallied", lambda *_: iter(()))
    there = replace(opened, engine=OnWorkers(opened.engine, 50)).counted_there(schema, public=False)
    with pytest.raises(TableError) as caught:
        there.counts([("grade",)])
    assert caught.value.field == "train"
