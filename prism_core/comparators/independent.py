"""All columns by themselves: what any synthesizer must beat."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prism_core.comparators.adaptive_run import AdaptiveRun


def independent(run: AdaptiveRun) -> None:
    """Measure every column with an equal part of rho.

    Spends: d Gaussian events of rho / d, d columns; neighbours replace one person.
    """
    columns(run)


def columns(run: AdaptiveRun) -> None:
    """Every column by itself, as the plan says.

    Spends: `plan.first`.
    """
    for name, event in zip(run.plan.schema.names, run.plan.first, strict=True):
        run.measure((name,), event)
