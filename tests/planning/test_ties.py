"""Ties where no rounds fit: what they cost, and what becomes of what they leave."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import PlanError
from prism_core.explain.plan_lines import lines
from prism_core.planning.adaptive_rounds import Pick
from prism_core.planning.brief import Brief
from prism_core.planning.choices import Choices, replay, with_adaptive, with_interaction
from prism_core.planning.design import design
from prism_core.planning.ties import FALSE_TIES, TIES_SHARE, bar_of, cost_of_tie
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import Budget, Synthesis, Task

pytestmark = pytest.mark.privacy

FIRST, SECOND = ("x0", "x1"), ("x2", "x4", "y")


def brief(sizes=(10,) * 6, n=5_000, task=None, target=None, synthesis=None, **budget):
    columns = [
        Column(name=f"x{i}", kind="ordinal", levels=tuple(range(size)))
        for i, size in enumerate(sizes)
    ]
    target = target or Column(name="y", kind="boolean")
    table = Schema(columns=(*columns, target), one_row_per_person=True)
    wish = task or Task(target="y", regime="predictive")
    return Brief(table, wish, Budget(**budget), n, synthesis=synthesis or Synthesis())


def opened(**wish):
    """A plan whose look has found nothing."""
    plan = design(brief(**wish))
    return plan if plan.interactions is None else with_interaction(plan, None)


def test_ties_take_their_share_of_the_task_pool_and_all_stays_within_the_budget():
    plan = design(brief())
    three = plan.three_way
    assert three.bar > 0.0
    assert three.choice_share + three.measure_share == pytest.approx(TIES_SHARE)
    assert three.rounds == 6
    assert math.fsum(line.share for line in lines(plan)) == pytest.approx(1.0)
    assert math.fsum(event.rho for event in plan.events) == pytest.approx(plan.total, rel=1e-6)
    assert plan.spent.epsilon <= plan.budget.epsilon
    (entry,) = [one for one in plan.to_dict()["deferred"] if one["name"] == three.words]
    assert (entry["bar"], entry["sensitivity"]) == (three.bar, 2.0)


def test_where_rounds_fit_there_are_rounds():
    assert design(brief(n=500_000)).three_way.bar is None


@pytest.mark.parametrize("picks", [(), (FIRST,), (FIRST, SECOND)])
def test_what_ties_leave_measures_the_pairs_again(picks):
    """Of six parts one choice more is paid than were found, and nothing is lost."""
    plan = opened()
    three = plan.three_way
    final = with_adaptive(plan, [Pick(clique=clique, parts=1) for clique in picks])
    assert final.unused == ()
    assert final.three_way_event.count == len(picks) + 1
    before = {q.clique: q.event.rho for q in plan.queries if q.kind == "pair"}
    new = final.queries[len(plan.queries) + len(picks) :]
    again = {q.clique: q.event.rho for q in new}
    assert {q.kind for q in new} == {"again"}
    assert again.keys() == before.keys()
    left = 1.0 - len(picks) / three.rounds
    spared = (three.rounds - len(picks) - 1) / three.rounds * three.event.rho
    assert math.fsum(again.values()) == pytest.approx(three.amount * left + spared)
    ratios = [again[clique] / before[clique] for clique in before]
    assert ratios == pytest.approx([ratios[0]] * len(ratios))
    assert final.spent.rho <= plan.spent.rho * (1 + 1e-12)
    assert final.spent.rho == pytest.approx(plan.spent.rho, rel=1e-9)
    assert final.spent.epsilon <= plan.budget.epsilon


def test_where_all_parts_are_taken_nothing_is_left():
    plan = opened()
    names = [("x0", f"x{i}") for i in range(1, 6)] + [("x1", "x2")]
    final = with_adaptive(plan, [Pick(clique=clique, parts=1) for clique in names])
    assert final.three_way_event == plan.three_way.event
    assert final.queries[-1].kind == "adaptive"
    assert final.spent.rho == pytest.approx(plan.spent.rho, rel=1e-9)


@pytest.mark.parametrize("picks", [(), (FIRST,), (FIRST, SECOND)])
def test_a_plan_is_made_again_from_what_was_tied(picks):
    asked = brief()
    final = with_adaptive(opened(), [Pick(clique=clique, parts=1) for clique in picks])
    choices = Choices.of(final)
    assert tuple(pick.clique for pick in choices.picks) == picks
    assert replay(asked, choices).final == final


def test_other_ties_or_more_of_them_are_refused():
    plan = opened()
    pairs = [("x0", f"x{i}") for i in range(1, 6)] + [("x1", f"x{i}") for i in (2, 3)]
    for wrong in (
        [Pick(clique=("x0", "y"), parts=1)],
        [Pick(clique=FIRST, parts=1), Pick(clique=FIRST, parts=1)],
        [Pick(clique=FIRST, parts=7)],
        [Pick(clique=pair, parts=1) for pair in pairs],
    ):
        with pytest.raises(PlanError) as caught:
            with_adaptive(plan, wrong)
        assert caught.value.field == "three_way"


def test_no_ties_without_the_budget_to_find_them_and_none_for_a_number_or_by_hand():
    number = Column(name="y", kind="numeric", lower=0.0, upper=10.0, edges=(2.0, 5.0, 7.0))
    three = Column(name="y", kind="categorical", levels=("a", "b", "c"))
    lock = Lock(columns=("x0", "y"), share=0.2)
    weighted = Task(target="y", regime="predictive", weights={"x0": 2.0})
    without = Task(target="y", regime="predictive", three_way="none")
    for other in (
        {"epsilon": 0.01},
        {"n": 100},
        {"target": number},
        {"target": three},
        {"locks": (lock,)},
        {"task": weighted},
        {"task": without},
        {"sizes": (10,)},
    ):
        assert design(brief(**other)).three_way is None


def test_a_tie_that_is_not_worth_its_noise_is_taken_with_a_small_chance():
    epsilon, sensitivity, features = 0.03, 2.0, 9
    bar = bar_of(features, sensitivity, epsilon)
    odds = np.exp(-epsilon * bar / (2.0 * sensitivity)) * features * (features - 1)
    assert odds == pytest.approx(FALSE_TIES)


@pytest.mark.statistical
def test_a_model_that_is_right_hardly_ever_reaches_what_a_tie_costs():
    """Rows of an independent table against its expectation with noise; no tie is worth it."""
    rng, n, levels, sigma = np.random.default_rng(3), 4_000, 8, 25.0
    p = rng.dirichlet(np.full(levels, 2.0), size=2)
    true = np.outer(*p)
    errors = []
    for _ in range(200):
        counts = rng.multinomial(n, true.ravel()).reshape(true.shape)
        noise = rng.normal(0.0, sigma, true.shape)
        errors.append(np.abs(counts - (n * true + noise)).sum())
    cost = cost_of_tie(true.size, 0.0, n + true.size * sigma**2)
    assert np.mean(errors) <= cost
    assert np.mean(errors) > 0.8 * cost
    assert cost_of_tie(true.size, 50.0, n) > cost_of_tie(true.size, 40.0, n)


def test_the_forecast_holds_for_whatever_is_tied():
    plan = opened(sizes=(10, 4, 12, 5, 9, 6))
    for clique in plan.three_way.candidates:
        found = with_adaptive(plan, [Pick(clique=clique, parts=1)])
        assert found.forecast.cells <= plan.forecast.cells
        assert found.forecast.largest_clique <= plan.forecast.largest_clique


def test_any_s_that_is_chosen_stays_within_the_forecast():
    task = Task(target="y", regime="predictive", k=4)
    first = design(brief(sizes=(10, 3, 12, 5, 9, 6, 4, 7), task=task))
    assert not first.s_is_final
    assert first.three_way.bar is not None
    assert replace(first, warnings=()).spent.epsilon <= 1.0
