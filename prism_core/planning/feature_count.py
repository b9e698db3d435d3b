"""Number of features, where the curator leaves it to the plan.

It follows from public facts alone (schema, n, budget), so nothing is spent on deciding.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.errors import PlanError
from prism_core.planning.allocation import allocate
from prism_core.planning.candidates import task_pairs
from prism_core.planning.queries import expected_relative_error
from prism_core.planning.regimes import free_features
from prism_core.privacy.accountants.accountant import accountant

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema
    from prism_core.planning.wishes.task import Budget, Task

FEW = 8
"""Features chosen privately where all of them would be too many (the paper's k)."""

MOST = 64
"""With more features than this some are chosen, however small the noise: a learner of a few
thousand rows has no use for hundreds of indicators that tell nothing."""

ERROR_LIMIT = 0.45
"""All features are taken while the expected errors of all (X_j, Y), each over n, add up to this.

They add up because a model that predicts from all features hears the noise of all of them.
Measured on public rows: readmission (23 features, 20,000 rows) has .58 at epsilon .5, where 8
chosen features do better, and .30 at 1, where all do; Adult (11, 39,073 rows) .38 at .2, where all
do.
"""


def settled(schema: Schema, task: Task, budget: Budget, n: int, delta: float) -> Task:
    """The task with `k` settled. Spends nothing.

    Args:
        schema: in which marginals are measured; public.
        task: as wished.
        budget: epsilon and how it is shared out.
        n: number of training persons; public.
        delta: in force.
    """
    if task.regime == "predictive" and task.k is None:
        every = len(free_features(schema, task))
        # In this order: with hundreds of features the error need not be worked out.
        fits = every <= MOST and _star_error(schema, task, budget, n, delta) <= ERROR_LIMIT
        task = replace(task, k=every if fits else min(FEW, every))
    return task


def _star_error(schema: Schema, task: Task, budget: Budget, n: int, delta: float) -> float:
    """Expected l1 errors over n of all (X_j, Y_t), added up, when they share the whole budget.

    Without what a private choice or coarser columns take of it: a start, not the plan's error.
    """
    features = free_features(schema, task)
    try:
        pairs = [pair for name in task.target_names for pair in task_pairs(schema, features, name)]
    except PlanError:  # a pair too large for memory; a smaller choice may still leave it out
        return math.inf
    rule = accountant(budget.accountant, schema.contribution)
    cells = [schema.cells(pair) for pair in pairs]
    amounts = allocate(rule.amount(budget.epsilon, delta), cells, "closed_form", rule.exponent)
    mass = schema.contribution.totals(n)[0]
    # The same hair of headroom as in `design`: parts must not add up to more than delta.
    each = delta * (1.0 - 1e-12) / len(pairs)
    return math.fsum(
        expected_relative_error(size, rule.gaussian(amount, each, "").sigma, mass)
        for size, amount in zip(cells, amounts, strict=True)
    )
