"""The same expressions on Spark in local mode, where Java and pyspark are there."""

from __future__ import annotations

import importlib.util
import itertools
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prism_core.data.encoding import encode
from prism_core.data.engines import out_of_core
from prism_core.data.tables import address
from prism_core.data.tables.raw_table import read_table
from tests.support.cells import ODD

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
    memory = encode(schema, read_table(path))
    table = out_of_core.open_table(
        address.parse(f"spark://{path}?master=local[1]"), tmp_path / "workspace"
    )
    try:
        assert table.rows == memory.n
        cliques = [c for k in (1, 2) for c in itertools.combinations(schema.names, k)]
        stored = table.store(schema, public=True)
        for found, wanted in zip(stored.counts(cliques), memory.counts(cliques), strict=True):
            assert (found == wanted).all()
        drawn = stored.sample(stored.n, np.random.default_rng(1))
        assert sorted(map(tuple, drawn.codes)) == sorted(map(tuple, memory.codes))
    finally:
        table.close()
