"""Dates in codebooks: the bounds of date columns, as they are written there."""

from __future__ import annotations

import datetime as dt
import re

_ORDERS = {"ymd": (0, 1, 2), "dmy": (2, 1, 0), "mdy": (2, 0, 1)}
_PARTS = re.compile(r"([0-9]{1,4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,4})(?:[ T][0-9:.]{1,20}Z?)?")
_EPOCH = dt.date(1970, 1, 1)


def day_of(text: object, order: str = "ymd") -> float | None:
    """The day number of a date, whatever time stands behind it; None for any other text.

    Args:
        text: as the codebook has it.
        order: ymd, dmy or mdy: of the parts where the year does not come first.

    Example:
        >>> day_of("1970-01-02"), day_of("02/01/1970 10:00", "dmy"), day_of("today")
        (1.0, 1.0, None)
    """
    match = _PARTS.fullmatch(str(text).strip()[:40])
    if match is None:
        return None
    parts = match.groups()
    places = _ORDERS["ymd"] if len(parts[0]) == 4 else _ORDERS.get(order, _ORDERS["dmy"])
    year, month, day = (parts[place] for place in places)
    # 01/02/03 may be any of six days.
    if len(year) != 4:
        return None
    try:
        return float((dt.date(int(year), int(month), int(day)) - _EPOCH).days)
    except ValueError:
        return None
