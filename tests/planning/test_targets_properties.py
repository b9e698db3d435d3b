"""Several targets on random graphs: the guard holds, nothing is overspent, the forecast covers."""

from __future__ import annotations

import math

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import TaskError
from prism_core.planning.brief import Brief
from prism_core.planning.choices import Choices, replay, with_forest
from prism_core.planning.design import design, with_features
from prism_core.planning.regimes import leaks
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import REGIMES, SELECTIONS, Budget, Task
from prism_core.structure.dag import Dag
from tests.support.interaction_graphs import interaction_graph

pytestmark = pytest.mark.privacy


@st.composite
def wishes(draw):
    """A schema with a random graph, and two or three of its columns as targets."""
    count = draw(st.integers(3, 7))
    names = [f"c{i}" for i in range(count)]
    targets = draw(st.permutations(names))[: draw(st.integers(2, min(3, count - 1)))]
    sizes = {name: draw(st.sampled_from([1, 2, 2, 3, 5])) for name in names}
    sizes |= {name: draw(st.sampled_from([2, 3, 4])) for name in targets}
    schema = Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(range(sizes[name])))
            for name in names
        ),
        one_row_per_person=True,
    )
    order = draw(st.permutations(names))
    edges = [(u, v) for i, u in enumerate(order) for v in order[i + 1 :] if draw(st.booleans())]
    weights = st.floats(0.01, 100.0)
    task = Task(
        target=targets[0],
        regime=draw(st.sampled_from(REGIMES)),
        k=draw(st.integers(1, count - len(targets))),
        selection=draw(st.sampled_from(SELECTIONS)),
        weights=draw(st.dictionaries(st.sampled_from(names), weights, max_size=3)),
        further=tuple(Target(name=name, weight=draw(weights)) for name in targets[1:]),
    )
    return schema, task, Dag(nodes=schema.names, edges=tuple(edges))


def resolved(draw, plan):
    """The plan with features and forest as private choices could make them."""
    if plan.selections:
        free = plan.selection.candidates
        s, *further = (draw(st.permutations(free))[: plan.task.k] for _ in plan.aims)
        plan = with_features(plan, s, further)
    yield plan
    if plan.tree is not None:
        joined, chosen = nx.utils.UnionFind(plan.schema.names), []
        for _ in range(plan.tree.rounds):
            pairs = [p for p in plan.tree.candidates if joined[p[0]] != joined[p[1]]]
            chosen.append(draw(st.sampled_from(pairs)))
            joined.union(*chosen[-1])
        yield with_forest(plan, chosen)


@settings(max_examples=80)
@given(wishes(), st.sampled_from(["zcdp", "basic"]), st.data())
def test_guard_spend_and_forecast_from_the_first_plan_to_the_last(found, accountant, data):
    schema, task, dag = found
    try:
        plan = design(Brief(schema, task, Budget(accountant=accountant), 1_000, dag=dag))
    except TaskError:  # a target without parents, or targets that cannot be protected together
        assert task.regime != "predictive"
        return
    final = plan
    for known in (plan, *resolved(data.draw, plan)):
        assert known.total == plan.total
        assert known.spent.epsilon <= known.budget.epsilon
        assert known.spent.epsilon >= known.budget.epsilon * (1 - 1e-6)
        assert known.spent.delta <= known.delta
        assert known.forecast.cells <= final.forecast.cells
        final = known
    check_guard(final)
    check_workload(final)
    assert replay(final.brief, Choices.of(final)).final.to_dict() == final.to_dict()


def check_guard(plan):
    """By a graph search written for itself: S_t cuts Y_t off every feature outside S_t."""
    targets = {aim.target for aim in plan.aims}
    whole = interaction_graph(plan.schema.names, plan.cliques)
    assert leaks(plan.aims, plan.cliques) == ()
    assert all(targets.isdisjoint(q.clique) for q in plan.queries if q.pool == "background")
    for aim in plan.aims:
        graph = whole.copy()
        assert set(aim.s) <= set(graph.neighbors(aim.target))
        graph.remove_nodes_from(aim.s)
        assert nx.node_connected_component(graph, aim.target) <= targets
        if plan.task.regime == "graphical":  # blankets are mutual
            assert set(whole.neighbors(aim.target)) == set(aim.s)


def check_workload(plan):
    served = {plan.schema.canonical((name, aim.target)) for aim in plan.aims for name in aim.s}
    task = [query for query in plan.queries if query.pool == "task"]
    assert {query.clique for query in task} == served
    assert len(task) == len(served)
    assert math.isclose(math.fsum(query.weight for query in task), len(task))
    assert {name for query in plan.queries for name in query.clique} == set(plan.schema.names)
    singles = [query.clique[0] for query in plan.queries if query.kind == "one-way"]
    targets = {aim.target for aim in plan.aims}
    assert sorted(singles) == sorted(set(plan.schema.names) - set(plan.s) - targets)


@settings(max_examples=60)
@given(wishes())
def test_the_guard_refuses_exactly_what_would_let_a_feature_through(found):
    """Causal: refused when some target is cut off by its parents in no graph of its pairs."""
    schema, task, dag = found
    parents = {name: set(dag.parents(name)) for name in task.target_names}
    if not all(parents.values()):
        return
    pairs = nx.Graph([(name, target) for target in parents for name in parents[target]])
    through = False
    for target, own in parents.items():
        graph = pairs.copy()
        graph.remove_nodes_from(own)
        reached = nx.node_connected_component(graph, target) - set(parents)
        through = through or bool(reached)
    causal = Task(target=task.target, further=task.further)
    if through:
        with pytest.raises(TaskError, match="cannot be protected together"):
            design(Brief(schema, causal, Budget(), 1_000, dag=dag))
    else:
        assert design(Brief(schema, causal, Budget(), 1_000, dag=dag)).s_is_final
