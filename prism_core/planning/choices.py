"""Choices made privately at run time, filled into a plan; and the plan replayed from them.

Post-processing of what was chosen. No row is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import networkx as nx

from prism_core.errors import PlanError
from prism_core.planning.adaptive_rounds import Pick, check_picks
from prism_core.planning.design import design, with_features
from prism_core.planning.frame import allocated
from prism_core.planning.queries import Query, expected_relative_error
from prism_core.planning.tree.junction_tree import forecast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.brief import Brief
    from prism_core.planning.plan import Plan
    from prism_core.planning.queries import Pool, QueryKind, ThreeWayChoice, TreeChoice
    from prism_core.planning.tree.junction_tree import Clique


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
        # A cycle would widen the cliques beyond what the forecast allowed for.
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
    # While background pairs are to come the size is not known: the worst case stays.
    worst = plan.forecast if plan.tree is not None else size
    return replace(plan, queries=every, three_way=None, unused=(event,) * idle, forecast=worst)


def _adaptive_query(plan: Plan, pick: Pick, part: float) -> Query:
    amount = part * pick.parts
    cells = plan.schema.cells(pick.clique)
    event = plan.accountant.gaussian(amount, 0.0, " × ".join(pick.clique))
    return Query(
        clique=pick.clique,
        kind="adaptive",
        pool="task",
        cells=cells,
        weight=1.0,
        share=amount / plan.total,
        event=event,
        parts=pick.parts,
        relative_error=expected_relative_error(cells, event.sigma, plan.n),
    )


def _chosen(
    plan: Plan,
    choice: TreeChoice | ThreeWayChoice,
    cliques: Sequence[Clique],
    kind: QueryKind,
    pool: Pool,
) -> tuple[Query, ...]:
    """Queries for what was chosen: the planned amount, shared out by the real cells."""
    cells = [plan.schema.cells(clique) for clique in cliques]
    # Anew: the plan knew mean cells only. The amount is the planned one, so nothing more is
    # spent.
    amounts = allocated(choice.amount, cells, plan.budget)
    share = choice.measure_share / choice.amount
    return tuple(
        Query(
            clique=clique,
            kind=kind,
            pool=pool,
            cells=size,
            weight=1.0,
            share=amount * share,
            event=(event := plan.accountant.gaussian(amount, choice.delta, " × ".join(clique))),
            relative_error=expected_relative_error(size, event.sigma, plan.n),
        )
        for clique, size, amount in zip(cliques, cells, amounts, strict=True)
    )


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What was chosen privately at run time; empty where nothing was.

    Attributes:
        s: the features S.
        by_target: of several targets the features of each, first target first; else empty.
        triples: cliques of the 3-way marginals, in the order of their choice.
        picks: adaptive marginals, likewise.
        pairs: background pairs, likewise.
    """

    s: tuple[str, ...]
    by_target: tuple[tuple[str, ...], ...] = ()
    triples: tuple[Clique, ...] = ()
    picks: tuple[Pick, ...] = ()
    pairs: tuple[Clique, ...] = ()

    @classmethod
    def of(cls, plan: Plan) -> Choices:
        """Those a finished plan holds."""
        found = {
            kind: tuple(query.clique for query in plan.queries if query.kind == kind)
            for kind in ("three-way", "tree")
        }
        picks = tuple(
            Pick(clique=query.clique, parts=query.parts)
            for query in plan.queries
            if query.kind == "adaptive"
        )
        return cls(
            s=plan.s,
            by_target=tuple(aim.s for aim in plan.several),
            triples=found["three-way"],
            picks=picks,
            pairs=found["tree"],
        )


@dataclass(frozen=True, kw_only=True)
class Stages:
    """A plan on its way.

    Attributes:
        planned: before the run; its hash is what the ledger was charged for.
        opened: once S is known; still lists every other choice.
        final: with every choice filled in.
    """

    planned: Plan
    opened: Plan
    final: Plan


def replay(brief: Brief, choices: Choices) -> Stages:
    """The plan again, step by step. Spends nothing.

    Raises:
        PlanError: when the choices are none that a run could have made; other PrismErrors for a
            brief that no plan can be made from.
    """
    planned = design(brief)
    opened = _with_s(planned, choices)
    plan = opened
    adaptive = plan.three_way is not None and plan.three_way.rule == "adaptive"
    if choices.picks and not adaptive:
        raise PlanError("The plan has no adaptive marginals.", field="three_way")
    if adaptive:
        plan = with_adaptive(plan, choices.picks)
    elif plan.three_way is not None:
        features = [_without(clique, brief.task.target) for clique in choices.triples]
        plan = with_three_way(plan, features)
    elif choices.triples:
        raise PlanError("3-way marginals were measured that the plan has not.", field="three_way")
    if plan.tree is not None:
        _check_forest(plan, choices.pairs)
        plan = with_forest(plan, choices.pairs)
    elif choices.pairs:
        raise PlanError("Background pairs were measured that the plan has not.", field="tree")
    return Stages(planned=planned, opened=opened, final=plan)


def _with_s(planned: Plan, choices: Choices) -> Plan:
    each = choices.by_target if planned.several else (choices.s,)
    if len(each) != len(planned.aims) or bool(choices.by_target) != bool(planned.several):
        raise PlanError("There is not one S for every target.", field="s")
    if planned.selection is None:
        if each != tuple(aim.s for aim in planned.aims) or choices.s != planned.s:
            raise PlanError("S is not what the regime and the graph say.", field="s")
        return planned
    for s, selection in zip(each, planned.selections, strict=True):
        # As a set: a feature named twice must not stand for two.
        if len(set(s)) != selection.k or not set(selection.candidates).issuperset(s):
            raise PlanError("S does not hold as many features as were to be chosen.", field="s")
    opened = with_features(planned, each[0], each[1:])
    if set(choices.s) != set(opened.s):
        raise PlanError("S is not the union of the features of the targets.", field="s")
    return opened


def _without(clique: Clique, target: str) -> Clique:
    return tuple(name for name in clique if name != target)


def _check_forest(plan: Plan, pairs: Sequence[Clique]) -> None:
    """The pairs are candidates, and join what nothing before them joined."""
    tree = plan.tree
    assert tree is not None
    joined = nx.utils.UnionFind(name for name in plan.schema.names if name != plan.task.target)
    if len(tree.joined) > 1:
        joined.union(*tree.joined)
    for pair in tree.tied:
        joined.union(*pair)
    for pair in pairs:
        # Likewise: the forecast holds for forests only.
        if pair not in tree.candidates or joined[pair[0]] == joined[pair[1]]:
            raise PlanError("The background pairs are no forest of candidates.", field="tree")
        joined.union(*pair)
