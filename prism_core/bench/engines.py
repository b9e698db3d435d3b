"""How fast does a database count where the rows are, and what comes home?

Random public rows, the 44 marginals of `bench.count`. The database counts in a process of its own.
A second table of at most a million rows is counted there and in memory: equal, or not.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.bench.count import cliques, peak_mb, schema, write_rows
from prism_core.child_processes import spawning
from prism_core.data.encoding import encode
from prism_core.data.engines import out_of_core
from prism_core.data.tables import address
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGINES = ("duckdb", "postgres", "spark")
SAMPLE = 1_000_000
"""Most rows that are counted in memory, too."""

_TABLE = "prism_bench_rows"


def count_there(place: str, workspace: str) -> dict[str, Any]:
    """Let a database count; seconds, peak memory of this process, what came home, and the counts.

    On Spark the peak is that of the driver's Python; its Java process is beside it.
    """
    table = out_of_core.open_table(address.parse(place), Path(workspace))
    started = time.monotonic()
    there = table.counted_there(schema(), public=True)
    counts = there.counts(cliques())
    seconds = time.monotonic() - started
    table.close()
    return {
        "seconds": seconds,
        "peak_mb": peak_mb(),
        "bytes_home": there.bytes_home,
        "scans": there.scans,
        "counts": [table.tolist() for table in counts],
    }


def count_in_memory(path: str) -> list[Any]:
    """The same counts by memory."""
    table = encode(schema(), read_table(Path(path)), public=True)
    return [counts.tolist() for counts in table.counts(cliques())]


@contextmanager
def _placed(engine: str, path: Path, server: str | None) -> Iterator[str]:
    """The address of a file's rows in a database."""
    if engine == "duckdb":
        yield str(path)
    elif engine == "spark":
        yield f"spark://{path}?master={server or 'local[*]'}"
    else:
        assert server is not None
        with _loaded(path, server):
            yield f"{server}?table={_TABLE}"


@contextmanager
def _loaded(path: Path, server: str) -> Iterator[None]:
    import pyarrow.parquet as pq
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address.parse(f"{server}?table=_").connection()) as connection:
        with connection.cursor() as cursor, pq.ParquetFile(path) as file:
            # Of a run that was killed, which could not remove it.
            cursor.execute(f"DROP TABLE IF EXISTS {_TABLE}")
            for batch in file.iter_batches(batch_size=SAMPLE):
                cursor.adbc_ingest(_TABLE, batch, mode="create_append")
        connection.commit()
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute(f"DROP TABLE {_TABLE}")
            connection.commit()


def measure(
    engine: str, rows: int, server: str | None = None, folder: Path | None = None
) -> dict[str, Any]:
    """Let a database count `rows` rows.

    Args:
        engine: one of `ENGINES`.
        rows: how many.
        server: of PostgreSQL its address without a table: a table is made there and removed. Of
            Spark its master, by default `local[*]`.
        folder: where temporary files stand; about 75 bytes a row.

    Raises:
        ConfigError: for fewer rows than one, or PostgreSQL without a server.
    """
    if not 1 <= rows <= 10**9:
        raise ConfigError("--rows must be between 1 and 1,000,000,000.", field="rows")
    if engine == "postgres" and server is None:
        raise ConfigError(
            "Name a PostgreSQL server with --server postgres://USER:PASSWORD@HOST/DATABASE, where "
            "a table may be made.",
            field="server",
        )
    with tempfile.TemporaryDirectory(prefix="prism-bench-", dir=folder) as name:
        path = Path(name) / "rows.parquet"
        write_rows(path, rows)
        with _placed(engine, path, server) as place:
            found = _apart(count_there, place, name)
        sampled = found
        # Memory counts no more than these, so both are compared on a smaller table.
        if rows > SAMPLE:
            path.unlink()
            write_rows(path, SAMPLE, seed=2)
            with _placed(engine, path, server) as place:
                sampled = _apart(count_there, place, name)
        equal = sampled["counts"] == _apart(count_in_memory, str(path))
    return {
        "engine": engine,
        "rows": rows,
        "seconds": round(found["seconds"], 3),
        "driver_peak_mb": round(found["peak_mb"], 1),
        "bytes_home": found["bytes_home"],
        "scans": found["scans"],
        "equal": equal,
    }


def _apart(work: Any, *arguments: str) -> Any:  # noqa: ANN401
    # A fork would start with our memory.
    with spawning(), multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def text(found: dict[str, Any]) -> str:
    """One line of a table for people."""
    return (
        f"{found['engine']:>8} {found['rows']:>12,} rows: {found['seconds']:8.2f} s, driver "
        f"{found['driver_peak_mb']:,.0f} MB, {found['bytes_home']:,} bytes home in "
        f"{found['scans']} scans, equal: {found['equal']}"
    )
