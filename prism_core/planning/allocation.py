"""Sharing one amount out over queries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prism_core.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prism_core.planning.wishes.task import AllocationRule

WEIGHT_POWER = 0.25
"""Power of the curator's weights under `balanced`.

A prediction from all features hears the noise of a weak one as loudly as that of a strong one, so
weights taken as they are starve the weak ones of budget until their noise costs more than the
strong ones gain. Allocation-wins (weights .64 and .01), AUC less that of equal shares, 12 seeds, at
epsilon .2 and 1: power 1 -.030 and -.004, .75 -.022 and .001, .5 .005 and .001, .25 .010 and
.001."""

LEAST_LEFT = 1e-6
"""Locks leave at least this part of an amount to the queries that are not locked."""


def allocate(
    amount: float,
    costs: Sequence[float],
    rule: AllocationRule,
    exponent: float,
    *,
    tilt: float = 1.0,
    locked: Mapping[int, float] | None = None,
) -> tuple[float, ...]:
    """Amounts per query that minimise sum of cost_t sigma_t, or equal ones, or in between.

    With sigma = c / eps (basic) the optimum is eps_t proportional to cost_t^(1/2) (paper,
    Theorem 5.7); with sigma = 1 / sqrt(rho) (zCDP) Lagrange gives rho_t proportional to
    cost_t^(2/3). Where some amounts are locked, the same holds for the others and what is left:
    the terms of the locked ones are constants of the sum.

    The floating-point sum never exceeds `amount`, whether it is taken exactly (`math.fsum`) or
    term by term in the order given.

    Args:
        amount: rho or epsilon to share out, above 0.
        costs: weight times cells of every query, above 0.
        rule: `balanced` or `closed_form`, which differ in the weights that went into the costs;
            `uniform` or `tilted`.
        exponent: 2/3 for zCDP, 1/2 for basic composition.
        tilt: of the rule `tilted`: parts go by cost ** (tilt * exponent); 0 is `uniform` and 1
            the closed form.
        locked: amounts fixed by hand, by position in `costs`. Given back as they are; only
            when all are locked and their sum is above `amount` by a rounding error, they come
            out smaller by as much.

    Raises:
        BudgetError: for unusable numbers; for locks that leave nothing to the others.
    """
    if not costs:
        return ()
    if not 0.0 < amount < math.inf or not all(0.0 < cost < math.inf for cost in costs):
        raise BudgetError("Amounts and costs must be finite numbers above 0.", field="shares")
    if not 0.0 <= tilt <= 1.0:
        raise BudgetError("tilt must be a number between 0 and 1.", field="tilt")
    held = _checked(dict(locked or {}), amount, len(costs))
    # One formula for all: an exponent of 0 makes equal parts.
    powers = {"balanced": 1.0, "closed_form": 1.0, "uniform": 0.0, "tilted": tilt}
    power = powers[rule] * exponent
    free = {place: float(cost) ** power for place, cost in enumerate(costs) if place not in held}
    rest = amount - math.fsum(held.values())
    if not free:
        found = [held[place] for place in range(len(costs))]
        if _excess(found, amount) <= 0.0:
            return tuple(found)
        free, held, rest = held, {}, amount
    whole = math.fsum(free.values())
    while True:
        shared = held | {place: rest * (part / whole) for place, part in free.items()}
        found = [shared[place] for place in range(len(costs))]
        excess = _excess(found, amount)
        if excess <= 0.0:
            return tuple(found)
        # At least one unit in the last place, or the loop might stand still.
        rest -= max(excess, math.ulp(amount))


def _checked(held: dict[int, float], amount: float, count: int) -> dict[int, float]:
    if not all(0 <= place < count and 0.0 < part < math.inf for place, part in held.items()):
        raise BudgetError("A lock must be a share above 0 of a marginal.", field="locks")
    taken = math.fsum(held.values())
    # A rounding error above the whole is no wish for more.
    most = amount * (1.0 - LEAST_LEFT) if len(held) < count else amount * (1.0 + 1e-9)
    if not taken <= most:
        raise BudgetError(
            f"The locks take {taken / amount:.1%} of what these marginals share"
            + (", and leave nothing for the others." if len(held) < count else ".")
            + " Lower or remove a lock, or give their pool a larger share.",
            field="locks",
        )
    return held


def _excess(parts: Sequence[float], amount: float) -> float:
    """By how much the larger of both sums is above the amount."""
    total = 0.0  # not sum(): it compensates from Python 3.12 on
    for part in parts:
        total += part
    return max(math.fsum(parts), total) - amount
