"""Plans for numeric columns by moments or thresholds, and rows for them."""

from __future__ import annotations

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.schema import Schema
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.structure.dag import Dag

N = 400


def schema(bins=12):
    def numeric(name, count, **more):
        edges = equal_edges(0.0, 100.0, count, None)
        return Column(name=name, kind="numeric", lower=0.0, upper=100.0, edges=edges, **more)

    return Schema(
        columns=(
            numeric("age", bins),
            numeric("dose", bins, nullable=True),
            numeric("few", 4),
            Column(name="ward", kind="categorical", levels=("a", "b", "c")),
            Column(name="y", kind="boolean"),
        ),
        one_row_per_person=True,
    )


DAG = Dag(nodes=schema().names, edges=(("age", "y"), ("dose", "y"), ("few", "y")))


def table(*, public=True, n=N, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    columns = [
        np.clip(rng.normal(3 + 5 * y, 1.5), 0, 11),
        rng.integers(0, 13, n),
        rng.integers(0, 4, n),
        rng.integers(0, 3, n),
        y,
    ]
    codes = np.column_stack(columns).astype(int)
    return EncodedTable(schema=schema(), codes=codes, public=public)


def planned(rule, *, epsilon=1.0, **wishes):
    wishes = {"numeric_queries": rule, "numeric_bins": 10, "thresholds": 3, **wishes}
    return design(
        Brief(
            schema(),
            Task(target="y", **wishes),
            Budget(epsilon=epsilon),
            N,
            dag=DAG,
            synthesis=Synthesis(iterations=30),
        )
    )
