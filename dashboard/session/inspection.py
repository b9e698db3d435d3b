"""Memory of the page Inspect: results by name, entries that spend, comparators."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

from prism_core.errors import CancelledError
from prism_core.evaluation.inside_epsilon.holdout_plan import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dashboard.jobs.job import Job
    from prism_core.comparators import ComparatorPlan
    from prism_core.comparators.external import ExternalName, ExternalPlan
    from prism_core.comparators.methods import MethodName
    from prism_core.data.source import Rows
    from prism_core.evaluation import Candidate, PrivateEvaluation, Subject
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.rehearsal import StandIn

    Progress = Callable[[float, str], None]


@dataclass
class Work:
    """A result under way, or there.

    Attributes:
        future: holds the result, or why there is none.
        share, text: how far it is.
        stop: whether it was asked to stop.
    """

    future: Future[Any]
    share: float = 0.0
    text: str = ""
    stop: bool = False


@dataclass
class Inspection:
    """One release beside the real rows.

    Attributes:
        folder: of the release.
        certificate: of the release.
        subject: its rows and facts.
        works: results by name.
        section: the section on screen.
        view: the figure behind the verdict; "" for the first.
        learner: that it is of; "" for the first.
        subgroup: the column whose levels are compared; "" for the one of fewest levels.
        private: headline numbers bought in this session, newest last.
        s_alone: whether the scores on screen are learned from S alone; None until it is chosen.
        compared: folders of other releases chosen for the comparison.
        private_epsilon: of the next headline numbers, as it is typed.
        session_epsilon: of the next session on the holdout, likewise.
        session_tolerance: of that session, likewise.
    """

    folder: Path
    certificate: dict[str, Any]
    subject: Subject = field(repr=False)
    works: dict[str, Work] = field(default_factory=dict, repr=False)
    section: str = ""
    view: str = ""
    learner: str = ""
    subgroup: str = ""
    s_alone: bool | None = None
    private: list[PrivateEvaluation] = field(default_factory=list)
    compared: list[Path] = field(default_factory=list)
    private_epsilon: float = 0.2
    session_epsilon: float = 1.0
    session_tolerance: float = TOLERANCE

    def start(self, name: str, make: Callable[[Progress], Any]) -> Work:
        """Begin a piece of work, unless it was begun before."""
        if name not in self.works:
            # With an empty future first: `tell` needs the work, and the thread may call it at once.
            work = self.works[name] = Work(future=Future())

            def tell(share: float, text: str) -> None:
                # A thread cannot be ended from outside: it ends itself when it next tells how far
                # it is.
                if work.stop:
                    raise CancelledError("Stopped. Nothing was kept.")
                work.share, work.text = share, text

            work.future = _pool().submit(make, tell)
        return self.works[name]

    def drop(self, *prefixes: str) -> None:
        """Forget results that were for another question, and stop those under way."""
        for name in [name for name in self.works if name.startswith(prefixes)]:
            # Forgotten at once, as the thread may go on until it next tells how far it is.
            self.works.pop(name).stop = True

    def done(self, prefix: str) -> dict[str, Any]:
        """Results that are there, of the names that start like this."""
        return {
            name: work.future.result()
            for name, work in self.works.items()
            if name.startswith(prefix) and work.future.done() and not work.future.exception()
        }


@st.cache_resource
def _pool() -> ThreadPoolExecutor:
    """Two threads for everybody's inspections: they take turns, and the pages stay free."""
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="inspection")


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


@dataclass
class InspectionEntries:
    """What the page Inspect holds.

    Attributes:
        shown: the release that is inspected.
        comparators: their entries and results.
        bought: headline numbers of an inspection that was let go of.
    """

    shown: Inspection | None = None
    comparators: ComparatorEntries = field(default_factory=ComparatorEntries)
    bought: list[PrivateEvaluation] = field(default_factory=list)
