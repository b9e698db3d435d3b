"""Sentences on an epsilon or delta that protects little: one place, for every plan that spends."""

from __future__ import annotations

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
