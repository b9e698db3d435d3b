"""Level: a declared value of a column, its text in a file, and the number or day it stands for."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from typing import TypeAlias

from prism_core.errors import SchemaError

Level: TypeAlias = str | int | float | bool

MISSING_TEXTS = frozenset({"", "na", "n/a", "nan", "null", "none", "nat", "<na>", "?", "."})
"""Texts in small letters that say that nothing is there, unless they are declared as a level."""

EXACT = 2**53
"""Whole numbers below it are exact as float; from it on two of them may be one float."""

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?")
_DIGITS = 15  # of two numbers of so many digits, no two are the same float


def level_text(level: Level) -> str:
    """The text form under which a level is matched in a file."""
    if isinstance(level, bool):
        return "true" if level else "false"
    if isinstance(level, float) and level.is_integer() and abs(level) < EXACT:
        return str(int(level))
    return str(level).strip()


def level_value(level: Level) -> int | float | None:
    """The number that a level stands for, or None for a text and for true and false.

    A cell is the level whose text it is (`level_text`). If it is the text of none, numbers are met
    by value:

    - a level declared as a number by every cell that reads as that number: 1, 1.0, 01 and 1e0 are
      the level 1;
    - a level declared as a text that is the canonical writing of a number (no sign but a minus, no
      leading zeros, no zeros at the end of decimals, no exponent, at most 15 digits) by every cell
      that is plainly written as that number, with or without decimals: 1, 1.0 and 1.00 are the
      level "1". 01 and 1e0 are not: they may be codes.

    Any other text is itself and nothing else: "01234", "1.0", "250.10", "1e3". Whole numbers from
    2**53 on are met by their text alone. Two levels that are the same number are refused.

    Example:
        >>> [level_value(level) for level in (1, 1.0, "1", "-0.5", "01", "1.0", "1e3", True)]
        [1, 1.0, 1, -0.5, None, None, None, None]
    """
    if isinstance(level, bool):
        return None
    if not isinstance(level, str):
        return level
    text = level.strip()
    # At most so many digits, a minus and a point.
    if len(text) > _DIGITS + 2 or not _NUMBER.fullmatch(text) or text == "-0":
        return None
    if sum(map(str.isdigit, text)) > _DIGITS:
        return None
    return float(text) if "." in text else int(text)


_EPOCH = dt.date(1970, 1, 1)


def day_text(days: float) -> str:
    """The ISO date of a day number."""
    return (_EPOCH + dt.timedelta(days=int(days))).isoformat()


_PERIOD = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?")


def period_end(text: str, *, last: bool) -> str:
    """The first or last day of a year or month; any other text as it is.

    Example:
        >>> period_end("2020", last=False), period_end("2020-02", last=True)
        ('2020-01-01', '2020-02-29')
        >>> period_end("2020-02-03", last=True)
        '2020-02-03'
    """
    match = _PERIOD.fullmatch(text.strip())
    if match is None:
        return text
    year, month = int(match[1]), int(match[2] or (12 if last else 1))
    try:
        first = dt.date(year, month, 1)
    except ValueError:
        return text
    if not last:
        return first.isoformat()
    return first.replace(day=calendar.monthrange(year, month)[1]).isoformat()


def day_number(text: str, *, field: str) -> float:
    """The day number of an ISO date.

    Raises:
        SchemaError: when the text is not a date written as YYYY-MM-DD.
    """
    try:
        day = dt.date.fromisoformat(text.strip())
        # There and back: from Python 3.11 on it also reads 20260105 and week dates.
        if day.isoformat() != text.strip():
            raise ValueError(text)
    except ValueError:
        raise SchemaError(f"{field} must be a date written as YYYY-MM-DD.", field=field) from None
    return float((day - _EPOCH).days)
