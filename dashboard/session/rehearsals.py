"""Entries and results of runs on public rows: rehearsals, and stories of the gallery."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from prism_core.planning.wishes.scenario import Scenario

if TYPE_CHECKING:
    from dashboard.jobs.job import Job
    from dashboard.session.designs import Entries
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.rehearsal import Rehearsal, RehearsalRequest, StandIn
    from prism_core.reproduction import ResultRow, Story
    from prism_core.samples.additive_scm import Edge, Strength

Source = Literal["graph", "sample", "file"]
Comparison = Literal["regime", "allocation", "designs"]
View = Literal["comparison", "allocation"]


@dataclass
class RehearsalEntries:
    """Entries of the page Rehearse, as they are typed.

    Attributes:
        source: where the stand-in rows come from.
        strength: of the edges; `strengths` of single ones.
        world: seed of the drawn rows.
        sample: name of the packaged sample.
        public: the uploaded public rows; `public_sha256` of the file they were read from.
        comparison: what is compared.
        epsilons: text, numbers with commas between.
        seeds: runs of every design and epsilon.
        shifted: whether the figures under a shift are shown, too.
        built: what the last stand-in was made from, and the stand-in.
        asked: the comparison that is shown, under way or done.
        asked_on: what the stand-in rows of that comparison were made from.
        trial: the rehearsal that chooses an allocation, beside it.
        choosing: the design whose allocation `trial` chooses.
        view: which of the two is looked at, and which the job runs.
        letters: letters of designs by the names they have in that rehearsal.
        job: the process it runs in.
        before: runs of it that were kept from earlier when it began.
        message: why it ended early, for the page.
    """

    source: Source = "graph"
    strength: Strength = "medium"
    strengths: dict[Edge, Strength] = field(default_factory=dict)
    world: int = 0
    sample: str = "readmission"
    public: RawTable | None = field(default=None, repr=False)
    public_sha256: str = ""
    comparison: Comparison = "regime"
    epsilons: str = "0.2, 0.5, 1, 2, 4"
    seeds: int = 10
    shifted: bool = True
    built: tuple[object, StandIn] | None = field(default=None, repr=False)
    asked: RehearsalRequest | None = field(default=None, repr=False)
    asked_on: object = None
    trial: RehearsalRequest | None = None
    choosing: Scenario | None = None
    view: View = "comparison"
    letters: dict[str, str] = field(default_factory=dict)
    job: Job[Rehearsal] | None = None
    before: int = 0
    message: str = ""


def shown(entries: RehearsalEntries) -> RehearsalRequest | None:
    """The rehearsal that is looked at."""
    return entries.trial if entries.view == "allocation" else entries.asked


def scenario_of(entries: Entries, target: str, name: str = "the plan") -> Scenario:
    """A design as it is typed, with the shares of all pools: another regime may need them.

    Raises:
        PrismError: naming the entry to correct.
    """
    return Scenario(
        name=name,
        task=entries.task_for(target),
        synthesis=entries.synthesis,
        budget=entries.budget.for_any_regime(entries.pools),
    )


def adopt(entries: Entries, design: Scenario) -> None:
    """Take over what a rehearsal compares: the regime, the allocation, the 3-way rule."""
    entries.regime = design.task.regime
    entries.three_way = design.task.three_way
    entries.budget.allocation = design.budget.allocation
    # Only then: a tilt that was typed stays for when it is used again.
    if design.budget.allocation == "tilted":
        entries.budget.tilt = design.budget.tilt
    # Else the tables of the page Budget would go on showing what was typed for the design before.
    entries.renew()


@dataclass
class GalleryRuns:
    """What the page Gallery remembers; it stays when another project is opened.

    Attributes:
        job: the run under way; one at a time.
        found: rows that were made here, by the story's name.
        messages: why a run ended early, by the story's name.
        place: of the story on screen, from 0.
        presenting: whether it is shown to a room: large, alone, without the rest of the app.
        notes: whether the speaker's notes stand below it.
    """

    job: Job[Story] | None = None
    found: dict[str, tuple[ResultRow, ...]] = field(default_factory=dict, repr=False)
    messages: dict[str, str] = field(default_factory=dict)
    place: int = 0
    presenting: bool = False
    notes: bool = False
