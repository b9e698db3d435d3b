"""Sharing one amount out over queries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prism_core.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.task import AllocationRule


def allocate(
    amount: float, costs: Sequence[float], rule: AllocationRule, exponent: float
) -> tuple[float, ...]:
    """Amounts per query that minimise sum of cost_t sigma_t, or equal ones.

    With sigma = c / eps (basic) the optimum is eps_t proportional to cost_t^(1/2) (paper,
    Theorem 5.7); with sigma = 1 / sqrt(rho) (zCDP) Lagrange gives rho_t proportional to
    cost_t^(2/3). The floating-point sum never exceeds `amount`.

    Args:
        amount: rho or epsilon to share out, above 0.
        costs: weight times cells of every query, above 0.
        rule: `closed_form` or `uniform`.
        exponent: 2/3 for zCDP, 1/2 for basic composition.
    """
    if not costs:
        return ()
    if not 0.0 < amount < math.inf or not all(0.0 < cost < math.inf for cost in costs):
        raise BudgetError("Amounts and costs must be finite numbers above 0.", field="shares")
    parts = [cost**exponent if rule == "closed_form" else 1.0 for cost in costs]
    whole = math.fsum(parts)
    shares = [amount * (part / whole) for part in parts]
    while math.fsum(shares) > amount:
        shares = [math.nextafter(share, 0.0) for share in shares]
    return tuple(shares)
