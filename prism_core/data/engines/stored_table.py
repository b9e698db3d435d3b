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
from prism_core.privacy.contribution import ONE_ROW

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


@dataclass(frozen=True, kw_only=True)
class StoredTable:
    """Rows as codes in files; satisfies `data.source.Rows`.

    Attributes:
        schema: the domain.
        n: number of rows of this part, each of another person; a public fact.
        total: rows in the files, those of the other part included.
        public: whether the rows are public.
        folder: the private folder; it lives as long as this table and its parts.
        side: None for all rows, else whether this is the part that was set aside.
        on_grid: whether codes are handed out as they stand in the files: on the fine grid of the
            declared columns (`schema.fine_grid`), which is then the schema.
    """

    schema: Schema
    n: int
    total: int
    public: bool
    folder: Scratch = field(repr=False, compare=False)
    side: bool | None = None
    on_grid: bool = False

    def on_fine_grid(self) -> StoredTable:
        """See `data.source.Rows`. Spends nothing."""
        return (
            self if self.on_grid else replace(self, schema=fine_schema(self.schema), on_grid=True)
        )

    @property
    def people(self) -> int:
        """Number of persons; a public fact."""
        return self.n

    @property
    def contribution(self) -> Contribution:
        """What one person adds to the counts: one row, as no other is stored."""
        return ONE_ROW

    def counts(self, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """Counts of marginals in one pass over their columns; see `data.source.Rows`.

        Spends nothing by itself: the counts are as private as the rows.
        """
        return count_chunks(self.schema, cliques, self.batches, self.n)

    def set_aside(self, rows: int, rng: np.random.Generator) -> tuple[StoredTable, StoredTable]:
        """Training and holdout rows: a uniformly drawn set of a fixed size is set aside.

        The cut depends on no value, so sensitivities hold for the training part with its own
        public n. Spends nothing: both parts are as private as the table.

        Args:
            rows: size of the holdout.
            rng: draws the set; must not be predictable for private rows.

        Raises:
            TableError: when not both parts get a row.
        """
        if self.side is not None or not 0 < rows < self.n:
            raise TableError(
                "The holdout must have at least one row and leave at least one for training.",
                field="holdout",
            )
        with self.folder.write_new(_ASIDE) as file:
            for marks in draw_marks(self.total, rows, rng):
                file.write(marks.tobytes())
        return replace(self, n=self.n - rows, side=False), replace(self, n=rows, side=True)

    def sample(self, rows: int, rng: np.random.Generator) -> EncodedTable:
        """At most `rows` of the rows, drawn uniformly, in memory: for evaluation.

        Spends nothing: the codes are as private as the rows.
        """
        names = self.schema.names
        wanted = min(rows, self.n)
        marks = draw_marks(self.n, wanted, rng)
        kept = np.empty((wanted, len(names)), dtype=np.int32, order="F")
        place, left = 0, np.empty(0, dtype=bool)
        for codes, size in self.batches(names):
            while len(left) < size:
                left = np.concatenate([left, next(marks)])
            now, left = left[:size], left[size:]
            stop = place + int(now.sum())
            for position, name in enumerate(names):
                kept[place:stop, position] = codes[name][now]
            place = stop
        return EncodedTable(schema=self.schema, codes=kept, public=self.public)

    def batches(
        self, names: Sequence[str]
    ) -> Iterator[tuple[Mapping[str, NDArray[np.integer]], int]]:
        """The codes of these columns, `STEP` rows of the files at a time. Spends nothing by itself.

        Raises:
            TableError: when the files are gone or cut short.
        """
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
            if self.side is None:
                yield codes, count
                continue
            marks = _read(self.folder.path / _ASIDE, np.dtype(np.bool_), start, count) == self.side
            yield {name: values[marks] for name, values in codes.items()}, int(marks.sum())

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
        "total": table.total,
        "side": table.side,
    }


def from_dict(document: dict[str, Any], schema: Schema, *, public: bool) -> StoredTable:
    """The table that another process described with `to_dict`, and keeps meanwhile.

    Raises:
        TableError: when its files are gone.
    """
    return StoredTable(
        schema=schema,
        n=document["n"],
        total=document["total"],
        side=document["side"],
        public=public,
        folder=join(Path(document["folder"])),
    )


def code_type(size: int) -> np.dtype:
    """The narrowest type for codes of a column of that size."""
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
        found = np.fromfile(path, dtype=kind, count=count, offset=start * kind.itemsize)
    except OSError:
        found = np.empty(0, dtype=kind)
    # A file that is cut short reads as fewer codes, without an error of its own.
    if len(found) != count:
        raise TableError("The run's temporary files are gone or cut short. Load the table again.")
    return found
