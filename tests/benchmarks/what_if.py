"""How long a what-if takes: one table.

    python tests/benchmarks/what_if.py [REPEATS]

`design` for every regime and accountant that reads no row, then what the Budget page shows of the
plan: its lines, the comparison of allocations, and a curve of 40 epsilons. The median of the
repeats, each at an epsilon nobody asked for before; processor time, so that whatever else the
machine does is left out.
"""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.explain.plan_lines import against_uniform, lines
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.search.epsilon_curve import error_curve
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.structure.dag import Dag

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = (24, 200, 1_041)
ROWS = 50_000
CURVE = np.geomspace(0.05, 20.0, 40)


def inputs(columns: int) -> tuple[Schema, Dag]:
    rng = np.random.default_rng(columns)
    names = tuple(f"c{i}" for i in range(columns))
    schema = Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(range(int(size))))
            for name, size in zip(names, rng.integers(2, 12, columns), strict=True)
        ),
        one_row_per_person=True,
    )
    order = rng.permutation(columns)
    edges = {("c1", "c0"), ("c2", "c0"), ("c3", "c0"), ("c4", "c0"), ("c0", "c5"), ("c6", "c5")}
    rank = {int(column): place for place, column in enumerate(order)}
    kept = {(a, b) for a, b in edges}
    for _ in range(2 * columns):
        a, b = sorted(map(int, rng.choice(np.arange(7, columns), 2, replace=False)), key=rank.get)
        kept.add((f"c{a}", f"c{b}"))
    return schema, Dag(nodes=names, edges=tuple(sorted(kept)))


CASES = {
    "causal": (Task(target="c0"), Budget(), Synthesis()),
    "causal, 3-way": (Task(target="c0", three_way="model_error"), Budget(), Synthesis()),
    "graphical": (Task(target="c0", regime="graphical"), Budget(), Synthesis()),
    "predictive": (Task(target="c0", regime="predictive"), Budget(), Synthesis()),
    "naive Bayes": (Task(target="c0"), Budget(), Synthesis(model="naive_bayes")),
    "basic": (Task(target="c0"), Budget(accountant="basic"), Synthesis()),
    "locks": (
        Task(target="c0", max_joint_cells=0),
        Budget(locks=(Lock(columns=("c1", "c0"), share=0.05), Lock(columns=("c9",), share=0.001))),
        Synthesis(),
    ),
}


def median_ms(repeats: int, run: Callable[[float], object]) -> float:
    taken = []
    for repeat in range(repeats):
        started = time.process_time()
        run(1.0 + 0.0137 * repeat)
        taken.append(time.process_time() - started)
    return 1e3 * statistics.median(taken)


def main(repeats: int) -> None:
    print(f"{'columns':>7}  {'case':14} {'design':>9} {'lines':>9} {'compare':>9} {'curve':>9}  ms")
    for columns in COLUMNS:
        table = inputs(columns)
        for name, (task, budget, synthesis) in CASES.items():

            def plan_at(epsilon, table=table, task=task, budget=budget, synthesis=synthesis):
                wanted = replace(budget, epsilon=epsilon)
                return design(
                    Brief(table[0], task, wanted, ROWS, dag=table[1], synthesis=synthesis)
                )

            plan = plan_at(0.9)
            times = (
                median_ms(repeats, plan_at),
                median_ms(repeats, lambda _, plan=plan: lines(plan)),
                median_ms(repeats, lambda _, plan=plan: against_uniform(plan)),
                median_ms(repeats, lambda shift, plan=plan: error_curve(plan, CURVE * shift)),
            )
            print(f"{columns:7,}  {name:14} " + " ".join(f"{ms:9.2f}" for ms in times), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
