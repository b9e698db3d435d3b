"""Comparison of plans: a plan in a few numbers, and two of them side by side. No row is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from prism_core.planning.wishes.options import listed

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan

Value: TypeAlias = str | float | int | None
Side: TypeAlias = Literal["a", "b"]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What comes of a plan, in a few numbers.

    Attributes:
        s: the features S; None while they are chosen at run time.
        largest_sigma: of a measured marginal, in counts.
        mean_error, largest_error: expected l1 error over n of the task marginals.
        cells: of the junction tree (worst case where it is not known).
        rows: synthetic rows.
        epsilon, delta: spent, with learning before the plan.
    """

    s: tuple[str, ...] | None
    largest_sigma: float
    mean_error: float
    largest_error: float
    cells: int
    rows: int
    epsilon: float
    delta: float


def figures(plan: Plan) -> Figures:
    """The plan in a few numbers."""
    errors = [query.relative_error for query in plan.queries if query.pool == "task"]
    # Not `sigma`: that of a linear query is in units of its grid, and would not compare with
    # counts.
    sigmas = [query.noise for query in plan.queries]
    sigmas += [choice.sigma for choice in (plan.three_way, plan.tree) if choice is not None]
    return Figures(
        s=plan.s if plan.s_is_final else None,
        largest_sigma=max(sigmas),
        mean_error=math.fsum(errors) / len(errors),
        largest_error=max(errors),
        cells=plan.forecast.cells,
        rows=plan.rows,
        epsilon=plan.guarantee.epsilon,
        delta=plan.guarantee.delta,
    )


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One row of two plans side by side.

    Attributes:
        what: the entry ("budget.epsilon") or the outcome in words.
        kind: what was wished, or what comes of it.
        a, b: plain values; None where a plan has no such entry.
        better: which side is better, where one is; None for equal ones and for what is a wish.
    """

    what: str
    kind: Literal["entry", "outcome"]
    a: Value
    b: Value
    better: Side | None = None

    @property
    def same(self) -> bool:
        """Whether there is no difference."""
        return self.a == self.b


def differences(a: Plan, b: Plan) -> tuple[Difference, ...]:
    """Entries in which two plans differ, then all outcomes with the better side.

    Less noise, a smaller error, fewer cells and a smaller spend are better, each by itself: what
    weighs more is the curator's to say. The features S and the number of rows are no contest.
    """
    left, right = entries(a), entries(b)
    names = [*left, *(name for name in right if name not in left)]
    rows = [
        Difference(what=name, kind="entry", a=left.get(name), b=right.get(name))
        for name in names
        if left.get(name) != right.get(name)
    ]
    mine, other = figures(a), figures(b)
    rows.append(_outcome("features S", _features(a), _features(b)))
    rows += [
        _outcome(what, getattr(mine, name), getattr(other, name), contest=contest)
        for what, name, contest in (
            ("largest sigma, in counts", "largest_sigma", True),
            ("mean expected error of the task marginals", "mean_error", True),
            ("largest expected error of a task marginal", "largest_error", True),
            ("cells of the model", "cells", True),
            ("synthetic rows", "rows", False),
            ("epsilon spent", "epsilon", True),
            ("delta", "delta", True),
        )
    ]
    return tuple(rows)


def _outcome(what: str, a: Value, b: Value, *, contest: bool = False) -> Difference:
    better: Side | None = None
    if contest and isinstance(a, (int, float)) and isinstance(b, (int, float)):
        # The last digits are rounding, and no advantage.
        if a < b * (1.0 - 1e-9):
            better = "a"
        elif b < a * (1.0 - 1e-9):
            better = "b"
    return Difference(what=what, kind="outcome", a=a, b=b, better=better)


def _features(plan: Plan) -> str:
    if not plan.s_is_final:
        free = len(plan.schema.columns) - len(plan.aims)
        each = " for each target" if plan.several else ""
        return f"{plan.task.k} of {free}{each}, chosen at run time"
    return ", ".join(plan.s)


def entries(plan: Plan) -> dict[str, Value]:
    """The wishes behind a plan, one line each; numbers in force instead of defaults."""
    wishes = {"task": plan.task, "budget": plan.budget, "synthesis": plan.synthesis}
    found: dict[str, Value] = {}
    for section, wish in wishes.items():
        found |= listed(wish, section)
    found["budget.delta"] = plan.delta  # in its place, also where it follows from n
    return found
