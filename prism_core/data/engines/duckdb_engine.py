"""DuckDB engine: files and DuckDB databases behind the small surface of an engine.

The code of a cell depends on the cell, its column's type and the declaration, in every database
(`tests/data/test_row_locality.py`). So DuckDB runs a query as it is written: its optimizer
folds comparisons to what the minimum and maximum of a column allow, which are one person's cells
and leave NaN out. Whatever a database says when it fails may quote a cell, so no text of it is let
through. Databases on servers are in `servers`.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from prism_core.data.engines.engine import BATCH, Engine, iterate_redacted, run_redacted
from prism_core.data.engines.grouping import CountQuery, count_sql, tally_sql
from prism_core.data.engines.parquet_copies import readable_parquet, texts_as_parquet
from prism_core.data.tables.header import check_header
from prism_core.data.tables.text_frames import HEAD, KINDS, Kind, check_sheet, kind_of
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from prism_core.data.tables.address import Address

_Types: TypeAlias = "tuple[tuple[str, str], ...]"

MEMORY = "600MB"
"""Memory of the embedded database; what needs more goes to the private folder."""

OPTIMIZERS = frozenset({"unused_columns", "common_subexpressions"})
"""DuckDB's optimizers that stay on: both look at the query alone. All others are switched off, also
those of versions to come. What reads statistics is among them (statistics_propagation,
row_group_pruner, compressed_materialization, filter and join pushdowns)."""

_VIEW = "prism_rows"
_TRAVEL = frozenset(
    {
        "BOOLEAN",
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "FLOAT",
        "DOUBLE",
        "VARCHAR",
        "DATE",
        "TIMESTAMP",
        "TIMESTAMP_NS",
    }
)


@dataclass
class DuckEngine:
    """DuckDB, in this process.

    Attributes:
        connection: DuckDB's own; Ibis writes the queries, and they are run here.
    """

    connection: Any
    tables: tuple[Any, ...]
    name: str

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """See `Engine`."""
        yield from self._answers(_sql(query))

    def _answers(self, sql: str) -> Iterator[pa.RecordBatch]:
        yield from iterate_redacted(
            lambda: self.connection.sql(sql).to_arrow_reader(BATCH), self.name
        )

    def tallied(self, query: Any, names: Sequence[str]) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """See `Engine`."""
        yield from self._answers(tally_sql(_sql(query), names))

    def grouped(self, query: CountQuery) -> Iterator[pa.RecordBatch]:
        """See `Engine`."""
        beside = {name: f"prism_cells_{name}" for name in query.told}
        for name, view in beside.items():
            run_redacted(
                lambda n=name, v=view: self.connection.register(v, query.told[n]), self.name
            )
        yield from self._answers(count_sql(query, _sql(query.coded.rows), beside))

    def number(self, query: Any) -> int:  # noqa: ANN401
        """See `Engine`."""
        sql = _sql(query.as_table())
        return int(run_redacted(lambda: self.connection.execute(sql).fetchall()[0][0], self.name))

    def close(self) -> None:
        """See `Engine`."""
        self.connection.close()


def _sql(query: Any) -> str:  # noqa: ANN401
    import ibis

    return str(ibis.to_sql(query, dialect="duckdb"))


def open_engine(
    address: Address, spill: Path, *, separator: str = ",", encoding: str = "utf-8"
) -> Engine:
    """Open what an address names.

    Args:
        address: where the table stands.
        spill: a private folder for what does not fit the memory.
        separator: the separator of a CSV.
        encoding: its text encoding.

    Raises:
        TableError: when it cannot be opened, or a package for it is missing; without the
            database's words.
    """
    if address.place in ("file", "files"):
        return _open_files(address, spill, separator, encoding)
    if address.place == "duckdb":
        return _open_duckdb_file(address, spill)
    from prism_core.data.engines.servers import open_server

    return open_server(address)


def _connect(spill: Path) -> Any:  # noqa: ANN401
    import duckdb

    connection = duckdb.connect()
    for setting, value in (
        ("memory_limit", MEMORY),
        ("temp_directory", str(spill)),
        ("threads", os.cpu_count() or 1),
        # The order of rows means nothing here, and keeping it takes memory.
        ("preserve_insertion_order", False),
        # Nothing is fetched from the network in the middle of a run.
        ("autoinstall_known_extensions", False),
        ("autoload_known_extensions", False),
        ("enable_progress_bar", False),
        # A second lock beside the optimizers: minimum and maximum say nothing of NaN.
        ("parquet_can_have_nan", True),
        ("arrow_large_buffer_size", True),
    ):
        connection.execute(f"SET {setting} = {_quoted(str(value))}")
    run_redacted(lambda: _row_by_row(connection), "DuckDB")
    return connection


def _row_by_row(connection: Any) -> None:  # noqa: ANN401
    """Switch off every optimizer that may look at the rows' statistics, and see that it is off.

    Raises:
        TableError: when DuckDB does not say that it is: no row is read then.
    """
    known = {name for (name,) in connection.execute("FROM duckdb_optimizers()").fetchall()}
    off = known - OPTIMIZERS
    connection.execute(f"SET disabled_optimizers = {_quoted(','.join(sorted(off)))}")
    told = connection.execute("SELECT current_setting('disabled_optimizers')").fetchone()[0]
    if "statistics_propagation" not in off or set(told.replace(" ", "").split(",")) != off:
        raise TableError(
            "This version of DuckDB does not let its optimizer be switched off, and the optimizer "
            "changes how a cell is read by what stands in others. Install duckdb 2.0."
        )


def check_optimizer() -> None:
    """Open an empty database as tables are opened. Reads no row.

    Raises:
        TableError: when its optimizer cannot be switched off, or the package is damaged.
    """
    with tempfile.TemporaryDirectory(prefix="prism-duckdb-") as spill:
        _connect(Path(spill)).close()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _named(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _open_files(address: Address, spill: Path, separator: str, encoding: str) -> Engine:
    name = address.title
    files = [path.absolute() for path in address.files()]
    kinds: set[Kind] = {_kind(path) for path in files}
    if len(kinds) > 1:
        both = " and ".join(KINDS[kind] for kind in sorted(kinds))
        raise TableError(f"{name!r} matches both {both} files; name one kind.")
    check_sheet(next(iter(kinds)), address.sheet, name)
    readable = [
        readable_parquet(path, spill / f"part{number}.parquet")
        if kinds == {"parquet"}
        else texts_as_parquet(
            path,
            spill / f"part{number}.parquet",
            separator=separator,
            encoding=encoding,
            sheet=address.sheet,
        )
        for number, path in enumerate(files)
    ]
    connection = _connect(spill)
    # Every file is described by itself. Read as one, all would get the types of the first, and
    # a whole number that is missing there would decide how the others are rounded.
    alike: dict[_Types, list[str]] = {}
    for path in readable:
        source = _parquet([_literal(connection, path, name)])
        alike.setdefault(_described(connection, source, name), []).append(
            _literal(connection, path, name)
        )
    headers = {tuple(title for title, _ in types) for types in alike}
    if len(headers) > 1:
        raise TableError(
            f"The files of {name!r} have different headers. All must have the same columns in the "
            "same order.",
            field="header",
        )
    parts = [
        _view(connection, f"SELECT * FROM {_parquet(group)}", types, place, name)
        for place, (types, group) in enumerate(alike.items())
    ]
    return DuckEngine(connection, tuple(parts), name)


def _parquet(literals: list[str]) -> str:
    """Files of the same types; a name of a folder such as `year=2020` is no column."""
    return (
        f"read_parquet([{', '.join(literals)}], hive_partitioning = false, union_by_name = false)"
    )


def _literal(connection: Any, path: Path, name: str) -> str:  # noqa: ANN401
    """A file's name for DuckDB, which would take `[1]`, `*` and `?` in it for a pattern.

    Raises:
        TableError: when DuckDB would read any other file, or more than this one.
    """
    text = _quoted("".join(f"[{mark}]" if mark in "*?[" else mark for mark in str(path)))
    found = run_redacted(
        lambda: connection.execute(f"SELECT file FROM glob({text})").fetchall(), name
    )
    if found != [(str(path),)]:
        raise TableError(
            f"The file {path.name!r} cannot be told from others by its path. Rename it, or its "
            "folder, without the marks [ ] * ?."
        )
    return text


def _kind(path: Path) -> Kind:
    try:
        with path.open("rb") as file:
            return kind_of(file.read(HEAD))
    except OSError:
        pass
    raise TableError(f"The file {path.name!r} cannot be read. Check the path and your permissions.")


def _open_duckdb_file(address: Address, spill: Path) -> Engine:
    path = address.path_part()
    if not path.is_file():
        raise TableError(f"The database file {path.name!r} cannot be read. Check the path.")
    connection = _connect(spill)
    parts = [address.entry("schema"), address.entry("table")]
    name = ".".join(_named(part) for part in ["source", *parts] if part)
    run_redacted(
        lambda: connection.execute(f"ATTACH {_quoted(str(path))} AS source (READ_ONLY)"),
        address.title,
    )
    # A view in the file may name other files; from here on no other file is opened.
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    types = _described(connection, name, address.title)
    plain = tuple((title, kind if _travels(kind) else "VARCHAR") for title, kind in types)
    texts = {
        title: f"TRY_CAST({_named(title)} AS VARCHAR) AS {_named(title)}"
        for title, kind in types
        if not _travels(kind)
    }
    # By its bytes: under a collation of the file's, cells that differ would be compared as one.
    texts |= {
        title: f'{_named(title)} COLLATE "binary" AS {_named(title)}'
        for title, kind in types
        if kind == "VARCHAR"
    }
    cells = ", ".join(texts[title] if title in texts else _named(title) for title, _ in types)
    table = _view(connection, f"SELECT {cells} FROM {name}", plain, 0, address.title)
    return DuckEngine(connection, (table,), address.title)


def _travels(kind: str) -> bool:
    """Whether every value of a type comes home as it is; others are made texts where they stand.

    Of the others some have values that have no place in Arrow (the largest HUGEINT), so that one
    cell would make a run fail.
    """
    return kind in _TRAVEL or kind.startswith("DECIMAL(")


def _described(connection: Any, source: str, name: str) -> _Types:  # noqa: ANN401
    found = run_redacted(
        lambda: connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall(), name
    )
    types = tuple((str(row[0]), str(row[1])) for row in found)
    check_header([title.strip() for title, _ in types], name)
    return types


def _view(connection: Any, query: str, types: _Types, place: int, name: str) -> Any:  # noqa: ANN401
    import ibis
    from ibis.backends.sql.datatypes import DuckDBType

    view = f"{_VIEW}_{place}"

    def make() -> Any:  # noqa: ANN401
        connection.execute(f"CREATE TEMP VIEW {view} AS {query}")
        return ibis.table({t: DuckDBType.from_string(kind) for t, kind in types}, name=view)

    return run_redacted(make, name)
