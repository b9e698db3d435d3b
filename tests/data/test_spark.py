"""The same expressions on Spark in local mode, where Java and pyspark are there."""

from __future__ import annotations

import importlib.util
import itertools
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prism_core.data.encoding import encode
from prism_core.data.engines import out_of_core, servers
from prism_core.data.tables import address
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import TableError
from prism_core.planning.asked_marginals import asked_marginals
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.release import release
from tests.support import bundles
from tests.support.cells import ODD

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("java") is None, reason="needs Java"),
    pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="needs pyspark"),
    pytest.mark.filterwarnings("ignore"),  # pyspark's own
]


def test_spark_counts_are_those_of_memory(tmp_path, frame, schema, monkeypatch):
    for column, place in zip(frame.columns, itertools.count()):
        frame.loc[place * 25 : place * 25 + len(ODD) - 1, column] = ODD
    columns = {name: pa.array(frame[name], pa.string()) for name in frame}
    columns["seen"] = pa.array(
        pd.to_datetime(frame["seen"], errors="coerce", format="%Y-%m-%d").dt.date, pa.date32()
    )
    columns["dose"] = pa.array(pd.to_numeric(frame["dose"], errors="coerce"), pa.float64())
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    memory = encode(schema, read_table(path), public=True)
    table = out_of_core.open_table(
        address.parse(f"spark://{path}?master=local[1]"), tmp_path / "workspace"
    )
    try:
        assert table.rows == memory.n
        cliques = [c for k in (1, 2) for c in itertools.combinations(schema.names, k)]
        stored = table.store(schema, public=True)
        expected = memory.counts(cliques)
        for counts in (
            stored.counts(cliques),
            table.counted_there(schema, public=True).counts(cliques),
        ):
            for found, wanted in zip(counts, expected, strict=True):
                assert (found == wanted).all()
        drawn = stored.sample(stored.n, np.random.default_rng(1))
        assert sorted(map(tuple, drawn.codes)) == sorted(map(tuple, memory.codes))
        task = Task(target="readmitted", max_joint_cells=0, three_way="cmi")
        plan = design(Brief(schema, task, Budget(), memory.n, dag=bundles.DAG))
        there = table.counted_there(schema, public=True)
        there.prefetch(asked_marginals(plan).cliques)
        released, wanted = (
            release(
                plan,
                rows,
                ledger=None,
                noise=SeededNoise(np.random.default_rng(1)),
                rng=np.random.default_rng(2),
            )
            for rows in (there, memory)
        )
        assert there.scans == 2
        assert (released.codes == wanted.codes).all()
        # A worker that dies is an error without its words.
        there = table.counted_there(schema, public=False)
        monkeypatch.setattr(servers, "counter", lambda _: dying())
        with pytest.raises(TableError) as caught:
            there.counts([("age",)])
        assert caught.value.__context__ is None
    finally:
        table.close()


def dying() -> Callable[[Any], Any]:
    """What ends the worker that it runs on; by value, as workers have no tests."""

    def die(batches: Any) -> Any:
        import os

        os._exit(1)
        yield from batches

    return die
