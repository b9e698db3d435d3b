"""Codebook: the columns that a file about a table describes, and what it leaves open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from prism_core.data.codebooks.resources import check_count
from prism_core.data.schema import schema_file
from prism_core.data.schema.schema import Schema
from prism_core.errors import SchemaError
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prism_core.data.codebooks.codebook_column import CodebookColumn, OpenColumn
    from prism_core.data.codebooks.usual_bounds import UsualBounds
    from prism_core.data.schema.codebook_source import CodebookSource


_LEVELS = 200_000
"""Most codes of all columns: a list that is written once may hold for thousands of them."""
_LONGEST = 200


@dataclass(frozen=True, kw_only=True)
class Codebook:
    """The columns that a codebook describes.

    Attributes:
        columns: in its order.
        source: the file's name, digest and format.
        understood: header or attribute of the file, and what it was taken for; for the preview.

    Raises:
        SchemaError: when it has no column, too many, or one twice.
    """

    columns: tuple[CodebookColumn, ...]
    source: CodebookSource
    understood: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.columns:
            raise SchemaError("The codebook describes no column.", field="codebook")
        check_count(len(self.columns))
        if sum(len(column.levels) for column in self.columns) > _LEVELS:
            raise SchemaError(
                f"The codebook lists more than {_LEVELS:,} codes in all, which are not read. Leave "
                "out the columns of long lists, or split it.",
                field="codebook",
            )
        seen: dict[str, CodebookColumn] = {}
        for column in self.columns:
            twin = seen.setdefault(column.name, column)
            if twin is not column:
                raise SchemaError(
                    f"The codebook describes column {column.name!r} twice ({twin.source} and "
                    f"{column.source}). Keep one of them.",
                    field="codebook",
                )

    @cached_property
    def open(self) -> tuple[OpenColumn, ...]:
        """The columns that are not settled, in order."""
        return tuple(one for column in self.columns if (one := column.open) is not None)

    @property
    def learned(self) -> tuple[str, ...]:
        """The columns that are to be learned."""
        return tuple(c.name for c in self.columns if c.learn and c.column is None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def without(self, names: Iterable[str]) -> Codebook:
        """The codebook without these columns.

        Raises:
            SchemaError: when a name is none of its columns, or none would be left.
        """
        dropped = self.known(names)
        by_hand = tuple(name for name in self.source.by_hand if name not in dropped)
        return replace(
            self,
            columns=tuple(c for c in self.columns if c.name not in dropped),
            source=replace(self.source, by_hand=by_hand),
        )

    def to_learn(self, names: Iterable[str]) -> Codebook:
        """The codebook where these columns are to be learned with budget, as far as they are open.

        Raises:
            SchemaError: when a name is none of its columns, or that column cannot be learned.
        """
        wanted = self.known(names)
        for one in self.open:
            if one.column in wanted and "learn" not in one.cures:
                raise SchemaError(
                    f"Column {one.column!r} cannot be learned. Missing: {one.sentence}.",
                    field=one.column,
                )
        return replace(
            self,
            columns=tuple(
                replace(column, learn=column.name in wanted or column.learn)
                for column in self.columns
            ),
        )

    def with_suggested(self, names: Iterable[str]) -> Codebook:
        """The codebook where these columns have the bounds that are suggested for them.

        They count as declared by hand: the codebook does not say them.

        Raises:
            SchemaError: when a name is none of its columns, or none is suggested for one.
        """
        wanted = self.known(names)
        columns = []
        for column in self.columns:
            if column.name in wanted:
                bounds = column.suggested
                if bounds is None:
                    raise SchemaError(
                        f"No bounds are suggested for column {column.name!r}: its name, label and "
                        "format do not say any. Type them.",
                        field=column.name,
                    )
                column = replace(column, lower=float(bounds.lower), upper=float(bounds.upper))
            columns.append(column)
        # In the codebook's order, whatever the order of asking: it is written into the schema.
        by_hand = tuple(n for n in self.names if n in {*self.source.by_hand, *wanted})
        return replace(self, columns=tuple(columns), source=replace(self.source, by_hand=by_hand))

    @cached_property
    def suggested(self) -> dict[str, UsualBounds]:
        """The bounds that are suggested, by column."""
        return {c.name: bounds for c in self.columns if (bounds := c.suggested) is not None}

    def known(self, names: Iterable[str]) -> frozenset[str]:
        """These names, each of which is a column.

        Raises:
            SchemaError: when one is not.
        """
        wanted = list(names)
        for name in wanted:
            if name not in self.names:
                raise SchemaError(
                    f"The codebook has no column {name!r}.{suggestion(name, self.names)}",
                    field="codebook",
                )
        return frozenset(wanted)

    def schema(self, **people: Any) -> Schema:  # noqa: ANN401  (fields of `Schema`)
        """The schema, where nothing is open.

        Args:
            people: who a row is, as in `Schema`: one_row_per_person, person_id, persons,
                max_rows and weighting.

        Raises:
            SchemaError: naming the first column that is open, and how many are.
        """
        if self.open:
            first = self.open[0]
            rest = len(self.open) - 1
            more = f" So {'are' if rest > 1 else 'is'} {rest:,} more." if rest else ""
            raise SchemaError(
                f"Column {first.column!r} is open. Missing: {first.sentence}.{more}",
                field=first.column,
            )
        if self.learned:
            raise SchemaError(
                f"Column {self.learned[0]!r} is still to be learned. Run `prism learn-domain`.",
                field=self.learned[0],
            )
        columns = [column.column for column in self.columns]
        return Schema(
            columns=tuple(column for column in columns if column is not None),
            provenance="codebook",
            codebook=self.source,
            **people,
        )


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
