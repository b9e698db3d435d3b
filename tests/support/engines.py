"""Engines for tests: one that counts as Spark's workers do, and tables opened by an address."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from prism_core.data.engines import out_of_core
from prism_core.data.engines.worker_counts import counter, tally
from prism_core.data.tables import address
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.release import release

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

    from prism_core.data.engines.grouping import CountQuery
    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan
    from prism_core.synthesis.release import Release


@dataclass
class OnWorkers:
    """An engine that counts as Spark's workers do, in two partitions."""

    engine: Any
    batch: int
    name = "workers"

    @property
    def tables(self) -> tuple[Any, ...]:
        return self.engine.tables

    def number(self, query: Any) -> int:
        return self.engine.number(query)

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:
        return self.engine.batches(query)

    def close(self) -> None:
        self.engine.close()

    def partitions(self, query: Any) -> list[list[pa.RecordBatch]]:
        rows = pa.Table.from_batches(self.engine.batches(query))
        return [rows.slice(0, 100).to_batches(self.batch), rows.slice(100).to_batches(self.batch)]

    def tallied(self, query: Any, names: list[str]) -> Iterator[pa.RecordBatch]:
        for part in self.partitions(query.select(*names)):
            yield from map(one_zero, tally(most=5)(iter(part)))

    def grouped(self, query: CountQuery) -> Iterator[pa.RecordBatch]:
        for part in self.partitions(query.coded.rows):
            yield from counter(query)(iter(part))


def one_zero(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Spark adds the workers' cells up, -0.0 with 0.0."""
    columns = [
        pc.add(column, 0.0) if pa.types.is_floating(column.type) else column for column in batch
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def write_texts(frame: pd.DataFrame, path: Path) -> None:
    """All columns of a table as texts in a Parquet file."""
    pq.write_table(pa.table({name: pa.array(frame[name], pa.string()) for name in frame}), path)


def released_alike(plan: Plan, rows: Rows) -> Release:
    """A release with known noise, the same for every place where the same rows stand."""
    return release(
        plan,
        rows,
        ledger=None,
        noise=SeededNoise(np.random.default_rng(1)),
        rng=np.random.default_rng(2),
    )


@contextmanager
def opened(place: str, folder: Path) -> Iterator[out_of_core.BigTable]:
    """A table by its address; its private files stand in a folder."""
    with closing(out_of_core.open_table(address.parse(place), folder / "ws")) as table:
        yield table
