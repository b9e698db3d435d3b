"""Draft text: the schema file of a codebook; what is open stays open in it, and is named on top."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prism_core.data.schema import schema_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prism_core.data.codebooks.codebook import Codebook

_LONGEST = 200


def draft_text(codebook: Codebook, people: Mapping[str, Any] | None = None) -> str:
    """The YAML of the schema, with a line of comment for each column that is open.

    Where nothing is open, it is the text of `Codebook.schema`, or of an outline where columns are
    to be learned. An open column has what is known, and is refused by name until the rest is typed.

    Args:
        codebook: what is written.
        people: who a row is, as in `Schema`: one_row_per_person, person_id and persons.
    """
    people = dict(people or {})
    if not codebook.open and not codebook.learned:
        return schema_file.dumps(codebook.schema(**people))
    document: dict[str, Any] = {"version": 1, "provenance": "codebook"}
    document |= {key: value for key, value in people.items() if value not in (None, False)}
    document["codebook"] = codebook.source.to_dict()
    document["columns"] = [
        column.entry if column.column is None else schema_file.column_dict(column.column)
        for column in codebook.columns
    ]
    lines = [f"{one.column}: {one.sentence}" for one in codebook.open]
    return _comments(lines) + schema_file.dump(document)


def _comments(lines: list[str]) -> str:
    if not lines:
        return ""
    # A line end in a name would end the comment.
    shown = ["".join(sign if sign.isprintable() else " " for sign in line) for line in lines]
    return "".join(f"# {line[:_LONGEST]}\n" for line in ["The codebook leaves open:", *shown, ""])
