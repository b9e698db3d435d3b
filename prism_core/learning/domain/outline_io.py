"""Outlines in files and in the form: columns with an entry `learn` become requests.

In a file an outline is a schema in which some columns have an entry `learn`; in the form these are
the rows that are ticked `learn`. An entry `learn: max_rows` beside the columns asks how many rows
of a person to use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from prism_core.data.schema import code_groups, column_form, looks, schema_file
from prism_core.data.schema.column import DEFAULT_BINS, Column
from prism_core.data.schema.level import level_text
from prism_core.errors import SchemaError
from prism_core.learning.domain.requests import (
    CategoryRequest,
    NumericRequest,
    Outline,
    RowsRequest,
)
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from prism_core.learning.domain.requests import Request, Scale
    from prism_core.text.file_or_text import Source

_NUMERIC = {"bins", "cells", "scale", "unit", "tail"}
_CATEGORICAL = {"max_levels"}
_WITH_NUMERIC = {
    "name",
    "kind",
    "lower",
    "upper",
    "integer",
    "decimals",
    "nullable",
    "fill",
    "special",
    "labels",
    "description",
}
_WITH_CATEGORICAL = {"name", "kind", "nullable", "other", "description"}


def load_outline(source: Source) -> Outline:
    """The outline in a YAML or JSON file, or its text; see `sources`.

    Raises:
        SchemaError: when it cannot be read or names something unknown.
    """
    return loads_outline(*schema_file.read_text(source))


def has_requests(text: str) -> bool:
    """Whether something in the text of a schema is to be learned."""
    document = schema_file.parse(text)
    if not isinstance(document, dict):
        return False
    entries = document.get("columns")
    return "learn" in document or (isinstance(entries, list) and any(map(_to_learn, entries)))


def _to_learn(entry: object) -> bool:
    # Not by truth: an empty section asks for learning with the defaults.
    return isinstance(entry, dict) and entry.get("learn", False) is not False


def loads_outline(text: str, folder: Path | None = None) -> Outline:
    """The outline written in `text`; maps of codes may be in files of a folder."""
    document = schema_file.parse(text)
    if folder is not None:
        document = code_groups.with_files(document, folder)
    if not isinstance(document, dict) or not isinstance(document.get("columns"), list):
        raise SchemaError("A schema needs a list named 'columns'.", field="columns")
    entries = schema_file.columns_of(document)
    columns: list[Column | Request] = [
        request_from_dict(entry, number)
        if _to_learn(entry)
        else schema_file.column_from_dict(
            _without_learn(entry) if isinstance(entry, dict) else entry, number
        )
        for number, entry in enumerate(entries, start=1)
    ]
    # The rest of the document is read as that of a schema with a stand-in for its columns.
    stand_in = {"name": "stand-in", "kind": "boolean"}
    people = schema_file.from_dict({**_without_learn(document), "columns": [stand_in]})
    return Outline(
        columns=tuple(columns),
        one_row_per_person=people.one_row_per_person,
        person_id=people.person_id,
        persons=people.persons,
        max_rows=people.max_rows,
        # A schema of one row a person has no weighting; here it would decide what is learned.
        weighting=document.get("weighting", "rows") if "learn" in document else people.weighting,
        provenance=people.provenance,
        prior=people.prior,
        looks=people.looks,
        codebook=people.codebook,
        learn_rows=_rows_request(document),
    )


def _rows_request(document: dict[str, Any]) -> RowsRequest | None:
    """What the entry `learn` beside the columns asks for: `max_rows`, or a section of that name."""
    if "learn" not in document:
        return None
    learn = document["learn"]
    asked = {"max_rows": True} if learn == "max_rows" else learn
    if not isinstance(asked, dict) or set(asked) != {"max_rows"}:
        raise SchemaError(
            "learn, beside the columns, must be max_rows, or a section max_rows that says the "
            "most, such as {max_rows: {most: 20}}. Columns have an entry learn of their own.",
            field="learn",
        )
    section = {} if asked["max_rows"] is True else asked["max_rows"]
    if not isinstance(section, dict) or set(section) - {"most"}:
        raise SchemaError(
            "learn.max_rows must be true, or a section with the entry most.", field="learn.max_rows"
        )
    return RowsRequest(**section)


def dumps_outline(outline: Outline) -> str:
    """The outline as YAML text that `loads_outline` reads back."""
    document: dict[str, Any] = {"version": 1, "provenance": outline.provenance}
    if outline.person_id is not None:
        document |= {"person_id": outline.person_id, "persons": outline.persons}
        if outline.max_rows > 1:
            document |= {"max_rows": outline.max_rows, "weighting": outline.weighting}
    else:
        document["one_row_per_person"] = outline.one_row_per_person
    if outline.learn_rows is not None:
        document["learn"] = {"max_rows": {"most": outline.learn_rows.most}}
    if outline.prior is not None:
        document["learned"] = outline.prior.to_dict()
    if outline.looks:
        document["looks"] = looks.to_list(outline.looks)
    if outline.codebook is not None:
        document["codebook"] = outline.codebook.to_dict()
    document["columns"] = [
        schema_file.column_dict(column) if isinstance(column, Column) else request_dict(column)
        for column in outline.columns
    ]
    return schema_file.dump(document)


def request_dict(request: Request) -> dict[str, Any]:
    """A request as plain values that `request_from_dict` reads back."""
    if isinstance(request, CategoryRequest):
        entry: dict[str, Any] = {
            "name": request.name,
            "kind": "categorical",
            "other": request.other,
            "learn": {"max_levels": request.max_levels},
        }
        if request.nullable:
            entry["nullable"] = True
        if request.description:
            entry["description"] = request.description
        return entry
    entry = schema_file.column_dict(request.column(request.lower, request.upper, ()))
    # There are none yet; they are what is to be learned.
    del entry["edges"]
    names = ("bins", "cells", "scale", "unit", "tail")
    return {**entry, "learn": {name: getattr(request, name) for name in names}}


def _without_learn(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "learn"}


def request_from_dict(entry: dict[str, Any], number: int) -> Request:
    """A request from plain values: those of a column, with an entry `learn`.

    Raises:
        SchemaError: when it is not usable; the message names the column.
    """
    entry = schema_file.named_entry(entry, number)
    name, kind = str(entry["name"]).strip(), entry["kind"]
    learn = {} if entry["learn"] is True else entry["learn"]
    if not isinstance(learn, dict):
        raise SchemaError(
            f"Column {name!r}: learn must be true or a section.", field=f"{name}.learn"
        )
    if kind in ("numeric", "date"):
        _known(entry, _WITH_NUMERIC, learn, _NUMERIC, name)
        return _numeric(entry, learn, name)
    if kind == "categorical":
        _known(entry, _WITH_CATEGORICAL, learn, _CATEGORICAL, name)
        # Read as a declared column of its one sure level: the same rules for its entries.
        column = schema_file.column_from_dict(
            {**_without_learn(entry), "levels": [entry.get("other", "other")]}, number
        )
        return CategoryRequest(
            name=name,
            other=level_text(column.levels[0]),
            nullable=column.nullable,
            description=column.description,
            **learn,
        )
    raise SchemaError(
        f"Column {name!r}: numeric, date and categorical columns can be learned; declare the "
        "levels of any other.",
        field=f"{name}.learn",
    )


def _numeric(entry: dict[str, Any], learn: dict[str, Any], name: str) -> NumericRequest:
    # Read as a declared column of one bin: the same rules for bounds, dates and decimals.
    outer = schema_file.column_from_dict({**_without_learn(entry), "bins": 1}, 0)
    lower, upper = outer.bounds
    for part in {"unit", "tail"} & set(learn):
        learn = {**learn, part: schema_file.number(learn[part], f"{name}.learn.{part}")}
    return NumericRequest(
        name=name,
        kind="date" if outer.kind == "date" else "numeric",
        lower=lower,
        upper=upper,
        decimals=outer.decimals,
        nullable=outer.nullable,
        fill=None if outer.fill is None else float(outer.fill),
        special=outer.special,
        description=outer.description,
        value_labels=outer.value_labels,
        **learn,
    )


def _known(
    entry: dict[str, Any], with_learn: set[str], learn: dict[str, Any], keys: set[str], name: str
) -> None:
    # Sorted: of several mistakes the same one is named every time.
    stray = sorted(str(key) for key in set(entry) - with_learn - {"learn"})
    if stray:
        raise SchemaError(
            f"Column {name!r}: {stray[0]} does not go with learn. Allowed: "
            f"{', '.join(sorted(with_learn))}.{suggestion(stray[0], with_learn)}",
            field=f"{name}.{stray[0]}",
        )
    unknown = sorted(str(key) for key in set(learn) - keys)
    if unknown:
        raise SchemaError(
            f"Column {name!r}: learn has an unknown entry {unknown[0]!r}. Allowed: "
            f"{', '.join(sorted(keys))}.{suggestion(unknown[0], keys)}",
            field=f"{name}.learn",
        )


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
    cells=NumericRequest.cells,
    scale=NumericRequest.scale,
    unit=NumericRequest.unit,
    tail=NumericRequest.tail,
    max_levels=CategoryRequest.max_levels,
)


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
        else schema_file.column_from_dict(column_form.entry(row, number), number)
        for number, row in enumerate(rows, start=1)
    )


def _request(
    row: Mapping[str, Any], number: int, details: Mapping[str, Mapping[str, Any]]
) -> Request:
    entry = column_form.entry(row, number)
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
        learn["bins"] = schema_file.whole(entry.pop("bins", DEFAULT_BINS), f"{name}.bins")
    return request_from_dict({**entry, "learn": learn}, number)


def to_rows(outline: Outline) -> tuple[list[column_form.FormRow], dict[str, Details]]:
    """The form's rows for an outline, and how its requests are learned."""
    rows: list[column_form.FormRow] = []
    details: dict[str, Details] = {}
    for column in outline.columns:
        if isinstance(column, Column):
            rows += column_form.to_rows([column])
            continue
        # A copy, as it is filled in below.
        details[column.name] = DEFAULTS.copy()
        if isinstance(column, NumericRequest):
            (row,) = column_form.to_rows([column.column(column.lower, column.upper, ())])
            row["bins"] = str(column.bins)
            details[column.name].update(
                cells=column.cells, scale=column.scale, unit=column.unit, tail=column.tail
            )
        else:
            (row,) = column_form.to_rows([column.column(())])
            row["levels"] = row["fill"] = ""  # empty cells become `other`
            details[column.name]["max_levels"] = column.max_levels
        row["learn"] = True
        rows.append(row)
    return rows, details
