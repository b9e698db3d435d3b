"""No plan spends more than it declares, whatever the wishes and whatever is chosen at run time."""

from __future__ import annotations

import math
from dataclasses import replace

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError
from prism_core.planning.adaptive_rounds import Pick
from prism_core.planning.brief import Brief
from prism_core.planning.choices import with_adaptive, with_forest, with_three_way
from prism_core.planning.design import design, with_features
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import (
    ALLOCATIONS,
    MODELS,
    REGIMES,
    SELECTIONS,
    THREE_WAYS,
    Budget,
    Shares,
    Synthesis,
    Task,
)
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.structure.dag import Dag

pytestmark = pytest.mark.privacy


@st.composite
def shares(draw):
    extreme = st.sampled_from([0.01, 0.1, 0.33, 0.98])
    selection = draw(extreme)
    background = draw(extreme) * (1.0 - selection)
    task = (1.0 - selection - background) * draw(st.sampled_from([1.0, 0.5, 0.01]))
    choice = max(0.0, 1.0 - selection - background - task)
    return Shares(selection=selection, choice=choice, task=task, background=background)


@st.composite
def plans(draw):
    count = draw(st.integers(1, 6))
    schema = Schema(
        columns=tuple(
            Column(name=f"c{i}", kind="categorical", levels=tuple(range(draw(st.integers(2, 6)))))
            for i in range(count + 1)
        ),
        one_row_per_person=True,
    )
    features = schema.names[1:]
    regime = draw(st.sampled_from(REGIMES))
    parents = draw(st.lists(st.sampled_from(features), min_size=1, unique=True))
    dag = Dag(nodes=schema.names, edges=tuple((name, "c0") for name in parents))
    weights = draw(st.dictionaries(st.sampled_from(features), st.floats(0.01, 100.0)))
    synthesis = Synthesis(model=draw(st.sampled_from(MODELS)))
    pools = draw(shares())
    wanted = synthesis.model == "pgm" and pools.choice > 0.0
    task = Task(
        target="c0",
        regime=regime,
        k=draw(st.integers(1, count)),
        weights=weights,
        selection=draw(st.sampled_from(SELECTIONS)),
        three_way=draw(st.sampled_from(THREE_WAYS)) if wanted else "none",
        max_three_way=draw(st.integers(1, 4)),
    )
    budget = Budget(
        epsilon=draw(st.sampled_from([0.01, 0.1, 1.0, 20.0]) | st.floats(0.01, 20.0)),
        delta=draw(st.none() | st.floats(1e-9, 1e-4)),
        accountant="zcdp"
        if task.three_way == "adaptive"
        else draw(st.sampled_from(["zcdp", "basic"])),  # pld: tests/privacy/test_pld.py
        allocation=draw(st.sampled_from(ALLOCATIONS)),
        shares=pools,
        tilt=draw(st.floats(0.0, 1.0)),
        locks=draw(locks(schema.names)),
    )
    rows = draw(st.integers(100, 10**6))
    try:
        plan = design(Brief(schema, task, budget, rows, dag=dag, synthesis=synthesis))
    except BudgetError as error:  # before anything runs, and for the locks only
        if error.field != "locks":
            raise
        budget = replace(budget, locks=())
        plan = design(Brief(schema, task, budget, rows, dag=dag, synthesis=synthesis))
    found = [plan]
    if regime == "predictive":
        found.append(with_features(plan, draw(st.permutations(features))[: task.k]))
    if found[-1].three_way is not None and found[-1].three_way.rule == "adaptive":
        found.append(with_adaptive(found[-1], picks(draw, found[-1].three_way)))
    elif found[-1].three_way is not None:
        found.append(with_three_way(found[-1], forest(draw, found[-1], found[-1].three_way)))
    if found[-1].tree is not None:
        ties = [found[-1].tree.joined, *found[-1].tree.tied]
        found.append(with_forest(found[-1], forest(draw, found[-1], found[-1].tree, ties)))
    return found


@st.composite
def locks(draw, names):
    """On single columns, pairs with the target, pairs without, and one nobody knows."""
    columns = st.sampled_from(
        [
            *((name,) for name in names),
            *((names[0], name) for name in names[1:]),
            names[1:3],
            names,
            ("stranger",),
        ]
    )
    share = st.sampled_from([1e-6, 0.01, 0.1, 0.3])
    found = draw(st.dictionaries(columns.map(frozenset), share, max_size=3))
    return tuple(Lock(columns=tuple(sorted(key)), share=part) for key, part in found.items())


def picks(draw, choice):
    """Any candidates, with any number of parts that there are, also fewer."""
    left, found = draw(st.integers(0, choice.rounds)), []
    for clique in draw(st.permutations(list(choice.candidates))):
        if left < 1:
            break
        parts = draw(st.integers(1, left))
        found.append(Pick(clique=clique, parts=parts))
        left -= parts
    return tuple(found)


def forest(draw, plan, choice, ties=()):
    joined = nx.utils.UnionFind(name for name in plan.schema.names if name != plan.task.target)
    for tie in ties:
        if len(tie) > 1:
            joined.union(*tie)
    chosen = []
    for _ in range(choice.rounds):
        open_pairs = [p for p in choice.candidates if joined[p[0]] != joined[p[1]]]
        chosen.append(draw(st.sampled_from(open_pairs)))
        joined.union(*chosen[-1])
    return tuple(chosen)


@settings(max_examples=150)
@given(plans())
def test_spend_stays_within_the_declaration_from_the_first_plan_to_the_last(found):
    first = found[0]
    for plan in found:
        assert plan.total == first.total
        assert plan.spent.epsilon <= plan.budget.epsilon
        assert plan.spent.delta <= plan.delta
        unused = any("stays unused" in warning for warning in plan.warnings)
        if not unused:  # nothing is thrown away
            assert plan.spent.epsilon >= plan.budget.epsilon * (1 - 1e-6)
        amount = plan.spent.rho if plan.budget.accountant == "zcdp" else plan.spent.epsilon
        assert amount <= plan.total  # what the ledger is charged at the start covers the end
        if plan.budget.accountant == "zcdp":
            assert plan.total <= epsilon_to_rho(plan.budget.epsilon, plan.delta)


@settings(max_examples=60)
@given(plans())
def test_events_are_those_of_the_mechanisms_that_run(found):
    """One event per query with its own sigma, the selection and the tree choice once each."""
    for plan in found:
        sigmas = sorted(event.sigma for event in plan.events if hasattr(event, "sigma"))
        rounds = sum(event.count for event in plan.events if hasattr(event, "count"))
        expected = [query.sigma for query in plan.queries]
        expected += [event.sigma for event in plan.unused]
        chosen = [event for choice in plan.selections for event in choice.events]
        expected += [event.sigma for event in chosen if hasattr(event, "sigma")]
        choices = sum(getattr(event, "count", 0) for event in chosen)
        if plan.interactions is not None:
            expected.append(plan.interactions.sigma)
        for choice in (plan.tree, plan.three_way):
            if choice is not None:
                expected += [choice.sigma] * choice.rounds
        for event in (plan.tree_event, plan.three_way_event, plan.interactions_event):
            if event is not None:
                choices += event.count
        assert sigmas == pytest.approx(sorted(expected), rel=1e-9)
        assert rounds == choices
        assert all(event.rho > 0.0 for event in plan.events)


@settings(max_examples=60)
@given(plans())
def test_every_column_is_measured_and_none_twice_as_a_single(found):
    plan = found[-1]
    covered = [name for query in plan.queries if query.kind != "tree" for name in query.clique]
    assert set(covered) == set(plan.schema.names)
    singles = [query.clique[0] for query in plan.queries if query.kind == "one-way"]
    assert set(singles) == set(plan.schema.names) - set(plan.s) - {plan.task.target}
    assert len(singles) == len(set(singles))
    assert math.isclose(
        math.fsum(q.weight for q in plan.queries if q.pool == "task"),
        len([q for q in plan.queries if q.pool == "task"]),
    )
