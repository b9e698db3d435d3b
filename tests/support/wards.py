"""A plan, and what spends on rows that are charged to the asset `ward`."""

from __future__ import annotations

import numpy as np

from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.structure.dag import Dag

DAG = Dag(
    nodes=("age", "readmitted", "smoker"), edges=(("age", "readmitted"), ("smoker", "readmitted"))
)
TASK = Task(target="readmitted", max_joint_cells=0, three_way="none")
STAR = Synthesis(model="naive_bayes")
OUTLINE = (
    "one_row_per_person: true\ncolumns:\n"
    "  - {name: age, kind: numeric, learn: true, lower: 0, upper: 120}\n"
    "  - {name: readmitted, kind: boolean}\n"
)


def planned(schema, n=300, **others):
    return design(Brief(schema, TASK, Budget(), n, dag=DAG, synthesis=STAR, **others))


def rng():
    return np.random.default_rng()
