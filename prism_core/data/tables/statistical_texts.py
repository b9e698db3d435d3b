"""Texts of numbers in files of SPSS, Stata and SAS: the code, or the date that its format shows.

The three count from days of their own, in units of their own. A cell's text depends on the cell and
its column's display format alone. A date outside the years 1 to 9999 is missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from prism_core.data.tables.raw_table import as_texts, different_texts, iso_days

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_DAY = 86_400_000  # milliseconds: no display shows less, and doubles hold no less of a date
_SPSS = -141_428  # 1582-10-14, as days from 1970-01-01
_1960 = -3_653
_MOST = 10**16  # milliseconds; far beyond the year 9999, far below what an int64 holds

Shows = Literal["day", "moment", "time", "leap", "week", "month", "quarter", "half"]


@dataclass(frozen=True)
class Display:
    """What a display format makes of numbers.

    Attributes:
        shows: a day, a moment, a time of day or a duration; a moment that counts leap seconds; or
            the first day of a week, month, quarter or half of a year.
        unit: milliseconds of a 1.
        origin: the day 0, as days from 1970-01-01.
    """

    shows: Shows
    unit: int = _DAY
    origin: int = _1960


_SPSS_FORMATS: dict[str, Shows] = {
    **dict.fromkeys(("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "QYR", "MOYR", "WKYR"), "day"),
    **dict.fromkeys(("DATETIME", "YMDHMS"), "moment"),
    **dict.fromkeys(("TIME", "DTIME", "MTIME"), "time"),
}
_SAS_DAYS = re.compile(
    r"(?:DDMMYY|MMDDYY|YYMMDD|MMYY|YYMM|YYQR?)[BCDNPS]?|DATE|WEEKDAT[EX]|WORDDATX?|WORDDATE|MONYY"
    r"|YYMON|JULIAN|NLDATE|[EB]8601DA|IS8601DA"
)
_SAS_MOMENTS = re.compile(
    r"DATETIME|DATEAMPM|MDYAMPM|NLDATM|[EB]8601(?:DT|DX|DZ|LX)|IS8601(?:DT|DZ)"
)
_SAS_DAYS_OF_MOMENTS = re.compile(r"DTDATE|DTMONYY|DTYYQC|[EB]8601DN|IS8601DN")
_SAS_TIMES = re.compile(r"TIME|HHMM|MMSS|TOD|TIMEAMPM|NLTIME|NLTIMAP|[EB]8601TM|IS8601TM")
_STATA = re.compile(r"%-?\d*(?:t([cCdwmqh])|(d))(.*)", re.DOTALL)
_STATA_PERIODS: dict[str, Shows] = {"w": "week", "m": "month", "q": "quarter", "h": "half"}
_STATA_CLOCK = re.compile(r"(?:[Hh]{2}|MM|mm|SS|ss|\.s+|[aA]\.?[mM]\.?|[:_ .,/+-])+")


def display(program: str, written: str | None) -> Display | None:
    """What a display format shows; None where it shows a number.

    Args:
        program: "sav", "dta", "sas7bdat" or "xport".
        written: the format, as "DATETIME20" or "%td".
    """
    if not written:
        return None
    if program == "dta":
        return _stata(written)
    name = re.sub(r"[\d.]+$", "", written.strip().upper())
    if program == "sav":
        shows = _SPSS_FORMATS.get(name)
        return None if shows is None else Display(shows, 1_000, _SPSS)
    for pattern, found in (
        (_SAS_DAYS, Display("day")),
        (_SAS_MOMENTS, Display("moment", 1_000)),
        (_SAS_DAYS_OF_MOMENTS, Display("day", 1_000)),
        (_SAS_TIMES, Display("time", 1_000)),
    ):
        if pattern.fullmatch(name):
            return found
    return None


def _stata(written: str) -> Display | None:
    found = _STATA.fullmatch(written.strip())
    if found is None:
        return None
    letter, mask = found[1] or found[2], found[3]
    if letter in _STATA_PERIODS:
        return Display(_STATA_PERIODS[letter], 0)
    if letter == "d":
        return Display("day")
    if _STATA_CLOCK.fullmatch(mask):
        return Display("time", 1)
    return Display("leap" if letter == "C" else "moment", 1)


def number_texts(
    numbers: pa.ChunkedArray, letters: pa.ChunkedArray, program: str, written: str | None
) -> pd.Series:
    """The texts of a column of numbers.

    Args:
        numbers: as stored.
        letters: of extended missing values, null elsewhere.
        program: "sav", "dta", "sas7bdat" or "xport".
        written: the display format.
    """
    values = np.asarray(numbers.to_pandas(), dtype=np.float64)
    shown = display(program, written)
    if shown is None:
        places, texts = different_texts(pd.Series(values))
        cells = texts[places]
    else:
        cells = _dates(values, shown)
    if letters.null_count < len(letters):
        marks = letters.to_pandas()
        there = marks.notna().to_numpy()
        cells = cells.astype(object)
        cells[there] = [f".{str(mark).lower()}" for mark in marks[there]]
    return as_texts(pd.Series(cells, dtype=object))


def _dates(values: NDArray[np.float64], shown: Display) -> NDArray[np.object_]:
    with np.errstate(over="ignore", invalid="ignore"):
        # Rounded down, as a moment before its day 0 belongs to the day that it lies in.
        exact = np.round(values * shown.unit) if shown.unit else np.floor(values)
        missing = ~(np.abs(exact) < _MOST)  # not a number, too
    whole = np.where(missing, 0, exact).astype(np.int64)
    if shown.shows in ("week", "month", "quarter", "half"):
        return _text_days(_first_days(whole, shown.shows, missing), missing)
    if shown.shows == "time":
        return np.array(
            [
                "" if gone else _clock(one)
                for one, gone in zip(whole.tolist(), missing, strict=True)
            ],
            dtype=object,
        )
    if shown.shows == "leap":
        whole = whole - 1_000 * np.searchsorted(_LEAPS, whole, side="right")
    days = whole // _DAY + shown.origin
    texts = _text_days(days, missing)
    if shown.shows == "day":
        return texts
    clock = [_clock(one) for one in (whole % _DAY).tolist()]
    return np.array(
        [f"{day}T{time}" if day else "" for day, time in zip(texts, clock, strict=True)],
        dtype=object,
    )


def _text_days(days: NDArray[np.int64], missing: NDArray[np.bool_]) -> NDArray[np.object_]:
    return iso_days(days, missing).to_numpy(dtype=object)


def _clock(milliseconds: int) -> str:
    """A time of day, or a duration of any length, with thousandths where there are some."""
    sign, rest = ("-", -milliseconds) if milliseconds < 0 else ("", milliseconds)
    seconds, part = divmod(rest, 1_000)
    text = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{part:03}" if part else text


def _first_days(
    periods: NDArray[np.int64], shows: Shows, missing: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The first days of periods that Stata counts from 1960; a week is the seventh day at most."""
    if shows == "week":
        years, months = periods // 52, np.zeros_like(periods)
        extra = 7 * (periods % 52)
    else:
        length = {"month": 1, "quarter": 3, "half": 6}[shows]
        years, months = periods * length // 12, periods * length % 12
        extra = np.zeros_like(periods)
    # The years 1 to 9999, counted from 1960.
    outside = (years < -1959) | (years > 8039)
    # In place: the caller reads these cells off its own mask.
    missing |= outside
    inside = np.where(outside, 0, years * 12 + months)
    # NumPy counts months from 1970, which is 120 after Stata's first.
    first = (np.int64(-120) + inside).astype("datetime64[M]").astype("datetime64[D]")
    return first.astype(np.int64) + extra


_LEAP_DAYS = (
    "1972-07-01 1973-01-01 1974-01-01 1975-01-01 1976-01-01 1977-01-01 1978-01-01 1979-01-01 "
    "1980-01-01 1981-07-01 1982-07-01 1983-07-01 1985-07-01 1988-01-01 1990-01-01 1991-01-01 "
    "1992-07-01 1993-07-01 1994-07-01 1996-01-01 1997-07-01 1999-01-01 2006-01-01 2009-01-01 "
    "2012-07-01 2015-07-01 2017-01-01"
)
"""The days that a leap second stands before: Stata's %tC counts them."""
_LEAPS = np.array(
    [
        (int(np.datetime64(day, "D").astype(np.int64)) - _1960) * _DAY + 1_000 * number
        for number, day in enumerate(_LEAP_DAYS.split(), start=1)
    ],
    dtype=np.int64,
)
"""Milliseconds since 1960, leap seconds among them, at which each of these days begins."""
