"""Stored table: codes of private rows in files of a private folder, for more than fits memory.

One file a column, one or two bytes a cell, so that counting a marginal reads its columns and no
others, a chunk at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.data.counts import count_chunks
from prism_core.data.encoding import EncodedTable
from prism_core.data.engines.scratch import Scratch, join
from prism_core.data.schema.fine_grid import declared_codes, fine_column, fine_schema
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema
    from prism_core.privacy.contribution import Contribution

STEP = 1_048_576
"""Rows read at a time."""

MOST_ROWS = 1_000_000_000
"""Most rows of a stored table: NumPy draws the sizes of parts for no more."""

_ASIDE = "aside"

HEADS, SHARES = "heads", "shares"
"""Files beside the codes where people have several rows, which then stand together, one byte a row:
whether a row is its person's first, and how many rows of that person are kept."""


@dataclass(frozen=True, kw_only=True)
class StoredTable:
    """Rows as codes in files; satisfies `data.source.Rows`.

    Attributes:
        schema: the domain.
        n: number of rows of this part; a public fact only where each is of another person.
        people: number of persons of this part; a public fact.
        total: rows in the files, those of the other part included.
        public: whether the rows are public.
        folder: the private folder; it lives as long as this table and its parts.
        side: None for all rows, else whether this is the part that was set aside.
        on_grid: whether codes are handed out as they stand in the files: on the fine grid of the
            declared columns (`data.schema.fine_grid`), which is then the schema.
        heads: whether this is the first row of each person alone, where there are more.
    """

    schema: Schema
    n: int
    people: int
    total: int
    public: bool
    folder: Scratch = field(repr=False, compare=False)
    side: bool | None = None
    on_grid: bool = False
    heads: bool = False

    def on_fine_grid(self) -> StoredTable:
        """See `data.source.Rows`. Spends nothing."""
        return (
            self if self.on_grid else replace(self, schema=fine_schema(self.schema), on_grid=True)
        )

    @property
    def contribution(self) -> Contribution:
        """What one person adds to the counts."""
        return self.schema.contribution

    @property
    def one_row_each(self) -> StoredTable:
        """One row of each person, for what is proven for one; the table itself where it has that.

        The first of the kept rows, which stand in the order of their hashes: a uniformly chosen
        one.
        """
        if self.contribution.single:
            return self
        return replace(self, schema=self.schema.with_one_row(), n=self.people, heads=True)

    def counts(self, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """Counts of marginals in one pass over their columns; see `data.source.Rows`.

        Where rows share the weight of a person it is a pass for each number of them, in whole
        numbers. Spends nothing by itself: the counts are as private as the rows.
        """
        if not self.contribution.shared:
            return count_chunks(self.schema, cliques, self.batches, self.n)
        found = [np.zeros(self.schema.shape(clique), dtype=np.int64) for clique in cliques]
        for many in range(1, self.schema.max_rows + 1):
            some = count_chunks(
                self.schema, cliques, lambda names, j=many: self.batches(names, j), self.n
            )
            for total, counts in zip(found, some, strict=True):
                # M / many in units of 1 / M, a whole number: nothing is rounded before the noise.
                total += self.contribution.weight(many) * counts
        return found

    def set_aside(self, rows: int, rng: np.random.Generator) -> tuple[StoredTable, StoredTable]:
        """Training and holdout rows: a uniformly drawn set of people of a fixed size is set aside.

        All rows of a person are in one part. The cut depends on no value, so sensitivities hold for
        the training part with its own public number of people. Spends nothing: both parts are as
        private as the table.

        Args:
            rows: size of the holdout: people.
            rng: draws the set; must not be predictable for private rows.

        Raises:
            TableError: when not both parts get a row.
        """
        if self.side is not None or self.heads or not 0 < rows < self.people:
            raise TableError(
                "The holdout must have at least one row and leave at least one for training.",
                field="holdout",
            )
        held = 0
        # The draw stands in a file: both parts, and another process, must cut at the same rows.
        with self.folder.write_new(_ASIDE) as file:
            for _, _, marks in self._drawn((), rows, rng):
                held += int(marks.sum())
                file.write(marks.tobytes())
        train = replace(self, n=self.n - held, people=self.people - rows, side=False)
        return train, replace(self, n=held, people=rows, side=True)

    def sample(self, rows: int, rng: np.random.Generator) -> EncodedTable:
        """At most `rows` of the rows, of uniformly drawn people, in memory: for evaluation.

        Where people have several rows, as many people are drawn as have no more than `rows` rows
        in any case. Spends nothing: the codes are as private as the rows.
        """
        names, most = self.schema.names, self.schema.max_rows
        wanted = min(max(1, rows // most), self.people)
        # By columns, as they are filled and read one at a time.
        kept = np.empty((wanted * most, len(names)), dtype=np.int32, order="F")
        first = np.ones(wanted * most, dtype=bool)
        place = 0
        for codes, heads, marks in self._drawn(names, wanted, rng):
            stop = place + int(marks.sum())
            for position, name in enumerate(names):
                kept[place:stop, position] = codes[name][marks]
            first[place:stop] = heads[marks]
            place = stop
        return EncodedTable(
            schema=self.schema,
            codes=kept[:place],
            public=self.public,
            # The rows of a person stand together, so the first ones number the people.
            person=None if most == 1 else np.cumsum(first[:place]) - 1,
        )

    def batches(
        self, names: Sequence[str], kept: int | None = None
    ) -> Iterator[tuple[Mapping[str, NDArray[np.integer]], int]]:
        """The codes of these columns, `STEP` rows of the files at a time. Spends nothing by itself.

        Args:
            names: of columns.
            kept: where it is given, of people with so many kept rows alone.

        Raises:
            TableError: when the files are gone or cut short.
        """
        for codes, first in self._batches(names, kept):
            yield codes, len(first)

    def _drawn(
        self, names: Sequence[str], people: int, rng: np.random.Generator
    ) -> Iterator[tuple[dict[str, NDArray[Any]], NDArray[np.bool_], NDArray[np.bool_]]]:
        """Codes, which rows begin a person, and which are of uniformly drawn people."""
        marks = draw_marks(self.people, people, rng)
        # Of the person whose rows go on in the next batch, and of those to come.
        now, left = np.zeros(1, dtype=bool), np.empty(0, dtype=bool)
        for codes, first in self._batches(names):
            begun = int(first.sum())
            while len(left) < begun:
                left = np.concatenate([left, next(marks)])
            now, left = np.concatenate([now, left[:begun]]), left[begun:]
            # Rows before the first head of a batch count 0 heads: they go on with the person at
            # `now[0]`.
            yield codes, first, now[np.cumsum(first)]
            now = now[-1:]

    def _batches(
        self, names: Sequence[str], kept: int | None = None
    ) -> Iterator[tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]]:
        """Codes, and which rows begin a person; see `batches`."""
        several = not self.contribution.single
        files = {name: (self.folder.path / file_name(self.schema, name)) for name in names}
        stored = {name: self._stored(name) for name in names}
        maps = {} if self.on_grid else {name: declared_codes(self.schema[name]) for name in names}
        for start in range(0, self.total, STEP):
            count = min(STEP, self.total - start)
            codes = {
                name: _read(path, code_type(stored[name].size), start, count)
                for name, path in files.items()
            }
            codes = {name: maps[name][one] if maps else one for name, one in codes.items()}
            first = self._marks(HEADS, start, count) if several else np.ones(count, dtype=bool)
            rows = self._of_this_part(start, count, kept)
            if rows is not None:
                codes = {name: values[rows] for name, values in codes.items()}
                first = first[rows]
            yield codes, first

    def _of_this_part(self, start: int, count: int, kept: int | None) -> NDArray[np.bool_] | None:
        """Which of some rows of the files are of this part; None where all are."""
        found = []
        if self.side is not None:
            found.append(self._marks(_ASIDE, start, count) == self.side)
        if self.heads:
            found.append(self._marks(HEADS, start, count))
        if kept is not None:
            found.append(_read(self.folder.path / SHARES, np.dtype(np.uint8), start, count) == kept)
        return np.logical_and.reduce(found) if found else None

    def _marks(self, name: str, start: int, count: int) -> NDArray[np.bool_]:
        return _read(self.folder.path / name, np.dtype(np.bool_), start, count)

    def _stored(self, name: str) -> Column:
        """The column as its codes stand in the files."""
        return self.schema[name] if self.on_grid else fine_column(self.schema[name])


def to_dict(table: StoredTable) -> dict[str, Any]:
    """Where a table's files stand, for another process of this user.

    No code is in it; spends nothing.
    """
    return {
        "folder": str(table.folder.path),
        "n": table.n,
        "people": table.people,
        "total": table.total,
        "side": table.side,
        "heads": table.heads,
    }


def from_dict(document: dict[str, Any], schema: Schema, *, public: bool) -> StoredTable:
    """The table that another process described with `to_dict`, and keeps meanwhile.

    Raises:
        TableError: when its files are gone.
    """
    return StoredTable(
        schema=schema,
        n=document["n"],
        people=document["people"],
        total=document["total"],
        side=document["side"],
        heads=document["heads"],
        public=public,
        folder=join(Path(document["folder"])),
    )


def code_type(size: int) -> np.dtype:
    """The narrowest type for codes of a column of that size."""
    # Two bytes hold the codes of any column, which has little more than 10,000.
    return np.dtype(np.uint8 if size <= 256 else np.uint16)


def file_name(schema: Schema, name: str) -> str:
    """The file of a column; its number, because a column's name may be no name for a file."""
    return f"{schema.index(name)}.codes"


def draw_marks(total: int, rows: int, rng: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    """Marks of a uniformly drawn set of `rows` among `total`, a step at a time.

    How many fall into a step is hypergeometric given what is left, and which ones is uniform:
    together every set is equally likely.

    Raises:
        TableError: at once, for more than `MOST_ROWS` rows.
    """
    check_size(total)
    return _marks(total, rows, rng)


def check_size(rows: int) -> None:
    """Refuse more rows than a set can be drawn of; the number of rows is public.

    Raises:
        TableError: when there are more than `MOST_ROWS`.
    """
    if rows > MOST_ROWS:
        raise TableError(
            f"The table has more than {MOST_ROWS:,} rows. Release it in parts of fewer rows.",
            field="rows",
        )


def _marks(total: int, rows: int, rng: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    for start in range(0, total, STEP):
        count = min(STEP, total - start)
        here = int(rng.hypergeometric(rows, total - start - rows, count))
        marks = np.zeros(count, dtype=bool)
        marks[rng.permutation(count)[:here]] = True
        rows -= here
        yield marks


def _read(path: Path, kind: np.dtype, start: int, count: int) -> NDArray[Any]:
    try:
        # NumPy counts `count` in codes and `offset` in bytes.
        found = np.fromfile(path, dtype=kind, count=count, offset=start * kind.itemsize)
    except OSError:
        found = np.empty(0, dtype=kind)
    # A file that is cut short reads as fewer codes, without an error of its own.
    if len(found) != count:
        raise TableError("The run's temporary files are gone or cut short. Load the table again.")
    return found
