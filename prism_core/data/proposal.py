"""Decimals that the declared numbers suggest, for a form that leaves them open."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from prism_core.data import form, schema_io
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def propose_decimals(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Decimals of the numeric rows of a form that name none, by column.

    0 where the bounds and all given edges are whole numbers, else as many as they are written
    with. A guess from what is declared, never from a row: whether an age counts years or parts of
    them does not follow from 0 to 120, so it has to be shown. Nothing is proposed where it would
    cost bins, as whole numbers would in eight bins between 0 and 1, or where the row cannot be
    read yet.
    """
    found: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        if row.get("kind") != "numeric" or row.get("learn") is True or _given(row):
            continue
        decimals = _proposal(row, number)
        if decimals is not None:
            found[str(row["name"])] = decimals
    return found


def _given(row: Mapping[str, Any]) -> bool:
    decimals = row.get("decimals")
    return decimals is not None and not math.isnan(decimals)


def _proposal(row: Mapping[str, Any], number: int) -> int | None:
    try:
        entry = form.entry(row, number)
        texts = [str(entry["lower"]), str(entry["upper"]), *map(str, entry.get("edges", ()))]
        decimals = max(_written(text) for text in texts)
        fine = schema_io.column_from_dict(entry, number)
        coarse = schema_io.column_from_dict(entry | {"decimals": decimals}, number)
    except (SchemaError, InvalidOperation):  # the form itself says what is wrong with it
        return None
    return decimals if coarse.level_count == fine.level_count else None


def _written(text: str) -> int:
    """Decimals that a number is written with; 0 for 12.0, which is whole."""
    value = Decimal(text)
    if not value.is_finite() or value == value.to_integral_value():
        return 0
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
