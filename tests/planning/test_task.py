"""Task, budget, shares and synthesis refuse what cannot be meant, and name the field."""

from __future__ import annotations

import math

import pytest

from prism_core.errors import BudgetError, PlanError, TaskError
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"target": ""}, "target"),
        ({"target": None}, "target"),
        ({"regime": "guess"}, "regime"),
        ({"selection": "best"}, "selection"),
        ({"three_way": "all"}, "three_way"),
        ({"max_three_way": 0}, "max_three_way"),
        ({"max_three_way": 2.5}, "max_three_way"),
        ({"k": 0}, "k"),
        ({"k": 1.5}, "k"),
        ({"k": True}, "k"),
        ({"max_joint_cells": 1.5}, "max_joint_cells"),
        ({"max_joint_cells": True}, "max_joint_cells"),
        ({"weights": {"a": 0.0}}, "weights"),
        ({"weights": {"a": math.nan}}, "weights"),
        ({"weights": {"a": -1}}, "weights"),
        ({"weights": {"a": math.inf}}, "weights"),
        ({"weights": {"a": True}}, "weights"),
        ({"weights": {"a": "1"}}, "weights"),
    ],
)
def test_unusable_tasks(change, field):
    with pytest.raises(TaskError) as caught:
        Task(**{"target": "y", **change})
    assert caught.value.field == field


def test_weights_are_a_copy_that_cannot_be_changed():
    mine = {"a": 2.0}
    task = Task(target="y", weights=mine)
    mine["a"] = 9.0
    assert task.weights["a"] == 2.0
    with pytest.raises(TypeError):
        task.weights["a"] = 3.0  # type: ignore[index]


@pytest.mark.parametrize(
    "shares",
    [
        {"task": 0.7},
        {"task": math.nan},
        {"selection": -0.1, "task": 0.85},
        {"task": "0.65"},
        {"selection": 0.2, "choice": 0.2, "task": 0.0, "background": 0.6},
        {"task": True},
        {"selection": 1.2, "task": -0.45},
    ],
    ids=repr,
)
def test_unusable_shares(shares):
    with pytest.raises(BudgetError) as caught:
        Shares(**shares)
    assert caught.value.field == "shares"


def test_extreme_but_usable_shares():
    assert Shares(selection=0.98, choice=0.0, task=0.01, background=0.01).task == 0.01
    assert Shares(selection=0.0, choice=0.0, task=1.0, background=0.0).background == 0.0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"accountant": "renyi"}, "accountant"),
        ({"allocation": "best"}, "allocation"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"delta": math.nan}, "delta"),
    ],
)
def test_unusable_budgets(change, field):
    with pytest.raises(BudgetError) as caught:
        Budget(**change)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"model": "gan"}, "model"),
        ({"sampling": "hot"}, "sampling"),
        ({"rows": 0}, "rows"),
        ({"rows": -5}, "rows"),
        ({"iterations": 0}, "iterations"),
        ({"engine": "gpu"}, "engine"),
    ],
)
def test_unusable_synthesis(change, field):
    with pytest.raises(PlanError) as caught:
        Synthesis(**change)
    assert caught.value.field == field


def test_defaults():
    assert Budget().delta is None
    assert (Budget().accountant, Budget().allocation) == ("zcdp", "balanced")
    shares = Shares()
    assert (shares.selection, shares.choice, shares.task, shares.background) == (
        0.10,
        0.05,
        0.65,
        0.20,
    )
    assert (Synthesis().model, Synthesis().sampling, Synthesis().rows) == ("pgm", "rounded", None)
