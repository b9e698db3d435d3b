"""Draft of a schema: columns from the rows of a file, and the decimals that bounds suggest.

Drafting from rows reads them. From a public twin file that is harmless; from the private file it
is not private, and the schema's provenance says so from then on. Decimals are proposed from what
is declared alone.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from prism_core.data.encoding import as_numbers
from prism_core.data.schema import column_form, schema_file
from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.level import EXACT, MISSING_TEXTS
from prism_core.data.schema.schema import Provenance, Schema
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prism_core.data.tables.raw_table import RawTable

_MAX_DRAFT_LEVELS = 50
_NUMERIC_FROM = 13  # numbers with at least this many distinct values are taken as numeric
_BINS = 8
_MAYBE_LEVELS = frozenset({"none"})  # a level in many codebooks; encoding prefers levels, too
_CODE = r"[-+]?(?:0[0-9]|[0-9]+[eE][0-9])"  # how a code begins that only looks like a number
_BOOLEANS = ({"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"})


def draft_from_rows(raw: RawTable, provenance: Provenance) -> tuple[Schema, tuple[str, ...]]:
    """A schema guessed from rows, and the columns that were left out.

    Columns with too many different texts or a running number (names, IDs, free text) are left
    out: they cannot be synthesised as levels. Digits with leading zeros (postcodes), 1E3, and
    whole numbers that no float holds are texts, and stay as they are written.

    Args:
        raw: the rows of a public twin file, or of the private file itself.
        provenance: "public twin" or "private rows"; nothing else is honest here.

    Spends nothing and guarantees nothing: with "private rows" the draft is outside epsilon.
    """
    if provenance not in ("public twin", "private rows"):
        raise SchemaError(
            "A schema drafted from rows has the provenance 'public twin' or 'private rows'.",
            field="provenance",
        )
    columns: list[Column] = []
    left_out: list[str] = []
    for name in raw.header:
        column = _guess(name, raw.column(name))
        if column is None:
            left_out.append(name)
        else:
            columns.append(column)
    if not columns:
        raise SchemaError(
            "No column could be described: all hold too many different texts. Declare the columns "
            "by hand or upload a schema.",
            field="columns",
        )
    return Schema(columns=tuple(columns), provenance=provenance), tuple(left_out)


def _guess(name: str, cells: pd.Series) -> Column | None:
    texts = cells.astype(str).str.strip()
    empty = texts.str.lower().isin(MISSING_TEXTS - _MAYBE_LEVELS)
    present = texts[~empty]
    nullable = bool(empty.any())
    kinds = sorted(present.unique())
    if not kinds:  # nothing to go by: a single level that may be missing
        return Column(name=name, kind="categorical", levels=("any",), nullable=True)
    if {kind.lower() for kind in kinds} in _BOOLEANS:
        return Column(name=name, kind="boolean", nullable=nullable)
    values = as_numbers(present)
    if np.isfinite(values).all() and not _codes(present, values):
        return _number(name, values, nullable=nullable)
    # utc: cells of several time zones would be no one column otherwise.
    days = pd.to_datetime(present, errors="coerce", format="ISO8601", utc=True)
    if days.notna().all() and present.str.match(r"\d{4}-\d{2}-\d{2}").all():
        return _date(name, days, nullable=nullable)
    if len(kinds) > _MAX_DRAFT_LEVELS:
        return None
    return Column(name=name, kind="categorical", levels=tuple(kinds), nullable=nullable)


def _codes(texts: pd.Series, values: np.ndarray) -> bool:
    """Whether texts that read as numbers are codes: as numbers some would come out otherwise."""
    large = (np.abs(values) >= EXACT) & texts.str.fullmatch(r"-?[0-9]+").to_numpy(dtype=bool)
    return bool(large.any() or texts.str.match(_CODE).any())


def _number(name: str, numbers: np.ndarray, *, nullable: bool) -> Column | None:
    distinct = np.unique(numbers)
    whole = bool((distinct == np.floor(distinct)).all() and (np.abs(distinct) < EXACT).all())
    if whole and len(distinct) < _NUMERIC_FROM:
        levels = tuple(int(value) for value in distinct)
        return Column(name=name, kind="ordinal", levels=levels, nullable=nullable)
    if whole and len(distinct) == len(numbers) > _MAX_DRAFT_LEVELS:
        return None  # a running number
    decimals = 0 if whole else _decimals(distinct)
    low, high = float(distinct[0]), float(distinct[-1])
    if low == high:
        return Column(name=name, kind="ordinal", levels=(low,), nullable=nullable)
    return Column(
        name=name,
        kind="numeric",
        lower=low,
        upper=high,
        decimals=decimals,
        edges=equal_edges(low, high, _BINS, decimals),
        nullable=nullable,
    )


def _decimals(values: np.ndarray) -> int | None:
    for decimals in range(1, 5):
        if np.abs(values).max() * 10**decimals >= EXACT:
            return None  # no float holds a number so large with decimals
        # rtol=0: a tolerance that grows with the value would take the decimals of large ones for
        # none.
        if np.allclose(values, np.round(values, decimals), rtol=0.0, atol=1e-9):
            return decimals
    return None


def _date(name: str, moments: pd.Series, *, nullable: bool) -> Column:
    days = moments.dt.tz_localize(None).to_numpy().astype("datetime64[D]").astype(np.int64)
    # Bounds must differ, also where all rows are of one day.
    low, high = float(days.min()), float(max(days.max(), days.min() + 1))
    return Column(
        name=name,
        kind="date",
        lower=low,
        upper=high,
        decimals=0,
        edges=equal_edges(low, high, _BINS, 0),
        nullable=nullable,
    )


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


LOG_ORDERS = 4
"""Orders of magnitude from which on log bins are proposed: eight equal bins would put nearly
everything into the first one."""
LOG_BINS = 12


def propose_bins(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Log bins for the numeric rows of a form that name none and span many magnitudes, by column.

    With a bin of its own for 0 where 0 lies within. A guess from the bounds alone, never from a
    row; so it has to be shown. Other rows leave them open.
    """
    found: dict[str, str] = {}
    for number, row in enumerate(rows, start=1):
        empty = row.get("learn") is not True and not column_form.cell_text(row, "bins")
        if row.get("kind") == "numeric" and empty:
            bins = _log_bins(row)
            if bins and _readable({**row, "bins": bins}, number):
                found[str(row["name"])] = bins
    return found


def _log_bins(row: Mapping[str, Any]) -> str:
    try:
        lower, upper = (schema_file.number(row.get(part), part) for part in ("lower", "upper"))
    except SchemaError:
        return ""
    least, most = sorted((abs(lower), abs(upper)))
    if lower <= 0.0 < upper:
        return f"log {LOG_BINS} zero" if most >= 10.0**LOG_ORDERS else ""
    return f"log {LOG_BINS}" if least > 0.0 and most / least >= 10.0**LOG_ORDERS else ""


def _readable(row: Mapping[str, Any], number: int) -> bool:
    try:
        schema_file.column_from_dict(column_form.entry(row, number), number)
    except SchemaError:
        return False
    return True


def _given(row: Mapping[str, Any]) -> bool:
    return column_form.cell_text(row, "decimals") != ""


def _proposal(row: Mapping[str, Any], number: int) -> int | None:
    try:
        entry = column_form.entry(row, number)
        texts = [str(entry["lower"]), str(entry["upper"]), *map(str, entry.get("edges", ()))]
        decimals = max(_written(text) for text in texts)
        fine = schema_file.column_from_dict(entry, number)
        coarse = schema_file.column_from_dict(entry | {"decimals": decimals}, number)
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
