"""The plan once something was chosen privately. Post-processing of what was chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import networkx as nx

from prism_core.errors import PlanError
from prism_core.planning.adaptive import check_picks
from prism_core.planning.frame import allocated
from prism_core.planning.junction_tree import forecast
from prism_core.planning.plan import Plan, Query, expected_relative_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.adaptive import Pick
    from prism_core.planning.junction_tree import Clique
    from prism_core.planning.plan import Pool, QueryKind, ThreeWayChoice, TreeChoice


def with_forest(plan: Plan, pairs: Sequence[Clique]) -> Plan:
    """The plan once the background pairs were chosen privately.

    Raises:
        PlanError: when the number of pairs is not the planned one.
    """
    tree = plan.tree
    if tree is None or len(pairs) != tree.rounds:
        raise PlanError("The forest does not have the planned number of pairs.", field="tree")
    every = (*plan.queries, *_chosen(plan, tree, pairs, "tree", "background"))
    size = forecast(plan.sizes, [query.clique for query in every], last=plan.task.target_names)
    return replace(plan, queries=every, tree=None, forecast=size)


def with_three_way(plan: Plan, pairs: Sequence[Clique]) -> Plan:
    """The plan once the pairs (X_i, X_j) of the 3-way marginals were chosen privately.

    Raises:
        PlanError: when they are not as many as planned, or no forest of candidates.
    """
    three = plan.three_way
    if three is None or len(pairs) != three.rounds:
        raise PlanError("There are not as many 3-way marginals as planned.", field="three_way")
    joined = nx.utils.UnionFind(plan.s)
    for pair in pairs:
        if pair not in three.candidates or joined[pair[0]] == joined[pair[1]]:
            raise PlanError("The 3-way marginals are no forest over S.", field="three_way")
        joined.union(*pair)
    cliques = [plan.schema.canonical((*pair, plan.task.target)) for pair in pairs]
    every = (*plan.queries, *_chosen(plan, three, cliques, "three-way", "task"))
    tree = None if plan.tree is None else replace(plan.tree, tied=tuple(pairs))
    size = plan.forecast
    if tree is None:
        size = forecast(plan.sizes, [query.clique for query in every], last=(plan.task.target,))
    return replace(plan, queries=every, three_way=None, tree=tree, forecast=size)


def with_adaptive(plan: Plan, picks: Sequence[Pick]) -> Plan:
    """The plan once the adaptive rounds have picked their marginals privately.

    Parts of the budget of the rounds that measured nothing count as spent.

    Raises:
        PlanError: when they take more than planned, or one is no candidate or picked twice.
    """
    three = plan.three_way
    if three is None or three.rule != "adaptive":
        raise PlanError("The plan has no adaptive marginals.", field="three_way")
    check_picks(picks, three.candidates, three.rounds)
    part = three.amount / three.rounds
    every = (*plan.queries, *(_adaptive_query(plan, pick, part) for pick in picks))
    idle = three.rounds - sum(pick.parts for pick in picks)
    event = plan.accountant.gaussian(part, three.delta, "part of the rounds not needed")
    size = forecast(plan.sizes, [query.clique for query in every], last=(plan.task.target,))
    worst = plan.forecast if plan.tree is not None else size
    return replace(plan, queries=every, three_way=None, unused=(event,) * idle, forecast=worst)


def _adaptive_query(plan: Plan, pick: Pick, part: float) -> Query:
    amount = part * pick.parts
    cells = plan.schema.cells(pick.clique)
    event = plan.accountant.gaussian(amount, 0.0, " × ".join(pick.clique))
    return Query(
        clique=pick.clique, kind="adaptive", pool="task", cells=cells, weight=1.0,
        share=amount / plan.total, event=event, parts=pick.parts,
        relative_error=expected_relative_error(cells, event.sigma, plan.n),
    )  # fmt: skip


def _chosen(
    plan: Plan, choice: TreeChoice | ThreeWayChoice, cliques: Sequence[Clique], kind: QueryKind,
    pool: Pool,
) -> tuple[Query, ...]:  # fmt: skip
    """Queries for what was chosen: the planned amount, shared out by the real cells."""
    cells = [plan.schema.cells(clique) for clique in cliques]
    amounts = allocated(choice.amount, cells, plan.budget)
    share = choice.measure_share / choice.amount
    return tuple(
        Query(
            clique=clique, kind=kind, pool=pool, cells=size, weight=1.0, share=amount * share,
            event=(event := plan.accountant.gaussian(amount, choice.delta, " × ".join(clique))),
            relative_error=expected_relative_error(size, event.sigma, plan.n),
        )
        for clique, size, amount in zip(cliques, cells, amounts, strict=True)
    )  # fmt: skip
