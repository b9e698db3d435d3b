"""Entries of the page Data: who a row is, and learning the open columns with budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboard.jobs.worker import Job
    from prism_core.learning.domain.domain_plan import DomainPlan


@dataclass(frozen=True, kw_only=True)
class People:
    """How rows and people relate, as in `Schema`."""

    one_row_per_person: bool = False
    person_id: str | None = None
    persons: int | None = None


@dataclass
class Learning:
    """Learning the open columns with budget.

    Attributes:
        share: part of the budget for it.
        delta_share: part of delta for names of categories.
        details: how columns are learned, by name; see `learning.form`.
        job: the step under way, or the last one.
        attempt: counts the steps, so that each is confirmed by itself.
        message: what the last step came to, for the page.
        clipped: of the last step, by column: share of values that may lie outside at one end.
    """

    share: float = 0.10
    delta_share: float = 0.10
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    job: Job[DomainPlan] | None = None
    attempt: int = 0
    message: str = ""
    clipped: dict[str, float] = field(default_factory=dict)
