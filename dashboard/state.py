"""What a session remembers.

Durable values live here, outside widget keys, because a page switch drops the state of widgets.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

from prism_core.errors import BudgetError
from prism_core.planning.task import Budget, Shares, Synthesis, Task
from prism_core.structure.dag import Dag

if TYPE_CHECKING:
    from pathlib import Path

    from dashboard.worker import Job
    from prism_core.data.big import BigTable
    from prism_core.data.schema import Schema
    from prism_core.data.source import Rows
    from prism_core.data.tables import RawTable
    from prism_core.evaluation import Evaluation
    from prism_core.planning.plan import Plan
    from prism_core.planning.task import AllocationRule, Regime, SelectionRule
    from prism_core.privacy.accountants import AccountantName

Edges = tuple[tuple[str, str], ...]
_KEY = "project"
_SHELF = 4  # projects kept in memory for a reload
_CHOICE = 0.05  # share of choosing 3-way marginals; goes to the task pool while unused


@dataclass
class Graph:
    """The graph being drawn, with what undo and redo need.

    Attributes:
        edges: current edges.
        rev: revision of the edges that Python made last; the editor answers to it.
        positions: where the columns stand on the canvas.
        past, future: edges before and after, for undo and redo.
    """

    edges: Edges = ()
    rev: int = 0
    positions: dict[str, tuple[float, float]] = field(default_factory=dict)
    past: list[Edges] = field(default_factory=list)
    future: list[Edges] = field(default_factory=list)

    def drawn(self, edges: Edges) -> None:
        """Take over what the user drew; the editor shows it already."""
        if edges != self.edges:
            self.past.append(self.edges)
            self.future.clear()
            self.edges = edges

    def replace(self, edges: Edges) -> None:
        """Put other edges in place, so that the editor must show them."""
        self.drawn(edges)
        self.rev += 1

    def undo(self) -> None:
        """One step back."""
        self.future.append(self.edges)
        self.edges = self.past.pop()
        self.rev += 1

    def redo(self) -> None:
        """One step forward again."""
        self.past.append(self.edges)
        self.edges = self.future.pop()
        self.rev += 1


@dataclass
class BudgetEntries:
    """The budget as it is typed, so that a mistake loses nothing.

    Attributes:
        epsilon: as entered; may be unusable.
        delta: text; empty means 1/n².
        background, selection: shares of these pools; the task pool gets the rest.
    """

    epsilon: float = 1.0
    delta: str = ""
    accountant: AccountantName = "zcdp"
    allocation: AllocationRule = "closed_form"
    background: float = 0.20
    selection: float = 0.10

    def budget(self) -> Budget:
        """The entries as a budget.

        Raises:
            BudgetError: naming the entry to correct.
        """
        delta = None
        if self.delta.strip():
            try:
                delta = float(self.delta)
            except ValueError:
                raise BudgetError(
                    "delta must be a number such as 1e-9, or empty for 1/n².", field="delta"
                ) from None
        rest = 1.0 - self.background - self.selection - _CHOICE
        return Budget(
            epsilon=self.epsilon,
            delta=delta,
            accountant=self.accountant,
            allocation=self.allocation,
            shares=Shares(
                selection=self.selection, choice=_CHOICE, task=rest, background=self.background
            ),
        )


@dataclass
class Project:
    """Everything a curator entered, and what came of it."""

    key: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    name: str = ""
    sample: str | None = None
    raw: RawTable | BigTable | None = None
    test: RawTable | None = None
    public: bool = False
    holdout_share: float = 0.2
    schema: Schema | None = None
    form: list[dict[str, Any]] | None = None
    form_edited: list[dict[str, Any]] | None = None
    form_rev: int = 0
    checked: bool = False
    graph: Graph = field(default_factory=Graph)
    target: str | None = None
    regime: Regime = "causal"
    k: int = 8
    selection: SelectionRule = "greedy"
    budget: BudgetEntries = field(default_factory=lambda: BudgetEntries())
    synthesis: Synthesis = field(default_factory=Synthesis)
    seed: int = 1
    asset: str = ""
    lifetime: float = 3.0
    why: str = ""
    notice: str = ""
    job: Job | None = None
    train: Rows | None = None
    holdout: Rows | None = None
    folder: Path | None = None
    evaluation: Evaluation | None = None

    @property
    def holdout_rows(self) -> int:
        """Rows kept aside for evaluation; a fixed number, whatever they hold."""
        if self.raw is None or self.test is not None or self.schema is None:
            return 0
        whole = self.schema.persons or self.raw.rows
        return min(whole - 1, round(whole * self.holdout_share))

    @property
    def n(self) -> int:
        """Training rows (persons); public."""
        if self.raw is None:
            return 0
        whole = (self.schema.persons if self.schema else None) or self.raw.rows
        return whole - self.holdout_rows

    @property
    def dag(self) -> Dag | None:
        """The graph over the schema's columns, or None without edges."""
        if self.schema is None or not self.graph.edges:
            return None
        return Dag(nodes=self.schema.names, edges=self.graph.edges)

    def task(self) -> Task:
        """The task as it is entered."""
        return Task(
            target=self.target or "", regime=self.regime, k=self.k, selection=self.selection,
        )  # fmt: skip

    def plan(self) -> Plan:
        """The plan of what is entered.

        Raises:
            PrismError: when something is missing or not usable.
        """
        from prism_core.planning.design import design

        assert self.schema is not None
        return design(
            self.schema, self.task(), self.budget.budget(), self.n,
            dag=self.dag, synthesis=self.synthesis,
        )  # fmt: skip

    def use_schema(self, schema: Schema | None) -> None:
        """Take another schema; edges to columns that are gone are dropped."""
        self.schema = schema
        if schema is None:
            return
        kept = tuple(e for e in self.graph.edges if e[0] in schema and e[1] in schema)
        if kept != self.graph.edges:
            self.graph.replace(kept)
        self.graph.rev += 1
        if self.target not in schema.names:
            self.target = None

    def forget_results(self) -> None:
        """Drop what belongs to an earlier run."""
        self.job = None
        self.folder = None
        self.evaluation = None


@st.cache_resource
def _shelf() -> OrderedDict[str, Project]:
    """Projects by a key nobody can guess, so that reloading the page finds them again."""
    return OrderedDict()


def project() -> Project:
    """The session's project; after a reload the one that the address names."""
    if _KEY not in st.session_state:
        found = _shelf().get(st.query_params.get(_KEY, ""))
        st.session_state[_KEY] = found or Project()
    return st.session_state[_KEY]


def replace_project(new: Project) -> None:
    """Start over with another project."""
    new.key = project().key
    st.session_state[_KEY] = new


def remember() -> None:
    """Keep the project findable by the address; the last few, in this process only."""
    state, shelf = project(), _shelf()
    shelf[state.key] = state
    shelf.move_to_end(state.key)
    while len(shelf) > _SHELF:
        shelf.popitem(last=False)
    if st.query_params.get(_KEY) != state.key:
        st.query_params[_KEY] = state.key
