"""The form of columns with requests in it: rows that are ticked `learn` become requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from prism_core.data import form, schema_io
from prism_core.data.column import Column
from prism_core.errors import SchemaError
from prism_core.learning.outline_io import request_from_dict
from prism_core.learning.requests import CategoryRequest, NumericRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prism_core.learning.requests import Outline, Request, Scale

BINNED = ("numeric", "date")


class Details(TypedDict):
    """How a column is learned, beside what its row says; numbers (bins, decimals) stand there.

    Attributes:
        cells, scale, unit, tail: of the public grid of a number or date, see `NumericRequest`.
        max_levels: of a category, see `CategoryRequest`.
    """

    cells: int
    scale: Scale
    unit: float
    tail: float
    max_levels: int


DEFAULTS = Details(
    cells=NumericRequest.cells, scale=NumericRequest.scale, unit=NumericRequest.unit,
    tail=NumericRequest.tail, max_levels=CategoryRequest.max_levels,
)  # fmt: skip


def from_rows(
    rows: Iterable[Mapping[str, Any]], details: Mapping[str, Mapping[str, Any]]
) -> tuple[Column | Request, ...]:
    """Columns and requests from the form.

    Args:
        rows: of the form. In a row with `learn`, lower and upper are wide public bounds and bins
            the most that are wanted.
        details: by the column's name; what is absent or None has its default.

    Raises:
        SchemaError: naming the column and the entry to correct.
    """
    return tuple(
        _request(row, number, details)
        if row.get("learn") is True
        else schema_io.column_from_dict(form.entry(row, number), number)
        for number, row in enumerate(rows, start=1)
    )


def _request(
    row: Mapping[str, Any], number: int, details: Mapping[str, Mapping[str, Any]]
) -> Request:
    entry = form.entry(row, number)
    name, binned = entry["name"], entry["kind"] in BINNED
    if entry.pop("levels", None) and entry["kind"] == "categorical":
        raise SchemaError(
            f"Column {name!r} is to be learned: clear its levels, or untick Learn.",
            field=f"{name}.levels",
        )
    if "edges" in entry or "scale" in entry:
        raise SchemaError(
            f"Column {name!r} is to be learned: bins must be how many are wanted at most, not "
            "their edges.",
            field=f"{name}.bins",
        )
    if binned and not (entry["lower"] and entry["upper"]):
        raise SchemaError(
            f"Column {name!r} is to be learned: give lower and upper as wide bounds that nobody's "
            "value could leave, known without the rows.",
            field=f"{name}.lower",
        )
    given = {k: v for k, v in (details.get(name) or {}).items() if v is not None}
    known = {**DEFAULTS, **given}
    wanted = ("cells", "scale", "unit", "tail") if binned else ("max_levels",)
    learn = {key: known[key] for key in wanted}
    if binned:
        learn["bins"] = schema_io.whole(entry.pop("bins"), f"{name}.bins")
    return request_from_dict({**entry, "learn": learn}, number)


def to_rows(outline: Outline) -> tuple[list[form.FormRow], dict[str, Details]]:
    """The form's rows for an outline, and how its requests are learned."""
    rows: list[form.FormRow] = []
    details: dict[str, Details] = {}
    for column in outline.columns:
        if isinstance(column, Column):
            rows += form.to_rows([column])
            continue
        details[column.name] = DEFAULTS.copy()
        if isinstance(column, NumericRequest):
            (row,) = form.to_rows([column.column(column.lower, column.upper, ())])
            row["bins"] = str(column.bins)
            details[column.name].update(
                cells=column.cells, scale=column.scale, unit=column.unit, tail=column.tail
            )
        else:
            (row,) = form.to_rows([column.column(())])
            row["levels"] = row["fill"] = ""  # empty cells become `other`
            details[column.name]["max_levels"] = column.max_levels
        row["learn"] = True
        rows.append(row)
    return rows, details
