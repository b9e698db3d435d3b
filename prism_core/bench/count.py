"""How fast are marginals of a large Parquet file counted, against DuckDB's own grouping sets?

Random public rows are written to a temporary folder and deleted afterwards. Both sides count the
same 44 marginals of the same declared encoding, each in a process of its own, one after the other,
with the same memory limit; the ratio is of their wall times.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from prism_core.child_processes import spawning
from prism_core.data.engines import out_of_core
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables import address
from prism_core.errors import ConfigError

COLUMNS, MARGINALS = 31, 44
_TEXTS, _WHOLE, _REAL = 16, 8, 6
_STEP = 1_000_000


def schema() -> Schema:
    """31 columns: 16 texts, 8 whole and 6 real numbers, and a boolean target."""
    edges = tuple(12.5 * place for place in range(1, 8))
    texts = [
        Column(
            name=f"text_{i}",
            kind="categorical",
            nullable=True,
            levels=tuple(f"level {level}" for level in range(2 + i % 9)),
        )
        for i in range(_TEXTS)
    ]
    whole = [
        Column(name=f"whole_{i}", kind="numeric", lower=0, upper=100, decimals=0, edges=edges)
        for i in range(_WHOLE)
    ]
    real = [
        Column(name=f"real_{i}", kind="numeric", lower=0, upper=100, edges=edges)
        for i in range(_REAL)
    ]
    target = Column(name="target", kind="boolean")
    return Schema(columns=(*texts, *whole, *real, target), one_row_per_person=True)


def cliques() -> list[tuple[str, str]]:
    """Every feature with the target, and 14 pairs of features."""
    *features, target = schema().names
    pairs = list(zip(features[::2], features[1::2], strict=False))[: MARGINALS - len(features)]
    return [(name, target) for name in features] + pairs


def write_rows(path: Path, rows: int, seed: int = 1) -> None:
    """Random public rows as Parquet, a million at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    writer: Any = None
    for start in range(0, rows, _STEP):
        count = min(_STEP, rows - start)
        # Step by step, so that a large file needs the memory of a million rows.
        table = pa.table({c.name: _cells(c, count, rng) for c in schema().columns})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def _cells(column: Column, count: int, rng: np.random.Generator) -> Any:  # noqa: ANN401
    import pyarrow as pa

    if column.kind == "boolean":
        return pa.array(rng.random(count) < 0.3)
    if column.kind == "categorical":
        codes = pa.array(rng.integers(0, len(column.levels), count, dtype=np.int8))
        # As codes first, of which Arrow makes the texts: Python makes none of the million.
        return pa.DictionaryArray.from_arrays(codes, pa.array(column.levels)).cast(pa.string())
    if column.decimals == 0:
        return pa.array(rng.integers(0, 100, count))
    return pa.array(np.round(100 * rng.random(count), 2))


def count_here(path: str, workspace: str) -> dict[str, Any]:
    """Count with this package; returns the seconds, the peak memory and a checksum."""
    table = out_of_core.open_table(address.parse(path), Path(workspace))
    started = time.monotonic()
    found = table.counted_there(schema(), public=True).counts(cliques())
    seconds = time.monotonic() - started
    table.close()
    return _report(seconds, found)


def count_in_duckdb(path: str, workspace: str) -> dict[str, Any]:
    """Count the same by `GROUP BY GROUPING SETS` in DuckDB."""
    import ibis

    from prism_core.data.engines.pushdown import EncodingRule, push

    table = out_of_core.open_table(address.parse(path), Path(workspace))
    engine: Any = table.engine
    codes = {c.name: push(EncodingRule(c), engine.tables[0][c.name]).code for c in schema().columns}
    # Our own encoding for both, so that the ways of counting are compared and nothing else.
    encoded = ibis.to_sql(engine.tables[0].select(**codes), dialect="duckdb")
    sets = ", ".join(f"({a}, {b})" for a, b in cliques())
    names = ", ".join(schema().names)
    started = time.monotonic()
    rows = engine.connection.execute(
        f"SELECT {names}, count(*) FROM ({encoded}) GROUP BY GROUPING SETS ({sets})"
    ).fetchall()
    seconds = time.monotonic() - started
    table.close()
    return _report(seconds, _tables(rows))


def _tables(rows: list[tuple[Any, ...]]) -> list[np.ndarray]:
    place = {name: position for position, name in enumerate(schema().names)}
    found = [np.zeros(schema().shape(clique), dtype=np.int64) for clique in cliques()]
    index = {frozenset(clique): number for number, clique in enumerate(cliques())}
    for row in rows:
        # A column outside of the grouping set is NULL; a code never is.
        used = frozenset(name for name in place if row[place[name]] is not None)
        number = index[used]
        cell = tuple(row[place[name]] for name in cliques()[number])
        found[number][cell] += row[-1]
    return found


def _report(seconds: float, counts: list[np.ndarray]) -> dict[str, Any]:
    # Weighed by their places, so that a count in the wrong cell shows.
    weights = [np.arange(1, table.size + 1) for table in counts]
    check = sum(int((table.ravel() * w).sum()) for table, w in zip(counts, weights, strict=True))
    return {"seconds": seconds, "peak_mb": peak_mb(), "check": check}


def peak_mb() -> float:
    """Peak memory of this process. `getrusage` would remember its parent's, too."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(rows: int, folder: Path | None = None) -> dict[str, Any]:
    """Count `rows` rows both ways.

    Args:
        rows: how many.
        folder: where the temporary file stands (by default the system's temporary folder); about
            75 bytes a row.

    Raises:
        ConfigError: for fewer rows than one.
    """
    if not 1 <= rows <= 10**9:
        raise ConfigError("--rows must be between 1 and 1,000,000,000.", field="rows")
    with tempfile.TemporaryDirectory(prefix="prism-bench-", dir=folder) as name:
        path = Path(name) / "rows.parquet"
        write_rows(path, rows)
        spawn = multiprocessing.get_context("spawn")  # a fork would start with our memory
        results = []
        for work in (count_in_duckdb, count_here):
            with spawning(), spawn.Pool(1) as pool:
                results.append(pool.apply(work, (str(path), name)))
    theirs, ours = results
    return {
        "rows": rows,
        "columns": COLUMNS,
        "marginals": MARGINALS,
        "count_s": round(ours["seconds"], 3),
        "grouping_sets_s": round(theirs["seconds"], 3),
        "ratio": round(ours["seconds"] / theirs["seconds"], 3),
        "peak_mb": round(ours["peak_mb"], 1),
        "grouping_sets_peak_mb": round(theirs["peak_mb"], 1),
        "equal": ours["check"] == theirs["check"],
    }


def text(found: dict[str, Any]) -> str:
    """One line of a table for people."""
    return (
        f"{found['rows']:>12,} rows x {COLUMNS} columns, {MARGINALS} marginals: "
        f"{found['count_s']:8.2f} s, grouping sets {found['grouping_sets_s']:8.2f} s, ratio "
        f"{found['ratio']:.2f}, peak {found['peak_mb']:,.0f} MB, equal: {found['equal']}"
    )
