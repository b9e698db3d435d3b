"""Out-of-core tables: files, patterns of files, and databases that are not read into memory.

The declared encoding is pushed down (`pushdown`). Either the database counts (`engine_table`), or
codes come home a batch at a time and are stored in a private folder, one or two bytes a cell.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from prism_core.data.encoding import EncodedTable, encode_column
from prism_core.data.engines.coded_query import (
    KEPT,
    TURN,
    code_query,
    fresh_key,
    person,
    titles,
)
from prism_core.data.engines.duckdb_engine import open_engine
from prism_core.data.engines.engine import CountingEngine, Engine, run_redacted
from prism_core.data.engines.engine_table import EngineTable
from prism_core.data.engines.pushdown import HOME
from prism_core.data.engines.scratch import Scratch, make
from prism_core.data.engines.stored_table import (
    HEADS,
    SHARES,
    StoredTable,
    check_size,
    code_type,
    file_name,
)
from prism_core.data.schema.fine_grid import fine_schema
from prism_core.data.tables.header import check_columns
from prism_core.data.tables.raw_table import RawTable, arrow_texts, from_arrow
from prism_core.errors import PrivacyError, TableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    import pyarrow as pa
    from numpy.typing import NDArray

    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema
    from prism_core.data.tables.address import Address

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
        return tuple(name.strip() for name in self.engine.tables[0].columns)

    @cached_property
    def rows(self) -> int:
        """Number of rows; a public fact, counted once."""
        return sum(self.engine.number(table.count()) for table in self.engine.tables)

    def some(self, rows: int) -> RawTable:
        """Some rows as text, for a draft or a check that the curator asks for.

        Spends nothing: the rows are private, and not a random sample.
        """
        found: list[pd.DataFrame] = []
        for table in self.engine.tables:
            left = rows - sum(map(len, found))
            for batch in self.engine.batches(table.limit(left)):
                texts = run_redacted(
                    lambda batch=batch: from_arrow(_table(batch), self.name), self.name
                )
                found.append(texts.frame)
        if not sum(map(len, found)):
            raise TableError(f"The table {self.name!r} has columns but no rows.")
        return RawTable(pd.concat(found, ignore_index=True), self.name)

    def people(self, person_id: str) -> int:
        """Number of different IDs; a public fact where one row per person is kept."""
        return self.engine.number(self.ids(person_id).person.nunique())

    def ids(self, person_id: str) -> Any:  # noqa: ANN401
        """An Ibis expression with the ID of every row, `person`. No row is read."""
        import ibis

        check_columns([person_id], self.header, self.name)
        parts = [
            table.select(person=person(table, titles(table)[person_id], self.name))
            for table in self.engine.tables
        ]
        # Of all parts together: the rows of a person may stand in several.
        return ibis.union(*parts) if len(parts) > 1 else parts[0]

    def stream(self, schema: Schema) -> Iterator[tuple[Codes, int]]:
        """The rows as codes, a batch at a time, in an order that means nothing.

        With a person-ID column up to `max_rows` uniformly chosen rows per ID. Spends nothing: the
        codes are as private as the rows.

        Raises:
            TableError: when a declared column is missing or the database fails.
        """
        for codes, batch in self._coded(schema, fresh_key()):
            yield codes, batch.num_rows

    def _coded(
        self, schema: Schema, key: str, few: int | None = None
    ) -> Iterator[tuple[Codes, pa.RecordBatch]]:
        """The codes, and the batches they are of; the rows of a person stand together."""
        coded = code_query(self.engine.tables, schema, self.name, key, together=True, few=few)
        for batch in self.engine.batches(coded.rows):
            codes = run_redacted(lambda batch=batch: _codes(schema, batch, coded.homes), self.name)
            yield codes, batch

    def draw(self, schema: Schema, rows: int, key: str, *, public: bool) -> EncodedTable:
        """At most `rows` of the rows, drawn by the database, in memory: for evaluation.

        Of a table with a person-ID column the rows of so many people that there are no more than
        `rows` in any case. There may be fewer people than the schema declares. Spends nothing:
        the codes are as private as the rows.

        Args:
            schema: the declared domain.
            rows: the most that are drawn; all come where the table has no more.
            key: of the draw: one key draws the same rows of the same table again.
            public: whether the rows are public.

        Raises:
            TableError: when a declared column is missing, there is no row, or the database fails.
        """
        several = not schema.contribution.single
        few = None if self.rows <= rows else max(1, rows // schema.max_rows)
        parts: list[Codes] = []
        firsts: list[NDArray[np.bool_]] = []
        heads = _Heads()
        for codes, batch in self._coded(schema, key, few):
            parts.append(codes)
            firsts.append(heads.of(batch) if several else np.ones(batch.num_rows, dtype=bool))
        if not sum(map(len, firsts)):
            raise TableError(f"The table {self.name!r} has columns but no rows.")
        person = np.cumsum(np.concatenate(firsts)) - 1
        # The last rows may be of one person more, in part.
        kept = person < (len(person) if few is None else few)
        found = np.empty((int(kept.sum()), len(schema.names)), dtype=np.int32, order="F")
        for place, name in enumerate(schema.names):
            found[:, place] = np.concatenate([part.pop(name) for part in parts])[kept]
        return EncodedTable(
            schema=schema, codes=found, public=public, person=person[kept] if several else None
        )

    def counted_there(self, schema: Schema, *, public: bool) -> EngineTable:
        """The table as rows that stay where they are. Spends nothing.

        Raises:
            TableError: when a declared column is missing, there is no row, or this database is not
                one that counts.
        """
        check_columns(schema.header, self.header, self.name)
        if not isinstance(self.engine, CountingEngine):
            raise TableError("Rows of this database are counted at home.", field="train")
        if not self.rows:
            raise TableError(f"The table {self.name!r} has columns but no rows.")
        n = self.rows if schema.persons is None else schema.persons
        return EngineTable(source=self, engine=self.engine, schema=schema, n=n, public=public)

    def store(self, schema: Schema, *, public: bool) -> StoredTable:
        """Encode all rows in one pass and keep the codes in the private folder.

        Spends nothing: the codes are as private as the rows.

        Raises:
            TableError: when a declared column is missing, there is no row, there are too many,
                or the database or the disk fails.
            PrivacyError: when the number of IDs is not the declared number of persons.
        """
        check_size(self.rows)
        # The codes have a folder of their own, because this table's goes when it is closed.
        folder = make(self.scratch.path.parent.parent)
        try:
            n, people = self._write(schema, folder)
        except OSError:
            folder.close()
            raise TableError(
                "The codes cannot be written: the disk of the workspace may be full.",
                field="workspace",
            ) from None
        # An interrupt, too: codes of private rows must not stay behind.
        except BaseException:
            folder.close()
            raise
        # Looked at after the pass that writes: a count of its own would be a second pass.
        if schema.persons is not None and people != schema.persons:
            folder.close()
            raise PrivacyError(
                f"The schema declares {schema.persons:,} persons and the person-ID column holds "
                "another number. Correct the declared number.",
                field="persons",
            )
        return StoredTable(schema=schema, n=n, people=people, total=n, public=public, folder=folder)

    def _write(self, schema: Schema, folder: Scratch) -> tuple[int, int]:
        """Write the codes; how many rows, and of how many people, there are."""
        n, people = 0, 0
        # On the fine grid, which gives the declared codes and the cells that find bins.
        schema = fine_schema(schema)
        with ExitStack() as stack:
            turns = None
            if not schema.contribution.single:
                turns = _Turns(
                    heads=stack.enter_context(folder.write_new(HEADS)),
                    shares=stack.enter_context(folder.write_new(SHARES)),
                )
            written = {
                name: stack.enter_context(folder.write_new(file_name(schema, name)))
                for name in schema.names
            }
            for codes, batch in self._coded(schema, fresh_key()):
                n += batch.num_rows
                people += batch.num_rows if turns is None else turns.write(batch)
                for name, file in written.items():
                    # No `HOME` is left by now: a narrow type would make another code of -1, in
                    # silence.
                    file.write(codes[name].astype(code_type(schema.size(name))).tobytes())
        if n == 0:
            raise TableError(f"The table {self.name!r} has columns but no rows.")
        return n, people

    def close(self) -> None:
        """Let go of the database and remove the private folder."""
        self.engine.close()
        self.scratch.close()


@dataclass
class _Heads:
    """Tells which rows begin a person, batch by batch."""

    _last: int = field(default=-1, init=False)

    def of(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        """The first rows of people in the next batch.

        Raises:
            TableError: when the rows of a person do not stand together.
        """
        turns = np.asarray(batch.column(TURN).to_numpy(zero_copy_only=False), dtype=np.int64)
        # A person's rows may go on from the batch before.
        before = np.concatenate([[self._last], turns[:-1]])
        heads = turns == 0
        # Else a person would be taken for several, which no sensitivity holds for.
        if not (heads | (turns == before + 1)).all():
            raise TableError("The database did not keep the rows of a person together.")
        self._last = int(turns[-1]) if len(turns) else self._last
        return heads


@dataclass
class _Turns:
    """Writes which rows begin a person, and how many rows of that person are kept.

    Attributes:
        heads: the file of the first.
        shares: the file of the second.
    """

    heads: BinaryIO
    shares: BinaryIO
    _heads: _Heads = field(default_factory=_Heads, init=False)

    def write(self, batch: pa.RecordBatch) -> int:
        """Write a batch; returns how many people begin in it.

        Raises:
            TableError: when the rows of a person do not stand together.
        """
        heads = self._heads.of(batch)
        self.heads.write(heads.tobytes())
        kept = np.asarray(batch.column(KEPT).to_numpy(zero_copy_only=False))
        self.shares.write(kept.astype(np.uint8).tobytes())
        return int(heads.sum())


def open_table(
    address: Address, workspace: Path, *, separator: str = ",", encoding: str = "utf-8"
) -> BigTable:
    """Open a table. Of a CSV a private copy is made; else no row is read.

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
    # An interrupt, too: the private folder may hold a copy of rows by then.
    except BaseException:
        scratch.close()
        raise
    return BigTable(address=address, engine=engine, scratch=scratch)


def _table(batch: pa.RecordBatch) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _codes(schema: Schema, batch: pa.RecordBatch, homes: Sequence[Sequence[str]]) -> Codes:
    found: Codes = {}
    for place, column in enumerate(schema.columns):
        codes = np.asarray(batch.column(place).to_numpy(zero_copy_only=False))
        away = codes == HOME
        if away.any():
            # What Arrow hands out may be its own memory, which is not ours to write to.
            codes = codes.copy()
            codes[away] = encode_column(column, pd.Series([""]))[0]  # of no part: a missing cell
            for home in homes[place]:
                cells = batch.column(home)
                places = np.flatnonzero(away & np.asarray(cells.is_valid()))
                if places.size:
                    codes[places] = _at_home(column, cells, places)
        found[column.name] = codes
    return found


def _at_home(column: Column, cells: pa.Array, places: NDArray[np.intp]) -> NDArray[np.int32]:
    """The codes of cells that came home, each different one encoded once."""
    import pyarrow as pa

    kept = cells.take(pa.array(places))
    try:
        different = kept.dictionary_encode()
        values, index = different.dictionary, different.indices.to_numpy()
    except pa.ArrowNotImplementedError:  # by the type (nested ones), never by a value
        values, index = kept, np.arange(len(kept))
    # The way a Parquet file takes into memory, so that a cell has the same text.
    return encode_column(column, arrow_texts(values))[index]
