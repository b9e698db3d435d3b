"""A table whose target is an exclusive or: no pair tells, the three columns together tell all."""

from __future__ import annotations

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.structure.dag import Dag

N = 600


def domain(**sizes: int) -> Schema:
    return Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(range(size)))
            for name, size in sizes.items()
        ),
        one_row_per_person=True,
    )


SCHEMA = domain(a=2, b=2, c=3, y=2, d=2)
DAG = Dag(nodes=SCHEMA.names, edges=(("a", "y"), ("b", "y"), ("c", "y")))


def table() -> EncodedTable:
    """y is the exclusive or of a and b; c and d are noise."""
    rng = np.random.default_rng(4)
    a, b, c, d = (rng.integers(0, size, N) for size in (2, 2, 3, 2))
    return EncodedTable(schema=SCHEMA, codes=np.column_stack([a, b, c, a ^ b, d]))
