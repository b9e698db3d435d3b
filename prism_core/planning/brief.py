"""The brief: all that a plan is designed from, in one value. No row is in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.scalars import plain

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema
    from prism_core.structure.dag import Dag


@dataclass(frozen=True)
class Brief:
    """What the curator declares and wishes for one table; all of it public.

    Attributes:
        schema: the declared public domain.
        task: target, regime, number of features.
        budget: epsilon, delta, accountant, allocation, shares, locks.
        n: number of training rows (persons).
        dag: the public graph; needed in the causal and graphical regimes.
        synthesis: model and sampling.
    """

    schema: Schema
    task: Task
    budget: Budget
    n: int
    dag: Dag | None = field(default=None, kw_only=True)
    synthesis: Synthesis = field(default_factory=Synthesis, kw_only=True)

    def __post_init__(self) -> None:
        # A number of numpy's counts as one of Python's; what else it may be, `design` checks, as
        # the mistakes of the names come before that of n.
        object.__setattr__(self, "n", plain(self.n))

    def with_wishes(self, task: Task, budget: Budget, synthesis: Synthesis) -> Brief:
        """Another wish for the same table and graph."""
        return replace(self, task=task, budget=budget, synthesis=synthesis)
