"""Privacy parameters: which values of epsilon and delta are usable, and which protect little.

The checks are closed: what is not certainly usable is refused. NaN fails every comparison here.
"""

from __future__ import annotations

import math

from prism_core.errors import BudgetError, PrivacyError
from prism_core.scalars import plain

LEAST_EPSILON, MOST_EPSILON = 1e-100, 1e100
LEAST_DELTA = 1e-250
"""Ends of what floats can compute with: beyond them a square or a root is 0 or infinite."""


def positive(value: object, name: str) -> float:
    """A finite number above 0, for scales and sensitivities, or a PrivacyError."""
    number = _number(value)
    if not 0.0 < number < math.inf:
        raise PrivacyError(
            f"{name} must be a finite number above 0; nothing was measured.", field=name
        )
    return number


def epsilon_value(value: object, name: str = "epsilon", *, least: float = LEAST_EPSILON) -> float:
    """A finite epsilon above 0, or a BudgetError in a curator's words.

    Args:
        value: as given.
        name: the field.
        least: smallest that is taken; a bisection asks for smaller ones on its way.
    """
    number = _number(value)
    if not 0.0 < number < math.inf:
        raise BudgetError(
            f"{name.replace('_', ' ')} must be a number above 0, for example 1.0. Smaller is more "
            "private.",
            field=name,
        )
    if not least <= number <= MOST_EPSILON:
        raise BudgetError(
            f"{name.replace('_', ' ')} = {number:g} is no usable number: it must lie between "
            f"{LEAST_EPSILON:g} and {MOST_EPSILON:g}.",
            field=name,
        )
    return number


def delta_value(value: object, name: str = "delta") -> float:
    """A delta strictly between 0 and 1, or a BudgetError in a curator's words."""
    number = _number(value)
    if not 0.0 < number < 1.0:
        raise BudgetError(
            f"{name.replace('_', ' ')} must lie strictly between 0 and 1, for example 1/n² for n "
            "rows.",
            field=name,
        )
    if not number >= LEAST_DELTA:
        raise BudgetError(
            f"{name.replace('_', ' ')} = {number:g} is too small to compute with: it must be at "
            f"least {LEAST_DELTA:g}.",
            field=name,
        )
    return number


def _number(value: object) -> float:
    value = plain(value)
    # To Python a bool is an int: True would be an epsilon of 1.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # an integer beyond the range of floats
        return math.inf


WEAK_EPSILON = 10.0
"""Above it a plan says that it protects very little."""


def about_budget(
    epsilon: float, delta: float, n: int, *, above_limit: float | None = None
) -> tuple[str, ...]:
    """What a curator and a committee should know about a budget. Data-free.

    Args:
        epsilon: of the plan.
        delta: in force.
        n: rows (persons); public.
        above_limit: the workspace's maximum that the curator chose to exceed, if she did.
    """
    found: list[str] = []
    # Publishing one of the n rows at random is (0, 1/n)-DP: such a delta would allow it.
    if delta >= 1.0 / n:
        found.append(
            f"delta = {delta:g} is not below 1/n = {1 / n:.2g}: with such a delta a mechanism may "
            f"publish {_rows(delta * n)}. Use 1/n² or smaller."
        )
    if epsilon > WEAK_EPSILON:
        found.append(
            f"epsilon = {epsilon:g} protects very little: the odds of a guess about one person may "
            "change by a factor of e to that power. Releases commonly stay at or below "
            f"{WEAK_EPSILON:g}."
        )
    if above_limit is not None and epsilon > above_limit:
        found.append(
            f"epsilon = {epsilon:g} is above the maximum of this workspace, {above_limit:g}. The "
            "curator said that it may be."
        )
    return tuple(found)


def _rows(count: float) -> str:
    """How many of n rows a delta covers, in words."""
    return "one whole row" if count < 2.0 else f"about {int(count):,} whole rows"
