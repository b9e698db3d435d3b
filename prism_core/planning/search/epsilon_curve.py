"""Curve of the expected error against epsilon, from one plan. No row is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.errors import PlanError
from prism_core.planning.coarsening import may_be_coarsened
from prism_core.planning.queries import Query, expected_relative_error
from prism_core.privacy.accountants.accountant import accountant
from prism_core.privacy.learning_charge import amount_left

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prism_core.planning.plan import Plan


@dataclass(frozen=True, kw_only=True)
class ErrorPoint:
    """Expected error of the task marginals at one epsilon.

    Attributes:
        epsilon: of the declaration.
        mean: mean expected l1 error of the task marginals over n; infinite where learning
            before the plan cost as much as this epsilon buys.
        largest: of one of them.
        exact: whether `design` at this epsilon gives the same.
    """

    epsilon: float
    mean: float
    largest: float
    exact: bool = True


def error_curve(plan: Plan, epsilons: Iterable[float]) -> tuple[ErrorPoint, ...]:
    """The plan's error if it had been designed for other epsilons; delta and n stay.

    Under `zcdp` the plan for another epsilon is this one with every sigma multiplied by
    sqrt(rho / rho'): shares are of rho, so each marginal's rho is its share of the total, and
    sigma = 1 / sqrt(rho_q). Which marginals there are does not change either: a joint is
    measured instead of its pairs when cells sigma is below the sum over them, and both sides
    have the same factor. So a point costs one conversion of epsilon to rho. Under `basic` the
    sigmas of the shares of epsilon are computed anew, as sigma is not proportional to
    1 / epsilon everywhere; the choice between joint and pairs is kept, as is whether a joint
    stands beside the pairs. Where S may be looked at in
    rounds, whether there are any does change with epsilon, and is kept as in this plan; likewise
    which columns are coarsened. Under `pld`
    the noise is scaled as under `zcdp`, which leaves out that the common factor changes, too.

    Args:
        plan: from `design`, before or after its private choices.
        epsilons: above 0.

    Raises:
        BudgetError: for an unusable epsilon.
    """
    wanted = [float(epsilon) for epsilon in epsilons]
    queries = [query for query in plan.queries if query.pool == "task"]
    if not queries:
        raise PlanError("The plan has no task marginal.", field="target")
    if plan.budget.accountant == "basic":
        return _anew(plan, queries, wanted)
    # Columns are coarsened at one epsilon and not at another, too.
    coarse = bool(may_be_coarsened(plan.schema, plan.task, plan.budget))
    rounds = coarse or _may_have_rounds(plan) or _may_have_joint(plan)
    mean, largest = _figures([query.relative_error for query in queries])
    here = _rho(plan, plan.budget.epsilon)
    points: list[ErrorPoint] = []
    for epsilon in wanted:
        # What learning cost is fixed, so it comes off before the ratio is taken.
        rho = _rho(plan, epsilon)
        factor = math.sqrt(here / rho) if rho > 0.0 else math.inf
        points.append(
            ErrorPoint(
                epsilon=epsilon,
                mean=mean * factor,
                largest=largest * factor,
                exact=plan.budget.accountant == "zcdp" and not rounds,
            )
        )
    return tuple(points)


def _may_have_rounds(plan: Plan) -> bool:
    wanted = plan.task.three_way in ("auto", "adaptive") and plan.synthesis.model == "pgm"
    return wanted and len(plan.s) > 1 and not plan.measures_all_at_once


def _may_have_joint(plan: Plan) -> bool:
    """Whether causes are measured at once at some epsilon beside the pairs, and not at another."""
    return plan.joint is not None and not (plan.joint.asked or plan.joint.alone)


def _rho(plan: Plan, epsilon: float) -> float:
    """What is shared out at this epsilon, as in `design`."""
    return amount_left(accountant("zcdp"), epsilon, plan.delta, plan.prior)


def _anew(
    plan: Plan, queries: Sequence[Query], epsilons: Sequence[float]
) -> tuple[ErrorPoint, ...]:
    """Each marginal keeps its shares of epsilon and delta. Equal ones are computed once."""
    rule = plan.accountant
    kept = {(query.event.epsilon, query.event.delta) for query in queries}
    joint = plan.domain.cells((*plan.s, plan.task.target))
    pairs_only = bool(plan.task.weights or plan.task.further)
    # The joint may win at one epsilon and the pairs at another; a plan's own choice is kept here.
    may_change = len(plan.s) > 1 and not pairs_only and joint <= plan.task.max_joint_cells
    points: list[ErrorPoint] = []
    for epsilon in epsilons:
        factor = rule.amount(epsilon, plan.delta) / rule.amount(plan.budget.epsilon, plan.delta)
        sigmas = {
            (part, delta): rule.gaussian(part * factor, delta, "").sigma for part, delta in kept
        }
        mean, largest = _figures(
            [
                expected_relative_error(
                    query.cells, sigmas[query.event.epsilon, query.event.delta], plan.mass
                )
                for query in queries
            ]
        )
        points.append(ErrorPoint(epsilon=epsilon, mean=mean, largest=largest, exact=not may_change))
    return tuple(points)


def _figures(errors: Sequence[float]) -> tuple[float, float]:
    return math.fsum(errors) / len(errors), max(errors)
