"""Remedies: changes of a plan after which a bound of the theory says something about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.planning.shrinkage import may_move_pairs

if TYPE_CHECKING:
    from prism_core.explain.error_bounds import PlanBounds
    from prism_core.planning.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """One option set to another value.

    Attributes:
        option: its name, as in `OPTIONS`: "synthesis.sampling".
        value: that it is to take.
        words: what is done, in the imperative.
        bound: "distance", of model and population, or "risk", of training on the synthetic rows.
    """

    option: str
    value: str
    words: str
    bound: str


def remedies(plan: Plan, found: PlanBounds) -> tuple[Remedy, ...]:
    """The changes that the bounds without a number wait for. Reads no row, spends nothing.

    A declaration of p_min is none of them: it has to come from public knowledge.

    Args:
        plan: the plan.
        found: its bounds.
    """
    needed = []
    if found.delta_s.raw is None:
        # First: without full counts neither p_min nor the fit makes a bound.
        if any(query.linear is not None for query in plan.queries):
            needed.append(
                Remedy(
                    option="task.numeric_queries",
                    value="full",
                    words="Measure numbers cell by cell",
                    bound="distance",
                )
            )
        # Without it the fit as measured would give no number either.
        elif found.p_min is not None and may_move_pairs(plan):
            needed.append(
                Remedy(
                    option="synthesis.pairs",
                    value="measured",
                    words="Fit the noisy tables as measured",
                    bound="distance",
                )
            )
    if not found.erm.iid:
        needed.append(
            Remedy(
                option="synthesis.sampling",
                value="iid",
                words="Draw the synthetic rows one by one",
                bound="risk",
            )
        )
    return tuple(needed)
