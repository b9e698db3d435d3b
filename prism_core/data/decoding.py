"""Decoding: from codes of the declared domain to values, drawn inside bins and groups.

Encoding what comes out gives the same codes back. Nothing is spent: a release paid for the codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from prism_core.data.schema.level import EXACT, level_text, level_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.code_groups import CodeGroups
    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema

_STEPS = 1000  # fewest steps of the last decimal in a bin, where no decimals are declared
_TENS = np.array([float(10**power) for power in range(23)])  # all that are exact as float


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
        isinstance(level, float) or (type(level) is int and abs(level) < EXACT) for level in levels
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
        # Clipped for rows without a special value: what they look up is passed over below.
        spots = np.clip(codes - column.level_count, 0, len(column.special) - 1)
        special = (codes >= column.level_count) & ~missing
        numbers = [level_value(value) for value in column.special]
        if column.kind == "date" or not all(
            number is not None and abs(number) < EXACT for number in numbers
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
    # One draw a row whatever its bin, so that no column's bins move another column's draws.
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
    fits &= largest * scale < EXACT
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
