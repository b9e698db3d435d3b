"""Small tables to evaluate: two ordered columns and one of names, with a target."""

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema


def cat(name, size, *, nullable=False):
    levels = tuple(f"{name}{i}" for i in range(size))
    return Column(name=name, kind="categorical", levels=levels, nullable=nullable)


SCHEMA = Schema(
    columns=(
        cat("a", 4),
        Column(name="b", kind="numeric", lower=0, upper=6, edges=(2.0, 4.0), nullable=True),
        cat("c", 3, nullable=True),
        Column(name="y", kind="boolean"),
    )
)


def table(schema, codes):
    return EncodedTable(schema=schema, codes=np.asarray(codes).reshape(-1, len(schema.columns)))


def draw(rng, n, *, schema=SCHEMA, slope=0.2):
    codes = np.stack([rng.integers(0, c.size, n) for c in schema.columns], axis=1)
    codes[:, -1] = rng.random(n) < 0.1 + slope * codes[:, 0]
    return table(schema, codes)


def with_target(rows, values):
    codes = rows.codes.copy()
    codes[:, -1] = values
    return table(rows.schema, codes)


PAIR = Schema(columns=(cat("a", 3), cat("b", 2)))
