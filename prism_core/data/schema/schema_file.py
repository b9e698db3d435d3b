"""Schema files: reading and writing YAML and JSON."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, SupportsFloat

import yaml

from prism_core import files
from prism_core.data.schema import code_groups, looks
from prism_core.data.schema.codebook_source import CodebookSource
from prism_core.data.schema.column import DEFAULT_BINS, Column, equal_edges
from prism_core.data.schema.column_rules import kind_text
from prism_core.data.schema.level import day_number, day_text, level_text
from prism_core.data.schema.log_bins import log_edges
from prism_core.data.schema.schema import Schema
from prism_core.errors import SchemaError
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.text import file_or_text, untrusted
from prism_core.text.suggestions import meant, suggestion

_COLUMN_KEYS = {
    "name",
    "kind",
    "levels",
    "lower",
    "upper",
    "bins",
    "edges",
    "scale",
    "unit",
    "zero",
    "integer",
    "decimals",
    "nullable",
    "fill",
    "other",
    "groups",
    "codes",
    "prefix",
    "special",
    "labels",
    "description",
}
_LOG_KEYS = ("scale", "unit", "zero")
_GRID_KEYS = ("integer", "decimals")
_BIN_KEYS = ("lower", "upper", "edges", "bins", *_LOG_KEYS)
_SCHEMA_KEYS = {
    "version",
    "provenance",
    "one_row_per_person",
    "person_id",
    "persons",
    "max_rows",
    "weighting",
    "learned",
    "looks",
    "codebook",
    "columns",
}


_Reader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Writer: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""libyaml's, where PyYAML was built with it: ten times as fast on thousands of levels."""


class _Loader(_Reader):
    """YAML 1.2 scalars: `no`, 2020-01-01, 12:30, 1_000 and the code 010 stay text."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (PyYAML's own table)


class _Dumper(_Writer):
    """Quotes what an ordinary YAML reader, or `_Loader`, would take for something else."""


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
):
    for _reader_or_writer in (_Loader, _Dumper):
        _reader_or_writer.add_implicit_resolver(
            f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first)
        )


def loads(text: str) -> Schema:
    """The schema written in `text`, YAML or JSON (JSON is read as YAML).

    Raises:
        SchemaError: when the text is not YAML or does not describe a schema.
    """
    return from_dict(parse(text))


def parse(text: str) -> object:
    """The plain values of a YAML or JSON text.

    Raises:
        SchemaError: when it is neither, or beyond `untrusted.SCHEMA`.
    """
    try:
        return plain_values(text, untrusted.SCHEMA)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        last = text.count("\n")  # libyaml takes the end of the text for a line of its own
        place = f" near line {min(mark.line, last) + 1}" if mark else ""
        raise SchemaError(
            f"The schema is not readable as YAML or JSON{place}.", field="schema"
        ) from None


def plain_values(text: str, limit: untrusted.ReadLimit) -> object:
    """The plain values of a YAML or JSON text, of this program or of another.

    Raises:
        PrismError: of the limit's kind, beyond it.
        yaml.YAMLError, ValueError: when it is neither.
    """
    if text.lstrip().startswith("{"):
        try:
            return untrusted.from_json(text, limit)
        except json.JSONDecodeError:
            pass  # YAML may be written in braces too
    return untrusted.from_yaml(text, limit, _Loader)


def load(source: file_or_text.Source) -> Schema:
    """The schema in a `.yaml`, `.yml` or `.json` file; maps of codes may be in files beside it.

    Args:
        source: the file, or its text; see `sources`.

    Raises:
        SchemaError: when it cannot be read or does not describe a schema.
    """
    text, folder = read_text(source)
    document = parse(text)
    return from_dict(document if folder is None else code_groups.with_files(document, folder))


def read_text(source: file_or_text.Source) -> tuple[str, Path | None]:
    """The text of a schema, and the folder of its file where it is one.

    Raises:
        SchemaError: when it cannot be read, or is beyond `untrusted.SCHEMA`.
    """
    found = file_or_text.located(source, file_or_text.SCHEMA)
    if isinstance(found, Path):
        return untrusted.read_text(found, untrusted.SCHEMA), found.parent
    if isinstance(found, str):
        return found, None
    try:
        return untrusted.decoded(found, untrusted.SCHEMA), None
    except UnicodeDecodeError:
        raise SchemaError(
            "The schema is not UTF-8 text. Save it as UTF-8.", field="schema"
        ) from None


def from_dict(document: object) -> Schema:
    """A schema from plain values, as `to_dict` gives them."""
    if not isinstance(document, dict) or not isinstance(document.get("columns"), list):
        raise SchemaError("A schema needs a list named 'columns'.", field="columns")
    if "learn" in document:
        raise SchemaError(
            "max_rows is still to be learned. Run `prism learn-domain` first and use the schema "
            "that it writes.",
            field="learn",
        )
    # A key of YAML may be a number: only as texts can all be sorted and named.
    unknown = sorted(str(key) for key in set(document) - _SCHEMA_KEYS)
    if unknown:
        raise SchemaError(
            f"The schema has an unknown entry {unknown[0]!r}. Allowed: "
            f"{', '.join(sorted(_SCHEMA_KEYS))}.{suggestion(unknown[0], _SCHEMA_KEYS)}",
            field=unknown[0],
        )
    if document.get("version", 1) != 1:
        raise SchemaError(
            "The schema's version must be 1. Update this program to read a newer one.",
            field="version",
        )
    persons = document.get("persons")
    learned, codebook = document.get("learned"), document.get("codebook")
    person_id = scalar(document, "person_id", "person_id")
    return Schema(
        columns=tuple(
            column_from_dict(entry, number)
            for number, entry in enumerate(columns_of(document), start=1)
        ),
        provenance=scalar(document, "provenance", "provenance", "declared"),
        one_row_per_person=_flag(document, "one_row_per_person", "one_row_per_person"),
        person_id=None if person_id is None else str(person_id),
        persons=None if persons is None else whole(persons, "persons"),
        max_rows=whole(document.get("max_rows", 1), "max_rows"),
        weighting=scalar(document, "weighting", "weighting", "rows"),
        prior=None if learned is None else LearningCharge.from_dict(learned),
        looks=looks.from_list(document.get("looks", ())),
        codebook=None if codebook is None else CodebookSource.from_dict(codebook),
    )


def columns_of(document: dict[Any, Any]) -> list[Any]:
    """The plain values of the columns, which are a list.

    Raises:
        SchemaError: when there are more than `untrusted.COLUMNS`.
    """
    entries: list[Any] = document["columns"]
    if len(entries) > untrusted.COLUMNS:
        raise SchemaError(f"A schema has at most {untrusted.COLUMNS:,} columns.", field="columns")
    return entries


def scalar(entry: dict[Any, Any], key: str, field: str, default: Any = None) -> Any:  # noqa: ANN401
    """A text, a number, true or false, or nothing: looked at before anything prints it.

    Raises:
        SchemaError: for a list or a section.
    """
    value = entry.get(key, default)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise SchemaError(
        f"{_place(field)} must be a text or a number, not a list or a section.", field=field
    )


def named_entry(entry: object, number: int) -> dict[str, Any]:
    """The plain values of a column, whose name and kind can be named in messages.

    Raises:
        SchemaError: when it has none.
    """
    if not isinstance(entry, dict) or entry.get("name") is None or "kind" not in entry:
        stray = (
            [str(key) for key in entry if key not in _COLUMN_KEYS]
            if isinstance(entry, dict)
            else []
        )
        close = next(filter(None, map(_meant, stray)), "")
        raise SchemaError(
            f"Entry {number} of the columns needs at least a name and a kind.{close}",
            field="columns",
        )
    name = scalar(entry, "name", f"columns[{number}].name")
    for key in ("kind", "fill", "other", "description"):
        scalar(entry, key, f"{str(name).strip()}.{key}")
    return entry


def column_from_dict(entry: object, number: int) -> Column:
    """A column from plain values; `number` is its place, for messages."""
    entry = named_entry(entry, number)
    if "learn" in entry:
        raise SchemaError(
            f"Column {entry['name']!r} is still to be learned. Run `prism learn-domain` first and "
            "use the schema that it writes.",
            field=f"columns[{number}]",
        )
    unknown = sorted(str(key) for key in set(entry) - _COLUMN_KEYS)
    if unknown:
        raise SchemaError(
            f"Column {entry['name']!r} has an unknown entry {unknown[0]!r}. Allowed: "
            f"{', '.join(sorted(_COLUMN_KEYS))}.{_meant(unknown[0])}",
            field=f"columns[{number}]",
        )
    name, kind = str(entry["name"]).strip(), entry["kind"]
    levels = entry.get("levels") or ()
    if not isinstance(levels, (list, tuple)) or not all(
        isinstance(level, (str, int, float, bool)) for level in levels
    ):
        raise SchemaError(
            f"Column {name!r}: levels must be a list of texts or numbers.", field=f"{name}.levels"
        )
    binned = _bins(entry, name) if kind in ("numeric", "date") else {}
    if not binned:
        stray = next((key for key in (*_BIN_KEYS, *_GRID_KEYS) if key in entry), None)
        if stray:
            raise SchemaError(
                f"Column {name!r}: {stray} does not apply to the kind {kind!r}.",
                field=f"{name}.{stray}",
            )
    with code_groups.named(name):
        groups = code_groups.of_entry(entry)
    return Column(
        name=name,
        kind=kind,
        levels=tuple(levels),
        groups=groups,
        nullable=_flag(entry, "nullable", f"{name}.nullable"),
        fill=_day(entry.get("fill"), kind, f"{name}.fill"),
        other=entry.get("other"),
        special=_special(entry, name),
        value_labels=_labels(entry, name),
        description=str(entry.get("description", "")),
        **binned,
    )


def _special(entry: dict[str, Any], name: str) -> tuple[Any, ...]:
    special = entry.get("special") or ()
    if not isinstance(special, (list, tuple)):
        raise SchemaError(
            f"Column {name!r}: special must be a list of texts or numbers.",
            field=f"{name}.special",
        )
    return tuple(special)


def _labels(entry: dict[str, Any], name: str) -> tuple[tuple[str, Any], ...]:
    """Words for values. In YAML a value may be written as the number it is."""
    labels = entry.get("labels") or {}
    if not isinstance(labels, dict) or not all(
        isinstance(value, str | int | float | bool) for value in labels
    ):
        raise SchemaError(
            f"Column {name!r}: labels must be a section with words for each value, such as "
            '"-9": Refused.',
            field=f"{name}.labels",
        )
    return tuple((level_text(value), words) for value, words in labels.items())


def _bins(entry: dict[str, Any], name: str) -> dict[str, Any]:
    kind = entry["kind"]
    bounds: dict[str, float] = {}
    for key in ("lower", "upper"):
        if entry.get(key) is None:
            raise SchemaError(
                f"Column {name!r}: {key} must be declared for {kind_text(kind)} column.",
                field=f"{name}.{key}",
            )
        bounds[key] = number(_day(entry[key], kind, f"{name}.{key}"), f"{name}.{key}")
    integer = _flag(entry, "integer", f"{name}.integer") or kind == "date"
    decimals = 0 if integer else entry.get("decimals")
    if decimals is not None:
        decimals = whole(decimals, f"{name}.decimals")
    if entry.get("edges") is not None:
        where = f"{name}.edges"
        if not isinstance(entry["edges"], (list, tuple)):
            raise SchemaError(f"{where} must be a list of numbers or dates.", field=where)
        stray = next((key for key in _LOG_KEYS if key in entry), None)
        if stray:
            raise SchemaError(
                f"Column {name!r}: {stray} goes with a number of bins; remove it, or the edges.",
                field=f"{name}.{stray}",
            )
        edges = tuple(number(_day(edge, kind, where), where) for edge in entry["edges"])
    else:
        bins = whole(entry.get("bins", DEFAULT_BINS), f"{name}.bins")
        if not 1 <= bins <= 10_000 or not bounds["lower"] < bounds["upper"]:
            raise SchemaError(
                f"Column {name!r}: bins must be between 1 and 10,000 and lower below upper.",
                field=f"{name}.bins",
            )
        edges = _edges(entry, name, bounds, bins, decimals)
    # Whoever names neither leaves the bins to the plan.
    left = not any(key in entry for key in ("edges", "bins", *_LOG_KEYS))
    return {**bounds, "edges": edges, "decimals": decimals, "open_bins": left}


def _edges(
    entry: dict[str, Any], name: str, bounds: dict[str, float], bins: int, decimals: int | None
) -> tuple[float, ...]:
    """Edges of a number of bins: equal ones, or `scale: log`, see `log_bins.log_edges`."""
    scale = entry.get("scale", "equal")
    if scale not in ("equal", "log"):
        raise SchemaError(f"Column {name!r}: scale must be equal or log.", field=f"{name}.scale")
    if scale == "equal":
        stray = next((key for key in ("unit", "zero") if key in entry), None)
        if stray:
            raise SchemaError(
                f"Column {name!r}: {stray} goes with scale: log.", field=f"{name}.{stray}"
            )
        return equal_edges(bounds["lower"], bounds["upper"], bins, decimals)
    if entry["kind"] == "date":
        raise SchemaError(f"Column {name!r}: a date has equal bins.", field=f"{name}.scale")
    unit = number(entry.get("unit", 1.0), f"{name}.unit")
    zero = _flag(entry, "zero", f"{name}.zero")
    try:
        return log_edges(bounds["lower"], bounds["upper"], bins, decimals, unit=unit, zero=zero)
    except SchemaError as error:
        raise SchemaError(f"Column {name!r}: {error}", field=f"{name}.{error.field}") from None


def _day(value: object, kind: object, field: str) -> Any:  # noqa: ANN401
    if kind == "date" and isinstance(value, str):
        return day_number(value, field=field)
    return value


def _flag(entry: dict[str, Any], key: str, field: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise SchemaError(f"{field} must be true or false.", field=field)
    return value


def number(value: object, field: str) -> float:
    """A finite number, or a SchemaError that names the field."""
    try:
        found = float(value) if isinstance(value, str | SupportsFloat) else math.nan
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    # To float() true is 1.
    if not math.isfinite(found) or isinstance(value, bool):
        raise SchemaError(f"{_place(field)} must be a number.", field=field)
    return found


def _place(field: str) -> str:
    """A field such as "age.lower" in words."""
    name, dot, part = field.rpartition(".")
    return f"Column {name!r}: {part}" if dot else field


def whole(value: object, field: str) -> int:
    """A whole number, or a SchemaError that names the field."""
    found = number(value, field)
    if found != int(found):
        raise SchemaError(f"{_place(field)} must be a whole number.", field=field)
    return int(found)


def to_dict(schema: Schema) -> dict[str, Any]:
    """Plain values that `from_dict` reads back to an equal schema."""
    document: dict[str, Any] = {"version": 1, "provenance": schema.provenance}
    if schema.person_id is not None:
        document |= {"person_id": schema.person_id, "persons": schema.persons}
        # Absent for one row: an entry more would change the hash of older plans.
        if schema.max_rows > 1:
            document |= {"max_rows": schema.max_rows, "weighting": schema.weighting}
    else:
        document["one_row_per_person"] = schema.one_row_per_person
    if schema.prior is not None:
        document["learned"] = schema.prior.to_dict()
    if schema.looks:
        document["looks"] = looks.to_list(schema.looks)
    if schema.codebook is not None:
        document["codebook"] = schema.codebook.to_dict()
    document["columns"] = [column_dict(column) for column in schema.columns]
    return document


def column_dict(column: Column) -> dict[str, Any]:
    """A column as plain values that `column_from_dict` reads back."""

    def plain(value: float) -> float | int | str:
        if column.kind == "date":
            return day_text(value)
        return int(value) if float(value).is_integer() else value

    entry: dict[str, Any] = {"name": column.name, "kind": column.kind}
    if column.binned:
        entry |= {"lower": plain(column.bounds[0]), "upper": plain(column.bounds[1])}
        if not column.open_bins:
            entry["edges"] = [plain(edge) for edge in column.edges]
        if column.kind == "numeric" and column.decimals is not None:
            entry |= {"integer": True} if column.decimals == 0 else {"decimals": column.decimals}
    else:
        entry |= _levels_dict(column)
    if column.nullable:
        entry["nullable"] = True
    if column.fill is not None:
        fill = column.fill
        entry["fill"] = plain(float(fill)) if column.binned else fill
    if column.other is not None:
        entry["other"] = column.other
    return entry | _words_dict(column)


def _words_dict(column: Column) -> dict[str, Any]:
    """Entries that only some columns have: a file without them is as it always was."""
    found = {
        "special": list(column.special),
        "labels": dict(column.value_labels),
        "description": column.description,
    }
    return {key: value for key, value in found.items() if value}


def _levels_dict(column: Column) -> dict[str, Any]:
    if column.groups is not None:
        return {"groups": code_groups.to_plain(column.groups)}
    return {} if column.kind == "boolean" else {"levels": list(column.levels)}


def dumps(schema: Schema, *, format: str = "yaml") -> str:
    """The schema as YAML or JSON text."""
    document = to_dict(schema)
    if format == "json":
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if format != "yaml":
        raise SchemaError("A schema is written as 'yaml' or 'json'.", field="format")
    return dump(document)


def dump(document: dict[str, Any]) -> str:
    """Plain values as YAML text that `parse` reads back."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def save(schema: Schema, path: str | Path) -> None:
    """Write the schema, whole or not at all; a name ending in .json gives JSON, any other YAML.

    Raises:
        OSError: when it cannot be written; what stood there stays.
    """
    target = Path(path)
    text = dumps(schema, format="json" if target.suffix == ".json" else "yaml")
    files.give(target, text.encode("utf-8"))


_OTHER_WORDS = {
    "type": "kind",
    "min": "lower",
    "max": "upper",
    "categories": "levels",
    "values": "levels",
    "missing": "nullable",
    "null": "nullable",
    "label": "description",
    "value_labels": "labels",
    "missing_values": "special",
}
"""What other programs call an entry of a column."""


def _meant(key: str) -> str:
    known = _OTHER_WORDS.get(key.lower())
    return meant(known) if known else suggestion(key, _COLUMN_KEYS)
