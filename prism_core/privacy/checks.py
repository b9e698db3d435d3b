"""Closed checks: what is not certainly usable is refused. NaN fails every comparison here."""

from __future__ import annotations

import math

from prism_core.errors import BudgetError, PrivacyError


def positive(value: object, name: str) -> float:
    """A finite number above 0, for scales and sensitivities, or a PrivacyError."""
    number = _number(value)
    if not 0.0 < number < math.inf:
        raise PrivacyError(
            f"{name} must be a finite number above 0; nothing was measured.", field=name
        )
    return number


def epsilon_value(value: object, name: str = "epsilon") -> float:
    """A finite epsilon above 0, or a BudgetError in a curator's words."""
    number = _number(value)
    if not 0.0 < number < math.inf:
        raise BudgetError(
            f"{name.replace('_', ' ')} must be a number above 0, for example 1.0. Smaller is more "
            "private.",
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
    return number


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # an integer beyond the range of floats
        return math.inf
