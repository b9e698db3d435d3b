"""Domain counts: what learning a domain counts, of rows in memory or by the database of a table.

Both ways give the same numbers, cell for cell. A database is asked before the charge: one that
fails costs nothing, and no row is read after it.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from prism_core.data.encoding import encode_column, rows_per_person
from prism_core.data.engines.coded_query import fresh_key
from prism_core.data.engines.engine import run_redacted
from prism_core.data.engines.pushdown import HOME
from prism_core.data.engines.tallies import rows_had, tallies
from prism_core.data.schema.level import MISSING_TEXTS
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.header import check_columns
from prism_core.data.tables.raw_table import RawTable, arrow_texts, as_texts
from prism_core.errors import PlanError, TableError
from prism_core.learning.domain.frequent_names import FrequentNames
from prism_core.learning.domain.requests import CategoryRequest, NumericRequest
from prism_core.privacy.events import StableHistogramEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.engines.tallies import Tally
    from prism_core.learning.domain.domain_plan import DomainPlan
    from prism_core.learning.domain.requests import Outline, RowsRequest

MAX_NAME = 200
"""Longer texts, and texts with control characters, are no categories: they become `other`."""


class DomainCounts(Protocol):
    """Counts that a domain is learned from; as private as the rows, and spends nothing."""

    def numbers(self, request: NumericRequest) -> NDArray[np.int64]:
        """Rows by the cell of the public grid; each row has exactly one, by itself."""
        ...

    def names(self, request: CategoryRequest) -> Mapping[str, int]:
        """Rows by their category; each row has at most one. Those that take part are in it."""
        ...

    def rows_had(self, request: RowsRequest) -> NDArray[np.int64]:
        """People by how many rows they have, 1 to `most` and more; each is in exactly one cell."""
        ...


@dataclass(frozen=True)
class MemoryCounts:
    """Counts of a table in memory, made when they are asked for.

    Attributes:
        raw: all rows.
        rows: one of each person.
        person_id: the column of persons, if there is one.
    """

    raw: RawTable = field(repr=False)
    rows: RawTable = field(repr=False)
    person_id: str | None

    def numbers(self, request: NumericRequest) -> NDArray[np.int64]:
        """See `DomainCounts`."""
        codes = encode_column(request.grid, self.rows.column(request.name))
        return np.bincount(codes, minlength=request.grid.size).astype(np.int64)

    def names(self, request: CategoryRequest) -> Mapping[str, int]:
        """See `DomainCounts`."""
        found = Counter(categories(request, self.rows.column(request.name)))
        return {name: count for name, count in found.items() if name is not None}

    def rows_had(self, request: RowsRequest) -> NDArray[np.int64]:
        """See `DomainCounts`. The IDs are compared as `rows_per_person` does."""
        had = self.raw.frame.groupby(self.person_id, sort=False, dropna=False).size()
        held = np.minimum(had.to_numpy(dtype=np.int64), request.most)
        return np.bincount(held - 1, minlength=request.most).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class StoredCounts:
    """Counts that a database has made.

    Attributes:
        n: number of rows (persons); public.
        grids: of every number or date, by its name.
        named: of every column of categories, with names that are rarer than what takes part or
            without them.
        people: see `DomainCounts.rows_had`; empty where nothing is learned about it.
    """

    n: int
    grids: dict[str, list[int]] = field(repr=False)
    named: dict[str, dict[str, int]] = field(repr=False)
    people: list[int] = field(default_factory=list, repr=False)

    def numbers(self, request: NumericRequest) -> NDArray[np.int64]:
        """See `DomainCounts`."""
        return np.array(self.grids[request.name], dtype=np.int64)

    def names(self, request: CategoryRequest) -> Mapping[str, int]:
        """See `DomainCounts`."""
        return self.named[request.name]

    def rows_had(self, request: RowsRequest) -> NDArray[np.int64]:
        """See `DomainCounts`."""
        assert len(self.people) == request.most
        return np.array(self.people, dtype=np.int64)


def dumps(counts: StoredCounts) -> str:
    """Counts for another process of this user; as private as the rows."""
    return json.dumps(asdict(counts))


def loads(text: str) -> StoredCounts:
    """The counts of `dumps`."""
    return StoredCounts(**json.loads(text))


def memory_counts(plan: DomainPlan, raw: RawTable, rng: np.random.Generator) -> MemoryCounts:
    """A table in memory; only its header and the number of rows (persons) are looked at.

    Spends nothing.

    Raises:
        TableError, PlanError: when it does not fit the plan.
    """
    person_id = plan.outline.person_id
    check_columns(plan.outline.header, raw.header, raw.name)
    rows = raw if person_id is None else rows_per_person(raw, person_id, rng)
    check_people(plan, rows.rows)
    return MemoryCounts(raw, rows, person_id)


def count_there(plan: DomainPlan, table: BigTable) -> StoredCounts:
    """Let the database of a table count. Reads private rows; spends nothing.

    Of numbers and dates a count for each cell of the grid is kept; of categories as many names as
    can take part. Nothing grows with the rows.

    Raises:
        TableError: when the table lacks a column, the database fails, or its rows change meanwhile.
        PlanError: when it has another number of rows (persons) than the plan.
    """
    outline = plan.outline
    check_columns(outline.header, table.header, table.name)
    if outline.person_id is None:
        check_people(plan, table.rows)
    found = _Counted(plan, table) if outline.columns_to_learn else None
    if found is not None:
        found.count()
    people: list[int] = []
    if outline.learn_rows is not None:
        assert outline.person_id is not None
        had = rows_had(table, outline.person_id, outline.learn_rows.most)
        check_people(plan, int(had.sum()))
        people = had.tolist()
    return StoredCounts(
        n=plan.n,
        grids={} if found is None else found.grids(),
        named={} if found is None else found.named(),
        people=people,
    )


class _Counted:
    """Adds up what the database tells.

    Args:
        plan: what is learned.
        table: the open table.
    """

    def __init__(self, plan: DomainPlan, table: BigTable) -> None:
        self._plan, self._table, self._key = plan, table, fresh_key()
        self._schema = _counted_schema(plan.outline)
        asked = plan.outline.columns_to_learn
        self._numbers = {one.name: one for one in asked if isinstance(one, NumericRequest)}
        self._categories = {one.name: one for one in asked if isinstance(one, CategoryRequest)}
        self._grids = {
            name: np.zeros(one.grid.size, np.int64) for name, one in self._numbers.items()
        }
        self._away = dict.fromkeys(self._numbers, 0)
        self._names = {
            event_name: FrequentNames(most=max(1, plan.n // event.least))
            for event_name, event in _histograms(plan)
        }
        self._rows = dict.fromkeys(self._categories, 0)

    def count(self) -> None:
        """One scan, or as many as its columns need; see `_again`."""
        for tally in self._tallies():
            run_redacted(lambda tally=tally: self._add(tally), self._table.name)
        for name, away in self._away.items():
            missing = self._numbers[name].grid.missing_code
            self._grids[name][missing] += away
            check_people(self._plan, int(self._grids[name].sum()))
        for rows in self._rows.values():
            check_people(self._plan, rows)
        if not all(names.exact for names in self._names.values()):
            self._again()

    def _again(self) -> None:
        """Exact counts where there were more names than can take part."""
        first = {name: one for name, one in self._names.items() if not one.exact}
        self._names |= {name: one.again() for name, one in first.items()}
        for tally in self._tallies(wanted=first):
            if not tally.coded:
                run_redacted(lambda tally=tally: self._add(tally), self._table.name)
        if not all(one.same_rows(self._names[name]) for name, one in first.items()):
            raise TableError(
                f"The rows of {self._table.name!r} changed while they were read. Let the table "
                "rest until the run is done, or name a copy of it.",
                field="train",
            )

    def _tallies(self, wanted: Iterable[str] | None = None) -> Iterable[Tally]:
        names = None if wanted is None else tuple(wanted)
        return tallies(
            self._table, self._schema, self._key, uncoded=tuple(self._categories), wanted=names
        )

    def _add(self, tally: Tally) -> None:
        name, rows = tally.column, tally.rows
        if name in self._categories:
            if tally.coded:
                self._rows[name] += int(rows.sum())
            else:
                texts = arrow_texts(tally.cells)
                self._names[name].add(categories(self._categories[name], texts), rows)
            return
        if tally.coded:
            codes = tally.cells.to_numpy(zero_copy_only=False).astype(np.int64)
            away = codes == HOME
            # What is there of these cells comes by itself; the rest are missing ones.
            self._away[name] += int(rows[away].sum())
            np.add.at(self._grids[name], codes[~away], rows[~away])
        else:
            self._away[name] -= int(rows.sum())
            codes = encode_column(self._numbers[name].grid, arrow_texts(tally.cells))
            np.add.at(self._grids[name], codes, rows)

    def grids(self) -> dict[str, list[int]]:
        return {name: counts.tolist() for name, counts in self._grids.items()}

    def named(self) -> dict[str, dict[str, int]]:
        least = {name: event.least for name, event in _histograms(self._plan)}
        return {name: one.above(least[name]) for name, one in self._names.items()}


def _histograms(plan: DomainPlan) -> list[tuple[str, StableHistogramEvent]]:
    return [
        (request.name, event)
        for request, event in zip(plan.outline.requests, plan.events, strict=True)
        if isinstance(event, StableHistogramEvent)
    ]


def _counted_schema(outline: Outline) -> Schema:
    """The columns that are counted, one row of each person: the public grids of numbers."""
    return Schema(
        columns=tuple(
            request.grid if isinstance(request, NumericRequest) else request.column(())
            for request in outline.columns_to_learn
        ),
        one_row_per_person=outline.one_row_per_person,
        person_id=outline.person_id,
        persons=outline.persons,
    )


def check_people(plan: DomainPlan, rows: int) -> None:
    """Refuse another number of rows (persons) than the plan's; public.

    Raises:
        PlanError: always in that case.
    """
    if rows != plan.n:
        raise PlanError(
            f"The plan is for {plan.n:,} rows (persons) and the table does not have that many. "
            "Make the plan for this table.",
            field="n",
        )


def categories(request: CategoryRequest, cells: pd.Series) -> list[str | None]:
    """The category of every cell, by itself; None for missing, `other`, and what is no name."""
    texts = [text.strip() for text in as_texts(cells).str.strip()]
    other = request.other.strip()
    return [text if text != other and _is_name(text) else None for text in texts]


def _is_name(text: str) -> bool:
    return (
        len(text) <= MAX_NAME
        # A no-break space is not printable to Python, and is common in text copied from pages.
        and text.replace("\xa0", " ").isprintable()
        and text.lower() not in MISSING_TEXTS
    )
