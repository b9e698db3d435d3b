"""Inverse problems: there and back again, always to the safe side."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from prism_core.cli import main
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.search.inverse import (
    LEAST_EPSILON,
    epsilon_for_error,
    task_error,
)
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.structure.dag import Dag

pytestmark = pytest.mark.privacy

SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in {"a": 2, "b": 3, "y": 2, "c": 4}.items()
    ),
    one_row_per_person=True,
)
DAG = Dag(nodes=SCHEMA.names, edges=(("a", "y"), ("b", "y")))
TASK = Task(target="y")
STAR = Synthesis(model="naive_bayes")


@pytest.mark.parametrize("name", ["zcdp", "basic", "pld"])
@pytest.mark.parametrize("target", [0.1, 0.02, 0.003])
def test_the_epsilon_for_an_error_reaches_it_and_is_the_least(name, target):
    budget = Budget(accountant=name)
    found = epsilon_for_error(Brief(SCHEMA, TASK, budget, 5_000, dag=DAG, synthesis=STAR), target)
    assert found == float(f"{found:.4g}")  # what is printed is what was found

    def error(epsilon: float) -> float:
        wanted = replace(budget, epsilon=epsilon)
        return task_error(design(Brief(SCHEMA, TASK, wanted, 5_000, dag=DAG, synthesis=STAR)))

    assert error(found) <= target
    assert error(found * 0.995) > target


def test_the_limits_of_the_search():
    assert epsilon_for_error(Brief(SCHEMA, TASK, Budget(), 10**6, dag=DAG), 5.0) == LEAST_EPSILON
    with pytest.raises(BudgetError, match="No epsilon up to 100") as caught:
        epsilon_for_error(Brief(SCHEMA, TASK, Budget(), 50, dag=DAG), 1e-9)
    assert caught.value.field == "target_error"


@pytest.mark.parametrize("bad", [0, 0.0, -1.0, math.nan, math.inf, None, True, "0.1"], ids=repr)
def test_targets_that_mean_nothing_are_refused(bad):
    with pytest.raises(BudgetError, match="target_error must be"):
        epsilon_for_error(Brief(SCHEMA, TASK, Budget(), 500, dag=DAG), bad)


def test_on_the_command_line(make_run, capsys):
    config = make_run()
    assert main.main(["plan", str(config), "--target-error", "0.2", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["expected_error"] <= plan["target_error"] == 0.2
    assert main.main(["plan", str(config), "--target-error", "0.2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"epsilon {plan['epsilon']:g}: expected error")
    assert main.main(["plan", str(config), "--target-error", "nan"]) == 2
    assert "target_error must be" in capsys.readouterr().err
