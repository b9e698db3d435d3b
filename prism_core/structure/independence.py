"""What a graph implies: d-separation, a basis of independences, and why a blanket is enough.

All of it follows from the graph alone; no row is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import networkx as nx

from prism_core.errors import StructureError
from prism_core.structure.dag import Dag, ancestral, reached

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, kw_only=True)
class Independence:
    """`left` is independent of `right` given `given`, in every distribution of the graph."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        given = f" | {', '.join(self.given)}" if self.given else ""
        return f"{', '.join(self.left)} ⫫ {', '.join(self.right)}{given}"


def d_separated(
    dag: Dag, left: str | Iterable[str], right: str | Iterable[str], given: Iterable[str] = ()
) -> bool:
    """Whether `given` separates `left` from `right` (Pearl 2009, definition 1.2.3).

    True means: independent in every distribution that factorises along the graph. False means:
    dependent in almost all of them.

    Raises:
        StructureError: for a name that is no node, an empty side, or overlapping sets; the field is
            `left`, `right` or `given`.
    """
    sides = {
        "left": _names(dag, left, "left"),
        "right": _names(dag, right, "right"),
        "given": _names(dag, given, "given"),
    }
    for field in ("left", "right"):
        if not sides[field]:
            raise StructureError(f"{field} is empty. Name at least one column.", field=field)
    for one, other in combinations(sides, 2):
        # Sorted, as sets have no order: the same mistake gives the same message.
        both = sorted(sides[one] & sides[other])
        if both:
            raise StructureError(
                f"{both[0]!r} stands in {one} and in {other}. Name it once.", field=other
            )
    earlier = ancestral(dag, sides["left"] | sides["right"] | sides["given"])
    return not reached(dag, earlier, sides["left"], sides["given"]) & sides["right"]


def _names(dag: Dag, names: str | Iterable[str], field: str) -> set[str]:
    wanted = {names} if isinstance(names, str) else set(names)
    for name in wanted:
        if name not in dag.graph:
            raise StructureError(
                f"{field} names {name!r}, which is not a node of the graph.", field=field
            )
    return wanted


def local_basis(dag: Dag) -> Iterator[Independence]:
    """One statement a column: given its parents, it is independent of what it does not cause.

    This is the local Markov property. It is a basis: it implies every other independence that the
    graph implies, in every distribution (Lauritzen et al. 1990). Nodes without such a statement
    are left out. Lazy: 200 columns give at most 200 statements.

    Of a graph with unmeasured nodes the statements are about columns only. Given are then the
    column's blanket among the columns that it does not cause, which holds more than its parents;
    every statement is true, but they need not imply all others.
    """
    columns = set(dag.measured)
    for node in dag.measured:
        before = columns - {node} - nx.descendants(dag.graph, node)
        given = reached(dag, ancestral(dag, before | {node}), {node}, before) & before
        right = tuple(other for other in dag.nodes if other in before - given)
        if right:
            kept = tuple(other for other in dag.nodes if other in given)
            yield Independence(left=(node,), right=right, given=kept)


def missing_edges(
    dag: Dag, *, of: str | None = None, measured: Iterable[str] | None = None
) -> Iterator[Independence]:
    """One statement a missing edge: the pair, and a minimal set that separates it.

    What DAGitty lists, and what a curator can check against the codebook: every statement is about
    two columns. Minimal: no smaller part of the set separates the pair. Lazy, because 200 columns
    have up to 19,900 pairs: take the first few with itertools.islice.

    Args:
        dag: the graph.
        of: only pairs with this node.
        measured: the nodes that are columns; pairs and sets are taken from them. A pair that only
            an unmeasured node separates has no statement. Default: those of the graph.

    Raises:
        StructureError: when `of` or `measured` names no node.
    """
    columns = _names(dag, dag.measured if measured is None else measured, "measured")
    if of is not None:
        _names(dag, of, "of")
    # A set: 200 columns have 19,900 pairs to look up.
    joined = set(dag.edges)
    for one, other in combinations(dag.nodes, 2):
        if (one, other) in joined or (other, one) in joined:
            continue
        if (of is not None and of not in {one, other}) or not {one, other} <= columns:
            continue
        found = _minimal(dag, one, other, columns)
        if found is not None:
            given = tuple(node for node in dag.nodes if node in found)
            yield Independence(left=(one,), right=(other,), given=given)


def _minimal(dag: Dag, one: str, other: str, columns: set[str]) -> set[str] | None:
    """A minimal separator: of the causes of both, those met from one side, then from the other."""
    earlier = ancestral(dag, {one, other})
    near = (earlier & columns) - {one, other}
    met = reached(dag, earlier, {one}, near)
    if other in met:
        return None
    near &= met
    # Each of these is reached from both sides, so none of them can be left out.
    return near & reached(dag, earlier, {other}, near)


def blanket_sufficiency(dag: Dag, target: str) -> str:
    """Why the blanket is enough to predict `target`, with the blanket that is used.

    Raises:
        StructureError: when `target` is not a node.
    """
    blanket = dag.markov_blanket(target)
    rest = tuple(node for node in dag.measured if node != target and node not in set(blanket))
    named = "{" + ", ".join(blanket) + "}"
    if not rest:
        return f"MB({target}) = {named} holds every other column."
    if not d_separated(dag, target, rest, blanket):  # the theorem, checked on this graph
        raise StructureError(
            f"The blanket of {target!r} does not separate it from the rest of the graph.",
            field="dag",
        )
    others = f"the other {len(rest)} columns" if len(rest) > 1 else ", ".join(rest)
    return (
        f"MB({target}) = {named} separates {target} from {others}: once the blanket is known, "
        f"they add nothing to the prediction of {target}, in every distribution of this graph "
        "(Pearl 1988). This rests on the graph being right; no row was read."
    )


def changes_not_covered(dag: Dag, target: str, s: Iterable[str]) -> tuple[str, ...]:
    """The nodes whose change may change how `target` depends on S, in node order.

    A change of a node is another distribution of it given its causes. It is drawn as one more
    cause of that node, and the relation between S and the target stays as it was when S separates
    that cause from the target (Pearl and Bareinboim 2011). Without unmeasured nodes the parents
    of the target cover every change; an unmeasured cause of the target is never covered, nor is
    a member of S that shares an unmeasured cause with it. A change of the target itself is left
    out: no S covers it.

    Raises:
        StructureError: for a name that is no node, or the target in S; see `d_separated`.
    """
    sides = {"target": _names(dag, target, "target"), "s": _names(dag, s, "s")}
    if target in sides["s"]:
        raise StructureError(f"{target!r} is the target and in S.", field="s")
    earlier = ancestral(dag, sides["target"] | sides["s"])
    near = reached(dag, earlier, {target}, sides["s"]) - sides["s"]
    # The added cause meets the target where the node or one of its causes is met, open.
    return tuple(
        node
        for node in dag.nodes
        if node in earlier - {target} and not near.isdisjoint((node, *dag.graph.predecessors(node)))
    )
