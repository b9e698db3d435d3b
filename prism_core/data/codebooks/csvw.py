"""CSV on the Web: metadata of a table or a group of tables, with datatypes and null values."""

from __future__ import annotations

import functools
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
from prism_core.data.codebooks.table_schema import FLAG_TEXTS
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from prism_core.data.schema.column_rules import Kind

CONTEXT = "http://www.w3.org/ns/csvw"

_WHOLE = frozenset(
    [
        "integer",
        "long",
        "int",
        "short",
        "byte",
        "nonNegativeInteger",
        "positiveInteger",
        "unsignedLong",
        "unsignedInt",
        "unsignedShort",
        "unsignedByte",
        "nonPositiveInteger",
        "negativeInteger",
        "gYear",
    ]
)
_REAL = frozenset({"number", "decimal", "double", "float"})
_DATES = frozenset({"date", "datetime", "dateTime", "dateTimeStamp"})
_LEAST = {"nonNegativeInteger": 0.0, "positiveInteger": 1.0, "unsignedByte": 0.0}
_MOST = {"nonPositiveInteger": 0.0, "negativeInteger": -1.0, "unsignedByte": 255.0}
_LONGEST_PATTERN = 10_000
_INHERITED = ("datatype", "null", "required", "separator")
# Words between bars alone: such a pattern is a list of levels.
_LISTED = re.compile(r"\^?\(?(?:\?:)?([\w .-]{1,100}(?:\|[\w .-]{1,100}){0,999})\)?\$?")
_UNDERSTOOD = {
    "datatype": "kind of the column, bounds and decimals",
    "null": "may be missing, and special values",
    "required": "may not be missing",
    "titles": "name of the column",
    "name": "name of the column, where it has no title",
    "dc:description": "description",
}


def read(document: object, resource: str | None) -> tuple[list[CodebookColumn], list[Any]]:
    """The columns of a table's metadata.

    Args:
        document: the plain values of the JSON.
        resource: the address of the table (`url`) where the metadata has several.

    Raises:
        SchemaError: when it describes no table, or several and none is named.
    """
    if not isinstance(document, dict):
        raise SchemaError("The CSVW metadata is no object of JSON.", field="codebook")
    given = {key: document[key] for key in _INHERITED if key in document}
    table = document
    if isinstance(document.get("tables"), list):
        tables = [one for one in document["tables"] if isinstance(one, dict)]
        names = [str(one.get("url") or place) for place, one in enumerate(tables, start=1)]
        table = tables[chosen(names, resource, "the metadata describes several tables")]
        given |= {key: table[key] for key in _INHERITED if key in table}
    schema = table.get("tableSchema")
    entries = schema.get("columns") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(entries, list):
        raise SchemaError(
            "The CSVW metadata has no tableSchema with columns in the file itself; an address is "
            "not followed.",
            field="codebook",
        )
    given |= {key: schema[key] for key in _INHERITED if key in schema}
    check_count(len(entries))
    codes = missing_codes(given.get("null", ""), "The CSVW metadata")
    columns = [
        # What is written once above holds below, unless it is written there again (inherited
        # properties).
        _column(given | entry, number, None if "null" in entry else codes)
        for number, entry in enumerate(entries, start=1)
        if _in_table(entry, number)
    ]
    used = {str(key) for entry in entries for key in entry} | set(given)
    return columns, [(name, meaning) for name, meaning in _UNDERSTOOD.items() if name in used]


def _in_table(entry: object, number: int) -> bool:
    if not isinstance(entry, dict):
        raise SchemaError(f"Column {number} of the CSVW metadata is no object.", field="codebook")
    # A virtual column is a statement about each row, and stands in no cell of the file.
    return entry.get("virtual") is not True


def _column(entry: dict[str, Any], number: int, codes: MissingCodes | None) -> CodebookColumn:
    where = f"column {number}"
    # The header of the CSV holds the title; the name is for programs.
    name = _text(entry.get("titles")) or _text(entry.get("name"))
    if not name:
        raise SchemaError(f"The CSVW metadata's {where} has no name or title.", field="codebook")
    datatype = entry.get("datatype", "string")
    facets = datatype if isinstance(datatype, dict) else {"base": datatype}
    base = str(facets.get("base", "string"))
    if codes is None:
        codes = missing_codes(entry["null"], f"Column {name[:80]!r}")
    required = entry.get("required") is True
    found: dict[str, Any] = {
        "name": name,
        "source": where,
        "description": plain_text(
            _text(entry.get("dc:description")) or _text(entry.get("dc:title"))
        ),
        "nullable": codes.empty and not required,
    }
    if entry.get("separator"):
        return CodebookColumn(**found, remark="a list: a cell holds more than one value")
    kind, listed, remark = _kind(base, facets)
    found |= {"kind": kind, "remark": remark, "unread": _writing(facets, kind)}
    if kind in ("numeric", "date"):
        found |= _bounds(base, facets, kind) | {"special": codes.codes, "labels": codes.labels}
    if kind == "numeric":
        found["decimals"] = _decimals(base, facets)
    if listed[0]:
        found |= {
            "levels": listed[0],
            "nullable": bool(codes.empty or codes.codes) and not required,
        }
    return CodebookColumn(**found)


def _text(value: object) -> str:
    """The first text of a natural-language property: a text, a list, or texts by language."""
    # Three steps reach the text in each of these, and in a list of texts by language.
    for _ in range(3):
        if isinstance(value, dict):
            value = next(iter(value.values()), "")
        if isinstance(value, list):
            value = value[0] if value else ""
    return value.strip() if isinstance(value, str) else ""


def _kind(base: str, facets: dict[str, Any]) -> tuple[Kind | None, Coded, str]:
    form = facets.get("format")
    return _kind_of(base, form if isinstance(form, str) and len(form) <= _LONGEST_PATTERN else "")


# A datatype that is written once may hold for thousands of columns.
@functools.lru_cache(maxsize=64)
def _kind_of(base: str, form: str) -> tuple[Kind | None, Coded, str]:
    """The kind of a datatype, its levels, and what it is where that is none of ours."""
    nothing: Coded = ((), ())
    if base in _WHOLE or base in _REAL:
        return "numeric", nothing, ""
    if base in _DATES:
        return "date", nothing, ""
    words = [(word, "") for word in form.split("|") if word]
    if base == "boolean":
        if all(word.lower() in FLAG_TEXTS for word, _ in words):
            return "boolean", nothing, ""
        return "categorical", coded(words, "The format"), ""
    listed = _LISTED.fullmatch(form)
    if listed and "|" in listed.group(1):
        words = [(word, "") for word in listed.group(1).split("|")]
        return "categorical", coded(words, "The format"), ""
    text = base in ("string", "normalizedString", "token", "any", "anyAtomicType")
    return None, nothing, "free text" if text else f"the datatype {plain_text(base)[:40]!r}"


def _writing(facets: dict[str, Any], kind: Kind | None) -> str:
    """How cells are written, where this program does not read them so."""
    form = facets.get("format")
    if isinstance(form, dict) and form.get("decimalChar") not in (None, "."):
        return f"decimals are written with {plain_text(form['decimalChar'])[:5]!r}"
    if kind == "date" and isinstance(form, str) and not form.startswith("yyyy-MM-dd"):
        return f"dates are written as {plain_text(form)[:40]!r}"
    return ""


def _bounds(base: str, facets: dict[str, Any], kind: Kind | None) -> dict[str, float | None]:
    read = day_of if kind == "date" else number_of
    found: dict[str, float | None] = {}
    # Values are clipped to a bound, so one that may not be reached serves as well.
    for part, names, own in (
        ("lower", ("minimum", "minInclusive", "minExclusive"), _LEAST),
        ("upper", ("maximum", "maxInclusive", "maxExclusive"), _MOST),
    ):
        values = [read(facets[name]) for name in names if name in facets]
        found[part] = next((value for value in values if value is not None), own.get(base))
    return found


def _decimals(base: str, facets: dict[str, Any]) -> int | None:
    """Decimals of a number: none for whole ones, else those of its pattern, as in #,##0.00."""
    if base in _WHOLE:
        return 0
    form = facets.get("format")
    pattern = form.get("pattern") if isinstance(form, dict) else form
    # Digits before an exponent do not say where the last decimal stands.
    if not isinstance(pattern, str) or "." not in pattern or "E" in pattern:
        return None
    places = re.match(r"[0#]{1,12}", pattern.rpartition(".")[2])
    return len(places.group()) if places else None
