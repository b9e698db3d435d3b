"""A small holdout with a synthetic table beside it, and a session on them."""

from __future__ import annotations

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.evaluation.inside_epsilon.holdout_plan import design_holdout
from prism_core.evaluation.inside_epsilon.holdout_question import question

FAR = 10**12
"""Noise far below any threshold, and as a threshold far above any gap."""


def schema_of(classes: int = 2, *, nullable: bool = False) -> Schema:
    return Schema(
        columns=(
            Column(name="x", kind="ordinal", levels=tuple(range(6))),
            Column(name="z", kind="boolean"),
            Column(name="y", kind="categorical", levels=tuple(range(classes)), nullable=nullable),
        ),
        one_row_per_person=True,
    )


def rows(n: int, schema: Schema, seed: int = 0, *, public: bool = False) -> EncodedTable:
    rng = np.random.default_rng(seed)
    x, z = rng.integers(0, 6, n), rng.integers(0, 2, n)
    top = schema["y"].level_count - 1
    y = np.clip(np.round(x / 5 * top + rng.normal(0, 0.3, n)), 0, top).astype(int)
    return EncodedTable(schema=schema, codes=np.stack([x, z, y], axis=1), public=public)


SCHEMA = schema_of()
MADE, HELD = rows(400, SCHEMA, 1, public=True), rows(300, SCHEMA, 2)
ALL, ONE, LOSS = (
    question(SCHEMA, "y"),
    question(SCHEMA, "y", features=("x",)),
    question(SCHEMA, "y", metric="log_loss"),
)


def plan_of(epsilon: float = 2.0, n: int = HELD.n, **others):
    return design_holdout(SCHEMA, "y", n, epsilon, 1e-6, **others)
