"""Reading and writing an outline: a schema file in which some columns have an entry `learn`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prism_core.data import code_groups, looks, schema_io
from prism_core.data.column import Column, level_text
from prism_core.errors import SchemaError
from prism_core.learning.requests import CategoryRequest, NumericRequest, Outline
from prism_core.text.suggest import suggestion

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.learning.requests import Request
    from prism_core.sources import Source

_NUMERIC = {"bins", "cells", "scale", "unit", "tail"}
_CATEGORICAL = {"max_levels"}
_WITH_NUMERIC = {
    "name", "kind", "lower", "upper", "integer", "decimals", "nullable", "fill", "description",
}  # fmt: skip
_WITH_CATEGORICAL = {"name", "kind", "nullable", "other", "description"}


def load_outline(source: Source) -> Outline:
    """The outline in a YAML or JSON file, or its text; see `sources`.

    Raises:
        SchemaError: when it cannot be read or names something unknown.
    """
    return loads_outline(*schema_io.read_text(source))


def has_requests(text: str) -> bool:
    """Whether the text of a schema has a column that is to be learned."""
    document = schema_io.parse(text)
    entries = document.get("columns") if isinstance(document, dict) else None
    return isinstance(entries, list) and any(map(_to_learn, entries))


def _to_learn(entry: object) -> bool:
    return isinstance(entry, dict) and entry.get("learn", False) is not False


def loads_outline(text: str, folder: Path | None = None) -> Outline:
    """The outline written in `text`; maps of codes may be in files of a folder."""
    document = schema_io.parse(text)
    if folder is not None:
        document = code_groups.with_files(document, folder)
    if not isinstance(document, dict) or not isinstance(document.get("columns"), list):
        raise SchemaError("A schema needs a list named 'columns'.", field="columns")
    entries = schema_io.columns_of(document)
    columns: list[Column | Request] = [
        request_from_dict(entry, number)
        if _to_learn(entry)
        else schema_io.column_from_dict(
            _without_learn(entry) if isinstance(entry, dict) else entry, number
        )
        for number, entry in enumerate(entries, start=1)
    ]
    # The rest of the document is read as that of a schema with a stand-in for its columns.
    stand_in = {"name": "stand-in", "kind": "boolean"}
    people = schema_io.from_dict({**document, "columns": [stand_in]})
    return Outline(
        columns=tuple(columns), one_row_per_person=people.one_row_per_person,
        person_id=people.person_id, persons=people.persons, provenance=people.provenance,
        prior=people.prior, looks=people.looks,
    )  # fmt: skip


def dumps_outline(outline: Outline) -> str:
    """The outline as YAML text that `loads_outline` reads back."""
    document: dict[str, Any] = {"version": 1, "provenance": outline.provenance}
    if outline.person_id is not None:
        document |= {"person_id": outline.person_id, "persons": outline.persons}
    else:
        document["one_row_per_person"] = outline.one_row_per_person
    if outline.prior is not None:
        document["learned"] = outline.prior.to_dict()
    if outline.looks:
        document["looks"] = looks.to_list(outline.looks)
    document["columns"] = [
        schema_io.column_dict(column) if isinstance(column, Column) else request_dict(column)
        for column in outline.columns
    ]
    return schema_io.dump(document)


def request_dict(request: Request) -> dict[str, Any]:
    """A request as plain values that `request_from_dict` reads back."""
    if isinstance(request, CategoryRequest):
        entry: dict[str, Any] = {
            "name": request.name, "kind": "categorical", "other": request.other,
            "learn": {"max_levels": request.max_levels},
        }  # fmt: skip
        if request.nullable:
            entry["nullable"] = True
        if request.description:
            entry["description"] = request.description
        return entry
    entry = schema_io.column_dict(request.column(request.lower, request.upper, ()))
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
    entry = schema_io.named_entry(entry, number)
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
        column = schema_io.column_from_dict(
            {**_without_learn(entry), "levels": [entry.get("other", "other")]}, number
        )
        return CategoryRequest(
            name=name, other=level_text(column.levels[0]), nullable=column.nullable,
            description=column.description, **learn,
        )  # fmt: skip
    raise SchemaError(
        f"Column {name!r}: numeric, date and categorical columns can be learned; declare the "
        "levels of any other.",
        field=f"{name}.learn",
    )


def _numeric(entry: dict[str, Any], learn: dict[str, Any], name: str) -> NumericRequest:
    # Read as a declared column of one bin: the same rules for bounds, dates and decimals.
    outer = schema_io.column_from_dict({**_without_learn(entry), "bins": 1}, 0)
    lower, upper = outer.bounds
    for part in {"unit", "tail"} & set(learn):
        learn = {**learn, part: schema_io.number(learn[part], f"{name}.learn.{part}")}
    return NumericRequest(
        name=name, kind="date" if outer.kind == "date" else "numeric", lower=lower, upper=upper,
        decimals=outer.decimals, nullable=outer.nullable,
        fill=None if outer.fill is None else float(outer.fill),
        description=outer.description, **learn,
    )  # fmt: skip


def _known(
    entry: dict[str, Any], with_learn: set[str], learn: dict[str, Any], keys: set[str], name: str
) -> None:
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
