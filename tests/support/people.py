"""People with several rows: all small ones, and tables of them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prism_core.privacy.contribution import Weighting

Person: TypeAlias = "tuple[tuple[int, ...], ...]"
"""The rows of a person, each as codes."""


def schema_of(
    sizes: Sequence[int], max_rows: int, weighting: Weighting = "rows", persons: int = 2
) -> Schema:
    """Columns a, b, ... and y, the last one, of so many levels."""
    names = [*"abcdefgh"[: len(sizes) - 1], "y"]
    return Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(range(size)))
            for name, size in zip(names, sizes, strict=True)
        ),
        person_id="who",
        persons=persons,
        max_rows=max_rows,
        weighting=weighting,
    )


def everybody(sizes: Sequence[int], max_rows: int) -> Iterator[Person]:
    """Every person of 1 to `max_rows` rows; the order of her rows means nothing."""
    cells = list(itertools.product(*map(range, sizes)))
    for kept in range(1, max_rows + 1):
        yield from itertools.combinations_with_replacement(cells, kept)


def table_of(schema: Schema, people: Sequence[Person], *, public: bool = True) -> EncodedTable:
    """The table of these people."""
    person = np.repeat(np.arange(len(people)), [len(rows) for rows in people])
    codes = np.array([row for rows in people for row in rows])
    return EncodedTable(schema=schema, codes=codes, public=public, person=person)
