"""Engine table: private rows that stay in their database, which counts them itself.

What comes home are counts, and the different cells that no database can be trusted to read: these
are coded by the one rule and go back as a small table that the rows are joined with. So the counts
are those of memory, cell for cell.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from prism_core.data.counts import summed_out, wider
from prism_core.data.encoding import encode_column
from prism_core.data.engines.coded_query import code_query, fresh_key
from prism_core.data.engines.engine import CountingEngine, run_redacted
from prism_core.data.engines.grouping import ALL, MOST_SETS, CountQuery
from prism_core.data.tables.raw_table import arrow_texts
from prism_core.errors import PrivacyError, TableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema
    from prism_core.privacy.contribution import Contribution

Clique = tuple[str, ...]


@dataclass(kw_only=True)
class EngineTable:
    """Rows behind a database, counted there; satisfies `data.source.Rows`.

    Every scan sees the same rows: the draw by person is a keyed hash, and each scan is held
    against the first one.

    Attributes:
        source: the open table; it is closed by whoever opened it.
        engine: its database.
        schema: the domain.
        n: number of rows, or of persons where rows are drawn by person; a public fact.
        public: whether the rows are public.
        scans: passes over the source so far.
        bytes_home: of all answers so far.
    """

    source: BigTable
    engine: CountingEngine = field(repr=False)
    schema: Schema
    n: int
    public: bool
    scans: int = field(default=0, init=False)
    bytes_home: int = field(default=0, init=False)
    _tables: dict[Clique, NDArray[np.int64]] = field(default_factory=dict, init=False, repr=False)
    _rows: CountQuery | None = field(default=None, init=False, repr=False)
    _weights: tuple[int, ...] = field(init=False, repr=False)
    _mark: int | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        # Secret, so that no row can be made up to keep the mark of another.
        self._weights = tuple(1 + secrets.randbelow(2**20 - 1) for _ in self.schema.names)

    @property
    def people(self) -> int:
        """Number of persons; a public fact."""
        return self.n

    @property
    def contribution(self) -> Contribution:
        """What one person adds to the counts."""
        return self.schema.contribution

    def counts(self, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """Counts of marginals; what no scan before has counted is counted by one more.

        Reads private rows; spends nothing by itself and must not be shown or stored without
        noise.

        Raises:
            TableError: when the database fails, or its rows are no longer those of the first scan.
            PrivacyError: when the number of IDs is not the declared number of persons.
        """
        self.prefetch(cliques)
        return [self._marginal(tuple(clique)) for clique in cliques]

    def prefetch(self, cliques: Sequence[Sequence[str]]) -> None:
        """Count what will be asked for, in as few scans as there can be. Spends nothing by itself.

        Raises:
            TableError, PrivacyError: see `counts`.
        """
        for clique in cliques:
            if len(set(clique)) != len(clique):
                raise ValueError("a clique must name each of its columns once")
        wanted = dict.fromkeys(map(self.schema.canonical, cliques))
        missing = [clique for clique in wanted if self._holder(clique) is None]
        tables = list(dict.fromkeys(wider(self.schema, missing).values()))
        for start in range(0, len(tables), MOST_SETS):
            self._count(tables[start : start + MOST_SETS])

    def on_fine_grid(self) -> EngineTable:
        """The rows stay as they are encoded.

        Raises:
            TableError: always.
        """
        raise TableError("Bins are found in rows at home, and these stay in their database.")

    def batches(
        self, names: Sequence[str]
    ) -> Iterator[tuple[Mapping[str, NDArray[np.integer]], int]]:
        """The rows themselves do not come home.

        Raises:
            TableError: always.
        """
        del names
        raise TableError("This step needs the rows at home, and they stay in their database.")
        # Never reached; it makes this a generator, as it is for other tables.
        yield

    def _holder(self, clique: Clique) -> Clique | None:
        """The smallest table so far that holds a marginal."""
        held = (wide for wide in self._tables if set(clique).issubset(wide))
        return min(held, key=self.schema.cells, default=None)

    def _marginal(self, clique: Clique) -> NDArray[np.int64]:
        wide = self._holder(clique)
        assert wide is not None, "it was counted just now"
        return summed_out(self._tables[wide], wide, clique)

    def _count(self, wide: Sequence[Clique]) -> None:
        """One scan: these tables, and whether the rows are those of the scans before."""
        query = replace(self._query(), wide=tuple(map(self._places, wide)))
        flat = [np.zeros(cells, dtype=np.int64) for cells in query.cells]
        people, mark = 0, 0
        for batch in self._home(self.engine.grouped(query)):
            part, cell, count, marks, heads = map(_whole_numbers, batch.columns)
            every = part == ALL
            # A cell came up that the scan of different cells had not met, so the rows have changed.
            if (cell[~every] == _NONE).any():
                raise self._changed()
            people += int(heads[every].sum())
            mark += int(marks[every].sum())
            for place, table in enumerate(flat):
                here = part == place
                # Not `table[...] += `: a batch may hold a cell twice, from two partitions that
                # counted by themselves, and only one would be added.
                np.add.at(table, cell[here], count[here])
        self._check(people, mark)
        for clique, table in zip(wide, flat, strict=True):
            self._tables[clique] = table.reshape(self.schema.shape(clique))

    def _check(self, people: int, mark: int) -> None:
        # First: a wrong declaration would else read as rows that changed meanwhile.
        if people != self.n and self.schema.persons is not None:
            raise PrivacyError(
                f"The schema declares {self.schema.persons:,} persons and the person-ID column "
                "holds another number. Correct the declared number.",
                field="persons",
            )
        if people != self.n or (self._mark is not None and mark != self._mark):
            raise self._changed()
        self._mark = mark

    def _changed(self) -> TableError:
        return TableError(
            f"The rows of {self.source.name!r} changed while they were read. Let the table rest "
            "until the run is done, or name a copy of it.",
            field="train",
        )

    def _home(self, answer: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches of a scan, counted as such."""
        self.scans += 1
        for batch in answer:
            self.bytes_home += batch.nbytes
            yield batch

    def _places(self, clique: Clique) -> tuple[int, ...]:
        return tuple(map(self.schema.index, clique))

    def _query(self) -> CountQuery:
        """The rows with what was told of cells that are encoded at home; at first by a scan."""
        if self._rows is None:
            source, schema = self.source, self.schema
            coded = code_query(self.engine.tables, schema, source.name, fresh_key())
            columns = {
                name: column
                for column, names in zip(schema.columns, coded.homes, strict=True)
                for name in names
            }
            self._rows = CountQuery(
                coded=coded,
                told=self._told(coded.rows, columns) if columns else {},
                # By the one rule: nothing else says what becomes of a missing cell.
                missing=tuple(int(encode_column(c, pd.Series([""]))[0]) for c in schema.columns),
                sizes=tuple(column.size for column in schema.columns),
                wide=(),
                weights=self._weights,
                contribution=self.contribution,
            )
        return self._rows

    def _told(self, rows: Any, columns: Mapping[str, Column]) -> dict[str, pa.Table]:  # noqa: ANN401
        """Of every output with cells that are encoded at home: these cells and their codes."""
        found: dict[str, list[pa.Array]] = {output: [] for output in columns}
        for batch in self._home(self.engine.tallied(rows, list(columns))):
            for output in columns:
                # Of the answer's rows each is about one output, and null elsewhere.
                found[output].append(batch.column(output).drop_null())
        return {
            output: run_redacted(
                lambda c=column, a=found[output]: _with_codes(c, a), self.source.name
            )
            for output, column in columns.items()
            if sum(map(len, found[output]))
        }


def count_scans(schema: Schema, cliques: Sequence[Sequence[str]]) -> int:
    """How many scans count these marginals; by the declared domain alone."""
    wanted = list(dict.fromkeys(map(schema.canonical, cliques)))
    return math.ceil(len(set(wider(schema, wanted).values())) / MOST_SETS)


def one_scan(schema: Schema, cliques: Sequence[Sequence[str]]) -> bool:
    """Whether these marginals are few enough for one scan; by the declared domain alone."""
    return count_scans(schema, cliques) <= 1


_NONE = -(2**62)
"""Stands for null among whole numbers."""


def _whole_numbers(column: pa.Array) -> NDArray[np.int64]:
    import pyarrow as pa

    return column.cast(pa.int64()).fill_null(_NONE).to_numpy(zero_copy_only=False)


def _with_codes(column: Column, parts: list[pa.Array]) -> pa.Table:
    """Different cells of a column with their codes by the one rule."""
    import pyarrow as pa

    cells = pa.chunked_array(parts).unique()
    codes = encode_column(column, arrow_texts(cells)).astype(np.int16)
    return pa.table({"cell": cells, "code": codes})
