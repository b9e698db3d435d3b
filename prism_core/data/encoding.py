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
from prism_core.data.schema.level import MISSING_TEXTS, level_text, level_value
from prism_core.data.schema.special_values import day_of
from prism_core.data.tables.header import check_columns
from prism_core.data.tables.raw_table import as_texts
from prism_core.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.code_groups import CodeGroups
    from prism_core.data.schema.column import Column
    from prism_core.data.schema.level import Level
    from prism_core.data.schema.schema import Schema
    from prism_core.data.tables.raw_table import RawTable

_TRUE = ("true", "t", "yes", "y", "1")
_FALSE = ("false", "f", "no", "n", "0")
# A column of years or of days like 20200101 with a blank in it is often written as 2020.0.
_DATE = r"^([0-9]{4})(?:-?([0-9]{2})(?:-?([0-9]{2}))?)?(?:[T ].*|\.0+)?$"
_PLAIN = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"  # a number that is no code: no leading zeros
_EXACT = 2**53  # whole numbers below it are exact as float
_STEPS = 1000  # fewest steps of the last decimal in a bin, where no decimals are declared
_TENS = np.array([float(10**power) for power in range(23)])  # all that are exact as float


@dataclass(frozen=True, kw_only=True)
class EncodedTable:
    """Rows as codes of the declared domain.

    Attributes:
        schema: the domain.
        codes: int32 array of shape (n, columns), column-major, read-only.
        public: whether the rows are public (a sample, a stand-in, a benchmark). Only public
            tables may be measured with known noise.
    """

    schema: Schema
    codes: NDArray[np.int32] = field(repr=False)
    public: bool = False

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

    @property
    def n(self) -> int:
        """Number of rows; a public fact."""
        return self.codes.shape[0]

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

        Spends nothing by itself: the counts are as private as the rows.
        """
        return count_chunks(
            self.schema,
            cliques,
            lambda names: [({name: self.column(name) for name in names}, self.n)],
            self.n,
        )

    def take(self, positions: NDArray[np.intp]) -> EncodedTable:
        """The rows at these positions."""
        return replace(self, codes=self.codes[positions])


def encode(
    schema: Schema, raw: RawTable, *, public: bool = False, rng: np.random.Generator | None = None
) -> EncodedTable:
    """Encode a table in its declared domain.

    With a person-ID column one uniformly chosen row per person is kept first. Spends nothing:
    the codes are as private as the rows.

    Args:
        schema: the declared domain.
        raw: the rows as text.
        public: whether the rows are public.
        rng: chooses the row per person; needed only with a person-ID column.

    Raises:
        TableError: when a declared column is not in the header (a fact of the file's header,
            not of its rows).
    """
    check_columns(schema.header, raw.header, raw.name)
    if schema.person_id is not None:
        raw = one_row_per_person(raw, schema.person_id, rng)
    codes = np.empty((raw.rows, len(schema.columns)), dtype=np.int32, order="F")
    for position, column in enumerate(schema.columns):
        codes[:, position] = encode_column(column, raw.column(column.name))
    return EncodedTable(schema=schema, codes=codes, public=public)


def one_row_per_person(raw: RawTable, person_id: str, rng: np.random.Generator | None) -> RawTable:
    """Keep one uniformly chosen row per distinct ID, in random order.

    The IDs are compared as they stand; an empty ID is an ID like any other, so that no row
    can change how many people there are except by its own ID. Spends nothing: the rows that
    are kept are still private.
    """
    if rng is None:
        raise TableError("A person-ID column needs a source of randomness (rng).", field="rng")
    # Shuffled first: the first row of an ID is then a uniformly chosen one.
    shuffled = raw.frame.iloc[rng.permutation(raw.rows)]
    kept = shuffled.drop_duplicates(subset=[person_id], keep="first").reset_index(drop=True)
    return replace(raw, frame=kept)


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
        if value is not None and abs(value) < _EXACT:
            (written if isinstance(level, str) else declared)[float(value)] = code
    return declared, written


def _code_of(column: Column, level: object) -> int:
    return [level_text(known) for known in column.levels].index(level_text(level))  # type: ignore[arg-type]


def decode(schema: Schema, codes: NDArray[np.integer], rng: np.random.Generator) -> pd.DataFrame:
    """Rows of codes as declared values: labels, dtypes and column order of the schema.

    Numeric bins become a uniform value inside the bin on the declared decimals (where none are
    declared, on as many as make a thousand steps of the bin), groups one of their codes by the
    declared law, special values themselves, so encoding the result gives the same codes back.

    Args:
        schema: the declared domain.
        codes: shape (rows, columns).
        rng: draws the values inside bins and groups.
    """
    values = {
        column.name: decode_column(column, codes[:, position], rng)
        for position, column in enumerate(schema.columns)
    }
    return pd.DataFrame(values, columns=list(schema.names))


def decode_column(
    column: Column, codes: NDArray[np.integer], rng: np.random.Generator
) -> pd.Series:
    """Declared values of one column of codes."""
    missing = (
        np.zeros(len(codes), dtype=bool)
        if column.missing_code is None
        else codes == column.missing_code
    )
    # Any code serves for a missing cell: it is masked at the end.
    present = np.where(missing, 0, codes)
    if column.binned:
        return _decode_binned(column, codes, missing, rng)
    if column.groups is not None:
        return pd.Series(_draw_codes(column.groups, present, rng), dtype=str).mask(missing)
    levels = column.levels
    if all(isinstance(level, bool) for level in levels):
        flags = pd.Series(np.asarray(levels, dtype=bool)[present])
        return flags.astype("boolean").mask(missing) if column.nullable else flags
    if all(
        isinstance(level, int) and not isinstance(level, bool) and -(2**63) <= level < 2**63
        for level in levels
    ):
        numbers = np.asarray(levels, dtype=np.int64)[present]
        return _integers(numbers, missing, nullable=column.nullable)
    if all(
        isinstance(level, float) or (type(level) is int and abs(level) < _EXACT) for level in levels
    ):
        return pd.Series(np.asarray(levels, dtype=float)[present]).mask(missing)
    texts = np.array([level_text(level) for level in levels], dtype=object)[present]
    return pd.Series(texts, dtype=str).mask(missing)


def _decode_binned(
    column: Column,
    codes: NDArray[np.integer],
    missing: NDArray[np.bool_],
    rng: np.random.Generator,
) -> pd.Series:
    """Numbers, days and special values: a column of texts where one of these is no number."""
    values = _decode_bins(column, np.where(codes < column.level_count, codes, 0), rng)
    if column.special:
        spots = np.clip(codes - column.level_count, 0, len(column.special) - 1)
        special = (codes >= column.level_count) & ~missing
        numbers = [level_value(value) for value in column.special]
        if column.kind == "date" or not all(
            number is not None and abs(number) < _EXACT for number in numbers
        ):
            names = np.array([level_text(value) for value in column.special], dtype=object)
            texts = np.where(special, names[spots], _written(column, values))
            return pd.Series(texts, dtype=str).mask(missing)
        whole = all(float(number).is_integer() for number in numbers if number is not None)
        values = np.where(special, np.array(numbers, dtype=int if whole else float)[spots], values)
    if column.kind == "date":
        # pandas has no unit of days. Seconds reach the years 1 to 9999, nanoseconds would not.
        days = values.astype("datetime64[D]").astype("datetime64[s]")
        return pd.Series(days).mask(missing)
    if column.decimals == 0 and np.issubdtype(values.dtype, np.integer):
        return _integers(values, missing, nullable=column.nullable)
    return pd.Series(values).mask(missing)


def _written(column: Column, values: NDArray[np.generic]) -> NDArray[np.object_]:
    """Numbers and days as texts that encoding reads as they are."""
    if column.kind == "date":
        return np.datetime_as_string(values.astype("datetime64[D]")).astype(object)
    return np.array([level_text(value) for value in values.tolist()], dtype=object)


def _integers(
    values: NDArray[np.generic], missing: NDArray[np.bool_], *, nullable: bool
) -> pd.Series:
    numbers = pd.Series(values.astype(np.int64))
    # A plain int64 has no place for a missing value.
    return numbers.astype("Int64").mask(missing) if nullable else numbers


def _decode_bins(
    column: Column, bins: NDArray[np.integer], rng: np.random.Generator
) -> NDArray[np.generic]:
    u = rng.random(len(bins))
    if column.decimals is not None:
        special = [column.special_on_grid(i) for i in range(column.level_count)]
        ranges = np.array([column.grid(i) for i in range(column.level_count)], dtype=np.int64)
        first, last = ranges[bins, 0], ranges[bins, 1]
        last = last - np.array([len(each) for each in special])[bins]
        # u times the number of steps may round up to one step too many.
        grid = first + np.minimum((u * (last - first + 1)).astype(np.int64), last - first)
        for spot, numbers in enumerate(special):
            # In increasing order: each special value that is reached moves the rest up by one.
            for number in numbers:
                grid += (bins == spot) & (grid >= number)
        return (
            grid if column.decimals == 0 else np.round(grid / 10**column.decimals, column.decimals)
        )
    bounds = np.array([column.bin_bounds(i) for i in range(column.level_count)])
    low, high = bounds[bins, 0], bounds[bins, 1]
    # (low, high]: u is in [0, 1), so 1 - u never reaches the open end except by rounding.
    drawn = np.clip(low + (1.0 - u) * (high - low), np.nextafter(low, high), high)
    drawn = np.where(bins == 0, np.clip(drawn, column.bounds[0], None), drawn)
    special = np.array(sorted(column.special_numbers))
    return _readable(drawn, low, high, first=bins == 0, special=special)


def _readable(
    drawn: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    *,
    first: NDArray[np.bool_],
    special: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Values of full precision on as many decimals as their bin needs, all shape (rows,).

    A step of the last decimal is at most a thousandth of the bin: public, because it follows from
    the declared edges alone. A value that is rounded out of its bin goes one step back, which a
    bin of a thousand steps always has room for. A bin of one value, and one too narrow for its
    distance from 0 to hold a thousand floats on such a grid, keep what was drawn. A special value
    is no number: what falls on one takes the next value below in its bin, from the lowest the
    highest.
    """
    width = high - low
    with np.errstate(divide="ignore"):
        digits = np.maximum(np.ceil(np.log10(_STEPS) - np.log10(width)), 0.0)
    largest = np.maximum(np.abs(low), np.abs(high))
    fits = (width > 0.0) & (digits < len(_TENS))
    scale = _TENS[np.where(fits, digits, 0.0).astype(np.int64)]
    fits &= largest * scale < _EXACT
    steps = np.rint(np.where(fits, drawn, 0.0) * scale)
    found = steps / scale
    steps += np.where(first, found < low, found <= low)
    steps -= found > high
    values = np.where(fits, steps / scale + 0.0, drawn)  # + 0.0: no negative zero
    # There are fewer special values than values in a bin: `Column` refuses another one.
    while len(special) and (taken := np.isin(values, special)).any():
        below = np.where(fits, (np.rint(values * scale) - 1) / scale, np.nextafter(values, -np.inf))
        below = np.where((below > low) | (first & (below == low)), below + 0.0, high)
        values = np.where(taken, below, values)
    return values


def _draw_codes(
    groups: CodeGroups, drawn: NDArray[np.integer], rng: np.random.Generator
) -> NDArray[np.object_]:
    """A code of every row's group, by the declared public law."""
    weights = groups.weights or tuple((1.0,) * len(codes) for codes in groups.codes)
    # The codes of group g share the interval [g, g + 1) by their weights.
    ends = np.concatenate([place + _shares(part) for place, part in enumerate(weights)])
    # The sum may round up to the next whole number, which is another group.
    spot = np.minimum(drawn + rng.random(len(drawn)), np.nextafter(drawn + 1.0, 0.0))
    texts = np.array([code for code, _ in groups.pairs], dtype=object)
    # side="right": a code of weight 0 has an empty interval, which is then never met.
    return texts[np.searchsorted(ends, spot, side="right")]


def _shares(weights: Sequence[float]) -> NDArray[np.float64]:
    """Cumulated shares; exactly 1 from the last weight above 0 on."""
    sums = np.cumsum(weights)
    return np.where(sums >= sums[-1], 1.0, sums / sums[-1])


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


def set_aside(
    table: EncodedTable, rows: int, rng: np.random.Generator
) -> tuple[EncodedTable, EncodedTable]:
    """Training and holdout rows: a fresh random permutation cut at a fixed size.

    The cut depends on no value (never stratified), so sensitivities hold for the training part
    with its own public n. Spends nothing: both parts are as private as the table.

    Args:
        table: all rows.
        rows: size of the holdout.
        rng: draws the permutation; must not be predictable for private rows.

    Raises:
        TableError: when not both parts get a row.
    """
    if not 0 < rows < table.n:
        raise TableError(
            "The holdout must have at least one row and leave at least one for training.",
            field="holdout",
        )
    order = rng.permutation(table.n)
    return table.take(order[rows:]), table.take(order[:rows])
