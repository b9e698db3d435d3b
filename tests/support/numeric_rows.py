"""A small table with a numeric target, as the tests of regression use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.schema import Schema
from prism_core.evaluation import Subject

if TYPE_CHECKING:
    from prism_core.data.schema.level import Level


def schema_of(bins: int = 10, *, nullable: bool = False, special: tuple[Level, ...] = ()) -> Schema:
    return Schema(
        columns=(
            Column(
                name="x",
                kind="numeric",
                lower=0,
                upper=10,
                edges=tuple(range(1, 10)),
                nullable=True,
            ),
            Column(name="g", kind="categorical", levels=("a", "b", "c")),
            Column(
                name="y",
                kind="numeric",
                lower=0,
                upper=100,
                nullable=nullable,
                special=special,
                edges=equal_edges(0, 100, bins, None),
            ),
        ),
        one_row_per_person=True,
    )


def rows(
    n: int, seed: int, *, schema: Schema | None = None, noise: float = 10.0, public: bool = False
) -> EncodedTable:
    """The target rises by 7 a unit of x and by 8 a level of g."""
    schema = schema_of() if schema is None else schema
    rng = np.random.default_rng(seed)
    x, g = rng.integers(0, 11, n), rng.integers(0, 3, n)
    bins = schema["y"].level_count
    value = 7.0 * np.minimum(x, 9) + 8.0 * g + rng.normal(0, noise, n)
    y = np.clip(value * bins // 100, 0, bins - 1).astype(int)
    return EncodedTable(schema=schema, codes=np.stack([x, g, y], axis=1), public=public)


def subject(**changes) -> Subject:
    entries = {
        "synthetic": rows(1_000, 1, noise=25.0),
        "holdout": rows(500, 2),
        "train": rows(1_000, 3),
        "target": "y",
        "s": ("x",),
        "n": 1_000,
    }
    return Subject(**entries | changes)
