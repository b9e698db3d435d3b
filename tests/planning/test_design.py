"""design(): pools, the choice between joint and pairs, weights, worst cases, refusals."""

from __future__ import annotations

import json
import math

import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, PlanError, TaskError
from prism_core.planning.brief import Brief
from prism_core.planning.candidates import MAX_CLIQUE_CELLS
from prism_core.planning.choices import with_forest
from prism_core.planning.design import design, with_features
from prism_core.planning.queries import expected_relative_error
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task
from prism_core.structure.dag import Dag


def domain(**sizes: int) -> Schema:
    return Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(map(str, range(size))))
            for name, size in sizes.items()
        ),
        one_row_per_person=True,
    )


FIVE = domain(a=4, b=3, y=2, c=5, d=6)
DAG = Dag(nodes=FIVE.names, edges=(("a", "y"), ("b", "y")))
CAUSAL = Task(target="y", max_joint_cells=0, three_way="none")
PREDICTIVE = Task(target="y", regime="predictive", k=2, three_way="none")
STAR = Synthesis(model="naive_bayes")


def plan_for(schema=FIVE, task=CAUSAL, *, n=1_000, dag=DAG, synthesis=None, **budget):
    return design(
        Brief(schema, task, Budget(**budget), n, dag=dag, synthesis=synthesis or Synthesis())
    )


def by_pool(plan) -> dict[str, float]:
    pools = {"selection": 0.0, "task": 0.0, "background": 0.0}
    for query in plan.queries:
        pools[query.pool] += query.share
    if plan.selection is not None:
        pools["selection"] += plan.selection.share
    if plan.tree is not None:
        pools["background"] += plan.tree.choice_share + plan.tree.measure_share
    return pools


@pytest.mark.parametrize("accountant", ["zcdp", "basic"])
@pytest.mark.parametrize("task", [CAUSAL, PREDICTIVE])
@pytest.mark.parametrize("synthesis", [Synthesis(), STAR])
def test_shares_add_up_and_unused_pools_go_to_task(accountant, task, synthesis):
    plan = plan_for(task=task, accountant=accountant, synthesis=synthesis)
    pools = by_pool(plan)
    selection = 0.10 if task.regime == "predictive" else 0.0
    assert math.fsum(pools.values()) == pytest.approx(1.0, abs=1e-9)
    assert pools["selection"] == pytest.approx(selection)
    assert pools["task"] == pytest.approx(1.0 - selection - 0.20)  # choice is unused
    assert pools["background"] == pytest.approx(0.20)


def test_without_background_all_goes_to_task():
    plan = plan_for(
        domain(a=2, b=3, y=2), dag=Dag(nodes=("a", "b", "y"), edges=DAG.edges), synthesis=STAR
    )
    assert plan.tree is None
    assert by_pool(plan)["task"] == pytest.approx(1.0)


def test_the_tree_choice_takes_a_third_of_the_background():
    plan = plan_for()
    assert plan.tree.choice_share == pytest.approx(0.20 / 3)
    assert plan.tree_event == plan.tree.event
    assert plan.tree.event.count == plan.tree.rounds == 3


def test_the_star_on_y_then_one_ways_then_a_forest():
    plan = plan_for()
    kinds = [(query.clique, query.kind) for query in plan.queries]
    assert kinds == [
        (("a", "y"), "pair"),
        (("b", "y"), "pair"),
        (("c",), "one-way"),
        (("d",), "one-way"),
    ]
    assert plan.s == ("a", "b")
    assert plan.s_is_final
    final = with_forest(plan, (("a", "c"), ("b", "c"), ("c", "d")))
    assert [query.kind for query in final.queries[4:]] == ["tree"] * 3
    assert final.tree is None
    assert math.fsum(by_pool(final).values()) == pytest.approx(1.0 - 0.20 / 3)
    assert final.spent.epsilon == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("pairs", [(), (("a", "c"),), (("a", "c"),) * 4])
def test_a_forest_of_another_size_is_refused(pairs):
    with pytest.raises(PlanError, match="planned number of pairs"):
        with_forest(plan_for(), pairs)
    with pytest.raises(PlanError):
        with_forest(plan_for(synthesis=STAR), (("a", "c"),))


@pytest.mark.parametrize("accountant", ["zcdp", "basic"])
@pytest.mark.parametrize("sizes", [(2, 2), (2, 2, 2), (3, 3), (2, 9), (2, 2, 2, 2), (5, 5, 5)])
def test_the_joint_is_chosen_exactly_when_it_is_predicted_better(accountant, sizes):
    names = tuple("abcd"[: len(sizes)])
    schema = domain(**dict(zip(names, sizes, strict=True)), y=2, z=3)
    dag = Dag(nodes=(*names, "y"), edges=tuple((name, "y") for name in names))

    def task_error(cells: int) -> tuple[str, float]:
        task = Task(target="y", max_joint_cells=cells)
        plan = plan_for(schema, task, dag=dag, accountant=accountant, synthesis=STAR)
        mine = [query for query in plan.queries if query.pool == "task"]
        return mine[0].kind, math.fsum(query.relative_error for query in mine)

    kind, error = task_error(10_000)
    pairs = task_error(0)
    joint_cells = 2 * math.prod(sizes)
    pair_cells = [2 * size for size in sizes]
    # The optima of the two workloads in closed form, up to the same factor (equal delta).
    power = 2 / 3 if accountant == "zcdp" else 1 / 2
    apart = math.fsum(cells**power for cells in pair_cells) ** (1 / power)
    assert pairs[0] == "pair"
    assert kind == ("joint" if joint_cells < apart else "pair")
    assert error <= pairs[1] * (1 + 1e-9)
    assert task_error(joint_cells - 1)[0] == "pair"  # a joint over the limit is not considered


def test_the_joint_ties_s_together_in_the_forest():
    schema = domain(a=2, b=2, y=2, c=3, d=3)
    plan = plan_for(
        schema, Task(target="y", three_way="none"), dag=Dag(nodes=schema.names, edges=DAG.edges)
    )
    assert plan.queries[0].clique == ("a", "b", "y")
    assert plan.queries[0].kind == "joint"
    assert plan.tree.joined == ("a", "b")
    assert ("a", "b") not in plan.tree.candidates
    assert plan.tree.rounds == 2


def test_weights_move_budget_and_keep_their_mean():
    even = plan_for(synthesis=STAR)
    weighted = Task(target="y", weights={"a": 3.0, "b": 1.0})
    plan = plan_for(task=weighted, allocation="closed_form", synthesis=STAR)
    pairs = {query.clique[0]: query for query in plan.queries if query.pool == "task"}
    assert pairs["a"].kind == "pair"  # weights say that single features matter
    assert (pairs["a"].weight, pairs["b"].weight) == pytest.approx((1.5, 0.5))
    before = {query.clique[0]: query.sigma for query in even.queries}
    assert pairs["a"].sigma < before["a"]
    assert pairs["b"].sigma > before["b"]
    ratio = (3 * 8) ** (2 / 3) / (1 * 6) ** (2 / 3)
    assert pairs["a"].share / pairs["b"].share == pytest.approx(ratio)
    assert plan.spent.epsilon <= 1.0
    # The default takes their fourth root: the noise of weak features is heard, too.
    shares = {q.clique[0]: q.share for q in plan_for(task=weighted, synthesis=STAR).queries}
    assert shares["a"] / shares["b"] == pytest.approx((3**0.25 * 8) ** (2 / 3) / (1 * 6) ** (2 / 3))


def test_predictive_plans_show_the_k_largest_columns_as_the_worst_case():
    plan = plan_for(task=PREDICTIVE, dag=None)
    assert plan.s == ("c", "d")
    assert not plan.s_is_final
    assert not plan.forecast.exact
    assert plan.selection.candidates == ("a", "b", "c", "d")
    assert plan.selection.sensitivity == pytest.approx(3 / 1_000)
    assert (plan.selection.k, plan.selection.event.count) == (2, 2)
    known = with_features(plan, ["b", "a"])
    assert known.s == ("a", "b")
    assert known.s_is_final
    assert known.selection == plan.selection
    assert known.total == plan.total


def test_uniform_allocation_gives_equal_noise():
    plan = plan_for(allocation="uniform", synthesis=STAR)
    sigmas = {q.pool: set() for q in plan.queries}
    for query in plan.queries:
        sigmas[query.pool].add(round(query.sigma, 9))
    assert all(len(values) == 1 for values in sigmas.values())


def test_deltas_of_basic_composition_stay_below_delta():
    plan = plan_for(accountant="basic", delta=1e-5)
    final = with_forest(plan, (("a", "c"), ("b", "c"), ("c", "d")))
    for found in (plan, final):
        assert found.spent.delta <= 1e-5
        assert found.spent.delta == pytest.approx(1e-5)
        assert found.spent.epsilon <= 1.0
    assert len({query.event.delta for query in final.queries}) == 1


@pytest.mark.parametrize("n", [1, 0, -3, 2.0, True, None, "9"])
def test_too_few_rows(n):
    with pytest.raises(BudgetError, match="at least 2 rows") as caught:
        plan_for(n=n)
    assert caught.value.field == "n"


def test_delta_defaults_to_one_over_n_squared_and_warns_from_one_over_n():
    assert plan_for(n=200).delta == 1 / 200**2
    assert plan_for(n=200).warnings == ()
    assert plan_for(n=200, delta=1e-6).warnings == ()
    (warning,) = plan_for(n=200, delta=1 / 200).warnings
    assert "not below 1/n" in warning
    kept = with_features(plan_for(n=200, delta=0.01, task=PREDICTIVE), ["a", "b"])
    assert len(kept.warnings) == 1


@pytest.mark.parametrize(
    ("task", "dag", "field"),
    [
        (Task(target="y", regime="predictive", k=5), None, "k"),
        (CAUSAL, None, "dag"),
        (Task(target="c"), DAG, "dag"),
        (Task(target="q"), DAG, "target"),
    ],
)
def test_tasks_that_cannot_be_resolved(task, dag, field):
    with pytest.raises(TaskError) as caught:
        plan_for(task=task, dag=dag)
    assert caught.value.field == field


def test_a_regime_without_its_pool_is_refused():
    shares = Shares(selection=0.0, choice=0.15, task=0.65, background=0.20)
    with pytest.raises(BudgetError, match="selection share above 0"):
        plan_for(task=PREDICTIVE, shares=shares)
    bare = Shares(selection=0.0, choice=0.0, task=1.0, background=0.0)
    with pytest.raises(BudgetError, match="background pool needs a share"):
        plan_for(shares=bare)


def test_a_pair_too_large_for_memory_is_refused_before_any_row():
    with pytest.raises(PlanError, match="would not fit in memory") as caught:
        plan_for(domain(a=2_000, b=3, y=2_000, c=2, d=2))
    assert caught.value.field == "levels"


def test_pairs_too_large_for_a_clique_never_become_candidates():
    schema = domain(a=2, b=3, y=2, c=1_000, d=1_000)
    plan = plan_for(schema)
    assert ("c", "d") not in plan.tree.candidates
    assert plan.tree.rounds == 3
    for pair in plan.tree.candidates:
        assert schema.cells((*pair, "y")) <= MAX_CLIQUE_CELLS


def test_a_plan_too_large_for_memory_is_refused():
    # 60 pairs of a million cells each: every clique is small enough, together they are not.
    columns = {f"c{i}": 10_000 for i in range(60)}
    schema = domain(**columns, y=100)
    dag = Dag(nodes=schema.names, edges=tuple((name, "y") for name in columns))
    with pytest.raises(PlanError, match="would not fit in memory"):
        plan_for(schema, CAUSAL, dag=dag)


def test_expected_relative_error():
    plan = plan_for(synthesis=STAR)
    for query in plan.queries:
        assert query.cells == FIVE.cells(query.clique)
        assert query.relative_error == pytest.approx(
            query.cells * query.sigma * math.sqrt(2 / math.pi) / 1_000
        )
    assert expected_relative_error(10, 1.0, 10) == pytest.approx(math.sqrt(2 / math.pi))


def test_a_plan_is_plain_values_and_has_a_stable_hash():
    plan = plan_for(task=PREDICTIVE)
    document = json.loads(json.dumps(plan.to_dict()))
    assert document["spent"]["epsilon"] <= 1.0
    assert [entry["name"] for entry in document["deferred"]] == ["features", "background pairs"]
    assert plan.hash == plan_for(task=PREDICTIVE).hash
    others = (
        plan_for(task=PREDICTIVE, epsilon=2.0),
        plan_for(n=999, task=PREDICTIVE),
        with_features(plan, ["a", "b"]),
        plan_for(task=PREDICTIVE, dag=None),
    )
    assert len({plan.hash, *(other.hash for other in others)}) == 5
