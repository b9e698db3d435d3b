"""Encoding: from raw text to declared codes and back, and the cut into training and holdout.

Encoding is total: every cell of every row gets a code of the declared domain, whatever stands in
it, so no row can make a run fail or take another path. It never counts, groups or looks at one row
to decide about another. Which cell is which level is the rule of `level.level_value`. Nothing is
spent here: the codes are as private as the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from prism_core.data.counts import count_chunks
from prism_core.data.schema.fine_grid import declared_codes, fine_column, fine_schema, middle_codes
from prism_core.data.schema.level import EXACT, MISSING_TEXTS, Level, level_text, level_value
from prism_core.data.schema.special_values import day_of
from prism_core.data.tables.header import check_columns
from prism_core.data.tables.raw_table import RawTable, as_texts
from prism_core.errors import TableError
from prism_core.privacy.contribution import ONE_ROW, Contribution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema

_TRUE = ("true", "t", "yes", "y", "1")
_FALSE = ("false", "f", "no", "n", "0")
# A column of years or of days like 20200101 with a blank in it is often written as 2020.0.
_DATE = r"^([0-9]{4})(?:-?([0-9]{2})(?:-?([0-9]{2}))?)?(?:[T ].*|\.0+)?$"
_PLAIN = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"  # a number that is no code: no leading zeros


@dataclass(frozen=True, kw_only=True)
class EncodedTable:
    """Rows as codes of the declared domain.

    Attributes:
        schema: the domain.
        codes: int32 array of shape (n, columns), column-major, read-only.
        public: whether the rows are public (a sample, a stand-in, a benchmark). Only public
            tables may be measured with known noise.
        fine: the same rows on the fine grid (`data.schema.fine_grid`), of the same shape; None
            where no more than the declared codes is known.
        person: whose row it is where people have several, shape (n,): equal numbers for equal
            people, from 0 on and with nobody left out. None where each row is somebody else's.

    Raises:
        TableError: for codes outside the domain, or more rows of a person than the schema allows.
    """

    schema: Schema
    codes: NDArray[np.int32] = field(repr=False)
    public: bool = False
    fine: NDArray[np.unsignedinteger] | None = field(default=None, repr=False)
    person: NDArray[np.int64] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # Column-major: counting reads a column at a time.
        codes = np.asfortranarray(self.codes, dtype=np.int32)
        if codes.ndim != 2 or codes.shape[1] != len(self.schema.columns):
            raise TableError("codes must have one column for every column of the schema.")
        sizes = np.array([column.size for column in self.schema.columns])
        if codes.size and not (codes.min() >= 0 and (codes.max(axis=0) < sizes).all()):
            raise TableError("codes must lie inside the declared domain.")
        codes.setflags(write=False)
        object.__setattr__(self, "codes", codes)
        if self.fine is not None and self.fine.shape != codes.shape:
            raise TableError("fine codes must have the shape of the codes.")
        if self.person is not None:
            self._check_person(self.person)

    def _check_person(self, person: NDArray[np.int64]) -> None:
        kept = np.bincount(person) if person.shape == (self.n,) else np.zeros(1)
        # Here, so that no table can be measured that sensitivities do not hold for.
        if self.n and not (kept.min() >= 1 and kept.max() <= self.schema.max_rows):
            raise TableError(
                "Every person must have at least one row, and at most max_rows.", field="max_rows"
            )

    @property
    def n(self) -> int:
        """Number of rows; a public fact only where each is somebody else's."""
        return self.codes.shape[0]

    @property
    def people(self) -> int:
        """Number of persons; a public fact."""
        if self.person is None or not self.n:
            return self.n
        return int(self.person.max()) + 1

    @property
    def contribution(self) -> Contribution:
        """What one person adds to the counts."""
        return ONE_ROW if self.person is None else self.schema.contribution

    @property
    def mass(self) -> int:
        """What the counts of a marginal add up to; as private as the rows where these are."""
        shared = self.contribution.shared
        return self.contribution.most * self.people if shared else self.n

    def column(self, name: str) -> NDArray[np.int32]:
        """The codes of one column, shape (n,)."""
        return self.codes[:, self.schema.index(name)]

    @property
    def ordered(self) -> NDArray[np.bool_]:
        """Cells whose codes may be taken as numbers in their order, shape (n, columns).

        Not so in a column with special values where there is no number. In any other column
        missing counts as the code that it is.
        """
        ends = [c.level_count if c.special else c.size for c in self.schema.columns]
        return self.codes < np.array(ends)

    def counts(self, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """Counts of marginals in one pass over the rows; see `data.source.Rows`.

        Rows that share a weight of one for each person are counted by how many share it, in
        whole numbers. Spends nothing by itself: the counts are as private as the rows.
        """
        if self.person is None or not self.contribution.shared:
            return count_chunks(self.schema, cliques, self.batches, self.n)
        kept = np.bincount(self.person)[self.person]
        found = [np.zeros(self.schema.shape(clique), dtype=np.int64) for clique in cliques]
        for many in range(1, self.schema.max_rows + 1):
            some = replace(self, codes=self.codes[kept == many], fine=None, person=None)
            for total, counts in zip(found, some.counts(cliques), strict=True):
                total += self.contribution.weight(many) * counts
        return found

    def batches(self, names: Sequence[str]) -> list[tuple[dict[str, NDArray[np.int32]], int]]:
        """All rows at once, as they are in memory; see `data.source.Rows`. Spends nothing."""
        return [({name: self.column(name) for name in names}, self.n)]

    @property
    def one_row_each(self) -> EncodedTable:
        """One row of each person, for what is proven for one; the table itself where it has that.

        Kept rows stand in random order, so the first of a person is a uniformly chosen one.
        """
        if self.person is None:
            return self
        first = np.unique(self.person, return_index=True)[1]
        return replace(self.take(first), schema=self.schema.with_one_row(), person=None)

    def take(self, positions: NDArray[np.intp]) -> EncodedTable:
        """The rows at these positions."""
        fine = None if self.fine is None else self.fine[positions]
        person = self.person
        if person is not None:
            # Numbered anew: the numbers go from 0 on with nobody left out (see `person`).
            person = np.unique(person[positions], return_inverse=True)[1].reshape(-1)
        return replace(self, codes=self.codes[positions], fine=fine, person=person)

    def on_fine_grid(self) -> EncodedTable:
        """The rows in the schema of the fine grid; see `data.source.Rows`. Spends nothing.

        Where only the declared code of a cell is known, it stands in the middle of its bin: a
        function of that code and the schema.
        """
        codes = self.fine
        if codes is None:
            columns = enumerate(self.schema.columns)
            codes = np.stack([middle_codes(c)[self.codes[:, i]] for i, c in columns], axis=1)
        return EncodedTable(
            schema=fine_schema(self.schema),
            codes=codes.astype(np.int32),
            public=self.public,
            person=self.person,
        )


def from_fine(
    schema: Schema,
    codes: NDArray[np.integer],
    *,
    public: bool,
    person: NDArray[np.int64] | None = None,
) -> EncodedTable:
    """The table of rows that are given on the fine grid. Spends nothing: it is as private.

    Args:
        schema: the declared domain.
        codes: on its fine grid, shape (n, columns).
        public: whether the rows are public.
        person: whose each row is, where people have several.
    """
    columns = schema.columns
    declared = np.empty(codes.shape, dtype=np.int32, order="F")
    for place, column in enumerate(columns):
        declared[:, place] = declared_codes(column)[codes[:, place]]
    # Narrow: the fine codes stay beside the declared ones as long as the table does.
    largest = max(fine_column(column).size for column in columns)
    fine = np.asfortranarray(codes, dtype=np.uint8 if largest <= 256 else np.uint16)
    fine.setflags(write=False)
    return EncodedTable(schema=schema, codes=declared, public=public, fine=fine, person=person)


def encode(
    schema: Schema, raw: RawTable, *, public: bool = False, rng: np.random.Generator | None = None
) -> EncodedTable:
    """Encode a table in its declared domain.

    With a person-ID column up to `max_rows` uniformly chosen rows per person are kept first.
    Spends nothing: the codes are as private as the rows.

    Args:
        schema: the declared domain.
        raw: the rows as text.
        public: whether the rows are public.
        rng: chooses the rows per person; needed only with a person-ID column.

    Raises:
        TableError: when a declared column is not in the header (a fact of the file's header,
            not of its rows).
    """
    check_columns(schema.header, raw.header, raw.name)
    person = None
    if schema.person_id is not None:
        raw = rows_per_person(raw, schema.person_id, rng, schema.max_rows)
        if not schema.contribution.single:
            person = pd.factorize(raw.column(schema.person_id))[0].astype(np.int64)
    codes = np.empty((raw.rows, len(schema.columns)), dtype=np.uint16, order="F")
    for position, column in enumerate(schema.columns):
        codes[:, position] = encode_column(fine_column(column), raw.column(column.name))
    return from_fine(schema, codes, public=public, person=person)


def rows_per_person(
    raw: RawTable, person_id: str, rng: np.random.Generator | None, most: int = 1
) -> RawTable:
    """Keep up to `most` uniformly chosen rows per distinct ID, in random order.

    Which rows of a person are kept does not depend on those of others. The IDs are compared as
    they stand; an empty ID is an ID like any other, so that no row can change how many people there
    are except by its own ID. Spends nothing: the rows that are kept are still private.
    """
    if rng is None:
        raise TableError("A person-ID column needs a source of randomness (rng).", field="rng")
    # Shuffled first: the first rows of an ID are then uniformly chosen ones.
    shuffled = raw.frame.iloc[rng.permutation(raw.rows)]
    kept = shuffled[shuffled.groupby(person_id, sort=False, dropna=False).cumcount() < most]
    return replace(raw, frame=kept.reset_index(drop=True))


def encode_column(column: Column, cells: pd.Series) -> NDArray[np.int32]:
    """The codes of one column of text cells; total, never fails on a cell.

    Each different text is looked at once: most columns have few of them.
    """
    places, different = pd.factorize(as_texts(cells))
    texts = pd.Series(different).str.strip()
    codes = _encode_bins(column, texts) if column.binned else _encode_levels(column, texts)
    return codes[places]


def _encode_bins(column: Column, texts: pd.Series) -> NDArray[np.int32]:
    values = _readings(column, texts)
    missing = np.isnan(values)
    lower, upper = column.bounds
    fill = lower if column.fill is None else float(column.fill)
    # Filled before clipping: a declared fill may lie outside the bounds.
    clipped = np.clip(np.where(missing, fill, values), lower, upper)
    # side="left" counts the edges strictly below the value.
    codes = np.searchsorted(np.asarray(column.edges, dtype=float), clipped, side="left")
    if column.missing_code is not None:
        codes[missing] = column.missing_code
    # Last: whatever a special value would be read as, it is no number and never clipped.
    special = _special_codes(column, texts, values)
    return np.where(np.isnan(special), codes, special).astype(np.int32)


def _readings(column: Column, texts: pd.Series) -> NDArray[np.float64]:
    """Texts as the numbers or days of a column with bins; NaN where a text is none."""
    return _days(texts) if column.kind == "date" else as_numbers(texts)


def _special_codes(
    column: Column, texts: pd.Series, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Codes of the texts that are special values, NaN for all others; see `Column.special`."""
    if not column.special:
        return np.full(len(texts), np.nan)
    pairs = tuple(zip(column.special, column.special_codes, strict=True))
    found = _met(pairs, texts).to_numpy()
    if column.kind == "date":
        days = {day: code for value, code in pairs if (day := day_of(value)) is not None}
        found = np.where(np.isnan(found), pd.Series(values).map(days).astype(float), found)
    return found


def as_numbers(texts: pd.Series) -> NDArray[np.float64]:
    """Texts as floats; NaN where a text is no number."""
    return np.asarray(pd.to_numeric(texts, errors="coerce"), dtype=np.float64)


def _days(texts: pd.Series) -> NDArray[np.float64]:
    # The format is fixed: pandas would otherwise choose a unit for all cells by looking at one,
    # and a single cell with nanoseconds would push everybody's far dates out of range.
    parts = texts.astype(object).str.extract(_DATE)
    written = parts[0] + "-" + parts[1].fillna("01") + "-" + parts[2].fillna("01")
    days = pd.to_datetime(written, errors="coerce", format="%Y-%m-%d").to_numpy("datetime64[D]")
    return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(float))


def _encode_levels(column: Column, texts: pd.Series) -> NDArray[np.int32]:
    if column.kind == "boolean":
        lookup = dict.fromkeys(_FALSE, 0) | dict.fromkeys(_TRUE, 1)
        # A column of 0 and 1 with an empty cell is often written as 1.0 and 0.0.
        found = texts.str.lower().str.replace(r"^([01])\.0*$", r"\1", regex=True).map(lookup)
    else:
        found = _met(column.values, texts)
    fill = 0 if column.fill is None else _code_of(column, column.fill)
    missing = fill if column.missing_code is None else column.missing_code
    other = missing if column.other is None else _code_of(column, column.other)
    codes = found.where(found.notna(), np.where(is_empty(texts), missing, other))
    return codes.to_numpy(dtype=np.int32)


def _met(pairs: Sequence[tuple[Level, int]], texts: pd.Series) -> pd.Series:
    """Codes of the levels or special values that texts are, as floats; NaN for "none of them"."""
    lookup = {level_text(level): code for level, code in pairs}
    for level, code in pairs:
        if isinstance(level, bool):
            lookup.setdefault(str(level), code)  # as pandas writes it
    found = texts.map(lookup).astype(float)
    declared, written = _numbers(pairs)
    if declared or written:
        values = pd.Series(as_numbers(texts), index=texts.index)
        # By value only where no text is met: 01 may be a level of its own beside the number 1.
        found = found.where(found.notna(), values.map(declared))
        plain = texts.str.fullmatch(_PLAIN)
        found = found.where(found.notna() | ~plain, values.map(written))
    return found


def _numbers(pairs: Sequence[tuple[Level, int]]) -> tuple[dict[float, int], dict[float, int]]:
    """Codes of what is met by value: declared as numbers, and as texts that are one."""
    declared: dict[float, int] = {}
    written: dict[float, int] = {}
    for level, code in pairs:
        value = level_value(level)
        # From 2**53 on two whole numbers may be one float, so those are met by their text alone.
        if value is not None and abs(value) < EXACT:
            (written if isinstance(level, str) else declared)[float(value)] = code
    return declared, written


def _code_of(column: Column, level: object) -> int:
    return [level_text(known) for known in column.levels].index(level_text(level))  # type: ignore[arg-type]


def is_empty(texts: pd.Series) -> NDArray[np.bool_]:
    """Which texts say that nothing is there, unless they are declared as a level."""
    return texts.str.lower().isin(MISSING_TEXTS).to_numpy(dtype=bool)


def inside(column: Column, texts: pd.Series) -> NDArray[np.bool_]:
    """Which texts, without white space around them, are a level, special, or within the bounds."""
    if column.binned:
        values = _readings(column, texts)
        special = ~np.isnan(_special_codes(column, texts, values))
        with np.errstate(invalid="ignore"):
            return special | ((values >= column.bounds[0]) & (values <= column.bounds[1]))
    # With a code of its own for everything else, no filled cell can pass for a level.
    marker = replace(column, nullable=True, other=None, fill=None)
    return _encode_levels(marker, texts) != marker.missing_code


def beyond(column: Column, texts: pd.Series) -> NDArray[np.bool_]:
    """Which texts are a number or a day beyond the bounds, which encoding clips to them."""
    if not column.binned:
        return np.zeros(len(texts), dtype=bool)
    values = _readings(column, texts)
    with np.errstate(invalid="ignore"):
        return (values < column.bounds[0]) | (values > column.bounds[1])


def set_aside(
    table: EncodedTable, rows: int, rng: np.random.Generator
) -> tuple[EncodedTable, EncodedTable]:
    """Training and holdout rows: a fresh random permutation of the people cut at a fixed size.

    All rows of a person are in one part. The cut depends on no value (never stratified), so
    sensitivities hold for the training part with its own public number of people. Spends nothing:
    both parts are as private as the table.

    Args:
        table: all rows.
        rows: size of the holdout: people.
        rng: draws the permutation; must not be predictable for private rows.

    Raises:
        TableError: when not both parts get a row.
    """
    if not 0 < rows < table.people:
        raise TableError(
            "The holdout must have at least one row and leave at least one for training.",
            field="holdout",
        )
    order = rng.permutation(table.people)
    if table.person is None:
        return table.take(order[rows:]), table.take(order[:rows])
    aside = np.isin(table.person, order[:rows])
    return table.take(np.flatnonzero(~aside)), table.take(np.flatnonzero(aside))
