"""Inverse problems: the noise for an epsilon, the epsilon of noise, the epsilon for an error.

No row is read and nothing is spent: everything here is a function of public facts.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.errors import BudgetError
from prism_core.planning.design import design
from prism_core.privacy.accountants import accountant
from prism_core.privacy.checks import delta_value, epsilon_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.data.schema import Schema
    from prism_core.planning.plan import Plan
    from prism_core.planning.task import Budget, Synthesis, Task
    from prism_core.privacy.accountants import AccountantName
    from prism_core.privacy.events import Event
    from prism_core.structure.dag import Dag

LEAST_EPSILON, MOST_EPSILON = 1e-3, 100.0
"""Range in which an epsilon for a wanted error is looked for."""

DIGITS = 4
"""Significant digits of an epsilon that is found; rounded up, so that it still does what it is
found for when it is read off a screen and typed in."""


def sigma_for_epsilon(
    epsilon: float, delta: float, queries: int = 1, name: AccountantName = "zcdp"
) -> float:
    """Scale of the noise, in counts, when `queries` marginals share (epsilon, delta) equally.

    Rounded up: the accountant is asked what all of them together cost, and it is at most epsilon.

    Raises:
        BudgetError: for an unusable epsilon, delta, number of queries or accountant.
    """
    epsilon_value(epsilon)
    delta_value(delta)
    if isinstance(queries, bool) or not isinstance(queries, int) or queries < 1:
        raise BudgetError("queries must be a whole number above 0.", field="queries")
    rule = accountant(name)
    part = rule.amount(epsilon, delta) / queries
    event = rule.gaussian(part, delta * (1.0 - 1e-12) / queries, "")
    event = replace(event, sigma=event.sigma * rule.factor([event] * queries, epsilon, delta))
    while not rule.spent([event] * queries, delta).epsilon <= epsilon:
        event = replace(event, sigma=event.sigma * (1.0 + 1e-12))
    return event.sigma


def epsilon_of(events: Iterable[Event], delta: float, name: AccountantName = "zcdp") -> float:
    """Epsilon that events cost together at `delta`, rounded up. For a plan: its `events`.

    Raises:
        BudgetError: for an unusable delta, or events the accountant cannot read.
    """
    delta_value(delta)
    spent = accountant(name).spent(events, delta)
    if not spent.delta <= delta:
        raise BudgetError("The events need a larger delta than this.", field="delta")
    return spent.epsilon


def task_error(plan: Plan) -> float:
    """Mean expected l1 error of the task marginals, each divided by n. An expectation."""
    errors = [query.relative_error for query in plan.queries if query.pool == "task"]
    return math.fsum(errors) / len(errors)


def check_target(target: object) -> None:
    """A wanted error is a finite number above 0.

    Raises:
        BudgetError: otherwise.
    """
    if (
        isinstance(target, bool)
        or not isinstance(target, (int, float))
        or not (0.0 < target < math.inf)
    ):
        raise BudgetError(
            "target_error must be a number above 0, for example 0.02.", field="target_error"
        )


def epsilon_for_error(
    schema: Schema,
    task: Task,
    budget: Budget,
    n: int,
    target: float,
    *,
    dag: Dag | None = None,
    synthesis: Synthesis | None = None,
) -> float:
    """The least epsilon (to `DIGITS`) whose plan has a `task_error` of at most `target`.

    Bisection over `design`: more epsilon never means more noise. Rounded up, and only an epsilon
    whose own plan keeps the target is returned.

    Args:
        schema: the declared public domain.
        task: target, regime, number of features.
        budget: everything but its epsilon is used.
        n: number of training rows; public.
        target: wanted mean expected l1 error over n; 0.02 is two percent of the rows.
        dag: the public graph.
        synthesis: model and sampling.

    Raises:
        BudgetError: for an unusable target, or when no epsilon up to 100 reaches it; others as
            for `design`.
    """
    check_target(target)

    def reached(epsilon: float) -> bool:
        wanted = replace(budget, epsilon=epsilon)
        plan = design(schema, task, wanted, n, dag=dag, synthesis=synthesis)
        return task_error(plan) <= target

    low, high = LEAST_EPSILON, MOST_EPSILON
    if accountant(budget.accountant).fixed_only:  # seconds a plan: start from zCDP's answer
        plain = replace(budget, accountant="zcdp")
        high = epsilon_for_error(schema, task, plain, n, target, dag=dag, synthesis=synthesis)
        low = max(LEAST_EPSILON, 0.7 * high)
    if reached(low):
        return _up(low)
    if not reached(high):
        raise BudgetError(
            f"No epsilon up to {MOST_EPSILON:g} keeps the expected error below {target:g}. Ask "
            "for less, use fewer levels or bins, or more rows.",
            field="target_error",
        )
    while (high - low) > low * 10.0**-DIGITS / 2.0:
        middle = math.sqrt(low * high)
        if reached(middle):
            high = middle
        else:
            low = middle
    rounded = _up(high)
    while not reached(rounded):  # a design may jump where a joint marginal gives way to pairs
        rounded = _up(rounded * (1.0 + 10.0**-DIGITS))
    return rounded


def _up(value: float) -> float:
    """Rounded up to `DIGITS` significant digits."""
    near = float(f"{value:.{DIGITS}g}")
    if near >= value:
        return near
    unit = 10.0 ** (math.floor(math.log10(value)) - DIGITS + 1)
    return float(f"{near + unit:.{DIGITS}g}")
