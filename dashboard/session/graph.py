"""Entries of the page Structure: target, graph with undo and redo, learning the blanket."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prism_core.structure.dag import Dag, DagProvenance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dashboard.jobs.worker import Job
    from prism_core.data.source import Rows
    from prism_core.learning.graph.graph_plan import GraphPlan
    from prism_core.privacy.learning_charge import LearningCharge

Edges = tuple[tuple[str, str], ...]


@dataclass
class EditedGraph:
    """The graph being drawn, with what undo and redo need.

    Attributes:
        edges: current edges.
        rev: revision of the edges that Python made last; the editor answers to it.
        positions: where the columns stand on the canvas.
        foreign: whether the positions are a file's, in a unit of its own.
        show_all: whether columns far from Y and S are shown, too; None: unless there are many.
        past, future: edges before and after, for undo and redo.
        provenance, prior: where a graph that was learned comes from, and what that cost; they
            stay with the edges that are drawn further until another graph is loaded.
        unmeasured: names that are no column; those with an edge are nodes of the graph. A name
            stays when its last edge goes, so that undo brings it back.
        drawn_before: edges drawn from knowledge that a learned graph took the place of.
        unused: what learning cost whose graph was put away again; it stays spent.
    """

    edges: Edges = ()
    rev: int = 0
    positions: dict[str, tuple[float, float]] = field(default_factory=dict)
    foreign: bool = False
    show_all: bool | None = None
    past: list[Edges] = field(default_factory=list)
    future: list[Edges] = field(default_factory=list)
    provenance: DagProvenance = "declared"
    prior: LearningCharge | None = None
    unmeasured: frozenset[str] = frozenset()
    drawn_before: Edges = ()
    unused: list[LearningCharge] = field(default_factory=list)

    def over(self, columns: Sequence[str], edges: Edges | None = None) -> Dag:
        """The graph over the columns and over the unmeasured nodes that have an edge.

        Args:
            columns: of the table.
            edges: others than those that are drawn, before they are taken.

        Raises:
            StructureError: when they make no graph.
        """
        edges = self.edges if edges is None else edges
        hidden = self.unmeasured.difference(columns)
        seen = dict.fromkeys(name for edge in edges for name in edge if name in hidden)
        return Dag(
            nodes=(*columns, *seen),
            edges=edges,
            unmeasured=tuple(seen),
            provenance=self.provenance,
            prior=self.prior,
        )

    def load(self, dag: Dag, positions: Mapping[str, tuple[float, float]] | None = None) -> None:
        """Put another graph in place, with how it came about and what that cost.

        Args:
            dag: the graph.
            positions: of its columns, in the unit of the file it came from.
        """
        learned = dag.learned or self.provenance != "declared"
        if self.provenance == "declared":
            # The last that was drawn, even if it was cleared for the learned one to be offered.
            drawn = next((edges for edges in (self.edges, *reversed(self.past)) if edges), ())
            self.drawn_before = drawn if dag.learned else ()
        self.positions, self.foreign = dict(positions or {}), bool(positions)
        self._put_away(dag.prior)
        self.provenance, self.prior = dag.provenance, dag.prior
        self.unmeasured |= set(dag.unmeasured)
        self.replace(dag.edges)
        if learned:  # undo must not bring learned edges back without their cost
            self.past.clear()
            self.future.clear()

    def forget(self) -> None:
        """Start again from knowledge: no edge, and nothing of a learned graph to go back to."""
        self._put_away(None)
        self.provenance, self.prior = "declared", None
        self.replace(())
        self.past.clear()
        self.future.clear()

    def _put_away(self, other: LearningCharge | None) -> None:
        if self.prior is not None and self.prior != other:
            self.unused.append(self.prior)

    def bring_back(self, names: Iterable[str]) -> None:
        """The graph drawn from knowledge again, and nothing of the learned one to go back to.

        Args:
            names: the columns there are now; edges of others are gone.
        """
        known, kept = {*names, *self.unmeasured}, self.drawn_before
        self.forget()
        self.replace(tuple(edge for edge in kept if known.issuperset(edge)))
        self.past.clear()
        self.drawn_before = ()

    def drawn(self, edges: Edges) -> None:
        """Take over what the user drew; the editor shows it already."""
        # The editor answers in every run of the page; the same answer again is no step to undo.
        if edges != self.edges:
            self.past.append(self.edges)
            self.future.clear()
            self.edges = edges

    def replace(self, edges: Edges) -> None:
        """Put other edges in place, so that the editor must show them."""
        self.drawn(edges)
        self.rev += 1

    def moved(self, positions: dict[str, tuple[float, float]]) -> None:
        """Take over where the user put the columns."""
        if positions:
            self.positions, self.foreign = positions, False

    def go(self, steps: int) -> None:
        """Undo (below 0) or redo (above 0) so many steps, or as many as there are."""
        for _ in range(min(-steps, len(self.past))):
            self.undo()
        for _ in range(min(steps, len(self.future))):
            self.redo()

    def undo(self) -> None:
        """One step back."""
        self.future.append(self.edges)
        self.edges = self.past.pop()
        # Not the browser's doing, so it has to draw the edges anew.
        self.rev += 1

    def redo(self) -> None:
        """One step forward again."""
        self.past.append(self.edges)
        self.edges = self.future.pop()
        self.rev += 1


@dataclass
class Blanket:
    """Learning the target's blanket with budget.

    Attributes:
        share: part of the budget for it.
        members: most columns in it.
        job: the step under way.
        table: its rows, while it is under way.
        attempt: counts the steps, so that each is confirmed by itself.
        message: what the last step came to, for the page.
    """

    share: float = 0.20
    members: int = 8
    job: Job[GraphPlan] | None = None
    table: Rows | None = field(default=None, repr=False)
    attempt: int = 0
    message: str = ""


@dataclass
class StructureEntries:
    """What the page Structure holds.

    Attributes:
        target: the column to be predicted.
        graph: that is being drawn.
        blanket: learning of it, with budget.
        checked_dag: what the graph was last made of, and the graph.
    """

    target: str | None = None
    graph: EditedGraph = field(default_factory=EditedGraph)
    blanket: Blanket = field(default_factory=Blanket)
    checked_dag: tuple[object, Dag] | None = field(default=None, repr=False)

    def dag(self, columns: tuple[str, ...]) -> Dag | None:
        """The graph over the table's columns, or None without edges that cost nothing."""
        graph = self.graph
        if not (graph.edges or graph.prior):
            return None
        drawn = (columns, graph.edges, graph.unmeasured, graph.provenance, graph.prior)
        # Asked for several times in a run, and looking for cycles takes its time.
        if self.checked_dag is None or self.checked_dag[0] != drawn:
            self.checked_dag = (drawn, graph.over(columns))
        return self.checked_dag[1]
