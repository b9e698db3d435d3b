"""How many features a plan takes where the curator leaves it to the plan: public facts alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prism_core.errors import TaskError
from prism_core.planning import feature_count
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.feature_count import settled
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import Budget, Task
from tests.support.exclusive_or import domain

WIDE = domain(**{f"c{i:02}": 4 for i in range(20)}, y=2)
PREDICTIVE = Task(target="y", regime="predictive")


def k_at(epsilon, schema=WIDE, n=20_000, task=PREDICTIVE):
    return settled(schema, task, Budget(epsilon=epsilon), n, 1 / n**2).k


def test_all_features_where_the_budget_carries_them_and_few_where_not():
    found = [k_at(epsilon) for epsilon in (0.01, 0.1, 0.3, 1.0, 10.0)]
    assert set(found) == {feature_count.FEW, 20}
    assert found == sorted(found)
    assert k_at(0.1, n=10**7) == 20
    assert k_at(0.01, schema=domain(a=2, b=2, y=2)) == 2  # never more than there are
    assert k_at(100.0, schema=domain(**{f"c{i}": 2 for i in range(65)}, y=2)) == feature_count.FEW


def test_what_is_typed_stays():
    assert k_at(10.0, task=replace(PREDICTIVE, k=3)) == 3
    causal = Task(target="y")
    assert settled(WIDE, causal, Budget(), 1_000, 1e-6) is causal
    with pytest.raises(TaskError, match="not settled"):
        _ = PREDICTIVE.count


def test_with_all_of_them_nothing_is_chosen_and_nothing_paid_for_choosing():
    plan = design(Brief(WIDE, PREDICTIVE, Budget(), 20_000))
    assert plan.selection is None
    assert plan.s_is_final
    assert plan.s == WIDE.names[:-1]
    assert all(query.pool == "task" for query in plan.queries)
    chosen = design(Brief(WIDE, replace(PREDICTIVE, k=19), Budget(), 20_000))
    assert chosen.selection is not None
    assert chosen.selection.share == Budget().shares.selection
    # Typing what the plan would take gives the same plan.
    assert design(Brief(WIDE, replace(PREDICTIVE, k=20), Budget(), 20_000)).hash == plan.hash


def test_with_several_targets_none_of_them_is_a_feature():
    task = replace(PREDICTIVE, further=(Target(name="c00"),))
    assert k_at(10.0, task=task) == 19
    plan = design(Brief(WIDE, task, Budget(epsilon=10.0), 20_000))
    assert plan.selection is None
    assert all("c00" not in aim.s and "y" not in aim.s for aim in plan.several)
    assert design(Brief(WIDE, task, Budget(epsilon=0.05), 20_000)).selection is not None


def test_a_pair_too_large_for_memory_counts_as_too_much():
    schema = domain(huge=2_000, **{f"c{i}": 2 for i in range(12)}, y=2_000)
    assert k_at(100.0, schema=schema) == feature_count.FEW
