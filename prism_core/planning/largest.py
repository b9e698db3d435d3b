"""At this epsilon, the most features or bins that stay within a wanted error.

No row is read and nothing is spent: everything here is a function of public facts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.data.column import equal_edges
from prism_core.errors import BudgetError, PlanError, TaskError
from prism_core.planning.design import design
from prism_core.planning.inverse import check_target, task_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.data.column import Column
    from prism_core.data.schema import Schema
    from prism_core.planning.plan import Plan
    from prism_core.planning.task import Budget, Synthesis, Task
    from prism_core.structure.dag import Dag

MOST_BINS = 1_000
"""More bins are not looked for."""

SCANNED = 40
"""Up to so many values are all tried, from the largest down."""


def most_features(
    schema: Schema, task: Task, budget: Budget, n: int, target: float, *,
    synthesis: Synthesis | None = None,
) -> int:  # fmt: skip
    """The largest k whose plan has a `task_error` of at most `target` (predictive regime).

    The error of a plan is that of its worst case, the k largest columns. It need not rise with
    k: a small column beside a large one lowers the mean. See `_largest` for what that means.

    Args:
        schema: the declared public domain.
        task: predictive; its k is not used.
        budget: epsilon and how it is shared out.
        n: number of training rows; public.
        target: wanted mean expected l1 error over n; 0.02 is two percent of the rows.
        synthesis: model and sampling.

    Raises:
        TaskError: in another regime, where the graph fixes the features.
        BudgetError: for an unusable target, or when no k reaches it; others as for `design`.
    """
    check_target(target)
    if task.regime != "predictive":
        raise TaskError(
            f"In the {task.regime} regime the graph says which features there are. Choose the "
            "predictive regime to look for their number.",
            field="regime",
        )

    def plan(k: int) -> Plan:
        return design(schema, replace(task, k=k), budget, n, synthesis=synthesis)

    found = _largest(plan, 1, len(schema.columns) - len(task.target_names), target)
    if found is None:
        raise BudgetError(
            f"No number of features keeps the expected error below {target:g}. Raise epsilon, ask "
            "for less, or use fewer levels or bins.",
            field="target_error",
        )
    return found


def most_bins(
    schema: Schema, task: Task, budget: Budget, n: int, target: float, *,
    column: str | None = None, dag: Dag | None = None, synthesis: Synthesis | None = None,
) -> int:  # fmt: skip
    """The largest number of equal bins whose plan has a `task_error` of at most `target`.

    A column of whole numbers gets at most one bin a number. More bins are more cells, but the
    error can jump where a joint marginal gives way to pairs; see `_largest`.

    Args:
        schema: the declared public domain; bounds are kept, edges replaced.
        task: target, regime, number of features.
        budget: epsilon and how it is shared out.
        n: number of training rows; public.
        target: wanted mean expected l1 error over n; 0.02 is two percent of the rows.
        column: the column to be binned anew; every column with bounds when None.
        dag: the public graph.
        synthesis: model and sampling.

    Raises:
        BudgetError: for an unusable target, a column without bounds or without a say in the
            error, or when 2 bins are too many; others as for `design`.
    """
    check_target(target)
    names = _binned(schema, column)

    def plan(bins: int) -> Plan:
        return design(with_bins(schema, bins, names), task, budget, n, dag=dag, synthesis=synthesis)

    most = max(map(_most_bins, map(schema.__getitem__, names)))
    first = plan(2)
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
        replace(one, edges=equal_edges(*one.bounds, bins, one.decimals))
        if one.name in names else one
        for one in schema.columns
    )  # fmt: skip
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
