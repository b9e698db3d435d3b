"""Project: everything a curator entered, by page, and what came of it.

Durable values live here, outside widget keys, because a page switch drops the state of widgets.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dashboard.session.data_entries import DataEntries, People
from dashboard.session.designs import Designs, Entries
from dashboard.session.graph import StructureEntries
from dashboard.session.inspection import InspectionEntries
from dashboard.session.memory import Presence
from dashboard.session.rehearsals import GalleryRuns, RehearsalEntries
from dashboard.session.release_entries import AccountEntries, ReleaseEntries, ReportEntries
from prism_core.data.schema.looks import Act, Look, file_name, merged, this_minute
from prism_core.errors import ConfigError, PrismError
from prism_core.planning.regimes import given_by
from prism_core.planning.step_plan import delta_in_force

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.bundle.project_file import ProjectFile
    from prism_core.data.schema.schema import Provenance, Schema
    from prism_core.learning.domain.domain_plan import DomainPlan
    from prism_core.learning.graph.graph_plan import GraphPlan
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.planning.wishes.task import Task
    from prism_core.structure.dag import Dag


@dataclass
class Project:
    """Everything a curator entered, by page, and what came of it.

    What is asked of several pages together, such as the plan, is asked here.
    """

    # Random, so that no two meet. It is no secret: who opens it is asked for the key or the login.
    key: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    opened: tuple[object, ...] | None = None  # a sample's entries as they were when it was opened
    owner: str = ""  # subject of whose session made it; until it is stored nobody else opens it
    kept: tuple[ProjectFile, str] | None = field(default=None, repr=False)  # as it is stored
    unsaved: str = ""  # why what is entered now is not stored yet
    data: DataEntries = field(default_factory=DataEntries)
    structure: StructureEntries = field(default_factory=StructureEntries)
    designs: Designs = field(default_factory=Designs)
    rehearsing: RehearsalEntries = field(default_factory=RehearsalEntries)
    release: ReleaseEntries = field(default_factory=ReleaseEntries)
    inspection: InspectionEntries = field(default_factory=InspectionEntries)
    report: ReportEntries = field(default_factory=ReportEntries)
    gallery: GalleryRuns = field(default_factory=GalleryRuns)
    account: AccountEntries = field(default_factory=AccountEntries)
    presence: Presence = field(default_factory=Presence)

    def declare_people(self, people: People) -> None:
        """Say how rows and people relate.

        Raises:
            SchemaError: when the person-ID column is one of the columns.
        """
        if self.data.schema is not None:
            # First, because it may raise: then nothing is taken over.
            self.use_schema(replace(self.data.schema, **vars(people)))
        self.data.draft_people = people
        if self.data.announced is not None and people.persons is not None:
            self.data.announced = people.persons

    def look(self, did: Act) -> None:
        """Record that the rows were read without noise, never what was seen.

        What the curator stated before says nothing about changes after it.
        """
        event = Look(did=did, file=file_name(self.data.name), when=this_minute())
        self.data.looks = (*self.data.looks, event)
        self.data.looked[self.data.table_key] = (
            *self.data.looked.get(self.data.table_key, ()),
            event,
        )
        if event.tells:
            self.data.source = ""
        if self.data.schema is not None:
            # What holds again once every change after the look has a source.
            self.data.form_provenance = self.data.form_provenance or self.data.schema.provenance
            self.use_schema(self.data.schema)

    def domain_plan(self, provenance: Provenance) -> DomainPlan:
        """What learning the ticked columns would measure. Spends nothing, reads no row.

        Args:
            provenance: of what is declared about the columns.

        Raises:
            PrismError: when something is missing or not usable.
        """
        # Imported where it is used: every page loads this file, and few of them learn.
        from prism_core.learning.domain.domain_plan import design_domain

        budget = self.designs.plan.budget.budget(())  # shares are of no concern here
        most = self.above_limit(budget.epsilon)
        return design_domain(
            self.data.outline(provenance),
            budget.epsilon,
            delta_in_force(budget.delta, self.data.n),
            self.data.whole,
            share=self.data.learning.share,
            delta_share=self.data.learning.delta_share,
            above_limit=most,
        )

    def graph_plan(self) -> GraphPlan:
        """What learning the target's blanket would cost. Spends nothing, reads no row.

        Raises:
            PrismError: when something is missing or not usable.
        """
        from prism_core.learning.graph.graph_plan import design_graph

        assert self.data.schema is not None
        budget = self.designs.plan.budget.budget(())
        return design_graph(
            self.data.schema,
            self.structure.target or "",
            budget.epsilon,
            delta_in_force(budget.delta, self.data.n),
            self.data.whole,
            share=self.structure.blanket.share,
            members=self.structure.blanket.members,
            above_limit=self.above_limit(budget.epsilon),
        )

    @property
    def dag(self) -> Dag | None:
        """The graph over the schema's columns, or None without edges that cost nothing."""
        schema = self.data.schema
        return None if schema is None else self.structure.dag(schema.names)

    @property
    def protected(self) -> frozenset[str]:
        """S as the graph gives it; empty while it is not known."""
        return self.protected_by(self.designs.plan)

    @property
    def settled_s(self) -> frozenset[str]:
        """S as far as it is settled before a release: the graph's, or all features if all are."""
        if self.designs.plan.regime == "predictive":
            with suppress(PrismError):
                plan = self.plan()
                return frozenset(plan.s) if plan.s_is_final else frozenset()
        return self.protected

    def protected_by(self, entries: Entries) -> frozenset[str]:
        """S as the graph gives it in the regime of some entries."""
        if self.dag is None or entries.regime == "predictive" or self.structure.target is None:
            return frozenset()
        return frozenset(given_by(self.dag, entries.regime, self.structure.target))

    def scenario(self, letter: str, name: str) -> Scenario:
        """A design under a name.

        Raises:
            PrismError: when the name or an entry is not usable.
        """
        from prism_core.planning.wishes.scenario import Scenario

        entries = self.designs.entries(letter)
        return Scenario(
            name=name,
            task=entries.task_for(self.structure.target or ""),
            budget=entries.used_budget(),
            synthesis=entries.synthesis,
        )

    def usable(self, letters: Iterable[str]) -> list[Scenario]:
        """Designs under their letters, without those that have a mistake in them."""
        found = []
        for letter in letters:
            with suppress(PrismError):  # it is shown where the design is edited
                self.plan(self.designs.entries(letter))
                found.append(self.scenario(letter, letter))
        return found

    def task(self) -> Task:
        """The task as it is entered."""
        return self.designs.plan.task_for(self.structure.target or "")

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

        assert self.data.schema is not None
        entries = self.designs.plan if entries is None else entries
        budget = entries.used_budget()
        brief = Brief(
            self.data.schema,
            entries.task_for(self.structure.target or ""),
            # Not from the design: one that comes from a file brings no leave to exceed this
            # workspace's maximum.
            replace(budget, above_limit=self.above_limit(budget.epsilon)),
            self.data.n,
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

        if self.data.public:
            return None
        try:
            return rules.above_limit(epsilon, default_workspace(), said=self.designs.allowed_above)
        except ConfigError:  # the checklist says that the rules cannot be read; the gate refuses
            return None

    def use_schema(self, schema: Schema | None) -> None:
        """Take another schema. Edges of columns that are gone are dropped; looks stay on record."""
        if schema is None:
            self.data.schema = None
            return
        self.data.schema = schema = replace(schema, looks=merged(self.data.told, schema.looks))
        if self.data.announced is not None and schema.persons is not None:
            self.data.announced = schema.persons
        self.data.looks = merged(self.data.looks, schema.looks)
        graph = self.structure.graph
        known = {*schema.names, *graph.unmeasured}
        kept = tuple(edge for edge in graph.edges if known.issuperset(edge))
        if kept != graph.edges:
            graph.replace(kept)
        # The editor in the browser looks at edges and names again with another revision only.
        graph.rev += 1
        if self.structure.target not in schema.names:
            self.structure.target = None
        for entries in map(self.designs.entries, self.designs.letters):
            entries.further = {n: w for n, w in entries.further.items() if n in schema.names}
            for columns in [c for c in entries.budget.locks if not set(c) <= set(schema.names)]:
                del entries.budget.locks[columns]

    def forget_results(self) -> None:
        """Drop what belongs to an earlier run; until another one starts it can be shown again."""
        run = self.release
        run.finished = run.job if run.folder is not None else None
        run.put_away = (self.inspection.shown, self.report) if run.finished is not None else None
        run.job = None
        # The page Inspect compares later runs with it.
        if run.folder is not None and run.folder not in run.earlier:
            run.earlier.append(run.folder)
        run.folder = None
        self.inspection.shown = None
        self.inspection.bought = []
        self.report = ReportEntries()

    def show_finished(self) -> None:
        """Show the finished run that was put away, with what was found out about it."""
        run = self.release
        assert run.finished is not None
        run.job, run.folder, run.finished = run.finished, run.finished.result, None
        if run.put_away is not None:  # numbers that were paid for are among it
            self.inspection.shown, self.report = run.put_away
            run.put_away = None
