"""Locks: amounts fixed by hand; a lock holds one marginal's share, the others share the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prism_core.errors import BudgetError
from prism_core.planning.allocation import LEAST_LEFT
from prism_core.planning.wishes.options import option
from prism_core.scalars import plain_fields

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.queries import Query
    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.planning.wishes.task import Task


@dataclass(frozen=True, kw_only=True)
class Lock:
    """One marginal's share, fixed by hand.

    Attributes:
        columns: of the marginal, in any order.
        share: of the whole budget (rho or epsilon), strictly between 0 and 1.

    Raises:
        BudgetError: when it names no columns or its share is unusable.
    """

    columns: tuple[str, ...] = field(metadata=option("texts"))
    share: float = field(metadata=option("number"))

    def __post_init__(self) -> None:
        plain_fields(self)
        # A text is a sequence of texts, too: "age" would lock the columns a, g and e.
        if isinstance(self.columns, str) or not all(
            isinstance(name, str) and name for name in self.columns
        ):
            raise BudgetError("A lock lists the names of its columns.", field="locks")
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise BudgetError("A lock names the columns of one marginal, each once.", field="locks")
        if (
            isinstance(self.share, bool)
            or not isinstance(self.share, (int, float))
            or not 0.0 < self.share < 1.0
        ):
            raise BudgetError(
                f"The lock on {self.label} needs a share of the budget between 0 and 1.",
                field="locks",
            )

    @property
    def label(self) -> str:
        """The marginal in words."""
        return " × ".join(self.columns)

    @property
    def key(self) -> frozenset[str]:
        """The marginal, whatever the order of its columns."""
        return frozenset(self.columns)


def check_together(locks: Sequence[Lock]) -> None:
    """No marginal is locked twice, and together they are below the whole.

    Raises:
        BudgetError: otherwise.
    """
    seen: set[frozenset[str]] = set()
    for lock in locks:
        if not isinstance(lock, Lock):
            raise BudgetError("locks must be a list of locks.", field="locks")
        if lock.key in seen:
            raise BudgetError(f"{lock.label} is locked twice. Keep one lock.", field="locks")
        seen.add(lock.key)
    taken = math.fsum(lock.share for lock in locks)
    if not taken < 1.0:
        raise BudgetError(
            f"The locks add up to {taken:.1%} of the budget. Lower or remove some.", field="locks"
        )


def held(locks: Iterable[Lock], cliques: Iterable[Clique]) -> dict[int, float]:
    """Shares of the whole budget that locks fix, by position in `cliques`."""
    fixed = {lock.key: lock.share for lock in locks}
    if not fixed:
        return {}
    keys = map(frozenset, cliques)
    return {place: fixed[key] for place, key in enumerate(keys) if key in fixed}


def check_any_choice(
    locks: Sequence[Lock],
    schema: Schema,
    task: Task,
    task_share: float,
    background_share: float,
    *,
    linear: Collection[str] = (),
    multiplied: Collection[str] = (),
) -> None:
    """Whatever S is chosen at run time, the locks leave something to the others.

    A run must not stop after it chose S privately, so the worst S is looked at beforehand: the k
    largest locks on (X_j, Y), a lock on the joint (S, Y), and the d - k largest on single X_j.
    With several targets the k largest of each count together, and all may choose the same S. A
    feature of S that is measured by a linear query has its single X_j as well, and products of two
    count beside the pairs.

    Args:
        locks: of the budget.
        schema: the domain.
        task: of the predictive regime.
        task_share: the least that the marginals of the task pool share, of the whole budget.
        background_share: the same for the one-way marginals of the background pool.
        linear: columns that are measured by linear queries where they are in S.
        multiplied: those of them whose products with each other are measured, too.

    Raises:
        BudgetError: when some S would not leave enough.
    """
    features = set(schema.names) - set(task.target_names)

    def largest(count: int, columns: int, target: str = "") -> float:
        """Of locks on marginals of that many columns, with a target or without."""
        rest = {target} if target else set()
        shares = [
            lock.share
            for lock in locks
            if len(lock.key) == columns and rest <= lock.key and lock.key - rest <= features
        ]
        return math.fsum(sorted(shares, reverse=True)[:count])

    k = task.count
    pairs = math.fsum(largest(k, 2, target) for target in task.target_names)
    # Several targets have no joint (`planning.joint`).
    joint = 0.0 if task.further else largest(1, k + 1, task.target)
    doubled = features.intersection(linear)
    singles = largest(len(features) - k + min(len(doubled), k * len(task.target_names)), 1)
    several = min(k * len(task.target_names), len(features.intersection(multiplied)))
    products = largest(math.comb(several, 2), 2)
    for pool, taken, share in (
        # The larger of the two, as a plan measures pairs or the joint, never both.
        ("task", max(pairs + products, joint), task_share),
        ("background", singles, background_share),
    ):
        # Twice what `allocate` wants left, so that rounding cannot let pass here what it refuses
        # after S was chosen.
        if not taken <= share * (1.0 - 2.0 * LEAST_LEFT):
            raise BudgetError(
                f"The locks may take {taken:.1%} of the budget, depending on which features are "
                f"chosen, and the marginals of the {pool} pool share {share:.1%}. Lower or remove "
                "a lock, or give the pool a larger share.",
                field="locks",
            )


def lock_warnings(
    locks: Sequence[Lock], cliques: Iterable[Clique], *, final: bool
) -> tuple[str, ...]:
    """A sentence for every lock that holds nothing.

    Args:
        locks: of the budget.
        cliques: marginals the plan measures, known now.
        final: False while S is only the worst case.
    """
    measured = set(map(frozenset, cliques))
    idle = [lock for lock in locks if lock.key not in measured]
    if final:
        return tuple(
            f"The lock on {lock.label} holds nothing: the plan does not measure this marginal, or "
            "chooses it at run time."
            for lock in idle
        )
    return tuple(
        f"The lock on {lock.label} holds only if the features chosen at run time make it one of "
        "the marginals."
        for lock in idle
    )


def unused_warning(pool: str, share: float, queries: Iterable[Query]) -> tuple[str, ...]:
    """A sentence when every marginal of a pool is locked and they leave some of its share."""
    own = [query for query in queries if query.pool == pool]
    left = 1.0 - math.fsum(query.share for query in own) / share if share > 0.0 else 0.0
    # Less than that is rounding, and no unused budget.
    if not own or not all(query.locked for query in own) or left < 1e-9:
        return ()
    return (
        f"Every marginal of the {pool} pool is locked, and {left:.1%} of the pool stays unused. "
        "Raise or remove a lock.",
    )
