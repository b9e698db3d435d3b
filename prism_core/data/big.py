"""Tables that are not read into memory: files, patterns of files, and databases.

The declared encoding is pushed down (`pushdown`), codes come home a batch at a time, and are
counted on the way or stored in a private folder, one or two bytes a cell.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.data.counts import Counter
from prism_core.data.encoding import encode_column
from prism_core.data.engines import Engine, open_engine
from prism_core.data.pushdown import HOME, push
from prism_core.data.scratch import Scratch, make
from prism_core.data.stored import StoredTable, code_type, file_name
from prism_core.data.tables import RawTable, from_frame
from prism_core.errors import PrivacyError, TableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from prism_core.data.address import Address
    from prism_core.data.column import Column
    from prism_core.data.schema import Schema

Codes = dict[str, "NDArray[np.integer]"]


@dataclass(frozen=True, kw_only=True)
class BigTable:
    """A table behind a database.

    Attributes:
        address: where it stands.
        scratch: the private folder of this table; closed with it.
    """

    address: Address
    engine: Engine = field(repr=False)
    scratch: Scratch = field(repr=False)

    @property
    def name(self) -> str:
        """Short name for messages."""
        return self.address.title

    @property
    def header(self) -> tuple[str, ...]:
        """Column names."""
        return tuple(name.strip() for name in self.engine.table.columns)

    @cached_property
    def rows(self) -> int:
        """Number of rows; a public fact, counted once."""
        return self.engine.number(self.engine.table.count())

    def some(self, rows: int) -> RawTable:
        """Some rows as text, for a draft or a check that the curator asks for.

        Spends nothing: the rows are private, and not a random sample.
        """
        batches = list(self.engine.batches(self.engine.table.limit(rows)))
        frame = _joined(batches).to_pandas(ignore_metadata=True, integer_object_nulls=True)
        return from_frame(frame, self.name)

    def people(self, person_id: str) -> int:
        """Number of different IDs; a public fact where one row per person is kept."""
        self._check([person_id])
        return self.engine.number(_person(self.engine.table, person_id, self.name).nunique())

    def stream(self, schema: Schema) -> Iterator[tuple[Codes, int]]:
        """The rows as codes, a batch at a time, in an order that means nothing.

        With a person-ID column one uniformly chosen row per ID. Spends nothing: the codes are
        as private as the rows.

        Raises:
            TableError: when a declared column is missing or the database fails.
        """
        query, homes = self._query(schema)
        for batch in self.engine.batches(query):
            yield _codes(schema, batch, homes), batch.num_rows

    def counts(self, schema: Schema, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """Counts of marginals in one pass over the source, storing nothing.

        Reads private rows; spends nothing by itself and must not be shown or stored without
        noise.
        """
        counter = Counter(schema, cliques)
        for codes, size in self.stream(schema):
            counter.add(codes, size)
        return counter.results()

    def store(self, schema: Schema, *, public: bool) -> StoredTable:
        """Encode all rows in one pass and keep the codes in the private folder.

        Spends nothing: the codes are as private as the rows.

        Raises:
            TableError: when a declared column is missing, there is no row, or the database or
                the disk fails.
            PrivacyError: when the number of IDs is not the declared number of persons.
        """
        folder = make(self.scratch.path.parent.parent)
        try:
            n = self._write(schema, folder)
        except OSError:
            folder.close()
            raise TableError(
                "The codes cannot be written: the disk of the workspace may be full.",
                field="workspace",
            ) from None
        except BaseException:
            folder.close()
            raise
        if schema.persons is not None and n != schema.persons:
            folder.close()
            raise PrivacyError(
                f"The schema declares {schema.persons:,} persons and the person-ID column holds "
                "another number. Correct the declared number.",
                field="persons",
            )
        return StoredTable(schema=schema, n=n, total=n, public=public, folder=folder)

    def _write(self, schema: Schema, folder: Scratch) -> int:
        n = 0
        with ExitStack() as stack:
            files = {
                name: stack.enter_context(
                    os.fdopen(folder.write_new(file_name(schema, name)), "wb")
                )
                for name in schema.names
            }
            for codes, size in self.stream(schema):
                n += size
                for name, file in files.items():
                    file.write(codes[name].astype(code_type(schema.size(name))).tobytes())
        if n == 0:
            raise TableError(f"The table {self.name!r} has columns but no rows.")
        return n

    def close(self) -> None:
        """Let go of the database and remove the private folder."""
        self.engine.close()
        self.scratch.close()

    def _check(self, wanted: Sequence[str]) -> None:
        absent = [name for name in wanted if name not in self.header]
        if absent:
            raise TableError(
                f"The schema names {', '.join(map(repr, absent[:5]))}"
                f"{' and others' if len(absent) > 5 else ''}, but {self.name!r} has no such "
                "column. Correct the schema or load the matching table.",
                field="header",
            )

    def _query(self, schema: Schema) -> tuple[Any, list[int | None]]:
        """The query, and for every column where its cells encoded at home stand in a batch."""
        import ibis

        self._check([*schema.names, *([schema.person_id] if schema.person_id else [])])
        table = self.engine.table
        titles = dict(zip(self.header, table.columns, strict=True))
        outputs: dict[str, Any] = {}
        homes: list[int | None] = []
        pushed = [push(column, table[titles[column.name]]) for column in schema.columns]
        for place, column in enumerate(pushed):
            outputs[f"c{place}"] = column.code
        for place, column in enumerate(pushed):
            homes.append(None if column.home is None else len(outputs))
            if column.home is not None:
                outputs[f"h{place}"] = column.home
        if schema.person_id is None:
            return table.select(**outputs), homes
        person = _person(table, titles[schema.person_id], self.name)
        drawn = table.select(**outputs, person=person, lot=ibis.random())
        drawn = drawn.mutate(turn=ibis.row_number().over(group_by="person", order_by="lot"))
        return drawn.filter(drawn.turn == 0).select(*outputs), homes


def open_table(
    address: Address, workspace: Path, *, separator: str = ",", encoding: str = "utf-8"
) -> BigTable:
    """Open a table without reading its rows.

    Args:
        address: where it stands.
        workspace: temporary files stand in a private folder under it.
        separator: the separator of a CSV.
        encoding: its text encoding.

    Raises:
        TableError: when it cannot be opened.
    """
    scratch = make(workspace)
    try:
        engine = open_engine(address, scratch.path, separator=separator, encoding=encoding)
    except BaseException:
        scratch.close()
        raise
    return BigTable(address=address, engine=engine, scratch=scratch)


def _joined(batches: list[pa.RecordBatch]) -> pa.Table:
    """Batches as one Arrow table."""
    import pyarrow as pa

    if not batches:
        raise TableError("The table has columns but no rows.")
    return pa.Table.from_batches(batches)


def _person(table: Any, title: str, name: str) -> Any:  # noqa: ANN401
    """The ID as it stands; an empty ID is an ID like any other."""
    cell = table[title]
    kind = cell.type()
    if kind.is_string():
        return cell.fill_null("")
    if kind.is_integer():
        return cell.cast("string").fill_null("")
    raise TableError(
        f"The person-ID column of {name!r} must hold text or whole numbers.", field="person_id"
    )


def _codes(schema: Schema, batch: pa.RecordBatch, homes: Sequence[int | None]) -> Codes:
    found: Codes = {}
    for place, (column, home) in enumerate(zip(schema.columns, homes, strict=True)):
        codes = np.asarray(batch.column(place).to_numpy(zero_copy_only=False))
        if home is not None:
            away = np.flatnonzero(codes == HOME)
            if away.size:
                codes = codes.copy()
                codes[away] = _at_home(column, batch.column(home), away)
        found[column.name] = codes
    return found


def _at_home(column: Column, cells: pa.Array, places: NDArray[np.intp]) -> NDArray[np.int32]:
    """The codes of cells that came home, each different one encoded once."""
    import pyarrow as pa

    kept = cells.take(pa.array(places))
    try:
        different = kept.dictionary_encode()
        values, index = different.dictionary, different.indices.to_numpy()
    except pa.ArrowNotImplementedError:
        values, index = kept, np.arange(len(kept))
    # The way a Parquet file takes into memory, so that a cell has the same text.
    frame = pa.table({"cell": values}).to_pandas(ignore_metadata=True, integer_object_nulls=True)
    return encode_column(column, from_frame(frame).column("cell"))[index]
