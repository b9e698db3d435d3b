"""What is checked before a plan is made: delta, what learning cost, locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.errors import BudgetError
from prism_core.planning.adaptive import ROUNDS_SHARE
from prism_core.planning.background_pool import TREE_CHOICE_SHARE
from prism_core.planning.locks import check_any_choice
from prism_core.planning.numeric import bases, second_moments
from prism_core.planning.task_pool import check_choice_share, check_products
from prism_core.privacy.accountants import accountant
from prism_core.privacy.prior import amount_left, together
from prism_core.scalars import plain

if TYPE_CHECKING:
    from prism_core.data.schema import Schema
    from prism_core.planning.frame import Frame
    from prism_core.planning.task import Budget
    from prism_core.structure.dag import Dag


def delta_of(budget: Budget, n: int) -> float:
    """Delta as declared, or 1/n².

    Raises:
        BudgetError: for fewer than two rows.
    """
    n = plain(n)
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise BudgetError("The table needs at least 2 rows.", field="n")
    return 1.0 / n**2 if budget.delta is None else budget.delta


def check_prior(schema: Schema, dag: Dag | None, budget: Budget, delta: float) -> None:
    """What learning cost must be known, accounted under zCDP, and leave something to spend."""
    if dag is not None and dag.provenance == "dp" and dag.prior is None:
        raise BudgetError(
            "The graph was learned with privacy budget and does not say what it cost, so it cannot "
            "be deducted. Use the graph as `prism learn-dag` wrote it.",
            field="learned",
        )
    prior = together(schema.prior, None if dag is None else dag.prior)
    if prior is None:
        return
    if dag is not None and dag.prior is not None and dag.prior.person_id != schema.person_id:
        raise BudgetError(
            "The graph was learned with another declaration of people, and its cost holds for "
            "that only. Declare people as then, or draw the graph.",
            field="person_id",
        )
    learned = (("domain", schema), ("graph", dag))
    what = " and ".join(name for name, value in learned if value is not None and value.prior)
    if budget.accountant != "zcdp":
        raise BudgetError(
            "What was learned with budget is accounted for under zcdp; choose this accountant.",
            field="accountant",
        )
    if not amount_left(accountant("zcdp"), budget.epsilon, delta, prior) > 0.0:
        raise BudgetError(
            f"Learning the {what} cost epsilon {prior.spent.epsilon:.3g} at delta "
            f"{prior.delta:.3g}, and nothing is left of the declared budget. Raise epsilon, or "
            "learn with a smaller share.",
            field="epsilon",
        )


def check_any_s(frame: Frame) -> None:
    """Whatever features are chosen at run time, a plan can be made of them.

    A run that is charged must not stop after it chose S: the largest columns, which are looked
    at as the worst case of memory, may have no products, no 3-way marginals and no locks.

    Raises:
        PlanError, BudgetError: when some S could not be planned for.
    """
    task, multiplied = frame.task, second_moments(frame.schema, frame.task)
    most = task.count * len(task.target_names)
    check_products(frame, some=min(most, len(multiplied)) >= 2)
    triples = task.three_way not in ("auto", "none", "adaptive")
    if triples and task.count >= 2:
        check_choice_share(frame.budget.shares.choice)
    pools = frame.pools(choice=triples)
    measured = 1.0 if frame.synthesis.model == "naive_bayes" else 1.0 - TREE_CHOICE_SHARE
    check_any_choice(
        frame.budget.locks,
        frame.schema,
        frame.task,
        pools["task"] * (1.0 - ROUNDS_SHARE if frame.by_rounds else 1.0),
        pools["background"] * measured,
        linear=bases(frame.schema, task),
        multiplied=multiplied,
    )
