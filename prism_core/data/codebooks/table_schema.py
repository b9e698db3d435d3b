"""Frictionless Table Schema and Data Package: fields with type, constraints and missing values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from prism_core.data.codebooks.code_list import (
    Coded,
    MissingCodes,
    coded,
    missing_codes,
    number_of,
    plain_text,
)
from prism_core.data.codebooks.codebook_column import CodebookColumn, day_of
from prism_core.data.codebooks.resources import check_count, chosen
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.column_rules import Kind

EXTENSION = "prism"
"""The property that holds what Table Schema has no word for; see `table_schema_text`.

Of a field what a column says beside it; of a schema that it is more than a declaration.
"""

_UNDERSTOOD = {
    "type": "kind of the column",
    "constraints.enum": "levels",
    "categories": "levels and their labels",
    "constraints.minimum": "lower bound",
    "constraints.maximum": "upper bound",
    "constraints.required": "may not be missing",
    "missingValues": "may be missing, and special values",
    "title": "description",
    "description": "description",
}
_LONGEST_LIST = 2_000
_SEPARATE = ("object", "array", "geopoint", "geojson", "list")
FLAG_TEXTS = frozenset(["true", "t", "yes", "y", "1", "false", "f", "no", "n", "0"])
"""What a cell of a boolean column may hold, in lower case."""


def read(document: object, resource: str | None) -> tuple[list[CodebookColumn], list[Any]]:
    """The columns of a schema, a resource or a package.

    Args:
        document: the plain values of the JSON or YAML.
        resource: the name of the resource where a package has several.

    Raises:
        SchemaError: when the document is none of these, or which resource is meant is not said;
            and where its columns come from rows.
    """
    _check_package(document)
    schema = _schema_of(document, resource)
    if EXTENSION in schema:
        raise _from_rows("This Table Schema was written from a schema")
    fields = schema.get("fields")
    if not isinstance(fields, list):
        raise SchemaError(
            "The Table Schema has no list 'fields'. A data package needs its schema in the file "
            "itself: a schema that is a path is not followed.",
            field="codebook",
        )
    check_count(len(fields))
    common = missing_codes(schema.get("missingValues", [""]), "The Table Schema")
    columns = [_column(field, number, common) for number, field in enumerate(fields, start=1)]
    used = _used(fields, schema)
    return columns, [(name, meaning) for name, meaning in _UNDERSTOOD.items() if name in used]


def _check_package(document: object) -> None:
    """Refuse the data package of a release: who reads it cannot tell where its columns come from.

    Else two steps would turn a draft of private rows, or what learning cost, into a declaration.
    """
    if not isinstance(document, dict) or not str(document.get("name")).startswith("prism-"):
        return
    resources = document.get("resources")
    for one in resources if isinstance(resources, list) else ():
        if isinstance(one, dict) and one.get("name") == "synthetic-parquet":
            raise _from_rows("This data package is that of a release")


def _from_rows(what: str) -> SchemaError:
    return SchemaError(
        f"{what}, whose file says what its columns were drafted or learned from, and who opened "
        "the rows before. A codebook cannot say so. Use that schema file (YAML) itself.",
        field="provenance",
    )


def _schema_of(document: object, resource: str | None) -> dict[str, Any]:
    if isinstance(document, dict) and isinstance(document.get("resources"), list):
        resources = [one for one in document["resources"] if isinstance(one, dict)]
        # A package may hold files that are no tables. Without any schema all stay, so that the
        # error below tells what is missing.
        tables = [one for one in resources if "schema" in one] or resources
        names = [
            str(one.get("name") or one.get("path") or place)
            for place, one in enumerate(tables, start=1)
        ]
        document = tables[chosen(names, resource, "the data package has several resources")]
    if isinstance(document, dict) and "schema" in document:
        document = document["schema"]
    if not isinstance(document, dict):
        raise SchemaError(
            "The data package's schema is not in the file. Put the fields into it: a schema that "
            "is a path or an address is not followed.",
            field="codebook",
        )
    return document


def _used(fields: Sequence[Any], schema: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    for field in fields:
        found |= {str(key) for key in field}
        constraints = field.get("constraints")
        if isinstance(constraints, dict):
            found |= {f"constraints.{key}" for key in constraints}
    return found | {key for key in ("missingValues",) if key in schema}


def _column(field: object, number: int, common: MissingCodes) -> CodebookColumn:
    where = f"field {number}"
    if not isinstance(field, dict) or not isinstance(field.get("name"), str):
        raise SchemaError(f"The Table Schema's {where} has no name.", field="codebook")
    constraints = field.get("constraints")
    constraints = constraints if isinstance(constraints, dict) else {}
    required = constraints.get("required") is True
    codes = common
    if "missingValues" in field:
        codes = missing_codes(field["missingValues"], f"Field {field['name'][:80]!r}")
    listed = _levels(field, constraints, where)
    told = _told_levels(field, constraints, where) if not listed[0] else ((), ())
    listed = told if told[0] else listed
    kind, remark = _kind(field.get("type"), listed, ordered=field.get("categoriesOrdered") is True)
    remark = "levels as its description lists them" if told[0] else remark
    found: dict[str, Any] = {
        "name": field["name"].strip(),
        "source": where,
        "kind": kind,
        "description": _description(field),
        "nullable": codes.empty and not required,
        "remark": remark,
        "unread": _writing(field),
        "further": _extended(field),
    }
    if kind in ("numeric", "date"):
        found |= _bounds(constraints, kind)
        if not required:  # else no cell may hold one
            found |= {"special": codes.codes, "labels": codes.labels}
        if field.get("type") in ("integer", "year"):
            found["decimals"] = 0
    elif kind != "boolean":
        found |= {"levels": listed[0], "labels": listed[1]}
        # A code that is called missing and is no level reads as an undeclared one: missing again.
        found["nullable"] = bool(codes.empty or codes.codes) and not required
    return CodebookColumn(**found)


def _kind(type_: object, listed: Coded, *, ordered: bool) -> tuple[Kind | None, str]:
    """The kind of a field, and what it is where that is none of ours."""
    # Whatever the type: whole numbers with a list of values are codes, and no quantity.
    if listed[0]:
        return ("ordinal" if ordered else "categorical"), ""
    if type_ in ("integer", "number", "year"):
        return "numeric", ""
    if type_ in ("date", "datetime"):
        return "date", ""
    if type_ == "boolean":
        return "boolean", ""
    if type_ in ("string", "any", "default", None):
        return None, "free text" if type_ == "string" else "no type is given"
    if type_ in _SEPARATE:
        return None, f"the type {type_!r}: a cell holds more than one value"
    return None, f"the type {plain_text(type_)[:40]!r}"


def _description(field: dict[str, Any]) -> str:
    title, text = plain_text(field.get("title") or ""), plain_text(field.get("description") or "")
    return f"{title}: {text}" if title and text and title != text else text or title


def _levels(field: dict[str, Any], constraints: dict[str, Any], where: str) -> Coded:
    categories, enum = field.get("categories"), constraints.get("enum")
    listed = categories if isinstance(categories, list) else enum
    if field.get("type") == "boolean":
        listed = _flags(field)
    if not isinstance(listed, list):
        return (), ()
    pairs = [
        (one.get("value", ""), one.get("label", "")) if isinstance(one, dict) else (one, "")
        for one in listed
    ]
    return coded(
        [pair for pair in pairs if isinstance(pair[0], str | int | float)], where.capitalize()
    )


# Counted, as in `code_list`: any number of blanks, tried at any place, would take its time.
_LISTED = re.compile(
    r"-?(?:0|[1-9][0-9]{0,8})(?:\s{0,5}[,;|/]\s{0,5}-?(?:0|[1-9][0-9]{0,8})){1,200}"
)


def _told_levels(field: dict[str, Any], constraints: dict[str, Any], where: str) -> Coded:
    """Codes of a whole number whose description is a list of them and nothing else: 0,1,2,3."""
    text = field.get("description")
    if field.get("type") != "integer" or not isinstance(text, str):
        return (), ()
    if any(name in constraints for name in ("minimum", "maximum")):
        return (), ()
    if len(text) > _LONGEST_LIST or not _LISTED.fullmatch(text.strip()):
        return (), ()
    return coded([(code, "") for code in re.split(r"[,;|/\s]+", text.strip())], where.capitalize())


def _flags(field: dict[str, Any]) -> list[Any] | None:
    """The values of a boolean field that are not read as true and false; None for others."""
    texts = [
        [value for value in listed if isinstance(value, str)]
        for listed in (field.get("falseValues"), field.get("trueValues"))
        if isinstance(listed, list)
    ]
    if all(text.lower() in FLAG_TEXTS for values in texts for text in values):
        return None
    return [text for values in texts for text in values]


def _bounds(constraints: dict[str, Any], kind: Kind | None) -> dict[str, float | None]:
    read = day_of if kind == "date" else number_of
    found: dict[str, float | None] = {}
    # Values are clipped to a bound, so one that may not be reached serves as well.
    for part, names in (
        ("lower", ("minimum", "exclusiveMinimum")),
        ("upper", ("maximum", "exclusiveMaximum")),
    ):
        values = [read(constraints[name]) for name in names if name in constraints]
        found[part] = next((value for value in values if value is not None), None)
    return found


def _writing(field: dict[str, Any]) -> str:
    """How cells are written, where this program does not read them so."""
    if field.get("decimalChar") not in (None, "."):
        return f"decimals are written with {plain_text(field['decimalChar'])[:5]!r}"
    if field.get("groupChar"):
        return f"thousands are parted by {plain_text(field['groupChar'])[:5]!r}"
    if field.get("bareNumber") is False:
        return "numbers have other signs beside them"
    form = field.get("format")
    if field.get("type") in ("date", "datetime") and form not in (None, "default", "any"):
        text = plain_text(form)[:40]
        return "" if text.startswith("%Y-%m-%d") else f"dates are written as {text!r}"
    return ""


def _extended(field: dict[str, Any]) -> dict[str, Any]:
    """Entries of a schema file that this program wrote beside the words of Table Schema."""
    extra = field.get(EXTENSION)
    if not isinstance(extra, dict):
        return {}
    levels, labels = extra.get("levels"), extra.get("labels")
    plain = levels is None or (
        isinstance(levels, list) and all(isinstance(one, str | int | float) for one in levels)
    )
    pairs = labels is None or (
        isinstance(labels, dict)
        and all(isinstance(one, str) for each in labels.items() for one in each)
    )
    if not plain or not pairs:
        raise SchemaError(
            f"Field {str(field.get('name'))[:80]!r} has levels or labels under {EXTENSION!r} that "
            "are no list of values and no words by value. Take them out of the file.",
            field="codebook",
        )
    # What a field is called, and of which kind it is, says Table Schema itself.
    return {str(key): extra[key] for key in extra if key not in ("name", "kind")}


def field_entry(field: dict[str, Any]) -> dict[str, Any]:
    """A field as the plain values of a schema's column, as reading it gives them."""
    # As `table_schema_text` writes it: an empty cell is missing unless the field says other codes.
    return _column(field, 1, MissingCodes(empty=True)).entry
