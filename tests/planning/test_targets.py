"""Several targets: their features, the weights of marginals, who may know whom, what is spent."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, PlanError, TaskError
from prism_core.explain.error_bounds import bounds
from prism_core.explain.plan_lines import lines
from prism_core.planning.brief import Brief
from prism_core.planning.choices import Choices, replay, with_forest
from prism_core.planning.design import design, with_features
from prism_core.planning.regimes import (
    Aim,
    features_for,
    leaks,
    marginal_weight,
    selection_parts,
    union,
)
from prism_core.planning.search.epsilon_curve import error_curve
from prism_core.planning.search.inverse import most_features
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.targets import MOST_TARGETS, Target
from prism_core.planning.wishes.task import SELECTIONS, Budget, Shares, Synthesis, Task
from prism_core.structure.dag import Dag
from tests.support.interaction_graphs import interaction_graph
from tests.support.refusals import refused

N = 5_000
SIZES = {"a": 3, "b": 2, "c": 4, "y": 2, "z": 3, "d": 2, "e": 2}
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in SIZES.items()
    ),
    one_row_per_person=True,
)
DAG = Dag(
    nodes=SCHEMA.names,
    edges=(("a", "y"), ("b", "y"), ("b", "z"), ("c", "z"), ("y", "d"), ("z", "e")),
)
Z = (Target(name="z", weight=0.5),)


def plan_for(further=Z, dag=DAG, budget=None, synthesis=None, **task):
    return design(
        Brief(
            SCHEMA,
            Task(target="y", further=further, **task),
            budget or Budget(),
            N,
            dag=dag,
            synthesis=synthesis or Synthesis(),
        )
    )


def weights_of(plan):
    return {query.label: query.weight for query in plan.queries if query.pool == "task"}


@pytest.mark.parametrize(
    ("regime", "y", "z"),
    [("causal", ("a", "b"), ("b", "c")), ("graphical", ("a", "b", "d"), ("b", "c", "e"))],
)
def test_every_target_has_its_own_s_and_the_plan_their_union(regime, y, z):
    plan = plan_for(regime=regime)
    assert [(aim.target, aim.weight, aim.s) for aim in plan.aims] == [("y", 1.0, y), ("z", 0.5, z)]
    assert set(plan.s) == {*y, *z}
    pairs = {query.clique for query in plan.queries if query.kind == "pair"}
    expected = [SCHEMA.canonical((name, "y")) for name in y]
    expected += [SCHEMA.canonical((name, "z")) for name in z]
    assert pairs == set(expected)
    assert not any(query.kind == "joint" for query in plan.queries)
    singles = {query.clique[0] for query in plan.queries if query.kind == "one-way"}
    assert singles == set(SIZES) - {*y, *z, "y", "z"}


def test_weights_multiply_and_add_up():
    """Target times feature; for a marginal or a feature that serves two targets, the sum."""
    aims = (
        Aim(target="y", weight=1.0, s=("a", "z")),
        Aim(target="z", weight=0.5, s=("b", "y", "a")),
    )
    own = {"a": 4.0, "y": 3.0}
    assert marginal_weight(("a", "y"), aims, own) == 4.0
    assert marginal_weight(("a", "z"), aims, own) == 2.0
    assert marginal_weight(("y", "z"), aims, own) == 1.0 + 0.5 * 3.0
    assert marginal_weight(("b", "y"), aims, own) == 0.0  # b is no feature of y
    assert union(SCHEMA, aims) == ("a", "b", "y", "z")


def test_the_closed_form_gives_a_marginal_its_weight():
    """rho_t proportional to (weight · cells)^(2/3) over the pairs of all targets together."""
    plan = plan_for(weights={"b": 2.0}, budget=Budget(allocation="closed_form"))
    raw = {"a × y": 1.0, "b × y": 2.0, "b × z": 1.0, "c × z": 0.5}
    mean = math.fsum(raw.values()) / 4
    assert weights_of(plan) == pytest.approx({name: each / mean for name, each in raw.items()})
    pairs = [query for query in plan.queries if query.pool == "task"]
    costs = [(query.weight * query.cells) ** (2 / 3) for query in pairs]
    shares = [query.event.rho for query in pairs]
    expected = [cost / sum(costs) * sum(shares) for cost in costs]
    assert shares == pytest.approx(expected, rel=1e-9)


def test_a_pair_of_two_targets_is_measured_once_with_both_weights():
    dag = Dag(nodes=SCHEMA.names, edges=(("a", "y"), ("y", "z"), ("b", "z")))
    plan = plan_for(dag=dag, regime="graphical")
    assert plan.aims[0].s == ("a", "b", "z")  # b is a co-parent
    assert plan.aims[1].s == ("b", "y")
    found = weights_of(plan)
    assert [label for label in found if set(label.split(" × ")) == {"y", "z"}] == ["y × z"]
    assert found["y × z"] / found["a × y"] == pytest.approx(1.5)
    assert {"y", "z"} <= set(plan.s)
    assert features_for(SCHEMA, plan.aims, "y") == ("a", "b", "c", "z", "d", "e")


def test_one_target_gives_the_plan_it_always_gave():
    alone = plan_for(further=())
    assert alone.several == ()
    assert alone.aims == (Aim(target="y", weight=1.0, s=("a", "b")),)
    assert "targets" not in alone.to_dict()
    assert features_for(SCHEMA, alone.aims, "y") == ("a", "b", "c", "z", "d", "e")


def test_the_plan_s_hash_depends_on_the_targets_and_their_weights():
    plans = [
        plan_for(further=()),
        plan_for(),
        plan_for(further=(Target(name="z"),)),
        plan_for(further=(Target(name="e"),)),
    ]
    assert len({plan.hash for plan in plans}) == 4
    assert plans[1].to_dict()["targets"] == [
        {"name": "y", "weight": 1.0, "s": ["a", "b"]},
        {"name": "z", "weight": 0.5, "s": ["b", "c"]},
    ]


@pytest.mark.privacy
def test_a_cause_of_another_target_is_refused_where_it_would_hear_from_strangers():
    dag = Dag(nodes=SCHEMA.names, edges=(("a", "y"), ("y", "z"), ("b", "z")))
    with pytest.raises(TaskError, match="cannot be protected together") as caught:
        plan_for(dag=dag)
    assert caught.value.field == "further"
    assert "'b'" in str(caught.value)


@pytest.mark.privacy
def test_a_cause_of_another_target_is_a_feature_where_their_other_causes_are_the_same():
    edges = (("a", "y"), ("b", "y"), ("y", "z"), ("b", "z"))
    plan = plan_for(dag=Dag(nodes=SCHEMA.names, edges=edges))
    assert plan.aims[1].s == ("b", "y")
    assert ("y", "z") in plan.cliques
    # y is not predicted from its consequence z, and z is predicted from its cause y.
    assert "z" not in features_for(SCHEMA, plan.aims, "y")
    assert "y" in features_for(SCHEMA, plan.aims, "z")
    assert leaks(plan.aims, plan.cliques) == ()


@pytest.mark.privacy
def test_a_leak_is_found_through_a_target_and_directly():
    aims = (Aim(target="y", weight=1.0, s=("a",)), Aim(target="z", weight=1.0, s=("y", "b")))
    assert leaks(aims, [("a", "y"), ("y", "z"), ("b", "z")]) == (("y", "b"),)
    assert leaks(aims[:1], [("a", "y"), ("a", "b")]) == ()
    assert leaks(aims[:1], [("a", "y"), ("y", "d")]) == (("y", "d"),)


@pytest.mark.privacy
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("accountant", ["zcdp", "basic"])
def test_the_selection_pool_is_split_by_weight_and_the_whole_is_epsilon(selection, accountant):
    further = (Target(name="z", weight=0.5), Target(name="e", weight=2.5))
    plan = plan_for(
        further, regime="predictive", k=2, selection=selection, budget=Budget(accountant=accountant)
    )
    shares = [choice.share for choice in plan.selections]
    assert shares == pytest.approx([0.10 / 4, 0.05 / 4, 0.25 / 4])
    assert math.fsum(shares) <= 0.10
    amounts = [
        math.fsum(event.rho if accountant == "zcdp" else _epsilon(event) for event in choice.events)
        for choice in plan.selections
    ]
    assert amounts == pytest.approx([share * plan.total for share in shares])
    assert all(choice.candidates == ("a", "b", "c", "d") for choice in plan.selections)
    opened = with_features(plan, ("a", "b"), [("b", "c"), ("a", "d")])
    for each in (plan, opened):
        assert each.spent.epsilon <= each.budget.epsilon
        assert each.spent.delta <= each.delta
        assert each.spent.epsilon >= each.budget.epsilon * (1 - 1e-6)
        chosen = [event for choice in plan.selections for event in choice.events]
        assert list(each.events[: len(chosen)]) == chosen
    assert opened.s == ("a", "b", "c", "d")
    assert opened.aims[2].s == ("a", "d")


def _epsilon(event):
    return event.epsilon * getattr(event, "count", 1)


def test_features_chosen_at_run_time_are_no_targets():
    with refused(TaskError, "k") as caught:
        plan_for(regime="predictive", k=6)
    assert caught.value.field == "k"


def test_the_sensitivity_of_mutual_information_is_that_of_each_target():
    plan = plan_for(regime="predictive", k=2, selection="mutual_information")
    binary, many = (choice.sensitivity for choice in plan.selections)
    assert binary < many  # y has 2 levels, z has 3


def test_parts_of_the_selection_pool_never_add_up_to_more_than_it():
    assert selection_parts([7.0]) == (1.0,)
    for weights in itertools.product([0.1, 1 / 3, 1.0, 7.0], repeat=4):
        assert math.fsum(selection_parts(weights)) <= 1.0
        assert sum(selection_parts(weights)) <= 1.0


def test_the_forest_has_no_target():
    plan = plan_for()
    assert plan.tree is not None
    assert all({"y", "z"}.isdisjoint(pair) for pair in plan.tree.candidates)
    assert plan.tree.rounds == 4
    graph = nx.Graph(list(plan.tree.candidates))
    final = with_forest(plan, list(nx.minimum_spanning_edges(graph, data=False)))
    assert leaks(final.aims, final.cliques) == ()
    whole = interaction_graph(SCHEMA.names, final.cliques)
    for aim in final.aims:
        assert set(whole.neighbors(aim.target)) == set(aim.s)


@pytest.mark.parametrize(
    ("task", "field"),
    [
        ({"further": (Target(name="y"),)}, "further"),
        ({"further": (Target(name="z"), Target(name="z"))}, "further"),
        ({"further": ("z",)}, "further"),
        ({"further": tuple(Target(name=f"t{i}") for i in range(MOST_TARGETS))}, "further"),
        ({"further": (Target(name="z"),), "three_way": "cmi"}, "three_way"),
        ({"further": (Target(name="z"),), "three_way": "adaptive"}, "three_way"),
    ],
)
def test_what_cannot_be_planned_together_is_refused(task, field):
    with pytest.raises(TaskError) as caught:
        Task(target="y", **task)
    assert caught.value.field == field


@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, math.inf, True, "1"])
def test_a_weight_is_a_number_above_zero(weight):
    with refused(TaskError, "further"):
        Target(name="z", weight=weight)


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_target_has_a_name(name):
    with pytest.raises(TaskError, match="must name a column"):
        Target(name=name)


def test_what_names_no_column_is_refused():
    with pytest.raises(TaskError, match="'nobody' is not a column"):
        plan_for(further=(Target(name="nobody"),))
    with pytest.raises(TaskError, match="no column of the schema"):
        plan_for(weights={"nobody": 2.0})
    with pytest.raises(TaskError, match="'e' has no parents"):
        plan_for(further=(Target(name="e"),), dag=Dag(nodes=SCHEMA.names, edges=(("a", "y"),)))


def test_naive_bayes_is_for_one_target():
    with pytest.raises(PlanError, match="one target"):
        plan_for(synthesis=Synthesis(model="naive_bayes"))


def test_replay_needs_the_features_of_every_target():
    plan = plan_for(regime="predictive", k=2)
    opened = with_features(plan, ("a", "b"), [("b", "c")])
    done = with_forest(
        opened, list(nx.minimum_spanning_edges(nx.Graph(list(opened.tree.candidates)), data=False))
    )
    choices = Choices.of(done)
    assert choices.by_target == (("a", "b"), ("b", "c"))
    again = replay(done.brief, choices)
    assert again.final.to_dict() == done.to_dict()
    assert again.planned.to_dict() == plan.to_dict()
    for s, by_target in (
        (choices.s, ()),
        (choices.s, (("a", "b"),)),
        (("a", "b"), choices.by_target),
        (choices.s, (("a", "b"), ("b", "y"))),
        (choices.s, (("a", "b"), ("b",))),
    ):
        with pytest.raises(PlanError):
            replay(done.brief, Choices(s=s, by_target=by_target, pairs=choices.pairs))


def test_locks_leave_something_whatever_every_target_chooses():
    locks = (Lock(columns=("a", "y"), share=0.4), Lock(columns=("a", "z"), share=0.4))
    shares = Shares(selection=0.1, choice=0.0, task=0.7, background=0.2)
    with pytest.raises(BudgetError, match="locks may take 80"):
        plan_for(regime="predictive", k=1, budget=Budget(locks=locks, shares=shares))
    plan = plan_for(budget=Budget(locks=locks[:1], shares=shares))
    assert next(q for q in plan.queries if q.label == "a × y").locked


def test_bounds_are_read_off_for_each_target():
    plan = plan_for()
    for aim, cells in zip(plan.aims, (3 * 2 * 2, 2 * 4 * 3), strict=True):
        one = plan.for_target(aim.target)
        assert one.s == aim.s
        assert plan.schema.cells((*one.s, one.task.target)) == cells
        assert bounds(one).delta_s.raw is None
    with pytest.raises(TaskError, match="no target of this plan"):
        plan.for_target("a")


def test_the_figures_of_a_plan_count_all_targets():
    plan = plan_for(regime="predictive", k=2)
    labels = [line.label for line in lines(plan)]
    assert labels[:2] == ["choosing 2 of 5 features for y", "choosing 2 of 5 features for z"]
    assert math.fsum(line.share for line in lines(plan)) == pytest.approx(1.0)
    assert [part["name"] for part in plan.to_dict()["deferred"][:2]] == [
        "features of y",
        "features of z",
    ]
    (point,) = error_curve(plan, [1.0])
    errors = [query.relative_error for query in plan.queries if query.pool == "task"]
    assert point.mean == pytest.approx(math.fsum(errors) / len(errors))
    assert most_features(Brief(SCHEMA, plan.task, Budget(epsilon=20.0), 10**6), 0.5) == 5
