"""The last step of a plan under `pld`: one common factor on all sigmas. No row is read."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.errors import BudgetError
from prism_core.planning.plan import expected_relative_error

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan


def calibrated(plan: Plan) -> Plan:
    """The plan with the noise its accountant really needs; unchanged under `zcdp` and `basic`.

    `total` becomes the rho of the events: it is what the ledger is charged, and lies above the
    rho that zCDP gives for the same (epsilon, delta).

    Raises:
        BudgetError: when something is chosen at run time. The noise then follows from what the
            rows made the mechanism choose, and composing loss distributions is proven for noise
            fixed beforehand.
    """
    rule = plan.accountant
    if not rule.fixed_only:
        return plan
    if plan.selection is not None or plan.three_way is not None or plan.tree is not None:
        raise BudgetError(
            "The accountant pld needs a plan whose noise is all fixed beforehand, and this one "
            "chooses features or pairs when it runs. Choose zcdp; or a causal or "
            "graphical regime with the model naive_bayes.",
            field="accountant",
        )
    if plan.prior is not None:
        raise BudgetError(
            "What learning the domain or the graph cost is deducted under zcdp. Choose zcdp, or "
            "declare them.",
            field="accountant",
        )
    factor = rule.factor(plan.events, plan.budget.epsilon, plan.delta)
    queries = tuple(
        replace(
            query,
            event=(event := replace(query.event, sigma=query.event.sigma * factor)),
            relative_error=expected_relative_error(query.cells, event.sigma, plan.n),
        )
        for query in plan.queries
    )
    return replace(plan, queries=queries, total=math.fsum(query.event.rho for query in queries))
