"""Inverse problems: the least epsilon for an error; the most features or bins within one.

Also the noise for an epsilon and the epsilon of noise. No row is read and nothing is spent:
everything here is a function of public facts.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.data.schema.column import Column, equal_edges
from prism_core.errors import BudgetError, PlanError, TaskError
from prism_core.planning.design import design
from prism_core.privacy.accountants.accountant import accountant

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.brief import Brief
    from prism_core.planning.plan import Plan

LEAST_EPSILON, MOST_EPSILON = 1e-3, 100.0
"""Range in which an epsilon for a wanted error is looked for."""

DIGITS = 4
"""Significant digits of an epsilon that is found; rounded up, so that it still does what it is
found for when it is read off a screen and typed in."""


def task_error(plan: Plan) -> float:
    """Mean expected l1 error of the task marginals, each divided by n. An expectation."""
    errors = [query.relative_error for query in plan.queries if query.pool == "task"]
    return math.fsum(errors) / len(errors)


def check_wanted_error(target: object) -> None:
    """A wanted error is a finite number above 0.

    Raises:
        BudgetError: otherwise.
    """
    if (
        isinstance(target, bool)
        or not isinstance(target, (int, float))
        or not (0.0 < target < math.inf)
    ):
        raise BudgetError(
            "target_error must be a number above 0, for example 0.02.", field="target_error"
        )


def epsilon_for_error(brief: Brief, target: float) -> float:
    """The least epsilon (to `DIGITS`) whose plan has a `task_error` of at most `target`.

    Bisection over `design`: more epsilon never means more noise. Rounded up, and only an epsilon
    whose own plan keeps the target is returned.

    Args:
        brief: everything but its epsilon is used.
        target: wanted mean expected l1 error over n; 0.02 is two percent of the rows.

    Raises:
        BudgetError: for an unusable target, or when no epsilon up to 100 reaches it; others as
            for `design`.
    """
    check_wanted_error(target)

    def reached(epsilon: float) -> bool:
        plan = design(replace(brief, budget=replace(brief.budget, epsilon=epsilon)))
        return task_error(plan) <= target

    low, high = LEAST_EPSILON, MOST_EPSILON
    if accountant(brief.budget.accountant).fixed_only:  # seconds a plan: start from zCDP's answer
        plain = replace(brief.budget, accountant="zcdp")
        high = epsilon_for_error(replace(brief, budget=plain), target)
        # Loss distributions save about 5% of the noise (12 to 40 marginals); .7 leaves ample
        # room.
        low = max(LEAST_EPSILON, 0.7 * high)
    if reached(low):
        return _up(low)
    if not reached(high):
        raise BudgetError(
            f"No epsilon up to {MOST_EPSILON:g} keeps the expected error below {target:g}. Ask "
            "for less, use fewer levels or bins, or more rows.",
            field="target_error",
        )
    # Half a unit of the last digit kept; anything finer is lost in the rounding below.
    while (high - low) > low * 10.0**-DIGITS / 2.0:
        # Geometric, as epsilon is looked for over five powers of ten.
        middle = math.sqrt(low * high)
        if reached(middle):
            high = middle
        else:
            low = middle
    rounded = _up(high)
    while not reached(rounded):  # a design may jump where a joint marginal gives way to pairs
        rounded = _up(rounded * (1.0 + 10.0**-DIGITS))
    return rounded


def _up(value: float) -> float:
    """Rounded up to `DIGITS` significant digits."""
    near = float(f"{value:.{DIGITS}g}")
    if near >= value:
        return near
    unit = 10.0 ** (math.floor(math.log10(value)) - DIGITS + 1)
    # Formatted again: the sum of two floats may have a tail of digits.
    return float(f"{near + unit:.{DIGITS}g}")


MOST_BINS = 1_000
"""More bins are not looked for."""

SCANNED = 40
"""Up to so many values are all tried, from the largest down."""


def most_features(brief: Brief, target: float) -> int:
    """The largest k whose plan has a `task_error` of at most `target` (predictive regime).

    The error of a plan is that of its worst case, the k largest columns. It need not rise with
    k: a small column beside a large one lowers the mean. See `_largest` for what that means.

    Args:
        brief: of a predictive task, whose k is not used.
        target: wanted mean expected l1 error over n; 0.02 is two percent of the rows.

    Raises:
        TaskError: in another regime, where the graph fixes the features.
        BudgetError: for an unusable target, or when no k reaches it; others as for `design`.
    """
    check_wanted_error(target)
    task = brief.task
    if task.regime != "predictive":
        raise TaskError(
            f"In the {task.regime} regime the graph says which features there are. Choose the "
            "predictive regime to look for their number.",
            field="regime",
        )

    def plan(k: int) -> Plan:
        return design(replace(brief, task=replace(task, k=k)))

    found = _largest(plan, 1, len(brief.schema.columns) - len(task.target_names), target)
    if found is None:
        raise BudgetError(
            f"No number of features keeps the expected error below {target:g}. Raise epsilon, ask "
            "for less, or use fewer levels or bins.",
            field="target_error",
        )
    return found


def most_bins(brief: Brief, target: float, *, column: str | None = None) -> int:
    """The largest number of equal bins whose plan has a `task_error` of at most `target`.

    A column of whole numbers gets at most one bin a number. More bins are more cells, but the
    error can jump where a joint marginal gives way to pairs; see `_largest`.

    Args:
        brief: bounds of its columns are kept, edges replaced.
        target: wanted mean expected l1 error over n; 0.02 is two percent of the rows.
        column: the column to be binned anew; every column with bounds when None.

    Raises:
        BudgetError: for an unusable target, a column without bounds or without a say in the
            error, or when 2 bins are too many; others as for `design`.
    """
    check_wanted_error(target)
    # Where bins are found privately the declared ones say little; the question is of these.
    brief = replace(brief, task=replace(brief.task, coarsen="never"))
    schema, task = brief.schema, brief.task
    names = _binned(schema, column)

    def plan(bins: int) -> Plan:
        return design(replace(brief, schema=with_bins(schema, bins, names)))

    most = max(map(_most_bins, map(schema.__getitem__, names)))
    first = plan(2)
    # While S is not final any column may come to be in it, so none is refused.
    if first.s_is_final and not {*first.s, *task.target_names}.intersection(names):
        raise BudgetError(
            "No task marginal holds a column to be binned, so the bins change nothing. Name a "
            "column among the features S.",
            field="column",
        )
    found = _largest(plan, 2, most, target)
    if found is None:
        raise BudgetError(
            f"No number of bins keeps the expected error below {target:.3%} of n. Raise epsilon, "
            "accept a larger error, or use fewer features.",
            field="target_error",
        )
    return found


def with_bins(schema: Schema, bins: int, names: tuple[str, ...]) -> Schema:
    """The schema with equal bins for some of its columns; their bounds are kept."""
    columns = tuple(
        replace(one, edges=one.roomy(equal_edges(*one.bounds, bins, one.decimals)), open_bins=False)
        if one.name in names
        else one
        for one in schema.columns
    )
    return replace(schema, columns=columns)


def _binned(schema: Schema, column: str | None) -> tuple[str, ...]:
    names = tuple(one.name for one in schema.columns if one.binned)
    if column is None:
        if not names:
            raise BudgetError("No column has bounds, so there is nothing to bin.", field="column")
        return names
    if not schema[column].binned:
        raise BudgetError(
            f"{column!r} has levels and no bounds, so it has no bins. Name a numeric column.",
            field="column",
        )
    return (column,)


def _most_bins(column: Column) -> int:
    """Equal bins that a column can have, up to `MOST_BINS`; at most one for each of its values."""
    return len(equal_edges(*column.bounds, MOST_BINS, column.decimals)) + 1


def _largest(plan: Callable[[int], Plan], low: int, high: int, target: float) -> int | None:
    """The largest value in low..high whose own plan keeps the target; None when none was found.

    Up to `SCANNED` values are tried one by one from the top, so the answer is the largest
    whatever the error does in between. Of more, the powers of two and both ends are tried, and
    the gap above the largest that keeps the target is halved: what is returned keeps it, and
    the next value does not, but where the error falls again a still larger one may keep it, too.
    """

    def kept(value: int) -> bool:
        try:
            return task_error(plan(value)) <= target
        except PlanError as error:
            if error.field != "levels":  # too large for memory is too many; all else is a mistake
                raise
            return False

    if high - low < SCANNED:
        return next((value for value in range(high, low - 1, -1) if kept(value)), None)
    # Each value tried is a whole design: powers of two keep them few over any range.
    steps = [low + 2**power for power in range((high - low).bit_length()) if low + 2**power < high]
    probes = [low, *steps, high]
    good = next((place for place in reversed(range(len(probes))) if kept(probes[place])), None)
    if good is None:
        return None
    if good == len(probes) - 1:
        return high
    inside, outside = probes[good], probes[good + 1]
    while outside - inside > 1:
        middle = (inside + outside) // 2
        if kept(middle):
            inside = middle
        else:
            outside = middle
    return inside
