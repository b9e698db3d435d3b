"""Dates as whole days since 1970-01-01."""

from __future__ import annotations

import datetime as dt

from prism_core.errors import SchemaError

_EPOCH = dt.date(1970, 1, 1)


def day_text(days: float) -> str:
    """The ISO date of a day number."""
    return (_EPOCH + dt.timedelta(days=int(days))).isoformat()


def day_number(text: str, *, field: str) -> float:
    """The day number of an ISO date.

    Raises:
        SchemaError: when the text is not a date written as YYYY-MM-DD.
    """
    try:
        return float((dt.date.fromisoformat(text.strip()) - _EPOCH).days)
    except ValueError:
        raise SchemaError(f"{field} must be a date written as YYYY-MM-DD.", field=field) from None
