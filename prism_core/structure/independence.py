"""What a graph implies: d-separation, a basis of independences, and why a blanket is enough.

All of it follows from the graph alone; no row is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import networkx as nx

from prism_core.errors import StructureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prism_core.structure.dag import Dag


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
        both = sorted(sides[one] & sides[other])
        if both:
            raise StructureError(
                f"{both[0]!r} stands in {one} and in {other}. Name it once.", field=other
            )
    earlier = _ancestral(dag, sides["left"] | sides["right"] | sides["given"])
    return not _reached(dag, earlier, sides["left"], sides["given"]) & sides["right"]


def _ancestral(dag: Dag, names: Iterable[str]) -> set[str]:
    """`names` and everything that causes them."""
    found = set(names)
    rest = list(found)
    while rest:
        for parent in dag.graph.predecessors(rest.pop()):
            if parent not in found:
                found.add(parent)
                rest.append(parent)
    return found


def _reached(dag: Dag, earlier: set[str], start: set[str], given: set[str]) -> set[str]:
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
        for child in (node, *dag.graph.successors(node)):
            if child in opened or child not in earlier:
                continue
            opened.add(child)
            fresh = {child, *dag.graph.predecessors(child)} - seen
            seen |= fresh
            rest += fresh
    return seen


def _names(dag: Dag, names: str | Iterable[str], field: str) -> set[str]:
    wanted = {names} if isinstance(names, str) else set(names)
    for name in wanted:
        if name not in dag.graph:
            raise StructureError(
                f"{field} names {name!r}, which is not a node of the graph.", field=field
            )
    return wanted


def local_basis(dag: Dag) -> Iterator[Independence]:
    """One statement a node: given its parents, it is independent of what it does not cause.

    This is the local Markov property. It is a basis: it implies every other independence that the
    graph implies, in every distribution (Lauritzen et al. 1990). Nodes without such a statement
    are left out. Lazy: 200 columns give at most 200 statements.
    """
    for node in dag.nodes:
        parents = dag.parents(node)
        tied = {node, *parents, *nx.descendants(dag.graph, node)}
        right = tuple(other for other in dag.nodes if other not in tied)
        if right:
            yield Independence(left=(node,), right=right, given=parents)


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
            an unmeasured node separates has no statement. Default: all.

    Raises:
        StructureError: when `of` or `measured` names no node.
    """
    columns = _names(dag, dag.nodes if measured is None else measured, "measured")
    if of is not None:
        _names(dag, of, "of")
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
    earlier = _ancestral(dag, {one, other})
    near = (earlier & columns) - {one, other}
    met = _reached(dag, earlier, {one}, near)
    if other in met:
        return None
    near &= met
    return near & _reached(dag, earlier, {other}, near)


def blanket_sufficiency(dag: Dag, target: str) -> str:
    """Why the blanket is enough to predict `target`, with the blanket that is used.

    Raises:
        StructureError: when `target` is not a node.
    """
    blanket = dag.markov_blanket(target)
    rest = tuple(node for node in dag.nodes if node != target and node not in set(blanket))
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
