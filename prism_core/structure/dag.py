"""A directed acyclic graph over columns and unmeasured nodes, and the marks of its file.

A `Drawing` is a graph with the positions and roles that its file gives; these never change the
graph.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import networkx as nx

from prism_core.errors import CycleError, StructureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from prism_core.privacy.learning_charge import LearningCharge

DagProvenance: TypeAlias = Literal["declared", "public twin", "dp"]
DAG_PROVENANCES: tuple[DagProvenance, ...] = get_args(DagProvenance)

MAX_NAME = 10_000
"""The longest name of a node; every format holds it."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class Dag:
    """A DAG, checked at birth.

    Attributes:
        nodes: node names, unique, in a stable order.
        edges: (cause, effect) pairs between nodes, unique.
        unmeasured: nodes that are no column of the table, in node order. They count for
            d-separation and for what S protects against, and are never in S.
        provenance: `declared` (knowledge), `dp` (learned from the rows with part of the budget)
            or `public twin` (learned from a public table). What was learned is a blanket, and
            says nothing about causes.
        prior: what learning it cost (provenance `dp`); every plan deducts it.

    Raises:
        StructureError: for empty or unwritable names, repeated nodes or edges, self-loops, edges
            to unknown nodes, an unmeasured node that is unknown or named twice, and a cost of a
            graph that was not learned with budget.
        CycleError: naming every node of one cycle.
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...] = ()
    unmeasured: tuple[str, ...] = ()
    provenance: DagProvenance = "declared"
    prior: LearningCharge | None = None

    def __post_init__(self) -> None:
        self._check_provenance()
        for name in self.nodes:
            if not is_name(name):
                raise StructureError(
                    "A node has no usable name. Names must be text that is not empty and at most "
                    f"{MAX_NAME:,} characters long.",
                    field="nodes",
                )
        if len(set(self.nodes)) != len(self.nodes):
            raise StructureError("A node appears twice in the graph.", field="nodes")
        self._check_unmeasured()
        known = set(self.nodes)
        for cause, effect in self.edges:
            if cause == effect:
                raise StructureError(
                    f"{cause!r} points to itself. Remove this edge.", field="edges"
                )
            missing = [name for name in (cause, effect) if name not in known]
            if missing:
                raise StructureError(
                    f"The edge {cause!r} → {effect!r} names {missing[0]!r}, which is not a node "
                    "of the graph.",
                    field="edges",
                )
        if len(set(self.edges)) != len(self.edges):
            raise StructureError("An edge appears twice in the graph.", field="edges")
        cycle = find_cycle(self.edges)
        if cycle:
            raise CycleError(cycle)

    def _check_provenance(self) -> None:
        if self.provenance not in DAG_PROVENANCES:
            raise StructureError(
                f"provenance must be one of {', '.join(DAG_PROVENANCES)}.", field="provenance"
            )
        if self.prior is not None and self.provenance != "dp":
            raise StructureError(
                "A graph that cost privacy budget has the provenance 'dp'.", field="provenance"
            )

    def _check_unmeasured(self) -> None:
        strange = [name for name in self.unmeasured if name not in set(self.nodes)]
        if strange:
            raise StructureError(
                f"{strange[0]!r} is said to be unmeasured and is not a node of the graph.",
                field="unmeasured",
            )
        if len(set(self.unmeasured)) != len(self.unmeasured):
            raise StructureError("A node is named as unmeasured twice.", field="unmeasured")
        # One order, so that two graphs that say the same are equal.
        object.__setattr__(self, "unmeasured", self._ordered(self.unmeasured))

    @property
    def learned(self) -> bool:
        """Whether it was learned from rows, private or public; then it is not causal."""
        return self.provenance != "declared"

    @cached_property
    def graph(self) -> nx.DiGraph:
        """The graph as networkx knows it (a copy to read, not to edit)."""
        graph = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(self.edges)
        return graph

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """The nodes that are columns, in node order."""
        hidden = set(self.unmeasured)
        return tuple(name for name in self.nodes if name not in hidden)

    @cached_property
    def _rank(self) -> dict[str, int]:
        return {node: rank for rank, node in enumerate(self.nodes)}

    def _known(self, name: str) -> str:
        if name not in self._rank:
            raise StructureError(f"{name!r} is not a node of the graph.", field="target")
        return name

    def _ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(set(names), key=self._rank.__getitem__))

    def parents(self, name: str) -> tuple[str, ...]:
        """Pa(name): direct causes, measured or not, in node order."""
        return self._ordered(self.graph.predecessors(self._known(name)))

    def children(self, name: str) -> tuple[str, ...]:
        """Direct effects, measured or not, in node order."""
        return self._ordered(self.graph.successors(self._known(name)))

    def measured_parents(self, name: str) -> tuple[str, ...]:
        """The columns that cause `name` directly, or through unmeasured nodes only.

        These are its parents in the graph over the columns that takes the place of this one, the
        latent projection (Verma and Pearl 1990). Without unmeasured nodes they are its parents.
        """
        return self._beyond_unmeasured(name, self.graph.predecessors)

    def measured_children(self, name: str) -> tuple[str, ...]:
        """The columns that `name` causes directly, or through unmeasured nodes only."""
        return self._beyond_unmeasured(name, self.graph.successors)

    def _beyond_unmeasured(
        self, name: str, following: Callable[[str], Iterator[str]]
    ) -> tuple[str, ...]:
        hidden, rest, seen = set(self.unmeasured), [self._known(name)], set[str]()
        while rest:
            fresh = set(following(rest.pop())) - seen
            seen |= fresh
            # Only unmeasured nodes are passed: behind a column nothing acts directly.
            rest += fresh & hidden
        return self._ordered(seen - hidden)

    def co_parents(self, name: str) -> tuple[str, ...]:
        """Other columns that cause a column caused by it; without parents and children.

        As for `measured_parents`, unmeasured nodes between them are passed over.
        """
        children = self.measured_children(name)
        others = {p for child in children for p in self.measured_parents(child)}
        return self._ordered(others - {name, *children, *self.measured_parents(name)})

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """MB(name): the least set of columns that separates it from every other column.

        Without unmeasured nodes these are its parents, children and co-parents (Koller and
        Friedman 2009). With them it is the blanket in the latent projection: an unmeasured common
        cause of `name` and X brings in X, the causes of X and all that is tied to X likewise.
        A column is in it when a path leads to it on which every column is met from two causes;
        these are the columns that the walk through the moral graph meets first.
        """
        columns = set(self.measured) - {self._known(name)}
        earlier = ancestral(self, columns | {name})
        return self._ordered(reached(self, earlier, {name}, columns) & columns)

    def ancestors(self, name: str) -> tuple[str, ...]:
        """All direct and indirect causes, in node order."""
        return self._ordered(nx.ancestors(self.graph, self._known(name)))

    def over(self, names: Iterable[str]) -> Dag:
        """The same edges over the columns `names`, and the unmeasured nodes after them.

        Columns without an edge stay isolated.

        Raises:
            StructureError: naming the nodes that are neither columns nor unmeasured, and the
                unmeasured ones that are columns.
        """
        columns = tuple(names)
        known, hidden = set(columns), set(self.unmeasured)
        both = [node for node in self.unmeasured if node in known]
        if both:
            raise StructureError(
                f"The graph says that {both[0]!r} is unmeasured, and it is a column of the table. "
                "Take the mark away, or rename the node.",
                field="unmeasured",
            )
        strangers = [node for node in self.nodes if node not in known | hidden]
        if strangers:
            named = ", ".join(map(repr, strangers[:8]))
            more = " and others" if len(strangers) > 8 else ""
            raise StructureError(
                f"The graph has nodes that are not columns of the table: {named}{more}. Rename or "
                "remove them, or mark them as unmeasured (in DAGitty's text: `name [latent]`).",
                field="nodes",
            )
        return replace(self, nodes=(*columns, *self.unmeasured))


def ancestral(dag: Dag, names: Iterable[str]) -> set[str]:
    """`names` and everything that causes them."""
    found = set(names)
    rest = list(found)
    while rest:
        for parent in dag.graph.predecessors(rest.pop()):
            if parent not in found:
                found.add(parent)
                rest.append(parent)
    return found


def reached(dag: Dag, earlier: set[str], start: set[str], given: set[str]) -> set[str]:
    """What `start` reaches in the moral graph of `earlier` without passing through `given`.

    Separation in the moral graph of the ancestral set is d-separation (Lauritzen et al. 1990). A
    node and its parents form a clique there; each is opened once, so the walk takes as long as
    there are edges. (networkx' own test queues nodes again and again and does not end in time for
    200 columns.) Members of `given` that are met count as reached.
    """
    seen, rest, opened = set(start), list(start), set()
    while rest:
        node = rest.pop()
        if node in given:
            continue
        # Neighbours in the moral graph: the node's own parents, its children, and their parents.
        for child in (node, *dag.graph.successors(node)):
            if child in opened or child not in earlier:
                continue
            opened.add(child)
            fresh = {child, *dag.graph.predecessors(child)} - seen
            seen |= fresh
            rest += fresh
    return seen


def is_name(value: object) -> bool:
    """Whether `value` can name a node: text that is not empty and can be written as UTF-8."""
    return isinstance(value, str) and 0 < len(value) <= MAX_NAME and not _SURROGATE.search(value)


def find_cycle(edges: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The nodes of one directed cycle, the first repeated at the end; () when there is none.

    A depth-first walk that looks at every edge once: networkx' own needs 14 s for 20,000 edges.
    """
    after: dict[str, list[str]] = {}
    for cause, effect in edges:
        after.setdefault(cause, []).append(effect)
    done: set[str] = set()
    # Every cause is a start: the graph may fall into parts.
    for start in after:
        if start in done:
            continue
        trail, on_trail, ways = [start], {start}, [iter(after[start])]
        while ways:
            node = next((name for name in ways[-1] if name not in done), None)
            if node is None:
                ways.pop()
                done.add(trail.pop())  # it is skipped from now on, so it may stay in `on_trail`
            elif node in on_trail:
                return (*trail[trail.index(node) :], node)
            else:
                trail.append(node)
                on_trail.add(node)
                ways.append(iter(after.get(node, ())))
    return ()


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A DAG, where its nodes stand, and the roles that its file gives them.

    Attributes:
        dag: the graph itself.
        positions: (x, y) of some nodes in the file's own unit, x to the right and y downwards.
        outcome: nodes marked as outcome, in node order.
        exposure: nodes marked as exposure, in node order.

    Raises:
        StructureError: when one of them names no node, or a position is not finite.
    """

    dag: Dag
    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    outcome: tuple[str, ...] = ()
    exposure: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = set(self.dag.nodes)
        for part in ("positions", "outcome", "exposure"):
            for name in getattr(self, part):
                if name not in known:
                    raise StructureError(
                        f"{part} names {name!r}, which is not a node of the graph.", field=part
                    )
        for name, place in self.positions.items():
            if len(place) != 2 or not all(math.isfinite(number) for number in place):
                raise StructureError(
                    f"The position of {name!r} must be two finite numbers.", field="positions"
                )
