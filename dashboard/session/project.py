"""Project: everything a curator entered, by page, and what came of it.

Durable values live here, outside widget keys, because a page switch drops the state of widgets.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dashboard.session.data_entries import Learning, People
from dashboard.session.designs import PLAN, Entries, Scenarios
from dashboard.session.graph import Blanket, EditedGraph
from dashboard.session.inspection import ComparatorEntries
from dashboard.session.rehearsals import GalleryRuns, RehearsalEntries
from dashboard.session.release_entries import ReportEntries
from prism_core.data.schema.codebook_source import WITHOUT_CODEBOOK
from prism_core.data.schema.column import Column
from prism_core.data.schema.looks import Look, file_name, merged, redeclared, this_minute, unsourced
from prism_core.errors import ConfigError, PrismError
from prism_core.planning.regimes import given_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from dashboard.jobs.job import Job
    from dashboard.session.inspection import Inspection
    from dashboard.session.memory import LetGo, RowSplit
    from prism_core.bundle.protocol.approval_file import ApprovedPlan
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.codebook_source import CodebookReading, CodebookSource
    from prism_core.data.schema.looks import Act, Looks
    from prism_core.data.schema.schema import Provenance, Schema
    from prism_core.data.source import Rows
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.evaluation import PrivateEvaluation
    from prism_core.learning.domain.domain_plan import DomainPlan
    from prism_core.learning.domain.requests import Outline, Request
    from prism_core.learning.graph.graph_plan import GraphPlan
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.planning.wishes.task import Task
    from prism_core.structure.dag import Dag


@dataclass
class Project(Entries):
    """Everything a curator entered, and what came of it. Its own entries are the plan."""

    # 128 random bits: nobody reaches a project by guessing its address.
    key: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    name: str = ""
    sample: str | None = None
    opened: tuple[object, ...] | None = None  # a sample's entries as they were when it was opened
    raw: RawTable | BigTable | None = None
    announced: int | None = None  # persons of the table, typed before there is one
    test: RawTable | None = None
    test_file: bool = False  # whether a file of its own is tested on, there or not yet
    public: bool = False
    private_marks: frozenset[str] = frozenset()  # of tables that this session loaded as private
    public_marks: frozenset[str] = frozenset()  # of those she said to be public nevertheless
    holdout_share: float = 0.2
    allowed_above: float | None = None  # the maximum of epsilon that she ticked may be exceeded
    schema: Schema | None = None
    form: list[dict[str, Any]] | None = None
    form_edited: list[dict[str, Any]] | None = None
    form_rev: int = 0
    form_provenance: Provenance | None = None
    read: CodebookReading | None = None  # the codebook that the form was filled from
    outlined: tuple[Column | Request, ...] = ()  # of an uploaded outline that is not learned yet
    decimals_proposed: dict[str, int] = field(default_factory=dict)
    draft_people: People = field(default_factory=People)
    learning: Learning = field(default_factory=Learning)
    blanket: Blanket = field(default_factory=Blanket)
    file_sha256: str = ""  # of an uploaded table
    looks: Looks = ()  # what opened the rows before the plan, and what was changed afterwards
    looked: dict[str, Looks] = field(default_factory=dict)  # looks at every table, by its key
    source: str = ""  # the document that a declaration after a look is stated to come from
    person_hint: str = ""  # the column that is said to name the person, before it is declared
    graph: EditedGraph = field(default_factory=EditedGraph)
    target: str | None = None
    scenarios: Scenarios = field(default_factory=Scenarios)
    rehearsing: RehearsalEntries = field(default_factory=RehearsalEntries)
    beta: float = 0.05  # chance that a bound fails
    p_min: float | None = None  # declared smallest share of a level
    guess: int = 20  # somebody's guess before the release, 1 in so many
    seed: int = 1
    asset: str = ""
    lifetime: float = 3.0
    why: str = ""
    approved: ApprovedPlan | None = None
    approval_needed: bool = False
    notice: str = ""
    starting: bool = False
    job: Job[Plan] | None = None
    train: Rows | None = None
    holdout: Rows | None = None
    folder: Path | None = None
    checked_dag: tuple[object, Dag] | None = field(default=None, repr=False)
    inspection: Inspection | None = None
    rivals: ComparatorEntries = field(default_factory=ComparatorEntries)
    gallery: GalleryRuns = field(default_factory=GalleryRuns)
    report: ReportEntries = field(default_factory=ReportEntries)
    said: dict[str, str] = field(default_factory=dict)  # about the release, as typed; by entry
    finished: Job[Plan] | None = None  # put away for another run that has not begun
    put_away: tuple[Inspection | None, ReportEntries] | None = None  # its inspection and report
    earlier: list[Path] = field(default_factory=list)  # folders of runs before this one
    parted: RowSplit | None = field(default=None, repr=False)  # how the run's rows were drawn
    bought: list[PrivateEvaluation] = field(default_factory=list)  # of an inspection let go of
    rows_let_go: LetGo | None = None  # the table whose rows are no longer in memory
    test_let_go: LetGo | None = None  # and the test file
    used: float = 0.0  # when a session last looked at it, and since when none has it open; `held`
    left: float | None = None
    sessions: set[str] = field(default_factory=set)

    @property
    def holdout_rows(self) -> int:
        """Rows kept aside for evaluation; a fixed number, whatever they hold."""
        whole = self.whole
        if whole == 0 or self.own_test:
            return 0
        # At least one row is left for training.
        return min(whole - 1, round(whole * self.holdout_share))

    @property
    def n(self) -> int:
        """Training rows (persons); public."""
        return self.whole - self.holdout_rows

    @property
    def whole(self) -> int:
        """Rows (persons) with those kept aside; public.

        A number that was announced holds until it is given up: the plan was made for it.
        """
        if self.announced is not None:
            return self.announced
        return 0 if self.raw is None else self.people.persons or self.raw.rows

    @property
    def own_test(self) -> bool:
        """Whether a test file takes the place of a share that is kept aside."""
        return self.test_file or self.test is not None

    @property
    def awaits_table(self) -> bool:
        """Whether the design comes before its table."""
        return self.raw is None and self.announced is not None and self.rows_let_go is None

    @property
    def people(self) -> People:
        """How rows and people relate; kept apart while there is no schema yet."""
        if self.schema is None:
            return self.draft_people
        return People(
            one_row_per_person=self.schema.one_row_per_person,
            person_id=self.schema.person_id,
            persons=self.schema.persons,
        )

    def declare_people(self, people: People) -> None:
        """Say how rows and people relate.

        Raises:
            SchemaError: when the person-ID column is one of the columns.
        """
        if self.schema is not None:
            self.use_schema(replace(self.schema, **vars(people)))
        self.draft_people = people
        if self.announced is not None and people.persons is not None:
            self.announced = people.persons

    @property
    def table_key(self) -> str:
        """What tells this table from others: the file's hash, or the name where there is none."""
        return self.file_sha256 or self.name

    def look(self, did: Act) -> None:
        """Record that the rows were read without noise, never what was seen.

        What the curator stated before says nothing about changes after it.
        """
        event = Look(did=did, file=file_name(self.name), when=this_minute())
        self.looks = (*self.looks, event)
        self.looked[self.table_key] = (*self.looked.get(self.table_key, ()), event)
        if event.tells:
            self.source = ""
        if self.schema is not None:
            # What holds again once every change after the look has a source.
            self.form_provenance = self.form_provenance or self.schema.provenance
            self.use_schema(self.schema)

    @property
    def told(self) -> Looks:
        """The looks that a plan tells of: rows that are public may be looked at."""
        return () if self.public else self.looks

    @property
    def checked(self) -> bool:
        """Whether something was seen that may say what a column should hold."""
        return any(isinstance(event, Look) and event.tells for event in self.told)

    @property
    def checks(self) -> int:
        """How often it was looked."""
        return sum(isinstance(event, Look) for event in self.looks)

    @property
    def rows_of_form(self) -> list[dict[str, Any]]:
        """The form of columns as it is typed."""
        return (self.form if self.form_edited is None else self.form_edited) or []

    @property
    def to_learn(self) -> tuple[str, ...]:
        """Columns that are ticked to be learned."""
        return tuple(
            str(row.get("name") or "") for row in self.rows_of_form if row.get("learn") is True
        )

    @property
    def learns(self) -> bool:
        """Whether a domain is being learned now."""
        job = self.learning.job
        return job is not None and job.outcome().state == "running"

    def domain_plan(self, provenance: Provenance) -> DomainPlan:
        """What learning the ticked columns would measure. Spends nothing, reads no row.

        Args:
            provenance: of what is declared about the columns.

        Raises:
            PrismError: when something is missing or not usable.
        """
        from prism_core.learning.domain.domain_plan import design_domain

        budget = self.budget.budget(())  # shares are of no concern here
        most = self.above_limit(budget.epsilon)
        return design_domain(
            self.outline(provenance),
            budget.epsilon,
            1.0 / self.n**2 if budget.delta is None else budget.delta,
            self.whole,
            share=self.learning.share,
            delta_share=self.learning.delta_share,
            above_limit=most,
        )

    def graph_plan(self) -> GraphPlan:
        """What learning the target's blanket would cost. Spends nothing, reads no row.

        Raises:
            PrismError: when something is missing or not usable.
        """
        from prism_core.learning.graph.graph_plan import design_graph

        assert self.schema is not None
        budget = self.budget.budget(())
        return design_graph(
            self.schema,
            self.target or "",
            budget.epsilon,
            1.0 / self.n**2 if budget.delta is None else budget.delta,
            self.whole,
            share=self.blanket.share,
            members=self.blanket.members,
            above_limit=self.above_limit(budget.epsilon),
        )

    def outline(self, provenance: Provenance) -> Outline:
        """What is declared and what is to be learned, as the form says.

        Args:
            provenance: of what is declared about the columns.

        Raises:
            PrismError: when something is missing or not usable.
        """
        from prism_core.learning.domain import outline_io
        from prism_core.learning.domain.requests import Outline

        columns = outline_io.from_rows(self.rows_of_form, self.learning.details)
        known, provenance = self.on_record(columns, provenance)
        return Outline(
            columns=columns,
            provenance=provenance,
            looks=known,
            codebook=self.codebook_of(columns, provenance),
            prior=self.schema.prior if self.schema else None,
            **vars(self.people),
        )

    def codebook_of(
        self, columns: Sequence[Column | Request], provenance: Provenance
    ) -> CodebookSource | None:
        """The codebook that a declaration of this provenance names, with what is done by hand."""
        if self.read is None or provenance in WITHOUT_CODEBOOK:
            return None
        # What is still to be learned is neither read nor typed.
        return self.read.source_of(each for each in columns if isinstance(each, Column))

    def on_record(
        self,
        columns: Sequence[Column | Request],
        provenance: Provenance,
        came_with: Looks = (),
        *,
        whole: bool = False,
    ) -> tuple[Looks, Provenance]:
        """Looks and provenance once these columns are declared; see `data.looks`."""
        before = self.outlined if self.schema is None else self.schema.columns
        known = redeclared(
            self.told,
            came_with,
            {each.name: each for each in before},
            {each.name: each for each in columns},
            source=self.source,
            when=this_minute(),
            whole=whole,
        )
        names = [each.name for each in columns]
        return known, "private rows" if unsourced(known, names) else provenance

    @property
    def dag(self) -> Dag | None:
        """The graph over the schema's columns, or None without edges that cost nothing."""
        if self.schema is None or not (self.graph.edges or self.graph.prior):
            return None
        graph = self.graph
        drawn = (self.schema.names, graph.edges, graph.unmeasured, graph.provenance, graph.prior)
        # Asked for several times in a run, and looking for cycles takes its time.
        if self.checked_dag is None or self.checked_dag[0] != drawn:
            self.checked_dag = (drawn, graph.over(self.schema.names))
        return self.checked_dag[1]

    @property
    def protected(self) -> frozenset[str]:
        """S as the graph gives it; empty while it is not known."""
        return self.protected_by(self)

    @property
    def settled_s(self) -> frozenset[str]:
        """S as far as it is settled before a release: the graph's, or all features if all are."""
        if self.regime == "predictive":
            with suppress(PrismError):
                plan = self.plan()
                return frozenset(plan.s) if plan.s_is_final else frozenset()
        return self.protected

    def protected_by(self, entries: Entries) -> frozenset[str]:
        """S as the graph gives it in the regime of some entries."""
        if self.dag is None or entries.regime == "predictive" or self.target is None:
            return frozenset()
        return frozenset(given_by(self.dag, entries.regime, self.target))

    def design(self, letter: str) -> Entries:
        """Entries of the plan, or of a design beside it."""
        return self if letter == PLAN else self.scenarios.others[letter]

    @property
    def edited(self) -> Entries:
        """Entries of the design that the page Budget changes."""
        return self.design(self.scenarios.edited)

    def scenario(self, letter: str, name: str) -> Scenario:
        """A design under a name.

        Raises:
            PrismError: when the name or an entry is not usable.
        """
        from prism_core.planning.wishes.scenario import Scenario

        entries = self.design(letter)
        return Scenario(
            name=name,
            task=entries.task_for(self.target or ""),
            budget=entries.used_budget(),
            synthesis=entries.synthesis,
        )

    def usable(self, letters: Iterable[str]) -> list[Scenario]:
        """Designs under their letters, without those that have a mistake in them."""
        found = []
        for letter in letters:
            with suppress(PrismError):  # it is shown where the design is edited
                self.plan(self.design(letter))
                found.append(self.scenario(letter, letter))
        return found

    def task(self) -> Task:
        """The task as it is entered."""
        return self.task_for(self.target or "")

    def settled_task(self) -> Task:
        """The task with what is left to the plan filled in, as far as there is a plan."""
        with suppress(PrismError):
            return self.plan().task
        return self.task()

    def plan(self, entries: Entries | None = None) -> Plan:
        """The plan of what is entered.

        Args:
            entries: of another design for the same data, graph and target.

        Raises:
            PrismError: when something is missing or not usable.
        """
        from prism_core.planning.brief import Brief
        from prism_core.planning.design import design

        assert self.schema is not None
        entries = self if entries is None else entries
        budget = entries.used_budget()
        brief = Brief(
            self.schema,
            entries.task_for(self.target or ""),
            replace(budget, above_limit=self.above_limit(budget.epsilon)),
            self.n,
            dag=self.dag,
            synthesis=entries.synthesis,
        )
        # Every page asks several times in a run, and a wide table has a pair for every two columns.
        if entries.planned is None or entries.planned[0] != brief:
            try:
                found = design(brief)
            except PrismError as error:
                found = error
            entries.planned = (brief, found)
        found = entries.planned[1]
        if isinstance(found, PrismError):
            # The same error is raised for every question: its traceback would grow with each.
            raise found.with_traceback(None)
        return found

    def above_limit(self, epsilon: float) -> float | None:
        """The workspace's maximum where an epsilon exceeds it on purpose, None where it does not.

        Raises:
            BudgetError: when it does and the curator did not tick that it may.
        """
        from prism_core.privacy.ledger import default_workspace, rules

        if self.public:
            return None
        try:
            return rules.above_limit(epsilon, default_workspace(), said=self.allowed_above)
        except ConfigError:  # the checklist says that the rules cannot be read; the gate refuses
            return None

    def use_schema(self, schema: Schema | None) -> None:
        """Take another schema. Edges of columns that are gone are dropped; looks stay on record."""
        if schema is None:
            self.schema = None
            return
        self.schema = schema = replace(schema, looks=merged(self.told, schema.looks))
        if self.announced is not None and schema.persons is not None:
            self.announced = schema.persons
        self.looks = merged(self.looks, schema.looks)
        known = {*schema.names, *self.graph.unmeasured}
        kept = tuple(edge for edge in self.graph.edges if known.issuperset(edge))
        if kept != self.graph.edges:
            self.graph.replace(kept)
        # The editor in the browser looks at edges and names again with another revision only.
        self.graph.rev += 1
        if self.target not in schema.names:
            self.target = None
        for entries in (self, *self.scenarios.others.values()):
            entries.further = {n: w for n, w in entries.further.items() if n in schema.names}
            for columns in [c for c in entries.budget.locks if not set(c) <= set(schema.names)]:
                del entries.budget.locks[columns]

    def show_form(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Put other rows into the form of columns."""
        self.form, self.form_edited = [dict(row) for row in rows], None
        self.form_rev += 1

    def forget_results(self) -> None:
        """Drop what belongs to an earlier run; until another one starts it can be shown again."""
        self.finished = self.job if self.folder is not None else None
        self.put_away = (self.inspection, self.report) if self.finished is not None else None
        self.job = None
        if self.folder is not None and self.folder not in self.earlier:
            self.earlier.append(self.folder)
        self.folder = None
        self.inspection = None
        self.bought = []
        self.report = ReportEntries()

    def show_finished(self) -> None:
        """Show the finished run that was put away, with what was found out about it."""
        assert self.finished is not None
        self.job, self.folder, self.finished = self.finished, self.finished.result, None
        if self.put_away is not None:  # numbers that were paid for are among it
            self.inspection, self.report = self.put_away
            self.put_away = None
