"""The most features and bins within a wanted error: reached, and the next one is not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, TaskError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.search import inverse
from prism_core.planning.search.inverse import most_bins, most_features, task_error, with_bins
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.structure.dag import Dag

STAR = Synthesis(model="naive_bayes")
PREDICTIVE = Task(target="y", regime="predictive")
N = 20_000


def wide(sizes):
    names = ("y", *(f"c{i}" for i in range(len(sizes))))
    return Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(range(size)))
            for name, size in zip(names, (2, *sizes), strict=True)
        ),
        one_row_per_person=True,
    )


def error_of_k(schema, k, budget=None, synthesis=STAR):
    plan = design(
        Brief(schema, replace(PREDICTIVE, k=k), budget or Budget(), N, synthesis=synthesis)
    )
    return task_error(plan)


@pytest.mark.parametrize("name", ["zcdp", "basic"])
@pytest.mark.parametrize("synthesis", [STAR, Synthesis()], ids=["naive_bayes", "pgm"])
def test_the_most_features_are_the_largest_of_all_that_keep_the_target(name, synthesis):
    schema, budget = wide([60, 9, 7, 5, 4, 3, 2, 2]), Budget(accountant=name)
    errors = {k: error_of_k(schema, k, budget, synthesis) for k in range(1, 9)}
    for target in (*errors.values(), max(errors.values()) * 2):
        found = most_features(Brief(schema, PREDICTIVE, budget, N, synthesis=synthesis), target)
        assert found == max(k for k, error in errors.items() if error <= target)
    with pytest.raises(BudgetError, match="No number of features") as caught:
        most_features(
            Brief(schema, PREDICTIVE, budget, N, synthesis=synthesis), min(errors.values()) * 0.99
        )
    assert caught.value.field == "target_error"


def test_the_error_may_fall_where_a_small_column_joins_a_large_one():
    """Why not all is bisection: with one feature the target is missed, with two it is kept."""
    schema = wide([800, 2, 2])
    one, two = error_of_k(schema, 1), error_of_k(schema, 2)
    assert two < one
    assert (
        most_features(Brief(schema, PREDICTIVE, Budget(), N, synthesis=STAR), (one + two) / 2) >= 2
    )


def test_of_many_features_the_next_one_is_too_many(monkeypatch):
    schema = wide([5] * 60)
    target = error_of_k(schema, 37) * 1.0001
    assert most_features(Brief(schema, PREDICTIVE, Budget(), N, synthesis=STAR), target) == 37
    assert most_features(Brief(schema, PREDICTIVE, Budget(), N, synthesis=STAR), 9.0) == 60
    skewed = wide([900, *[2] * 59])
    high, low = error_of_k(skewed, 1), error_of_k(skewed, 3)
    found = most_features(Brief(skewed, PREDICTIVE, Budget(), N, synthesis=STAR), (high + low) / 2)
    assert error_of_k(skewed, found) <= (high + low) / 2
    assert found == 60 or error_of_k(skewed, found + 1) > (high + low) / 2
    with pytest.raises(BudgetError, match="No number of features"):
        most_features(Brief(schema, PREDICTIVE, Budget(), N, synthesis=STAR), 1e-9)


def test_features_are_looked_for_in_the_predictive_regime_only():
    with pytest.raises(TaskError) as caught:
        most_features(Brief(wide([3, 3]), Task(target="y"), Budget(), N), 0.1)
    assert caught.value.field == "regime"


SCHEMA = Schema(
    columns=(
        Column(name="y", kind="boolean"),
        Column(name="age", kind="numeric", lower=0, upper=99, decimals=0, edges=(50.0,)),
        Column(name="dose", kind="numeric", lower=0.0, upper=1.0, edges=(0.5,), nullable=True),
        Column(name="ward", kind="categorical", levels=("a", "b")),
        Column(name="born", kind="date", lower=0, upper=9_999, edges=(5_000.0,)),
    ),
    one_row_per_person=True,
)
DAG = Dag(nodes=SCHEMA.names, edges=(("age", "y"), ("dose", "y"), ("ward", "y")))
CAUSAL = Task(target="y")


def error_of_bins(bins, names, task=CAUSAL):
    plan = design(Brief(with_bins(SCHEMA, bins, names), task, Budget(), N, dag=DAG, synthesis=STAR))
    return task_error(plan)


@pytest.mark.parametrize("column", ["age", "dose", None])
@pytest.mark.parametrize("joint", [0, 5_000])
def test_the_most_bins_keep_the_target_and_one_more_does_not(column, joint):
    task = Task(target="y", max_joint_cells=joint)
    names = ("age", "dose", "born") if column is None else (column,)
    for aimed in (3, 17, 64):
        target = error_of_bins(aimed, names, task) * 1.00001
        found = most_bins(
            Brief(SCHEMA, task, Budget(), N, dag=DAG, synthesis=STAR), target, column=column
        )
        assert found == aimed
        assert error_of_bins(found, names, task) <= target
        assert error_of_bins(found + 1, names, task) > target


def test_bins_end_where_values_or_codes_do():
    assert (
        most_bins(Brief(SCHEMA, CAUSAL, Budget(), N, dag=DAG, synthesis=STAR), 9e9, column="age")
        == 100
    )
    found = most_bins(
        Brief(SCHEMA, CAUSAL, Budget(), N, dag=DAG, synthesis=STAR), 9e9, column="dose"
    )
    assert found == inverse.MOST_BINS
    coarse = with_bins(SCHEMA, 40, ("age", "dose"))
    assert [coarse[name].level_count for name in ("age", "dose", "born")] == [40, 40, 2]
    assert coarse["dose"].bounds == SCHEMA["dose"].bounds


def test_bins_that_do_not_fit_in_memory_are_too_many():
    big = replace(
        SCHEMA,
        columns=(
            Column(name="y", kind="categorical", levels=tuple(range(2_000))),
            *SCHEMA.columns[1:],
        ),
    )
    found = most_bins(Brief(big, CAUSAL, Budget(), N, dag=DAG, synthesis=STAR), 9e9, column="dose")
    assert (found + 1) * 2_000 <= 1_000_000 < (found + 2) * 2_000  # one code is for missing


@pytest.mark.parametrize(
    ("column", "words"), [("ward", "has levels and no bounds"), ("born", "bins change nothing")]
)
def test_columns_whose_bins_mean_nothing(column, words):
    with pytest.raises(BudgetError, match=words) as caught:
        most_bins(Brief(SCHEMA, CAUSAL, Budget(), N, dag=DAG, synthesis=STAR), 0.1, column=column)
    assert caught.value.field == "column"


def test_nothing_to_bin():
    with pytest.raises(BudgetError, match="No column has bounds"):
        most_bins(Brief(wide([3, 3]), PREDICTIVE, Budget(), N), 0.1)
    with pytest.raises(BudgetError, match="No number of bins"):
        most_bins(Brief(SCHEMA, CAUSAL, Budget(), N, dag=DAG), 1e-9)


@pytest.mark.parametrize("target", [0.0, -1.0, math.nan, math.inf, True, "1", None])
def test_unusable_targets(target):
    for wish in (
        lambda: most_features(Brief(wide([3]), PREDICTIVE, Budget(), N), target),
        lambda: most_bins(Brief(SCHEMA, CAUSAL, Budget(), N, dag=DAG), target),
    ):
        with pytest.raises(BudgetError) as caught:
            wish()
        assert caught.value.field == "target_error"


@pytest.mark.parametrize("scanned", [0, 1_000])
@pytest.mark.parametrize("high", [3, 50])
def test_every_answer_is_reached_by_either_way(monkeypatch, scanned, high):
    monkeypatch.setattr(inverse, "SCANNED", scanned)
    monkeypatch.setattr(inverse, "task_error", float)
    for target in range(2, high + 5):
        found = inverse._largest(lambda value: value, 2, high, target)  # type: ignore[arg-type]
        assert found == min(high, target)
    assert inverse._largest(lambda value: value, 2, high, 1) is None  # type: ignore[arg-type]
