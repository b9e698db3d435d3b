"""The private look for features that act together: what it costs, and what becomes of its share."""

from __future__ import annotations

import math

import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import PlanError
from prism_core.planning.brief import Brief
from prism_core.planning.choices import Choices, replay, with_adaptive, with_interaction
from prism_core.planning.design import design
from prism_core.planning.interactions import LOOK_SHARE, MOST_SETS, SET_LIMIT
from prism_core.planning.queries import expected_relative_error
from prism_core.planning.wishes.task import Budget, Task


def brief(sizes=(2,) * 8, n=10_000, task=None, target=None, **budget):
    columns = [
        Column(name=f"x{i}", kind="ordinal", levels=tuple(range(size)))
        for i, size in enumerate(sizes)
    ]
    target = target or Column(name="y", kind="boolean")
    table = Schema(columns=(*columns, target), one_row_per_person=True)
    return Brief(table, task or Task(target="y", regime="predictive"), Budget(**budget), n)


NO_ROUNDS = {"n": 2_000, "epsilon": 0.5}


def test_a_look_takes_a_small_share_and_stays_within_the_budget():
    for wish in ({}, NO_ROUNDS):
        plan = design(brief(**wish))
        assert plan.interactions.choice_share == LOOK_SHARE
        assert plan.spent.epsilon <= plan.budget.epsilon
        spent = math.fsum(event.rho for event in plan.events)
        assert spent == pytest.approx(plan.total, rel=1e-6)


def test_rounds_look_at_two_features_and_without_rounds_the_look_does():
    with_rounds, without = design(brief()), design(brief(**NO_ROUNDS))
    assert with_rounds.three_way is not None
    assert without.three_way.bar is not None  # ties, which are no rounds
    assert min(map(len, with_rounds.interactions.candidates)) == 3
    assert min(map(len, without.interactions.candidates)) == 2


@pytest.mark.parametrize("sizes", [(2,) * 8, (2, 3, 9, 4, 2, 40), (2,) * 30])
def test_every_set_is_small_enough_and_they_are_not_too_many(sizes):
    plan = design(brief(sizes))
    look = plan.interactions
    assert 0 < len(look.candidates) <= MOST_SETS
    for names in look.candidates:
        cells = plan.schema.cells((*names, "y"))
        assert expected_relative_error(cells, look.sigma, plan.n) <= SET_LIMIT


@pytest.mark.parametrize("wish", [{}, NO_ROUNDS], ids=["rounds", "no rounds"])
def test_where_nothing_is_found_the_pairs_get_all_of_it(wish):
    """Two measurements are as exact as one with the budget of both."""
    plan = design(brief(**wish))
    kept = plan.interactions.amount
    before = {q.clique: q.event.rho for q in plan.queries if q.pool == "task"}
    found = with_interaction(plan, None)
    again = {q.clique: q.event.rho for q in found.queries if q.kind == "again"}
    assert again.keys() == before.keys()
    assert math.fsum(again.values()) == pytest.approx(kept)
    assert math.fsum(again.values()) <= kept * (1.0 + 1e-12)
    share = {clique: rho / math.fsum(before.values()) for clique, rho in before.items()}
    assert all(rho == pytest.approx(kept * share[clique]) for clique, rho in again.items())
    assert found.spent.epsilon <= plan.budget.epsilon


@pytest.mark.parametrize("wish", [{}, NO_ROUNDS], ids=["rounds", "no rounds"])
def test_a_set_that_was_found_is_measured_once(wish):
    plan = design(brief(**wish))
    found = with_interaction(plan, ("x1", "x2", "x5"))
    (query,) = [q for q in found.queries if q.kind == "interaction"]
    assert query.clique == ("x1", "x2", "x5", "y")
    assert query.event.rho <= plan.interactions.amount * (1.0 + 1e-12)
    assert found.spent.epsilon <= plan.budget.epsilon


def test_a_set_that_was_found_is_one_node_of_the_forest():
    """Of eight features three are tied already: two pairs fewer, and less is spent."""
    number = Column(name="y", kind="numeric", lower=0.0, upper=10.0, edges=(2.0, 4.0, 6.0, 8.0))
    plan = design(brief(n=2_000, epsilon=1.0, target=number))
    assert (plan.tree.joined, plan.tree.rounds) == ((), 7)
    found = with_interaction(plan, ("x1", "x2", "x5"))
    assert found.tree.joined == ("x1", "x2", "x5")
    assert found.tree.rounds == 5
    assert found.spent.rho < plan.spent.rho


@pytest.mark.parametrize("found", [None, ("x0", "x3", "x6")])
def test_a_plan_is_made_again_from_what_was_found(found):
    asked = brief(**NO_ROUNDS)
    plan = with_interaction(design(asked), found)
    plan = with_adaptive(plan, ())
    choices = Choices.of(plan)
    assert choices.interaction == found
    assert replay(asked, choices).final == plan


def test_no_other_set_is_measured():
    plan = design(brief((2, 2, 2, 2, 60)))
    for wrong in (("x0", "x1", "x2", "x3", "x4"), ("x2", "x1", "x0"), ("x0", "x1", "x4")):
        with pytest.raises(PlanError):
            with_interaction(plan, wrong)
    with pytest.raises(PlanError):
        with_interaction(with_interaction(plan, None), None)


def test_who_forbids_joints_or_rounds_has_no_look():
    for task in (
        Task(target="y", regime="predictive", joint="never"),
        Task(target="y", regime="predictive", three_way="none"),
        Task(target="y", regime="predictive", weights={"x0": 2.0}),
        Task(target="y", regime="predictive", together=("x0", "x1", "x2")),
    ):
        assert design(brief(task=task)).interactions is None


def test_the_forecast_holds_for_whatever_is_found():
    plan = design(brief((2, 3, 4, 3, 2, 5), **NO_ROUNDS))
    for names in plan.interactions.candidates:
        found = with_adaptive(with_interaction(plan, names), ())
        assert found.forecast.cells <= plan.forecast.cells
        assert found.forecast.largest_clique <= plan.forecast.largest_clique
