"""Choices made privately at run time, filled into a plan; and the plan replayed from them.

Post-processing of what was chosen. No row is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import networkx as nx

from prism_core.errors import PlanError
from prism_core.planning.adaptive_rounds import Pick, check_picks
from prism_core.planning.allocation import allocate
from prism_core.planning.candidates import forest_candidates
from prism_core.planning.design import design, with_features, with_parts
from prism_core.planning.frame import allocated
from prism_core.planning.queries import (
    Pool,
    Query,
    QueryKind,
    ThreeWayChoice,
    TreeChoice,
    expected_relative_error,
)
from prism_core.planning.tree.junction_tree import Clique, forecast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.brief import Brief
    from prism_core.planning.coarsening import ColumnParts
    from prism_core.planning.plan import Plan
    from prism_core.privacy.events import ExponentialEvent


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


def with_interaction(plan: Plan, found: Clique | None) -> Plan:
    """The plan once it was looked for features that act together.

    What was kept back measures them with the target; where none was found, it measures the pairs
    with the target again. Two measurements of sigma s_1 and s_2 say as much as one of
    1 / sqrt(1 / s_1^2 + 1 / s_2^2), which is the noise of one that has the budget of both.

    Args:
        plan: with a look that is not made yet.
        found: the features, None for nothing.

    Raises:
        PlanError: when they are no candidate.
    """
    look = plan.interactions
    if look is None or not (found is None or found in look.candidates):
        raise PlanError("The plan looks for no such set of features.", field="interactions")
    if found is None:
        return replace(plan, queries=(*plan.queries, *_again(plan, look.amount)), interactions=None)
    clique = plan.schema.canonical((*found, plan.task.target))
    made = replace(
        plan,
        queries=(*plan.queries, _query(plan, "interaction", clique, look.amount)),
        interactions=None,
    )
    # Where these are within one node already, the forest stays as it is planned.
    if plan.tree is not None and not set(found).issubset(plan.tree.joined):
        made = _around(made, plan.tree, found)
    # While another choice is open the forecast stays the worst case.
    if made.three_way is None and made.tree is None:
        cliques = [query.clique for query in made.queries]
        made = replace(made, forecast=forecast(plan.sizes, cliques, last=plan.task.target_names))
    return made


def _again(plan: Plan, amount: float) -> tuple[Query, ...]:
    """What the pairs with the target were measured with, once more, from an amount kept back."""
    kinds = ("pair", "joint")
    pairs = [query for query in plan.queries if query.pool == "task" and query.kind in kinds]
    # In proportion: each pair ends with the share it would have had from the start.
    parts = allocate(amount, [query.event.rho for query in pairs], "closed_form", 1.0)
    return tuple(
        _query(plan, "again", query.clique, part) for query, part in zip(pairs, parts, strict=True)
    )


def _around(plan: Plan, tree: TreeChoice, found: Clique) -> Plan:
    """The background forest, to which the features found count as one node."""
    base = sum(query.cells for query in plan.queries)
    forest = forest_candidates(plan.domain, plan.task.target_names, found, base)
    if not forest.rounds:
        return replace(plan, tree=None, tree_event=None)
    # Columns that are one node need fewer edges; each at the planned epsilon, so less is spent.
    event = replace(tree.event, count=forest.rounds)
    kept = replace(tree, candidates=forest.pairs, joined=found, rounds=forest.rounds, event=event)
    return replace(plan, tree=kept, tree_event=event)


def with_adaptive(plan: Plan, picks: Sequence[Pick]) -> Plan:
    """The plan once the adaptive rounds have picked their marginals privately.

    Parts of the budget of the rounds that measured nothing count as spent. Those of ties measure
    the pairs with the target again.

    Raises:
        PlanError: when they take more than planned, or one is no candidate or picked twice.
    """
    three = plan.three_way
    if three is None or three.rule != "adaptive":
        raise PlanError("The plan has no adaptive marginals.", field="three_way")
    check_picks(picks, three.candidates, three.rounds)
    every = (*plan.queries, *(picked(plan, pick) for pick in picks))
    idle = three.rounds - sum(pick.parts for pick in picks)
    made, unused = plan.three_way_event, ()
    if three.bar is not None:
        made, again = _left_by_ties(plan, three, idle)
        every += again
    else:
        part = three.amount / three.rounds
        event = plan.accountant.gaussian(part, three.delta, "part of the rounds not needed")
        unused = (event,) * idle
    size = forecast(plan.sizes, [query.clique for query in every], last=(plan.task.target,))
    # While background pairs are to come the size is not known: the worst case stays.
    worst = plan.forecast if plan.tree is not None else size
    return replace(
        plan,
        queries=every,
        three_way=None,
        three_way_event=made,
        unused=unused,
        forecast=worst,
    )


def picked(plan: Plan, pick: Pick) -> Query:
    """The measurement of what a round of a plan has picked."""
    three = plan.three_way
    assert three is not None
    amount = three.amount / three.rounds * pick.parts
    return replace(_query(plan, "adaptive", pick.clique, amount), parts=pick.parts)


def _left_by_ties(
    plan: Plan, three: ThreeWayChoice, idle: int
) -> tuple[ExponentialEvent, tuple[Query, ...]]:
    """The choices that were made, and the pairs again with what the other parts would have cost.

    The round that found nothing made a choice and measured nothing; those after it did neither.
    Which these are is an output of the choices, and all together cost what was planned, so they
    are rho-zCDP with the planned rho (a privacy filter for zCDP: Feldman and Zrnic 2021).
    """
    if not idle:
        return three.event, ()
    made = replace(three.event, count=three.rounds - idle + 1)
    # A hair less: the float sum of all parts stays below the planned amount.
    spared = (three.event.rho - made.rho) * (1.0 - 1e-12)
    return made, _again(plan, three.amount * idle / three.rounds + spared)


def _chosen(
    plan: Plan,
    choice: TreeChoice | ThreeWayChoice,
    cliques: Sequence[Clique],
    kind: QueryKind,
    pool: Pool,
) -> tuple[Query, ...]:
    """Queries for what was chosen: the planned amount, shared out by the real cells."""
    cells = [plan.domain.cells(clique) for clique in cliques]
    # Anew: the plan knew mean cells only. The amount is the planned one, so nothing more is
    # spent.
    amounts = allocated(choice.amount, cells, plan.budget)
    share = choice.measure_share / choice.amount
    return tuple(
        replace(_query(plan, kind, clique, amount, choice.delta), pool=pool, share=amount * share)
        for clique, amount in zip(cliques, amounts, strict=True)
    )


def _query(plan: Plan, kind: QueryKind, clique: Clique, amount: float, delta: float = 0.0) -> Query:
    """A marginal that was chosen at run time, measured with this amount of the task pool."""
    cells = plan.domain.cells(clique)
    event = plan.accountant.gaussian(amount, delta, " × ".join(clique))
    return Query(
        clique=clique,
        kind=kind,
        pool="task",
        cells=cells,
        weight=1.0,
        share=amount / plan.total,
        event=event,
        relative_error=expected_relative_error(cells, event.sigma, plan.mass),
    )


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What was chosen privately at run time; empty where nothing was.

    Attributes:
        s: the features S.
        parts: of coarsened columns; None where there are none.
        by_target: of several targets the features of each, first target first; else empty.
        interaction: features that were found to act together; None for nothing.
        triples: cliques of the 3-way marginals, in the order of their choice.
        picks: adaptive marginals, likewise.
        pairs: background pairs, likewise.
    """

    s: tuple[str, ...]
    parts: tuple[ColumnParts, ...] | None = None
    by_target: tuple[tuple[str, ...], ...] = ()
    interaction: Clique | None = None
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
        together = [query.clique for query in plan.queries if query.kind == "interaction"]
        return cls(
            s=plan.s,
            parts=plan.parts,
            interaction=_without(together[0], plan.task.target) if together else None,
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
    # Parts before S, as in a run: features are chosen among columns as they are measured.
    opened = _with_s(_with_parts(planned, choices), choices)
    plan = opened
    # In the order of a run: each choice is made on the plan that the choices before it left.
    if plan.interactions is not None:
        plan = with_interaction(plan, choices.interaction)
    elif choices.interaction is not None:
        raise PlanError("A set was measured that the plan does not look for.", field="interactions")
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


def _with_parts(planned: Plan, choices: Choices) -> Plan:
    if (planned.coarsening is None) != (choices.parts is None):
        raise PlanError(
            "The parts of coarsened columns are not what the plan asks for.", field="coarsen"
        )
    return planned if choices.parts is None else with_parts(planned, choices.parts)


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
