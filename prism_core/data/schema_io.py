"""Reading and writing schemas as YAML or JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import yaml

from prism_core.data.column import DEFAULT_BINS, Column, equal_edges
from prism_core.data.dates import day_number, day_text
from prism_core.data.schema import Schema
from prism_core.errors import SchemaError

_COLUMN_KEYS = {
    "name", "kind", "levels", "lower", "upper", "bins", "edges", "integer", "decimals",
    "nullable", "fill", "other", "description",
}  # fmt: skip
_SCHEMA_KEYS = {
    "version",
    "provenance",
    "one_row_per_person",
    "person_id",
    "persons",
    "columns",
}


class _Loader(yaml.SafeLoader):
    """YAML 1.2 scalars: `no`, `on` and 2020-01-01 stay text, only true and false are booleans."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool")
        or (tag == "tag:yaml.org,2002:bool" and first in "tTfF")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def loads(text: str) -> Schema:
    """The schema written in `text`, YAML or JSON (JSON is read as YAML).

    Raises:
        SchemaError: when the text is not YAML or does not describe a schema.
    """
    try:
        # A SafeLoader subclass: builds plain values only.
        document = yaml.load(text, Loader=_Loader)  # noqa: S506
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" near line {mark.line + 1}" if mark else ""
        raise SchemaError(
            f"The schema is not readable as YAML or JSON{place}.", field="schema"
        ) from None
    return from_dict(document)


def load(path: str | Path) -> Schema:
    """The schema in a `.yaml`, `.yml` or `.json` file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise SchemaError(
            f"The schema file {Path(path).name!r} cannot be read as UTF-8 text.", field="schema"
        ) from None
    return loads(text)


def from_dict(document: object) -> Schema:
    """A schema from plain values, as `to_dict` gives them."""
    if not isinstance(document, dict) or not isinstance(document.get("columns"), list):
        raise SchemaError("A schema needs a list named 'columns'.", field="columns")
    unknown = sorted(str(key) for key in set(document) - _SCHEMA_KEYS)
    if unknown:
        raise SchemaError(
            f"The schema has an unknown entry {unknown[0]!r}. Allowed: "
            f"{', '.join(sorted(_SCHEMA_KEYS))}.",
            field=unknown[0],
        )
    persons = document.get("persons")
    return Schema(
        columns=tuple(
            _column(entry, number) for number, entry in enumerate(document["columns"], start=1)
        ),
        provenance=document.get("provenance", "declared"),
        one_row_per_person=document.get("one_row_per_person", False) is True,
        person_id=None if document.get("person_id") is None else str(document["person_id"]),
        persons=None if persons is None else _integer(persons, "persons"),
    )


def _column(entry: object, number: int) -> Column:
    if not isinstance(entry, dict) or "name" not in entry or "kind" not in entry:
        raise SchemaError(
            f"Entry {number} of the columns needs at least a name and a kind.", field="columns"
        )
    unknown = sorted(str(key) for key in set(entry) - _COLUMN_KEYS)
    if unknown:
        raise SchemaError(
            f"Column {entry['name']!r} has an unknown entry {unknown[0]!r}. Allowed: "
            f"{', '.join(sorted(_COLUMN_KEYS))}.",
            field=f"columns[{number}]",
        )
    name, kind = str(entry["name"]), entry["kind"]
    levels = entry.get("levels") or ()
    if not isinstance(levels, (list, tuple)) or not all(
        isinstance(level, (str, int, float, bool)) for level in levels
    ):
        raise SchemaError(
            f"Column {name!r}: levels must be a list of texts or numbers.", field=f"{name}.levels"
        )
    binned = _bins(entry, name) if kind in ("numeric", "date") else {}
    if not binned:
        stray = next((key for key in ("lower", "upper", "edges", "bins") if key in entry), None)
        if stray:
            raise SchemaError(
                f"Column {name!r}: {stray} does not apply to the kind {kind!r}.",
                field=f"{name}.{stray}",
            )
    return Column(
        name=name,
        kind=kind,
        levels=tuple(levels),
        nullable=entry.get("nullable", False) is True,
        fill=_day(entry.get("fill"), kind, name),
        other=entry.get("other"),
        description=str(entry.get("description", "")),
        **binned,
    )


def _bins(entry: dict[str, Any], name: str) -> dict[str, Any]:
    kind = entry["kind"]
    bounds: dict[str, float] = {}
    for key in ("lower", "upper"):
        if entry.get(key) is None:
            raise SchemaError(
                f"Column {name!r}: {key} must be declared for a {kind} column.",
                field=f"{name}.{key}",
            )
        bounds[key] = _number(_day(entry[key], kind, name), f"{name}.{key}")
    integer = entry.get("integer", False) is True or kind == "date"
    decimals = 0 if integer else entry.get("decimals")
    if decimals is not None:
        decimals = _integer(decimals, f"{name}.decimals")
    if entry.get("edges") is not None:
        edges = tuple(_number(_day(e, kind, name), f"{name}.edges") for e in entry["edges"])
    else:
        bins = _integer(entry.get("bins", DEFAULT_BINS), f"{name}.bins")
        if not 1 <= bins <= 10_000 or not bounds["lower"] < bounds["upper"]:
            raise SchemaError(
                f"Column {name!r}: bins must be between 1 and 10,000 and lower below upper.",
                field=f"{name}.bins",
            )
        edges = equal_edges(bounds["lower"], bounds["upper"], bins, decimals)
    return {**bounds, "edges": edges, "decimals": decimals}


def _day(value: object, kind: object, name: str) -> Any:  # noqa: ANN401
    if kind == "date" and isinstance(value, str):
        return day_number(value, field=f"{name} (a date)")
    return value


def _number(value: object, field: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or isinstance(value, bool):
        raise SchemaError(f"{field} must be a finite number.", field=field)
    return number


def _integer(value: object, field: str) -> int:
    number = _number(value, field)
    if number != int(number):
        raise SchemaError(f"{field} must be a whole number.", field=field)
    return int(number)


def to_dict(schema: Schema) -> dict[str, Any]:
    """Plain values that `from_dict` reads back to an equal schema."""
    document: dict[str, Any] = {"version": 1, "provenance": schema.provenance}
    if schema.person_id is not None:
        document |= {"person_id": schema.person_id, "persons": schema.persons}
    else:
        document["one_row_per_person"] = schema.one_row_per_person
    document["columns"] = [_column_dict(column) for column in schema.columns]
    return document


def _column_dict(column: Column) -> dict[str, Any]:
    def plain(value: float) -> float | int | str:
        if column.kind == "date":
            return day_text(value)
        return int(value) if float(value).is_integer() else value

    entry: dict[str, Any] = {"name": column.name, "kind": column.kind}
    if column.binned:
        assert column.lower is not None and column.upper is not None
        entry |= {"lower": plain(column.lower), "upper": plain(column.upper)}
        entry["edges"] = [plain(edge) for edge in column.edges]
        if column.kind == "numeric" and column.decimals is not None:
            entry |= {"integer": True} if column.decimals == 0 else {"decimals": column.decimals}
    elif column.kind != "boolean":
        entry["levels"] = list(column.levels)
    if column.nullable:
        entry["nullable"] = True
    if column.fill is not None:
        fill = column.fill
        entry["fill"] = plain(float(fill)) if column.binned else fill
    if column.other is not None:
        entry["other"] = column.other
    if column.description:
        entry["description"] = column.description
    return entry


def dumps(schema: Schema, *, format: str = "yaml") -> str:
    """The schema as YAML or JSON text."""
    document = to_dict(schema)
    if format == "json":
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if format != "yaml":
        raise SchemaError("A schema is written as 'yaml' or 'json'.", field="format")
    return yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100
    )


class _Dumper(yaml.SafeDumper):
    """Quotes what an ordinary YAML reader would take for a boolean or a date."""


def save(schema: Schema, path: str | Path) -> None:
    """Write the schema; a name ending in .json gives JSON, anything else YAML."""
    target = Path(path)
    target.write_text(
        dumps(schema, format="json" if target.suffix == ".json" else "yaml"), encoding="utf-8"
    )
