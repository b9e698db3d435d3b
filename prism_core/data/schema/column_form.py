"""Column form: columns as rows of plain texts and numbers that a person edits in a grid.

Levels, and words for values, stand on one line; see `level_lines`.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, TypedDict

from prism_core.data.schema import code_groups, schema_file
from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.column_rules import KINDS
from prism_core.data.schema.level import Level, level_text, period_end
from prism_core.data.schema.level_lines import (
    LEVEL_SEPARATOR,
    read_labels,
    read_level,
    read_levels,
    write_labels,
    write_level,
    write_levels,
)
from prism_core.data.schema.log_bins import log_edges
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


LOG = "log"


class FormRow(TypedDict):
    """One column in the form; empty texts and None stand for "not given".

    `learn` marks a column whose domain is to be learned with budget; see
    `learning.domain.outline_io`.
    `groups` holds the lines of a map from codes to groups, which are then the levels. `levels`,
    `special`, `labels`, `fill` and `other` are written as `level_lines` says.
    """

    name: str
    kind: str
    learn: bool
    levels: str
    groups: str
    lower: str
    upper: str
    bins: str
    decimals: int | None
    nullable: bool
    special: str
    fill: str
    other: str
    labels: str
    description: str


def to_rows(columns: Iterable[Column]) -> list[FormRow]:
    """The form's rows for these columns."""
    return [_row(column) for column in columns]


def blank_rows(names: Iterable[str]) -> list[FormRow]:
    """Rows with nothing but a name, to be filled in; refused until they are."""
    return [
        FormRow(
            name=name,
            kind="",
            learn=False,
            levels="",
            groups="",
            lower="",
            upper="",
            bins="",
            decimals=None,
            nullable=False,
            special="",
            fill="",
            other="",
            labels="",
            description="",
        )
        for name in names
    ]


def _row(column: Column) -> FormRow:
    entry = schema_file.column_dict(column)
    return FormRow(
        name=column.name,
        kind=column.kind,
        learn=False,
        levels=write_levels(entry.get("levels", ())),
        groups="" if column.groups is None else code_groups.write_map(column.groups),
        lower=str(entry.get("lower", "")),
        upper=str(entry.get("upper", "")),
        bins=_bins_text(column, entry),
        decimals=column.decimals if column.kind == "numeric" else None,
        nullable=column.nullable,
        special=write_levels(column.special),
        fill=_level_text(column, entry.get("fill")),
        other=_level_text(column, column.other),
        labels=write_labels(column.value_labels),
        description=column.description,
    )


def _level_text(column: Column, value: Any) -> str:  # noqa: ANN401  (a level, number or day)
    if value is None:
        return ""
    return str(value) if column.binned else write_level(value)


def _bins_text(column: Column, entry: Mapping[str, Any]) -> str:
    if not column.binned or column.open_bins:
        return ""
    bins = column.level_count
    # As a number only where reading that number gives the same edges back.
    if column.edges == equal_edges(*column.bounds, bins, column.decimals):
        return str(bins)
    for zero in (False, True) if column.kind == "numeric" else ():
        if column.edges == _log_edges(column, bins, zero=zero):
            return f"{LOG} {bins}{' zero' if zero else ''}"
    edges = [str(edge) for edge in entry["edges"]]
    # A single edge keeps its bar, or it would read as a number of bins.
    return f" {LEVEL_SEPARATOR} ".join(edges) if len(edges) > 1 else f"{edges[0]} {LEVEL_SEPARATOR}"


def _log_edges(column: Column, bins: int, *, zero: bool) -> tuple[float, ...] | None:
    lower, upper = column.bounds
    if zero and not lower <= 0.0 < upper:
        return None
    return log_edges(lower, upper, bins, column.decimals, zero=zero)


def from_rows(rows: Iterable[Mapping[str, Any]]) -> tuple[Column, ...]:
    """Columns from the form.

    A bound of dates may be a year or a month: its first day as the lower one, its last day as the
    upper. `bins` holds a number of equal bins, the edges with bars, or log bins: "log 12", "log 12
    zero" (0 is a bin of its own), "log 12 zero unit 0.01" (the smallest magnitude that matters).

    Raises:
        SchemaError: naming the column and the entry to correct.
    """
    return tuple(_column(row, number) for number, row in enumerate(rows, start=1))


def same(rows: Iterable[Mapping[str, Any]], columns: Sequence[Column]) -> bool:
    """Whether the form says what is declared, to the byte: 1, 1.0 and true are equal to Python.

    Raises:
        SchemaError: as `from_rows`.
    """
    found = from_rows(rows)
    return found == tuple(columns) and _exact(found) == _exact(columns)


def _exact(columns: Sequence[Column]) -> str:
    return json.dumps([schema_file.column_dict(column) for column in columns])


def _column(row: Mapping[str, Any], number: int) -> Column:
    found = entry(row, number)
    if row.get("learn") is True:
        raise SchemaError(
            f"Column {found['name']!r} is still to be learned. Learn it first, or untick Learn and "
            "declare it.",
            field=f"{found['name']}.learn",
        )
    return schema_file.column_from_dict(found, number)


def entry(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A row of the form as the plain values of a schema's column.

    Raises:
        SchemaError: naming the column and the entry to correct.
    """
    kind = cell_text(row, "kind")
    found: dict[str, Any] = {"name": cell_text(row, "name"), "kind": kind}
    if not found["name"]:
        raise SchemaError(f"Row {number} of the form has no name.", field="name")
    _check_kind(row, found["name"], kind)
    if kind in ("numeric", "date"):
        found |= _binned(row, found["name"], kind)
    elif kind != "boolean":
        found |= _levels_or_groups(row, found["name"])
    if row.get("nullable") is True:
        found["nullable"] = True
    if labels := read_labels(cell_text(row, "labels"), found["name"]):
        found["labels"] = labels
    for part in ("fill", "other"):
        if cell_text(row, part):
            found[part] = _meant(cell_text(row, part), found, part)
    if cell_text(row, "description"):
        found["description"] = str(row["description"])
    return found


def _binned(row: Mapping[str, Any], name: str, kind: str) -> dict[str, Any]:
    """Bounds, bins, decimals and special values of a number or date."""
    found: dict[str, Any] = {part: bound_text(row, part) for part in ("lower", "upper")}
    if bins := cell_text(row, "bins"):
        found |= _bins_entry(bins, name)
    if kind == "numeric" and (decimals := cell_text(row, "decimals")):
        found["decimals"] = schema_file.whole(decimals, f"{name}.decimals")
    if special := read_levels(cell_text(row, "special"), name, "special"):
        found["special"] = special
    return found


def bound_text(row: Mapping[str, Any], part: str) -> str:
    """A bound as it is meant: in a row of dates a year or a month stands for its end."""
    text = cell_text(row, part)
    if cell_text(row, "kind") != "date":
        return text
    return period_end(text, last=part == "upper")


def codes(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Levels of a row, to be put into groups; the one of unknown values stays a group of its own.

    Example:
        >>> codes({"levels": "I50.1 | I50.9 | other", "other": "other"})
        ('I50.1', 'I50.9')

    Raises:
        SchemaError: naming the column and the entry to correct.
    """
    name = cell_text(row, "name")
    texts = map(level_text, read_levels(cell_text(row, "levels"), name))
    other = level_text(read_level(cell_text(row, "other"), name, "other"))
    return tuple(text for text in texts if text != other)


def _levels_or_groups(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    if not cell_text(row, "groups"):
        return {"levels": read_levels(cell_text(row, "levels"), name)}
    if cell_text(row, "levels"):
        raise SchemaError(
            f"Column {name!r} has codes in groups, which are its levels; clear what stands under "
            "levels, or remove the groups.",
            field=f"{name}.levels",
        )
    with code_groups.named(name):
        return {"groups": code_groups.to_plain(code_groups.read_map(cell_text(row, "groups")))}


def _bins_entry(text: str, name: str) -> dict[str, Any]:
    """What is typed under bins: edges, log bins, or a number of equal bins."""
    if LEVEL_SEPARATOR in text:
        return {"edges": _parts(text)}
    if text.split()[0].casefold() == LOG:
        return _log_entry(text, name)
    return {"bins": text}


def _log_entry(text: str, name: str) -> dict[str, Any]:
    """Log bins as they are typed, see `from_rows`."""
    found: dict[str, Any] = {"scale": "log"}
    words = text.casefold().split()[1:]
    if words:
        found["bins"] = words.pop(0)
    if words and words[0] == "zero":
        words, found["zero"] = words[1:], True
    if len(words) == 2 and words[0] == "unit":
        words, found["unit"] = [], words[1]
    if words or "bins" not in found:
        raise SchemaError(
            f"Column {name!r}: log bins are written as log 12, log 12 zero, or log 12 zero unit "
            "0.01.",
            field=f"{name}.bins",
        )
    return found


def _meant(text: str, found: Mapping[str, Any], part: str) -> Any:  # noqa: ANN401
    """The level, number or day that is typed for empty or unknown cells."""
    if found["kind"] == "numeric":
        return schema_file.number(text, f"{found['name']}.{part}")
    if found["kind"] == "date":
        return text
    level = read_level(text, found["name"], part)
    if "groups" in found:  # names of groups are texts
        return level if isinstance(level, str) else text
    levels: Sequence[Level] = found.get("levels", (False, True))
    if level_text(level) == text:
        return level
    # What is typed may be the text of a level that was declared as a number, or as true.
    return next((known for known in levels if level_text(known) == text), level)


def _check_kind(row: Mapping[str, Any], name: str, kind: str) -> None:
    """What is typed must fit the kind: nothing typed is passed over in silence."""
    if not kind:
        raise SchemaError(
            f"Column {name!r}: choose its kind ({', '.join(KINDS)}), or remove the row.",
            field=f"{name}.kind",
        )
    binned = kind in ("numeric", "date")
    strangers = ("levels", "groups", "other") if binned else ("lower", "upper", "bins", "special")
    if kind == "boolean":
        strangers = ("groups", *strangers)
    if kind != "numeric":
        strangers = (*strangers, "decimals")
    typed = next((key for key in strangers if cell_text(row, key)), None)
    if typed is not None:
        has = "lower, upper and bins" if binned else "levels"
        raise SchemaError(
            f"Column {name!r} is {kind} and has {has}; clear what stands under {typed}, or choose "
            "another kind.",
            field=f"{name}.{typed}",
        )


def cell_text(row: Mapping[str, Any], key: str) -> str:
    """A cell of the form as text, "" where it is empty."""
    value = row.get(key)
    # An empty cell of the grid may come back from pandas as NaN.
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).strip()


def _parts(text: str) -> list[str]:
    return [part for piece in text.split(LEVEL_SEPARATOR) if (part := piece.strip())]
