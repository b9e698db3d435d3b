"""Two accountants on a bundle's events, beside what its certificate claims."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.bundle.recount import (
    basic_sum,
    library_epsilon,
    normal_epsilon,
    renyi_epsilon,
)
from prism_core.errors import BudgetError, BundleError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prism_core.planning.replay import Stages

SAME = 1e-6
"""Relative difference between two computations of one formula that is rounding."""
_GRID = 5e-3  # dp-accounting looks at a grid of orders
_NORMAL = 2e-2  # integer noise beside the normal law


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """What one accountant says the events cost at the bundle's delta."""

    accountant: str
    epsilon: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        finite = self.epsilon if math.isfinite(self.epsilon) else None
        return {"accountant": self.accountant, "epsilon": finite}


def opinions(stages: Stages, events: Sequence[Mapping[str, Any]]) -> tuple[Opinion, ...]:
    """Epsilon of the events by at least two ways that share no code.

    Args:
        stages: the plan made again; its own accountant gives the first opinion.
        events: of the certificate, as plain values, with what learning cost.

    Raises:
        BundleError: when the plan's accountant is not installed here.
    """
    plan = stages.final
    try:
        first = Opinion(accountant=plan.budget.accountant, epsilon=plan.guarantee.epsilon)
    except BudgetError as error:
        raise BundleError(str(error), field="accountant") from None
    if plan.budget.accountant == "basic":
        epsilon, delta = basic_sum(events)
        if not delta <= plan.delta:
            raise BundleError("The deltas of the events add up to more than delta.", field="delta")
        return first, Opinion(accountant="sum of the events, noise checked", epsilon=epsilon)
    if plan.budget.accountant == "pld":
        normal = Opinion(
            accountant="closed form for normal losses", epsilon=normal_epsilon(events, plan.delta)
        )
        return first, normal
    found = [first, Opinion(accountant="Rényi orders", epsilon=renyi_epsilon(events, plan.delta))]
    library = library_epsilon(events, plan.delta)
    if library is not None:
        found.append(Opinion(accountant="dp-accounting, Rényi", epsilon=library))
    return tuple(found)


def composition_findings(found: Sequence[Opinion], claimed: Mapping[str, Any]) -> list[str]:
    """What the accountants do not agree with.

    Args:
        found: what the accountants say.
        claimed: the certificate's `guarantee`.
    """
    epsilon, declared = claimed.get("epsilon"), claimed.get("declared_epsilon")
    if not isinstance(epsilon, float) or not isinstance(declared, int | float):
        return ["The certificate states no epsilon."]
    wrong = []
    own = found[0].epsilon
    for opinion in found:
        slack = {"dp-accounting, Rényi": _GRID, "closed form for normal losses": _NORMAL}.get(
            opinion.accountant, SAME
        )
        if not abs(opinion.epsilon - own) <= slack * own:
            wrong.append(
                f"The accountants disagree: {opinion.accountant} gives epsilon "
                f"{opinion.epsilon:.6g}, {found[0].accountant} {own:.6g}."
            )
        if not opinion.epsilon <= epsilon * (1.0 + slack):
            wrong.append(
                f"The events cost epsilon {opinion.epsilon:.6g} ({opinion.accountant}); the "
                f"certificate claims {epsilon:.6g}."
            )
    if not own <= declared * (1.0 + 1e-12):
        wrong.append(f"The events cost more than the declared epsilon {declared:g}.")
    return wrong
