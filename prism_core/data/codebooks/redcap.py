"""REDCap data dictionaries: one row a field, as a project's designer downloads them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from prism_core.data.codebooks.code_list import comma_list, number_of, plain_text
from prism_core.data.codebooks.codebook_column import CodebookColumn, Cure, day_of
from prism_core.data.codebooks.resources import check_count
from prism_core.data.codebooks.sheet import Sheet, SheetRow, folded_headers
from prism_core.data.schema.level import level_text
from prism_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prism_core.data.schema.column_rules import Kind

HEADERS = {
    "variablefieldname": "name",
    "fieldname": "name",
    "fieldtype": "type",
    "fieldlabel": "label",
    "choicescalculationsorsliderlabels": "choices",
    "choicesorcalculations": "choices",
    "selectchoicesorcalculations": "choices",
    "fieldnote": "note",
    "textvalidationtypeorshowslidernumber": "validation",
    "textvalidationmin": "min",
    "textvalidationmax": "max",
    "identifier": "identifier",
    "branchinglogicshowfieldonlyif": "branching",
    "branchinglogic": "branching",
    "requiredfield": "required",
}
"""Folded headers of the download and of the API, and what they mean."""

MEANINGS = {
    "name": "name of the column",
    "type": "kind of the column",
    "label": "description",
    "choices": "levels and their labels",
    "note": "description, continued",
    "validation": "numbers, dates and decimals",
    "min": "lower bound",
    "max": "upper bound",
    "identifier": "names a person: left out, or the person ID",
    "branching": "may be missing",
    "required": "may not be missing",
}

_NUMBER = re.compile(r"number(?:_([1-4])dp)?(_comma_decimal)?")
_DATE = re.compile(r"(?:date|datetime|datetime_seconds)_([ymd]{3})")
_UNSAID: Mapping[str, tuple[str, tuple[Cure, ...]]] = {
    "calc": ("a calculated field", ("type", "learn", "leave out")),
    "notes": ("free text", ("leave out", "learn", "type")),
    "file": ("a file, of which the table holds no content", ("leave out",)),
    "sql": ("choices that the project draws from a query", ("type", "learn", "leave out")),
    "descriptive": ("a text on the screen, which no cell answers", ("leave out",)),
    "text": ("free text", ("leave out", "learn", "type")),
}
"""Types without a declaration: what they are, and what can be done."""


def read(sheet: Sheet) -> tuple[list[CodebookColumn], list[tuple[str, str]]]:
    """The columns of a dictionary, and what its headers were taken for.

    A checkbox becomes one boolean column for each of its choices, named as REDCap exports it.

    Raises:
        SchemaError: when the header is not that of a dictionary, or a field has no name or type.
    """
    places, understood = folded_headers(sheet.header, HEADERS, MEANINGS)
    for part, header in (("name", "Variable / Field Name"), ("type", "Field Type")):
        if part not in places:
            raise SchemaError(
                f"Line 1: the header of a REDCap data dictionary has {header!r}. Download the "
                "dictionary as CSV, or name another format.",
                field="codebook",
            )
    check_count(len(sheet.rows))
    columns: list[CodebookColumn] = []
    for row in sheet.rows:
        columns += _columns(_Field(row, places, first=not columns))
    return columns, understood


class _Field:
    """A row of the dictionary by what its cells mean."""

    def __init__(self, row: SheetRow, places: Mapping[str, int], *, first: bool) -> None:
        self.line = row.line
        self.first = first
        self._cells = {part: row.cells[place] for part, place in places.items()}
        self.name = self._cells["name"]
        self.type = self["type"].lower()

    def __getitem__(self, part: str) -> str:
        text = self._cells.get(part, "")
        # As R writes an empty cell; a label may be just that.
        return "" if text == "NA" and part != "label" else text

    @property
    def where(self) -> str:
        return f"line {self.line}"

    @property
    def description(self) -> str:
        label, note = plain_text(self["label"]), plain_text(self["note"])
        return f"{label} ({note})" if label and note else label or note

    @property
    def nullable(self) -> bool:
        # A field may be required and hidden by its branching logic, and then its cell is empty.
        return bool(self["branching"]) or self["required"].lower() not in ("y", "yes", "1", "true")

    def column(self, **known: Any) -> CodebookColumn:  # noqa: ANN401  (its fields)
        found: dict[str, Any] = {
            "name": self.name,
            "source": self.where,
            "description": self.description,
            "nullable": self.nullable,
        }
        return CodebookColumn(**(found | known))

    def undecided(self, remark: str, *cures: Cure) -> CodebookColumn:
        return self.column(remark=remark, only=cures)


def _columns(field: _Field) -> list[CodebookColumn]:
    kind = field.type
    if not field.name or not kind:
        raise SchemaError(
            f"Line {field.line}: a field needs its name and its type.", field="codebook"
        )
    if field["identifier"].lower() in ("y", "yes", "1", "true"):
        return [field.undecided("marked as an identifier", "leave out", "person")]
    if kind == "checkbox":
        return _checkbox(field)
    if kind in ("radio", "dropdown"):
        return [_choice(field)]
    if kind in ("yesno", "truefalse"):
        return [field.column(kind="boolean")]
    if kind == "slider":
        return [_slider(field)]
    if field.first and kind == "text":
        # The first field of every project is the record's ID.
        return [field.undecided("the record's ID", "person", "leave out")]
    if kind == "text" and field["validation"]:
        return [_validated(field)]
    remark, cures = _UNSAID.get(kind, (f"the type {plain_text(kind)[:40]!r}", ()))
    return [field.undecided(remark, *cures)]


def _choice(field: _Field) -> CodebookColumn:
    levels, labels = comma_list(field["choices"], f"Line {field.line}")
    return field.column(kind="categorical", levels=levels, labels=labels)


def _checkbox(field: _Field) -> list[CodebookColumn]:
    levels, labels = comma_list(field["choices"], f"Line {field.line}")
    if not levels:
        return [field.undecided("a checkbox without choices", "type", "leave out")]
    words = dict(labels)
    return [
        field.column(
            name=f"{field.name}___{level_text(level).lower().replace('-', '_')}",
            kind="boolean",
            # A box that is not ticked is exported as 0: only a hidden one is empty.
            nullable=bool(field["branching"]),
            description=f"{field.description}: "
            f"{words.get(level_text(level), level_text(level))}".lstrip(": "),
        )
        for level in levels
    ]


def _slider(field: _Field) -> CodebookColumn:
    low, high = number_of(field["min"]), number_of(field["max"])
    return field.column(
        kind="numeric",
        # A slider runs from 0 to 100 unless the project says otherwise.
        lower=0.0 if low is None else low,
        upper=100.0 if high is None else high,
        decimals=0,
    )


def _validated(field: _Field) -> CodebookColumn:
    validation = field["validation"].lower()
    number, date = _NUMBER.fullmatch(validation), _DATE.fullmatch(validation)
    if validation == "integer" or number:
        decimals = 0 if number is None else number.group(1) and int(number.group(1))
        comma = number is not None and bool(number.group(2))
        return field.column(
            kind="numeric",
            lower=number_of(field["min"]),
            upper=number_of(field["max"]),
            decimals=decimals,
            unread="REDCap exports this field with a decimal comma" if comma else "",
        )
    if date:
        return _date(field, date.group(1))
    return field.undecided(
        f"text in the form {plain_text(validation)[:40]!r}", "leave out", "learn", "type", "person"
    )


def _date(field: _Field, order: str) -> CodebookColumn:
    kind: Kind = "date"
    low, high = day_of(field["min"], order), day_of(field["max"], order)
    return field.column(kind=kind, lower=low, upper=high)
