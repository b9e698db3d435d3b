"""Plans with adaptive rounds."""

from __future__ import annotations

from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from tests.support.exclusive_or import DAG, SCHEMA, N


def plan_for(*, schema=SCHEMA, dag=DAG, synthesis=None, n=N, task=None, **budget):
    wish = {"target": "y", "three_way": "adaptive", "max_joint_cells": 0, **(task or {})}
    budget.setdefault("epsilon", 8.0)
    return design(
        Brief(
            schema, Task(**wish), Budget(**budget), n, dag=dag, synthesis=synthesis or Synthesis()
        )
    )
