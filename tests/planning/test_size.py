"""The forecast before S is known covers every S: by looking at each."""

from __future__ import annotations

import itertools

import pytest

from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.schema import Schema
from prism_core.planning.brief import Brief
from prism_core.planning.design import design, with_features
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import Budget, Synthesis, Task

SIZES = (
    (2, 2, 1, 1, 1, 1),  # columns of one level melt into cliques of others
    (1, 1, 1, 2, 2, 1),
    (1, 2, 1, 3, 1, 2),
    (3, 2, 2, 2, 2, 2),
)


def levels(name, count):
    return Column(name=name, kind="categorical", levels=tuple(range(count)))


def numeric(name, bins):
    edges = equal_edges(0.0, 10.0, bins, None)
    return Column(name=name, kind="numeric", lower=0.0, upper=10.0, edges=edges)


def beyond(schema, task, budget=None, synthesis=None):
    """Every choice of S for every target whose forecast is above the one before the choice."""
    plan = design(
        Brief(schema, task, budget or Budget(), 1_000, synthesis=synthesis or Synthesis())
    )
    assert not plan.s_is_final
    features = [name for name in schema.names if name not in task.target_names]
    each = list(itertools.combinations(features, task.count))
    for s, *further in itertools.product(each, repeat=len(task.target_names)):
        known = with_features(plan, s, further).forecast
        if known.cells > plan.forecast.cells:
            yield s, further, known.cells
        if known.largest_clique > plan.forecast.largest_clique:
            yield s, further, known.largest_clique


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize(("model", "targets"), [("pgm", 1), ("pgm", 2), ("naive_bayes", 1)])
def test_no_s_needs_more_than_was_forecast(sizes, k, model, targets):
    names = [f"c{place}" for place in range(len(sizes))]
    held = [name for name, size in zip(names, sizes, strict=True) if size > 1][:targets]
    schema = Schema(columns=tuple(map(levels, names, sizes)), one_row_per_person=True)
    task = Task(
        target=held[-1],
        regime="predictive",
        k=k,
        further=tuple(Target(name=name, weight=1.0) for name in held[:-1]),
    )
    assert list(beyond(schema, task, synthesis=Synthesis(model=model))) == []


def test_nor_with_three_targets():
    names = [f"c{place}" for place in range(7)]
    schema = Schema(
        columns=tuple(map(levels, names, (2, 1, 2, 1, 3, 1, 1))), one_row_per_person=True
    )
    further = tuple(Target(name=name, weight=1.0) for name in ("c2", "c4"))
    task = Task(target="c0", regime="predictive", k=2, further=further)
    assert list(beyond(schema, task)) == []


@pytest.mark.parametrize("further", [(), ("z",)])
def test_nor_where_smaller_columns_bring_products(further):
    """The largest columns have no products; others that may be chosen do."""
    schema = Schema(
        columns=(
            levels("y", 2),
            levels("z", 2),
            *(levels(name, 11) for name in "abc"),
            *(numeric(name, 10) for name in "pqr"),
        ),
        one_row_per_person=True,
    )
    task = Task(
        target="y",
        regime="predictive",
        k=3,
        numeric_queries="second_moments",
        numeric_bins=4,
        further=tuple(Target(name=name, weight=1.0) for name in further),
        three_way="none",
    )
    assert list(beyond(schema, task)) == []


def test_products_do_not_make_a_plan_seem_larger_than_a_clique_may_be():
    """Many bins and two targets: no S has a clique near the limit, so nothing is refused."""
    schema = Schema(
        columns=(levels("y", 32), levels("z", 32), *(numeric(f"c{i}", 32) for i in range(30))),
        one_row_per_person=True,
    )
    task = Task(
        target="y",
        regime="predictive",
        k=25,
        numeric_queries="second_moments",
        numeric_bins=4,
        further=(Target(name="z", weight=1.0),),
        three_way="none",
    )
    plan = design(Brief(schema, task, Budget(), 100_000))
    s = tuple(f"c{i}" for i in range(25))
    known = with_features(plan, s, (tuple(f"c{i}" for i in range(5, 30)),)).forecast
    assert known.largest_clique <= plan.forecast.largest_clique <= 200_000
    assert known.cells <= plan.forecast.cells
