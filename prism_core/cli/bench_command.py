"""The command `prism bench`: how fast, and how much memory."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

COLUMNS = (20, 50, 100, 200, 400)


def add(commands: Any) -> None:  # noqa: ANN401  (argparse keeps the type to itself)
    """Add `bench` and what it measures to the commands of `prism`."""
    bench = commands.add_parser("bench", help="measure speed and memory on this machine")
    parts = bench.add_subparsers(required=True, metavar="WHAT")
    for name, adder in _PARTS.items():
        adder(parts, name)


def _fit(parts: Any, name: str) -> None:  # noqa: ANN401
    parser = parts.add_parser(
        name,
        help="the fit: our engine against mbi",
        description="Every engine in a process of its own. Cold: seconds from the start of the "
        "process to the fitted model (numba's cache filled, mbi as installed). Warm: the same fit "
        "again in that process. Loss gap: how far mbi's final loss is above ours, relative.",
    )
    parser.add_argument(
        "--columns",
        type=int,
        action="append",
        metavar="N",
        help=f"size of the table; may be repeated (default {', '.join(map(str, COLUMNS))})",
    )
    parser.add_argument("--sample", action="store_true", help="also draw 50,000 rows")
    parser.add_argument("--no-mbi", action="store_true", help="our engine only")
    parser.add_argument("--json", action="store_true", help="print JSON, one line a table")
    parser.set_defaults(run=_run_fit)


def _run_fit(arguments: argparse.Namespace) -> None:
    from prism_core.bench import speed

    if not arguments.json:
        print(speed.FIT_HEAD)
    for columns in arguments.columns or COLUMNS:
        found = speed.measure_fit(columns, sample=arguments.sample, mbi=not arguments.no_mbi)
        # Flushed: the largest table takes minutes, and what is done is to be seen.
        print(json.dumps(found) if arguments.json else speed.fit_row(found), flush=True)


def _release(parts: Any, name: str) -> None:  # noqa: ANN401
    parser = parts.add_parser(name, help="the whole of `prism release`, on Adult")
    parser.add_argument(
        "--adult",
        type=Path,
        metavar="FILE",
        default=os.environ.get("PRISM_ADULT_CSV"),
        help="the integer-coded adult.csv (or PRISM_ADULT_CSV); else the readmission sample",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run_release)


def _run_release(arguments: argparse.Namespace) -> None:
    from prism_core.bench import speed

    found = speed.measure_release(None if arguments.adult is None else Path(arguments.adult))
    if arguments.json:
        print(json.dumps(found))
        return
    print(
        f"{found['table']}: prism release {found['release_s']:.2f} s, of which fit "
        f"{found['fit_s']:.2f} s and sample {found['sample_s']:.2f} s; "
        f"{found['peak_mb']:.0f} MB"
    )


def _count(parts: Any, name: str) -> None:  # noqa: ANN401
    parser = parts.add_parser(name, help="counting a large file, against DuckDB")
    parser.add_argument("--rows", type=int, default=20_000_000, metavar="N")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run_count)


def _run_count(arguments: argparse.Namespace) -> None:
    from prism_core.bench import count

    found = count.measure(arguments.rows)
    print(json.dumps(found) if arguments.json else count.text(found))


def _engine(parts: Any, name: str) -> None:  # noqa: ANN401
    parser = parts.add_parser(
        name,
        help="counting where the rows are, by a database",
        description="Random rows are counted by a database: seconds, the peak memory of the "
        "driver, bytes that come home, passes over the rows, and whether the counts are those of "
        "memory (on at most a million rows).",
    )
    parser.add_argument("--engine", choices=("duckdb", "postgres", "spark"), default="duckdb")
    parser.add_argument("--rows", type=int, default=1_000_000, metavar="N")
    parser.add_argument(
        "--server",
        metavar="URL",
        help="of PostgreSQL: postgres://USER:PASSWORD@HOST/DATABASE; of Spark: spark://HOST:PORT",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run_engine)


def _run_engine(arguments: argparse.Namespace) -> None:
    from prism_core.bench import engines

    found = engines.measure(arguments.engine, arguments.rows, arguments.server)
    print(json.dumps(found) if arguments.json else engines.text(found))


_PARTS: dict[str, Callable[[Any, str], None]] = {
    "fit": _fit,
    "count": _count,
    "engine": _engine,
    "release": _release,
}
