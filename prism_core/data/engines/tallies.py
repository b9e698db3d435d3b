"""Tallies: how often each different cell of a column is there, by the database that holds it.

Nothing here grows with the rows: different cells come in batches, of which one is held at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.data.engines.coded_query import code_query
from prism_core.data.engines.engine import CountingEngine, iterate_redacted
from prism_core.data.engines.grouping import MOST_SETS, TALLY
from prism_core.data.engines.worker_counts import tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.schema import Schema


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Different cells of a column, and how often each is there; as private as the rows.

    Attributes:
        column: its name.
        cells: none is null: codes, `pushdown.HOME` for cells that are encoded at home, or these
            cells.
        rows: how many rows have each.
        coded: whether they are codes.
    """

    column: str
    cells: pa.Array
    rows: NDArray[np.int64]
    coded: bool


def tallies(
    table: BigTable,
    schema: Schema,
    key: str,
    *,
    uncoded: Sequence[str] = (),
    wanted: Sequence[str] | None = None,
) -> Iterator[Tally]:
    """Count codes of columns, and cells that are encoded at home, in as few scans as can be.

    A cell may come more than once; its numbers add up. With a person-ID column one row of each
    person is counted. Reads private rows; spends nothing by itself and must not be shown or stored
    without noise.

    Args:
        table: the open table.
        schema: the declared domain.
        key: of the draw by person, from `coded_query.fresh_key`.
        uncoded: columns of which each cell comes home.
        wanted: the columns that are counted; by default all.

    Raises:
        TableError: when a declared column is missing or the database fails.
    """
    coded = code_query(table.engine.tables, schema, table.name, key, uncoded=uncoded)
    columns = {
        name: [f"c{place}", *homes]
        for place, (name, homes) in enumerate(zip(schema.names, coded.homes, strict=True))
        if wanted is None or name in wanted
    }
    for names in _together(columns):
        outputs = [output for name in names for output in columns[name]]
        for batch in _counted(table, coded.rows, outputs):
            for name in names:
                for place, output in enumerate(columns[name]):
                    cells = batch.column(output)
                    there = cells.is_valid()
                    rows = np.asarray(batch.column(TALLY).filter(there)).astype(np.int64)
                    yield Tally(column=name, cells=cells.filter(there), rows=rows, coded=place == 0)


def rows_had(table: BigTable, person_id: str, most: int) -> NDArray[np.int64]:
    """How many people have 1, 2, ... rows, those with more than `most` as `most`; shape (most,).

    Reads private rows; spends nothing by itself and must not be shown or stored without noise.

    Raises:
        TableError: when the column is missing or the database fails.
    """
    import ibis

    held = table.ids(person_id).group_by("person").aggregate(held=lambda rows: rows.count())
    had = held.select(had=ibis.least(held.held, ibis.literal(most, "int64")))
    query = had.group_by("had").aggregate(people=lambda rows: rows.count())
    found = np.zeros(most, dtype=np.int64)
    for batch in table.engine.batches(query):
        np.add.at(found, np.asarray(batch.column("had")) - 1, np.asarray(batch.column("people")))
    return found


def _counted(
    table: BigTable,
    rows: Any,  # noqa: ANN401
    outputs: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    """One scan."""
    if isinstance(table.engine, CountingEngine):
        yield from table.engine.tallied(rows, outputs)
        return
    # The rows of this database come home, a batch at a time, and are counted as by a worker.
    yield from iterate_redacted(
        lambda: tally()(table.engine.batches(rows.select(*outputs))), table.name
    )


def _together(columns: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Columns by scans: those of one have no more outputs than a query takes."""
    found: list[list[str]] = []
    left = 0
    for name, outputs in columns.items():
        if len(outputs) > left:
            found.append([])
            left = MOST_SETS
        found[-1].append(name)
        left -= len(outputs)
    return found
