"""Frictionless Table Schema of a schema: the text that other programs, and this one, read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prism_core.data.codebooks.table_schema import EXTENSION, field_entry
from prism_core.data.schema import schema_file
from prism_core.data.schema.level import Level, day_text, level_text
from prism_core.data.schema.looks import to_list

if TYPE_CHECKING:
    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema


def table_schema_text(schema: Schema) -> str:
    """The schema as Table Schema, in JSON; `read_codebook` reads it to the same columns.

    What Table Schema has no word for (edges of bins, decimals, what unknown cells become, groups of
    codes) stands in each field under `prism`, which other programs pass over. Who a row is does
    not stand there. Where columns come from rows, or rows were opened before, the document says so,
    and only other programs read it: as a codebook it would hide that.
    """
    document: dict[str, Any] = {
        "$schema": "https://datapackage.org/profiles/2.0/tableschema.json",
        "fields": [_field(column) for column in schema.columns],
        "missingValues": [""],
    }
    if schema.provenance in ("private rows", "dp") or schema.looks:
        document[EXTENSION] = {
            "provenance": schema.provenance,
            "looks": to_list(schema.looks),
        }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _field(column: Column) -> dict[str, Any]:
    field: dict[str, Any] = {"name": column.name, "type": _type(column)}
    if column.description:
        field["description"] = column.description
    # To Table Schema a special value is a missing one, and what is required holds none.
    constraints: dict[str, Any] = {"required": not (column.nullable or column.special)}
    if column.binned:
        low, high = column.bounds
        constraints |= {"minimum": _bound(column, low), "maximum": _bound(column, high)}
        if column.special:
            words = dict(column.value_labels)
            empty = [""] if column.nullable else []
            field["missingValues"] = [*empty, *(_worded(v, words) for v in column.special)]
    elif column.kind == "boolean":
        field |= {"trueValues": ["true", "1"], "falseValues": ["false", "0"]}
    else:
        field |= _categories(column)
        constraints["enum"] = [_value(column, level) for level, _ in column.values]
    field["constraints"] = constraints
    extra = _extension(column, field)
    return field | ({EXTENSION: extra} if extra else {})


def _type(column: Column) -> str:
    if column.kind == "date":
        return "date"
    if column.binned:
        return "integer" if column.decimals == 0 else "number"
    if column.kind == "boolean":
        return "boolean"
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v, _ in column.values)
    return "integer" if whole else "string"


def _bound(column: Column, value: float) -> float | int | str:
    if column.kind == "date":
        return day_text(value)
    return int(value) if column.decimals == 0 and float(value).is_integer() else value


def _categories(column: Column) -> dict[str, Any]:
    """Labels and order, which an enumeration has no place for."""
    found: dict[str, Any] = {}
    words = dict(column.value_labels)
    if words or column.kind == "ordinal":
        values = [(_value(column, level), level_text(level)) for level, _ in column.values]
        found["categories"] = [
            {"value": value, "label": words.get(text, text)} for value, text in values
        ]
    if column.kind == "ordinal":
        found["categoriesOrdered"] = True
    return found


def _value(column: Column, level: Level) -> Level:
    return level if _type(column) == "integer" else level_text(level)


def _worded(value: Level, words: dict[str, str]) -> str | dict[str, str]:
    text = level_text(value)
    return {"value": text, "label": words[text]} if text in words else text


def _extension(column: Column, field: dict[str, Any]) -> dict[str, Any]:
    """The entries of a schema file that reading the field as it is would not give."""
    wanted, told = schema_file.column_dict(column), field_entry(field)
    extra = {key: value for key, value in wanted.items() if not _same(value, told.get(key))}
    # None says that the column has no such entry.
    return extra | {key: None for key in told if key not in wanted}


def _same(left: object, right: object) -> bool:
    # As JSON: 1, 1.0 and true are equal to Python.
    return json.dumps(left) == json.dumps(right)
