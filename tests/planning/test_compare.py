"""The same plan under other allocations and other epsilons: what design would say, without it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError
from prism_core.explain.plan_lines import against_uniform, lines
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.search.epsilon_curve import error_curve
from prism_core.planning.search.inverse import task_error
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.structure.dag import Dag

SIZES = {"a": 2, "b": 3, "y": 2, "c": 40, "d": 5, "e": 2}
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in SIZES.items()
    ),
    one_row_per_person=True,
)
DAG = Dag(nodes=SCHEMA.names, edges=(("a", "y"), ("b", "y"), ("c", "y")))
STAR = Synthesis(model="naive_bayes")
PGM = Synthesis()
CAUSAL = Task(target="y", weights={"a": 3.0})
PREDICTIVE = Task(target="y", regime="predictive", k=2, selection="logistic", three_way="none")
THREE = Task(target="y", three_way="model_error", max_joint_cells=0)
CASES = {
    "zcdp": (CAUSAL, Budget(), STAR),
    "basic": (CAUSAL, Budget(accountant="basic"), STAR),
    "predictive": (PREDICTIVE, Budget(epsilon=2.0), PGM),
    "basic predictive": (replace(PREDICTIVE, weights={"a": 2.0}), Budget(accountant="basic"), PGM),
    "three": (THREE, Budget(), PGM),
    "tilted": (THREE, Budget(allocation="tilted", tilt=0.3), PGM),
    "joint": (Task(target="y", three_way="none", together=("a", "b")), Budget(), PGM),
}


def plan_of(task, budget, synthesis):
    dag = None if task.regime == "predictive" else DAG
    return design(Brief(SCHEMA, task, budget, 4_000, dag=dag, synthesis=synthesis))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rule", ["uniform", "closed_form"])
def test_another_allocation_is_what_design_would_make_of_it(case, rule):
    task, budget, synthesis = CASES[case]
    plan = plan_of(task, budget, synthesis)
    other = plan_of(task, replace(budget, allocation=rule), synthesis)
    assert [query.clique for query in plan.queries] == [query.clique for query in other.queries]
    rows = against_uniform(plan)
    wanted = [line for line in lines(other) if line.measured]
    assert [row.label for row in rows] == [line.label for line in wanted]
    for row, line in zip(rows, wanted, strict=True):
        noise = getattr(row, rule)
        assert noise.share * row.times == pytest.approx(line.share, rel=1e-9)
        assert noise.sigma == pytest.approx(line.sigma, rel=1e-9)
        assert noise.relative_error == pytest.approx(line.relative_error, rel=1e-9)
        assert noise.l1 == pytest.approx(row.cells * noise.sigma * math.sqrt(2 / math.pi))


@pytest.mark.parametrize("case", CASES)
def test_the_plan_itself_stands_beside_them(case):
    plan = plan_of(*CASES[case])
    own = [line for line in lines(plan) if line.measured]
    for row, line in zip(against_uniform(plan), own, strict=True):
        assert (row.label, row.pool, row.times) == (line.label, line.pool, line.times)
        assert row.now.share * row.times == pytest.approx(line.share, rel=1e-9)
        assert row.now.sigma == pytest.approx(line.sigma)
        assert row.now.relative_error == pytest.approx(line.relative_error)


def test_a_lock_shows_beside_what_the_rules_alone_would_give():
    free = plan_of(CAUSAL, Budget(), STAR)
    locked = plan_of(CAUSAL, Budget(locks=(Lock(columns=("c", "y"), share=0.1),)), STAR)
    before, after = against_uniform(free), against_uniform(locked)
    assert [row.columns for row in after if row.locked] == [("y", "c")]
    for left, right in zip(before, after, strict=True):
        assert left.uniform.sigma == pytest.approx(right.uniform.sigma)
        assert left.closed_form.sigma == pytest.approx(right.closed_form.sigma)
        assert right.locked == (right.now.share == 0.1)


def test_under_pld_the_pool_keeps_the_rho_of_its_calibrated_noise():
    plan = plan_of(CAUSAL, Budget(accountant="pld"), STAR)
    other = plan_of(CAUSAL, Budget(accountant="pld", allocation="uniform"), STAR)
    for row, query in zip(against_uniform(plan), other.queries, strict=True):
        assert row.now.sigma == next(q.sigma for q in plan.queries if q.label == row.label)
        assert row.uniform.sigma == pytest.approx(query.sigma, rel=0.02)


EPSILONS = [0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0]


@pytest.mark.parametrize("case", CASES)
def test_the_curve_is_what_design_says_at_every_epsilon(case):
    task, budget, synthesis = CASES[case]
    for start in (0.3, 4.0):
        points = error_curve(plan_of(task, replace(budget, epsilon=start), synthesis), EPSILONS)
        assert [point.epsilon for point in points] == EPSILONS
        for point in points:
            plan = plan_of(task, replace(budget, epsilon=point.epsilon), synthesis)
            errors = [query.relative_error for query in plan.queries if query.pool == "task"]
            assert point.exact
            assert point.mean == pytest.approx(task_error(plan), rel=1e-9)
            assert point.largest == pytest.approx(max(errors), rel=1e-9)


def test_the_curve_does_not_foresee_a_joint():
    """Whether its noise is tolerable follows from epsilon, too."""
    plan = plan_of(Task(target="y", three_way="none"), Budget(epsilon=0.05), PGM)
    assert not any(point.exact for point in error_curve(plan, EPSILONS))


def test_the_curve_does_not_foresee_rounds():
    """Whether S is looked at in rounds follows from epsilon, too."""
    points = error_curve(plan_of(Task(target="y", max_joint_cells=0), Budget(), PGM), EPSILONS)
    assert not any(point.exact for point in points)


def test_where_basic_may_measure_other_marginals_the_curve_says_so():
    plan = plan_of(Task(target="y"), Budget(accountant="basic"), PGM)
    assert not any(point.exact for point in error_curve(plan, EPSILONS))
    small = plan_of(Task(target="y", max_joint_cells=9), Budget(accountant="basic"), PGM)
    assert all(point.exact for point in error_curve(small, EPSILONS))
    for point in error_curve(small, EPSILONS):
        there = plan_of(small.task, Budget(accountant="basic", epsilon=point.epsilon), PGM)
        assert point.mean == pytest.approx(task_error(there), rel=1e-9)


def test_under_pld_the_curve_is_near():
    plan = plan_of(CAUSAL, Budget(accountant="pld"), STAR)
    (point,) = error_curve(plan, [2.0])
    assert not point.exact
    there = plan_of(CAUSAL, Budget(accountant="pld", epsilon=2.0), STAR)
    assert point.mean == pytest.approx(task_error(there), rel=0.05)


def test_below_what_learning_cost_there_is_no_release():
    prior = LearningCharge(events=(GaussianEvent(sigma=20.0),), delta=1e-7)
    learned = replace(SCHEMA, provenance="dp", prior=prior)
    plan = design(Brief(learned, CAUSAL, Budget(epsilon=3.0), 4_000, dag=DAG, synthesis=STAR))
    low, high = error_curve(plan, [0.05, 2.0])
    assert low.mean == low.largest == math.inf
    there = design(Brief(learned, CAUSAL, Budget(epsilon=2.0), 4_000, dag=DAG, synthesis=STAR))
    assert high.mean == pytest.approx(task_error(there), rel=1e-9)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", ["zcdp", "basic"])
def test_unusable_epsilons(bad, name):
    with pytest.raises(BudgetError) as caught:
        error_curve(plan_of(CAUSAL, Budget(accountant=name), STAR), [1.0, bad])
    assert caught.value.field == "epsilon"
