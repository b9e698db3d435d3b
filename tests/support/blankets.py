"""Rows with a blanket around a target, and the plan that learns it."""

from __future__ import annotations

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.learning.graph.graph_plan import design_graph
from prism_core.planning.wishes.task import Synthesis, Task
from prism_core.privacy.noise import SeededNoise

NAMES = ("cause", "effect", "copy", "noise", "y", "wide")
SIZES = (2, 3, 2, 4, 2, 5)
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in zip(NAMES, SIZES, strict=True)
    ),
    one_row_per_person=True,
)
TASK = Task(target="y", regime="graphical")
STAR = Synthesis(model="naive_bayes", rows=50)


def people(n: int = 4_000, *, public: bool = False, schema: Schema = SCHEMA) -> EncodedTable:
    """cause -> y -> effect; `copy` is a noisy copy of cause; the rest is noise."""
    rng = np.random.default_rng(11)
    cause = rng.integers(0, 2, n)
    y = np.where(rng.random(n) < 0.2, 1 - cause, cause)
    effect = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), 2 * y)
    copy = np.where(rng.random(n) < 0.1, 1 - cause, cause)
    columns = [cause, effect, copy, rng.integers(0, 4, n), y, rng.integers(0, 5, n)]
    return EncodedTable(schema=schema, codes=np.column_stack(columns), public=public)


def plan_for(n: int = 4_000, epsilon: float = 2.0, delta: float | None = 1e-6, **others):
    return design_graph(SCHEMA, "y", epsilon, delta, n, **({"members": 4} | others))


def seeded() -> SeededNoise:
    return SeededNoise(np.random.default_rng(5))
