"""Entries of the pages Release and Report, and of the account that spending pages charge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime
    from pathlib import Path

    from dashboard.jobs.job import Job
    from dashboard.session.inspection import Inspection
    from dashboard.session.memory import RowSplit
    from prism_core.bundle.protocol.approval_file import ApprovedPlan
    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan
    from prism_core.text.languages import LanguageCode


@dataclass
class AccountEntries:
    """Whom a step charges, on every page that spends.

    Attributes:
        asset: name of the data asset.
        lifetime: epsilon of a new asset.
        why: purpose, for the ledger.
        seed: of steps on public rows, which charge nobody.
    """

    asset: str = ""
    lifetime: float = 3.0
    why: str = ""
    seed: int = 1


@dataclass
class ReportEntries:
    """What is put into the copy of the report, beyond the bundle's own.

    Attributes:
        date: the day that is printed, if any.
        rehearsed, private: rehearsals, and numbers inside epsilon.
        account: every charge on the same people; on where the ledger has one for the run, as the
            committee read the others in the protocol.
        outside: numbers that read real rows without noise; off unless the curator opts in.
    """

    date: datetime.date | None = None
    account: bool = True
    rehearsed: bool = False
    private: bool = False
    outside: bool = False


@dataclass
class ReleaseEntries:
    """What the page Release holds: entries before the run, the run, and what came of it.

    Attributes:
        approved: the plan that a committee approved.
        approval_needed: whether the run waits for one.
        said: about the release, as typed; by entry.
        notice: what the last run came to, for the page.
        language: of the papers for a committee.
        starting: whether a run is about to begin.
        job: the run under way, or the last one.
        train, holdout: its rows.
        parted: how they were drawn.
        folder: of the finished bundle.
        finished: a run put away for another one that has not begun.
        put_away: its inspection and report.
        earlier: folders of runs before this one.
    """

    approved: ApprovedPlan | None = None
    approval_needed: bool = False
    said: dict[str, str] = field(default_factory=dict)
    notice: str = ""
    language: LanguageCode = "en"
    starting: bool = False
    job: Job[Plan] | None = None
    train: Rows | None = None
    holdout: Rows | None = None
    parted: RowSplit | None = field(default=None, repr=False)
    folder: Path | None = None
    finished: Job[Plan] | None = None
    put_away: tuple[Inspection | None, ReportEntries] | None = None
    earlier: list[Path] = field(default_factory=list)
