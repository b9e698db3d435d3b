"""S of every regime, and the regime guard on the plan's own graph."""

from __future__ import annotations

import random

import networkx as nx
import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import StructureError, TaskError
from prism_core.planning.brief import Brief
from prism_core.planning.choices import with_forest
from prism_core.planning.design import design, with_features
from prism_core.planning.regimes import features_of_interest
from prism_core.planning.wishes.task import REGIMES, Budget, Task
from prism_core.structure.dag import Dag
from tests.support.interaction_graphs import interaction_graph


def domain(**sizes: int) -> Schema:
    return Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(map(str, range(size))))
            for name, size in sizes.items()
        ),
        one_row_per_person=True,
    )


FIVE = domain(a=2, b=3, y=2, c=2, d=4)
#  a → y ← b,  y → c ← d
DAG = Dag(nodes=("a", "b", "y", "c", "d"), edges=(("a", "y"), ("b", "y"), ("y", "c"), ("d", "c")))


def test_s_of_every_regime():
    assert features_of_interest(FIVE, Task(target="y"), DAG) == ("a", "b")
    graphical = Task(target="y", regime="graphical")
    assert features_of_interest(FIVE, graphical, DAG) == ("a", "b", "c", "d")
    assert features_of_interest(FIVE, Task(target="y", regime="predictive", k=2), None) is None


@pytest.mark.parametrize(
    ("task", "dag", "field", "text"),
    [
        (Task(target="z"), DAG, "target", "not a column"),
        (Task(target="y"), None, "dag", "needs a graph"),
        (Task(target="y", regime="graphical"), None, "dag", "needs a graph"),
        (Task(target="a"), DAG, "dag", "no parents"),
        (Task(target="a", regime="graphical"), Dag(nodes=("a",)), "dag", "no neighbours"),
        (Task(target="y", regime="predictive", k=5), None, "k", "at most 4"),
    ],
)
def test_what_cannot_be_resolved(task, dag, field, text):
    with pytest.raises(TaskError, match=text) as caught:
        features_of_interest(FIVE, task, dag)
    assert caught.value.field == field


def test_targets_and_schemas_that_are_too_small():
    with pytest.raises(TaskError, match="single level"):
        features_of_interest(domain(a=2, y=1), Task(target="y"), DAG)
    with pytest.raises(TaskError, match="at least one column"):
        features_of_interest(domain(y=2), Task(target="y", regime="predictive", k=1), None)


def test_a_graph_over_other_columns_is_refused():
    with pytest.raises(StructureError, match="not columns of the table"):
        features_of_interest(FIVE, Task(target="y"), Dag(nodes=("y", "q"), edges=(("q", "y"),)))


def random_dag(rnd: random.Random, names: list[str]) -> Dag:
    order = rnd.sample(names, len(names))
    edges = [(u, v) for i, u in enumerate(order) for v in order[i + 1 :] if rnd.random() < 0.4]
    return Dag(nodes=tuple(names), edges=tuple(edges))


def random_forest(rnd: random.Random, plan):
    """Pairs as the private choice could make them, whatever the rows hold."""
    joined = nx.utils.UnionFind(name for name in plan.schema.names if name != plan.task.target)
    if len(plan.tree.joined) > 1:
        joined.union(*plan.tree.joined)
    chosen = []
    for _ in range(plan.tree.rounds):
        open_pairs = [p for p in plan.tree.candidates if joined[p[0]] != joined[p[1]]]
        chosen.append(rnd.choice(open_pairs))
        joined.union(*chosen[-1])
    return tuple(chosen)


@pytest.mark.privacy
@pytest.mark.parametrize("regime", REGIMES)
def test_regime_guard_on_the_measurement_graph(regime):
    """Y's neighbours in the graph of every resolved plan are S only; no forest edge touches Y."""
    rnd = random.Random(regime)
    resolved = 0
    for _ in range(40):
        names = [f"c{i}" for i in range(rnd.randint(2, 7))]
        schema = domain(**{name: rnd.choice([2, 3, 4]) for name in names})
        dag = random_dag(rnd, names)
        target = rnd.choice(names)
        accountant = rnd.choice(["zcdp", "basic"])
        task = Task(target=target, regime=regime, k=rnd.randint(1, len(names) - 1))
        try:
            plan = design(Brief(schema, task, Budget(accountant=accountant), 500, dag=dag))
        except TaskError:
            continue
        if regime == "predictive":
            features = [name for name in names if name != target]
            plan = with_features(plan, rnd.sample(features, task.k))
        if plan.tree is not None:
            assert all(target not in pair for pair in plan.tree.candidates)
            plan = with_forest(plan, random_forest(rnd, plan))
        graph = interaction_graph(names, plan.cliques)
        assert set(graph.neighbors(target)) == set(plan.s)
        assert all(target not in q.clique for q in plan.queries if q.pool == "background")
        assert {name for query in plan.queries for name in query.clique} == set(names)
        # S separates Y from every feature outside.
        graph.remove_nodes_from(plan.s)
        assert nx.node_connected_component(graph, target) == {target}
        resolved += 1
    assert resolved >= 15


@pytest.mark.parametrize("name", ["nobody", "Y"])
def test_a_weight_for_what_is_no_feature_is_refused(name):
    from prism_core.planning.wishes.task import Task
    from prism_core.samples import scm

    schema = scm.scm_schema()
    task = Task(target="Y", regime="predictive", weights={name: 2.0})
    with pytest.raises(TaskError, match="no feature of the schema"):
        features_of_interest(schema, task, None)
