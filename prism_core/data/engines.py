"""Databases behind one small surface: the table's columns, a number, and a stream of rows.

Whatever a database says when it fails may quote a cell, so no text of it is let through.
"""

from __future__ import annotations

import csv
import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from prism_core.data.address import URL_FORMS
from prism_core.data.tables import SEPARATORS, check_header
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from prism_core.data.address import Address

T = TypeVar("T")

MEMORY = "600MB"
"""Memory of the embedded database; what needs more goes to the private folder."""

BATCH = 500_000
"""Rows of a batch on their way home."""

_VIEW = "prism_rows"
_ENCODINGS = {"utf-8": "utf-8", "latin-1": "latin-1", "iso-8859-1": "latin-1", "utf-16": "utf-16"}


class Engine(Protocol):
    """A database that holds one table.

    Attributes:
        table: the table as an Ibis expression; its column types are facts of the file.
        name: short name for messages.
    """

    table: Any
    name: str

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """The rows of an Ibis expression, a batch at a time, in no order that means anything."""
        ...

    def number(self, query: Any) -> int:  # noqa: ANN401
        """The value of an Ibis scalar."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...


def guarded(work: Callable[[], T], name: str) -> T:
    """Run a step of a database; any failure becomes an error without the database's words.

    Raises:
        TableError: instead of whatever was raised; the original is not attached.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not ours to mend, and may quote
            return work()
    except (TableError, GeneratorExit):
        raise
    except Exception as error:  # noqa: BLE001  (its text may quote a cell or a password)
        kind = type(error).__name__
    # Outside of the handler, so that the original is not even the new error's context.
    raise TableError(
        f"The database could not read {name!r} ({kind}). Check that the table is whole, that its "
        "columns have the declared names, and that you may read it."
    )


@dataclass
class DuckEngine:
    """DuckDB, in this process.

    Attributes:
        connection: DuckDB's own; Ibis writes the queries, and they are run here.
    """

    connection: Any
    table: Any
    name: str

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """See `Engine`."""
        sql = _sql(query)
        reader = guarded(lambda: self.connection.sql(sql).to_arrow_reader(BATCH), self.name)
        while True:
            batch = guarded(lambda: next(reader, None), self.name)
            if batch is None:
                return
            yield batch

    def number(self, query: Any) -> int:  # noqa: ANN401
        """See `Engine`."""
        sql = _sql(query.as_table())
        return int(guarded(lambda: self.connection.execute(sql).fetchall()[0][0], self.name))

    def close(self) -> None:
        """See `Engine`."""
        self.connection.close()


@dataclass
class IbisEngine:
    """Any other database that Ibis speaks to.

    Attributes:
        backend: Ibis' connection.
    """

    backend: Any
    table: Any
    name: str

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """See `Engine`."""
        reader = guarded(
            lambda: iter(self.backend.to_pyarrow_batches(query, chunk_size=BATCH)), self.name
        )
        while True:
            batch = guarded(lambda: next(reader, None), self.name)
            if batch is None:
                return
            yield batch

    def number(self, query: Any) -> int:  # noqa: ANN401
        """See `Engine`."""
        return int(guarded(lambda: self.backend.to_pyarrow(query).as_py(), self.name))

    def close(self) -> None:
        """See `Engine`."""
        guarded(self.backend.disconnect, self.name)


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
    return _open_server(address)


def _connect(spill: Path) -> Any:  # noqa: ANN401
    import duckdb

    connection = duckdb.connect()
    for setting, value in (
        ("memory_limit", MEMORY), ("temp_directory", str(spill)), ("threads", os.cpu_count() or 1),
        ("preserve_insertion_order", False), ("autoinstall_known_extensions", False),
        ("autoload_known_extensions", False), ("enable_progress_bar", False),
    ):  # fmt: skip
        connection.execute(f"SET {setting} = {_quoted(str(value))}")
    return connection


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _named(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _open_files(address: Address, spill: Path, separator: str, encoding: str) -> Engine:
    files = address.files()
    listed = ", ".join(_quoted(str(path)) for path in files)
    kinds = {_is_parquet(path) for path in files}
    if kinds == {True}:
        source = f"read_parquet([{listed}])"
    elif kinds == {False}:
        source = _csv(files, listed, address.title, separator, encoding)
    else:
        raise TableError(f"{address.title!r} matches both CSV and Parquet files; name one kind.")
    return _view(_connect(spill), source, address.title)


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        raise TableError(
            f"The file {path.name!r} cannot be read. Check the path and your permissions."
        ) from None


def _csv(files: list[Path], listed: str, name: str, separator: str, encoding: str) -> str:
    """All cells as text: a type guessed from rows would be the first thing to leak."""
    if separator not in SEPARATORS:
        raise TableError(
            f"separator must be one of {', '.join(SEPARATORS.values())}.", field="separator"
        )
    if encoding.lower() not in _ENCODINGS:
        raise TableError(f"encoding must be one of {', '.join(_ENCODINGS)}.", field="encoding")
    headers = {_header(path, separator, encoding) for path in files}
    if len(headers) > 1:
        raise TableError(
            f"The files of {name!r} have different headers. All must have the same columns in the "
            "same order.",
            field="header",
        )
    header = headers.pop()
    check_header(header, name)
    columns = ", ".join(f"{_quoted(title)}: 'VARCHAR'" for title in header)
    return (
        f"read_csv([{listed}], columns = {{{columns}}}, header = true, auto_detect = false, "
        f"delim = {_quoted(separator)}, quote = '\"', escape = '\"', "
        f"encoding = {_quoted(_ENCODINGS[encoding.lower()])})"
    )


def _header(path: Path, separator: str, encoding: str) -> tuple[str, ...]:
    known = "utf-8-sig" if encoding.lower() == "utf-8" else encoding
    try:
        with path.open(encoding=known, newline="") as file:
            cells = next(csv.reader(file, delimiter=separator), [])
    except (OSError, UnicodeError, csv.Error):
        raise TableError(
            f"The header of {path.name!r} cannot be read. Check the path, the text encoding and "
            "your permissions."
        ) from None
    if not cells:
        raise TableError(f"The file {path.name!r} is empty.")
    return tuple(cell.strip() for cell in cells)


def _open_duckdb_file(address: Address, spill: Path) -> Engine:
    path = address.path_part()
    if not path.is_file():
        raise TableError(f"The database file {path.name!r} cannot be read. Check the path.")
    connection = _connect(spill)
    parts = [address.entry("schema"), address.entry("table")]
    name = ".".join(_named(part) for part in ["source", *parts] if part)
    guarded(
        lambda: connection.execute(f"ATTACH {_quoted(str(path))} AS source (READ_ONLY)"),
        address.title,
    )
    return _view(connection, name, address.title)


def _view(connection: Any, source: str, name: str) -> Engine:  # noqa: ANN401
    import ibis
    from ibis.backends.sql.datatypes import DuckDBType

    def describe() -> list[tuple[str, str]]:
        connection.execute(f"CREATE TEMP VIEW {_VIEW} AS SELECT * FROM {source}")
        found = connection.execute(f"DESCRIBE {_VIEW}").fetchall()
        return [(str(row[0]), str(row[1])) for row in found]

    described = guarded(describe, name)
    check_header([title for title, _ in described], name)
    types = guarded(lambda: {t: DuckDBType.from_string(kind) for t, kind in described}, name)
    return DuckEngine(connection, ibis.table(types, name=_VIEW), name)


def _open_server(address: Address) -> Engine:
    backend, table = guarded(lambda: _reach(address), address.title)
    check_header(table.columns, address.title)
    return IbisEngine(backend, table, address.title)


def _reach(address: Address) -> tuple[Any, Any]:
    extra = "pyspark" if address.place == "spark" else address.place
    try:
        if address.place == "spark":
            return _spark(address)
        import ibis

        backend = ibis.connect(address.connection())
    except ImportError:
        raise TableError(
            f"{URL_FORMS[address.place]} needs a package that is not installed: "
            f"pip install 'ibis-framework[{extra}]'."
        ) from None
    database = address.entry("schema") or None
    return backend, backend.table(address.entry("table"), database=database)


def _spark(address: Address) -> tuple[Any, Any]:
    import ibis
    from pyspark.sql import SparkSession  # pyright: ignore[reportMissingImports]

    builder: Any = SparkSession.builder
    master = address.entry("master")
    session = (builder.master(master) if master else builder).getOrCreate()
    backend = ibis.pyspark.connect(session)
    if address.entry("table"):
        return backend, backend.table(address.entry("table"))
    return backend, backend.read_parquet(str(address.path_part()))
