"""Server engines: PostgreSQL, BigQuery, and Spark.

None of them rewrites an expression by what stands in the rows: their statistics choose the order
and the way of reading. What Spark could do beyond that is switched off. A cell whose type has
values that Python or Arrow has no place for leaves them as a text, or as a day of the years 1 to
9999, so that no value ends a run.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prism_core.data.engines.engine import BATCH, Engine, iterate_redacted, run_redacted
from prism_core.data.engines.grouping import TALLY, CountQuery, count_sql, tally_sql
from prism_core.data.engines.pushdown import calendar_day
from prism_core.data.engines.worker_counts import ANSWER, counter, tally
from prism_core.data.tables.address import URL_FORMS, Address
from prism_core.data.tables.header import check_header
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa


SPARK = {
    # Types guessed from the names of folders would be those of whatever rows made the folders.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.ansi.enabled": "false",  # no cast and no sum of a query raises
    # What changes a query by statistics of the rows, in its files or from the run itself.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.cbo.enabled": "false",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    # A day before the calendar of 1582 would end the run.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
}
"""Settings of a Spark session without which the rows are not read."""

_PARTS = 8
"""Parts in which different cells come home from Spark; the driver holds one of them."""

LOG_VARIABLE = "PRISM_SPARK_LOG"
"""How much the driver logs: OFF (the default), ERROR, WARN or INFO."""


@dataclass
class IbisEngine:
    """A database that Ibis speaks to.

    Attributes:
        backend: Ibis' connection.
    """

    backend: Any
    tables: tuple[Any, ...]
    name: str

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """See `engine.Engine`."""
        yield from iterate_redacted(
            lambda: self.backend.to_pyarrow_batches(query, chunk_size=BATCH), self.name
        )

    def number(self, query: Any) -> int:  # noqa: ANN401
        """See `engine.Engine`."""
        return int(run_redacted(lambda: self.backend.to_pyarrow(query).as_py(), self.name))

    def close(self) -> None:
        """See `engine.Engine`."""
        run_redacted(self.backend.disconnect, self.name)

    def _sql(self, query: Any) -> str:  # noqa: ANN401
        return str(self.backend.compile(query))


_FENCE = "OFFSET 0"
"""PostgreSQL writes a query inside another one out, wherever a column of it is named."""


@dataclass
class PostgresEngine(IbisEngine):
    """PostgreSQL. Rows come home by the server's COPY, as Arrow batches of some megabytes.

    Ibis would take every row as a Python tuple, with a cursor that holds the whole answer.

    Attributes:
        connection: URL with the password; never shown.
    """

    connection: str = field(repr=False)

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """See `engine.Engine`."""
        yield from self._answers(self._sql(query))

    def tallied(self, query: Any, names: Sequence[str]) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """See `engine.CountingEngine`."""
        yield from self._answers(tally_sql(self._sql(query), names, _FENCE))

    def grouped(self, query: CountQuery) -> Iterator[pa.RecordBatch]:
        """See `engine.CountingEngine`."""
        rows = self._sql(query.coded.rows)
        beside = {name: self._beside(cells) for name, cells in query.told.items()}
        yield from self._answers(count_sql(query, rows, beside, _FENCE))

    def _beside(self, cells: pa.Table) -> str:
        """Cells as a part of the query itself: whoever may read need not be one to make tables."""
        import ibis

        kind = ibis.Schema.from_pyarrow(cells.schema)["cell"]
        typed = self.backend.compiler.type_mapper.to_string(kind)
        texts = ",".join(map(_quoted, cells["cell"].to_pylist()))
        codes = ",".join(map(str, cells["code"].to_pylist()))
        return (
            f"(SELECT cell, code FROM unnest(ARRAY[{texts}]::text[]::{typed}[], "
            f"ARRAY[{codes}]::smallint[]) AS cells(cell, code))"
        )

    def _answers(self, sql: str) -> Iterator[pa.RecordBatch]:
        yield from iterate_redacted(lambda: self._copied(sql), self.name)

    def _copied(self, sql: str) -> Iterator[pa.RecordBatch]:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.connection) as connection, connection.cursor() as cursor:
            # As on Ibis' own connection: a moment's day must not depend on where this runs.
            cursor.execute("SET TIME ZONE 'UTC'")
            # Else a backslash before a quote would end a text too late: cells stand in the query.
            cursor.execute("SET standard_conforming_strings = on")
            cursor.execute(sql)
            yield from cursor.fetch_record_batch()


def _quoted(cell: object) -> str:
    """A text, number or day for PostgreSQL."""
    return "'" + str(cell).replace("'", "''") + "'"


@dataclass
class SparkEngine(IbisEngine):
    """Spark. Rows come home in Arrow's own types, one partition after the other.

    Ibis would take them through pandas, where one missing cell makes floats of all whole numbers,
    and all at once.

    Attributes:
        session: Spark's own; Ibis writes the queries, and they are run here.
    """

    session: Any

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """See `engine.Engine`."""
        yield from self._answers(self._sql(query))

    def number(self, query: Any) -> int:  # noqa: ANN401
        """See `engine.Engine`."""
        sql = self._sql(query.as_table())
        return int(run_redacted(lambda: self.session.sql(sql).collect()[0][0], self.name))

    def tallied(self, query: Any, names: Sequence[str]) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """See `engine.CountingEngine`. Workers count, as in `grouped`."""
        sql = self._sql(query.select(*names))
        yield from iterate_redacted(lambda: self._tallied(sql, names), self.name)

    def grouped(self, query: CountQuery) -> Iterator[pa.RecordBatch]:
        """See `engine.CountingEngine`. Workers count: Spark copies each row once for every set."""
        sql = self._sql(query.coded.rows)
        yield from iterate_redacted(lambda: self._counted(sql, query), self.name)

    def _answers(self, sql: str) -> Iterator[pa.RecordBatch]:
        yield from iterate_redacted(lambda: self._streamed(self.session.sql(sql)), self.name)

    def _tallied(self, sql: str, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        rows = self.session.sql(sql)
        answer = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in rows.schema)
        counted = rows.mapInArrow(tally(), f"{answer}, {TALLY} bigint")
        # Added up by Spark, so that each cell comes home once, a part of them at a time.
        sums = counted.repartition(_PARTS, *names).groupBy(*names).sum(TALLY)
        yield from self._streamed(sums.withColumnRenamed(f"sum({TALLY})", TALLY))

    def _counted(self, sql: str, query: CountQuery) -> Iterator[pa.RecordBatch]:
        counted = self.session.sql(sql).mapInArrow(counter(query), ANSWER)
        # Added up by Spark, so that each cell comes home once; in one place, as it is little.
        sums = counted.repartition(1).groupBy("part", "cell").sum("rows_here", "mark", "people")
        yield from sums.toArrow().to_batches()

    def _streamed(self, rows: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        import pyarrow as pa

        # Inside, so that it travels as code: Spark's workers need not have this package.
        def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, batch.schema) as writer:
                    writer.write_batch(batch)
                cell = pa.array([sink.getvalue().to_pybytes()], pa.binary())
                yield pa.RecordBatch.from_arrays([cell], ["batch"])

        # `toArrow` holds all rows. A local iterator holds one partition, but gives rows of Python;
        # so a worker packs each of its batches into a single cell.
        for cell in rows.mapInArrow(pack, "batch binary").toLocalIterator():
            yield from pa.ipc.open_stream(cell.batch)


def open_server(address: Address) -> Engine:
    """Open a table on a server, or one that Spark reads.

    Raises:
        TableError: when it cannot be opened, or a package for it is missing; without the
            database's words.
    """
    with ExitStack() as opened:
        backend, session, find = run_redacted(lambda: _reach(address), address.title, opening=True)
        # Where a step below fails, the connection is closed.
        opened.callback(backend.disconnect)
        table = run_redacted(find, address.title, opening=True)
        check_header(table.columns, address.title)
        if session is not None and not address.entry("table"):
            path = str(address.path_part())
            # After the header, which one file tells: this opens all of them.
            run_redacted(lambda: check_types(session, path, address.title), address.title)
        plain = run_redacted(lambda: portable(table), address.title)
        if address.place == "postgres":
            plain = run_redacted(lambda: _by_bytes(backend, plain), address.title)
        tables = (plain,)
        opened.pop_all()
    if session is not None:
        return SparkEngine(backend, tables, address.title, session)
    if address.place == "postgres":
        return PostgresEngine(backend, tables, address.title, address.connection())
    return IbisEngine(backend, tables, address.title)


def portable(table: Any) -> Any:  # noqa: ANN401
    """The columns of a table in types of which every value comes home.

    Args:
        table: an Ibis table expression; which of its columns change depends on their types.
    """
    return table.select([_portable(table[title]).name(title) for title in table.columns])


def _by_bytes(backend: Any, table: Any) -> Any:  # noqa: ANN401
    """The same columns, texts compared by their bytes.

    Under a collation, or as citext, cells that differ would be compared, and sent home, as one.
    """
    kinds = table.schema()
    names = {title: '"' + title.replace('"', '""') + '"' for title in table.columns}
    cells = [_exact(name, kinds[title]) for title, name in names.items()]
    sql = f"SELECT {', '.join(cells)} FROM ({backend.compile(table)}) AS plain"
    # With the schema, which Ibis would else ask for by making a view.
    return backend.sql(sql, schema=kinds)


def _exact(name: str, kind: Any) -> str:  # noqa: ANN401
    if kind.is_string():
        return f'CAST({name} AS text) COLLATE "C" AS {name}'
    # An oid has no sign, and would come home as a number of 32 bits that has one.
    return f"CAST({name} AS bigint) AS {name}" if kind.is_int64() else name


def _portable(cell: Any) -> Any:  # noqa: ANN401
    import ibis

    kind = cell.type()
    if kind.is_boolean() or kind.is_integer() or kind.is_floating() or kind.is_string():
        return cell
    if kind.is_date() or kind.is_timestamp():
        return calendar_day(cell)
    if kind.is_nested():
        return ibis.null("string")  # missing, as in memory
    if kind.is_binary():  # bytes may be no text; no level is met by any
        return ibis.ifelse(cell.isnull(), ibis.null("string"), "(bytes)")
    return cell.cast("string")


def _reach(address: Address) -> tuple[Any, Any, Callable[[], Any]]:
    """A connection, the Spark session behind it, and how to find the table in it."""
    try:
        if address.place == "spark":
            return _spark(address)
        import ibis

        if address.place == "postgres":
            import adbc_driver_postgresql  # noqa: F401  (asked for before the table is opened)

        backend = ibis.connect(address.connection())
    except ImportError:
        raise TableError(
            f"{URL_FORMS[address.place]} needs a package that is not installed: "
            f"pip install 'prism-dashboard[{address.place}]'."
        ) from None
    database = address.entry("schema") or None
    return backend, None, lambda: backend.table(address.entry("table"), database=database)


def _spark(address: Address) -> tuple[Any, Any, Callable[[], Any]]:
    import ibis
    from pyspark.sql import SparkSession  # pyright: ignore[reportMissingImports]

    own = SparkSession.getActiveSession() is None
    builder: Any = SparkSession.builder
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    master = address.entry("master")
    if not master or master.startswith("local"):
        # Spark looks for `python3`, which on this machine may be one without pyarrow.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = (builder.master(master) if master else builder).getOrCreate()
    check_session(session)
    if own:
        # Of the driver. What it logs of a task that failed may quote a cell.
        session.sparkContext.setLogLevel(os.environ.get(LOG_VARIABLE, "OFF").upper())
    backend = ibis.pyspark.connect(session)
    if address.entry("table"):
        return backend, session, lambda: backend.table(address.entry("table"))
    return backend, session, lambda: backend.read_parquet(str(address.path_part()))


def check_session(session: Any) -> None:  # noqa: ANN401
    """Refuse a Spark session that did not take the settings of `SPARK`, or is too old.

    Raises:
        TableError: naming the first setting; no row is read.
    """
    for name, value in SPARK.items():
        if str(session.conf.get(name, "")).lower() != value.lower():
            raise TableError(
                f"This Spark session does not take {name} = {value}, without which what stands in "
                "one row could change how another is read. Start a session of its own.",
                field="train",
            )
    if not hasattr(session.range(0), "toArrow"):
        raise TableError("Spark tables need pyspark 4: pip install 'pyspark>=4'.", field="train")


def check_types(session: Any, path: str, name: str) -> None:  # noqa: ANN401
    """Refuse Parquet files of several types on Spark, which reads all by the types of one.

    Args:
        session: the Spark session.
        path: a file or folder.
        name: the table's name, for the message.

    Raises:
        TableError: when two of the files have other columns or types.
    """
    files = session.read.parquet(path).inputFiles()
    if len({session.read.parquet(file).schema.simpleString() for file in files}) > 1:
        raise TableError(
            f"The files of {name!r} do not all have the same columns of the same types, and Spark "
            "reads them as if they had. Write them again together, with a declared schema."
        )
