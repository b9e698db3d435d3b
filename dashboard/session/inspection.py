"""Memory of the page Inspect: results by name, entries that spend, comparators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dashboard.jobs.job import Job
    from prism_core.comparators import ComparatorPlan
    from prism_core.comparators.external import ExternalName, ExternalPlan
    from prism_core.comparators.methods import MethodName
    from prism_core.data.source import Rows
    from prism_core.evaluation import Candidate
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.rehearsal import StandIn


@dataclass(frozen=True, kw_only=True)
class StandInGround:
    """Stand-in rows that a comparator is rehearsed on, with the plan beside it.

    Attributes:
        rows: public.
        plan: the project's own design when it began.
        seed: of the plan's noise on them.
    """

    rows: StandIn = field(repr=False)
    plan: Scenario
    seed: int


@dataclass(frozen=True, kw_only=True)
class ComparatorResult:
    """What a comparator gave out.

    Attributes:
        candidate: its line of the table.
        ground: the stand-in rows it was rehearsed on; None for the project's own rows.
    """

    candidate: Candidate = field(repr=False)
    ground: StandInGround | None = None


@dataclass
class ComparatorEntries:
    """Entries and results of the comparators in the section Compare.

    Attributes:
        method: which one is chosen.
        epsilon: as it is typed; None: that of the release.
        degree: columns of AIM's workload.
        own: whether the project's own rows are chosen, and not stand-in rows.
        job: the run under way.
        table: its rows, while it is under way.
        ground: the stand-in rows it runs on.
        attempt: counts the runs, so that each is confirmed by itself.
        message: what the last run came to, for the page.
        found: results of this session.
    """

    method: MethodName | ExternalName = "aim"
    epsilon: float | None = None
    degree: int = 3
    own: bool = False
    job: Job[ComparatorPlan | ExternalPlan] | None = None
    table: Rows | None = field(default=None, repr=False)
    ground: StandInGround | None = None
    attempt: int = 0
    message: str = ""
    found: list[ComparatorResult] = field(default_factory=list)
