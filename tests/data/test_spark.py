"""The same expressions on a standalone Spark of our own, where Java and pyspark are there."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prism_core.data.encoding import encode
from prism_core.data.engines import servers
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import TableError
from prism_core.planning.asked_marginals import asked_marginals
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.runs import inputs
from tests.support import bundles, spark
from tests.support.cells import ODD
from tests.support.engines import released_alike
from tests.support.tables import small_frame, small_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from prism_core.data.encoding import EncodedTable
    from prism_core.data.engines.out_of_core import BigTable

pytestmark = spark.NEEDED


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    """A Parquet file with hostile cells, a column of days and one of floats."""
    frame = small_frame()
    for column, place in zip(frame.columns, itertools.count()):
        frame.loc[place * 25 : place * 25 + len(ODD) - 1, column] = ODD
    columns = {name: pa.array(frame[name], pa.string()) for name in frame}
    columns["seen"] = pa.array(
        pd.to_datetime(frame["seen"], errors="coerce", format="%Y-%m-%d").dt.date, pa.date32()
    )
    columns["dose"] = pa.array(pd.to_numeric(frame["dose"], errors="coerce"), pa.float64())
    found = tmp_path_factory.mktemp("spark") / "t.parquet"
    pq.write_table(pa.table(columns), found)
    return found


@pytest.fixture(scope="module")
def memory(path) -> EncodedTable:
    return encode(small_schema(), read_table(path), public=True)


@pytest.fixture(scope="module")
def table(path, standalone_spark) -> Iterator[BigTable]:
    with standalone_spark.opened(path) as found:
        yield found


def pairs(memory: EncodedTable) -> list[tuple[str, ...]]:
    return [c for k in (1, 2) for c in itertools.combinations(memory.schema.names, k)]


def check_counts(found: Any, memory: EncodedTable) -> None:
    cliques = pairs(memory)
    for counts, wanted in zip(found.counts(cliques), memory.counts(cliques), strict=True):
        np.testing.assert_array_equal(counts, wanted)


def test_counts_codes_a_release_and_an_evaluation_are_those_of_memory(table, memory):
    assert table.rows == memory.n
    stored = table.store(memory.schema, public=True)
    check_counts(stored, memory)
    drawn = stored.sample(stored.n, np.random.default_rng(1))
    assert sorted(map(tuple, drawn.codes)) == sorted(map(tuple, memory.codes))
    task = Task(target="readmitted", max_joint_cells=0, three_way="cmi")
    plan = design(Brief(memory.schema, task, Budget(), memory.n, dag=bundles.DAG))
    there = table.counted_there(memory.schema, public=True)
    there.prefetch(asked_marginals(plan).cliques)
    released, wanted = (released_alike(plan, rows) for rows in (there, memory))
    assert there.scans == 2
    np.testing.assert_array_equal(released.codes, wanted.codes)
    holdout = inputs.encode_holdout(memory.schema, table, rng=np.random.default_rng(3), public=True)
    assert sorted(map(tuple, holdout.codes)) == sorted(map(tuple, memory.codes))


def test_lost_executors_cost_nothing(table, memory, tmp_path, monkeypatch):
    """In the scan of cells and in that of counts: Spark counts its rows again, and no row twice."""
    for stage in ("tally", "counter"):
        real, mark = getattr(servers, stage), tmp_path / stage
        monkeypatch.setattr(servers, stage, lambda *a, r=real, m=mark: ending(r(*a), m))
    there = table.counted_there(memory.schema, public=False)
    check_counts(there, memory)
    assert len(list(tmp_path.iterdir())) == 2
    assert there.scans == 2


def test_an_executor_lost_while_codes_come_home_costs_nothing(
    table, memory, standalone_spark, monkeypatch
):
    batches = type(table.engine).batches

    def cut(engine: Any, query: Any) -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(batches(engine, query)):
            yield batch
            if number == 0:
                assert standalone_spark.kill_executors() == 1

    monkeypatch.setattr(type(table.engine), "batches", cut)
    check_counts(table.store(memory.schema, public=True), memory)


@pytest.mark.privacy
def test_workers_that_die_again_and_again_are_an_error(table, memory, monkeypatch):
    """Without the words of Spark, and before a charge: a release counts all before that."""
    monkeypatch.setattr(servers, "counter", lambda *_: dying())
    with pytest.raises(TableError) as caught:
        table.counted_there(memory.schema, public=False).counts([("age", "ward")])
    assert caught.value.__context__ is None


def dying() -> Callable[[Any], Any]:
    """What ends the worker that it runs on; by value, as workers have no tests."""

    def die(batches: Any) -> Any:
        import os

        os._exit(1)
        yield from batches

    return die


def ending(work: Callable[[Any], Any], mark: Path) -> Callable[[Any], Any]:
    """The same work, whose first run kills the executor in the middle."""
    place = str(mark)

    def once(batches: Any) -> Any:
        import os
        import time
        from pathlib import Path

        def parent(process: int) -> int:
            text = Path(f"/proc/{process}/stat").read_text()
            return int(text.rpartition(")")[2].split()[1])

        def cut(batches: Any) -> Any:
            for batch in batches:
                yield batch
                try:
                    os.close(os.open(place, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                # The parent of this process hands out workers; its own is the executor.
                os.kill(parent(os.getppid()), 9)
                time.sleep(60)

        yield from work(cut(batches))

    return once
