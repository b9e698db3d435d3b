"""What a plan says a run takes: beside runs that were measured, and what it depends on.

The measured numbers are processor seconds of `prism release` on one core of the reference machine
(tests/benchmarks/seconds.py); the tables are given by their numbers of levels, as no row is read.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.explain import run_time
from prism_core.explain.run_time import parts, run_seconds, seconds_range, size_text
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task

MADE = [(2, 5, 12, 20, 8, 40)[i % 6] for i in range(19)]  # columns of the made table
GEMS = [10, 5, 7, 8, 10, 10, 10, 10, 10]
ADULT = [20, 9, 20, 16, 7, 15, 6, 5, 2, 20, 20, 20, 42]
SURVEY = [(2, 4, 3, 6, 2, 2)[i % 6] for i in range(12)]


def planned(sizes, n, epsilon, **synthesis):
    columns = [
        Column(name=f"x{i}", kind="categorical", levels=tuple(range(size)))
        for i, size in enumerate(sizes)
    ]
    schema = Schema(columns=(*columns, Column(name="y", kind="boolean")), one_row_per_person=True)
    task = Task(target="y", regime="predictive")
    return design(Brief(schema, task, Budget(epsilon=epsilon), n, synthesis=Synthesis(**synthesis)))


def said(plan) -> float:
    """On the reference machine."""
    return math.fsum(parts(plan).values())


@pytest.mark.parametrize(
    ("sizes", "n", "epsilon", "measured"),
    [
        (MADE, 262_000, 1.0, 12.0),
        (MADE, 262_000, 0.3, 6.1),
        (MADE, 50_000, 1.0, 2.3),
        (GEMS, 53_940, 3.0, 33.0),
        (GEMS, 53_940, 0.3, 2.2),
    ],
)
def test_it_is_within_a_factor_of_two_of_what_was_measured(sizes, n, epsilon, measured):
    assert measured / 2.0 <= said(planned(sizes, n, epsilon)) <= 2.0 * measured


def test_clearer_counts_take_more_steps_and_more_fits():
    """The same table at the same epsilon: of more rows the noise is less."""
    few, many = (parts(planned(GEMS, n, 3.0)) for n in (54_000, 216_000))
    assert many["fit"] == pytest.approx(2.0 * few["fit"], rel=0.35)
    assert many["rounds"] > 1.3 * few["rounds"]
    plain = parts(planned(GEMS, 54_000, 3.0, pairs="measured"))
    assert few["fit"] == pytest.approx(10 * plain["fit"])  # once, and for each of nine features


def test_every_part_grows_with_what_makes_it_larger():
    plan = planned(SURVEY, 20_000, 1.0)
    larger = replace(plan, n=10**7)
    assert parts(larger)["rows"] > 100.0 * parts(plan)["rows"]
    wide = planned(SURVEY * 4, 20_000, 0.01)  # of so many features rounds would only measure noise
    assert wide.three_way is None
    assert parts(wide)["choices"] > parts(plan)["choices"]
    assert all(value >= 0.0 for value in parts(plan).values())


def test_it_is_the_same_each_time_and_follows_the_machine(monkeypatch):
    plan = planned(GEMS, 53_940, 3.0)
    assert parts(plan) == parts(planned(GEMS, 53_940, 3.0))
    monkeypatch.setattr(run_time, "slowness", lambda: 3.0)
    assert run_seconds(plan) == pytest.approx(3.0 * said(plan))
    least, most = seconds_range(plan)
    assert f"about {3.0 * said(plan):,.0f} seconds (between {least:,.0f} second" in size_text(plan)
    assert least < 3.0 * said(plan) < most


def test_a_range_is_told_where_what_is_chosen_decides():
    rounds, none = planned(GEMS, 53_940, 3.0), planned(GEMS, 53_940, 0.001)
    least, most = seconds_range(rounds)
    assert most > 4.0 * least
    assert none.three_way is None
    usual = run_seconds(none)
    assert seconds_range(none) == pytest.approx((usual / 2.0, usual * 2.0))


@pytest.mark.parametrize(
    ("sizes", "n", "epsilon", "measured"),
    [
        (ADULT, 48_842, 3.0, 9.7),
        (GEMS, 53_940, 3.0, 33.0),
        (GEMS, 53_940, 0.3, 2.2),
        (MADE, 262_000, 1.0, 12.0),
    ],
)
def test_the_range_holds_what_was_measured(sizes, n, epsilon, measured, monkeypatch):
    monkeypatch.setattr(run_time, "slowness", lambda: 1.0)
    least, most = seconds_range(planned(sizes, n, epsilon))
    assert least <= measured <= most


def test_a_machine_is_measured_within_limits(monkeypatch):
    for took, found in ((run_time._REFERENCE, 1.0), (1e-9, 0.25), (10.0, 8.0)):
        run_time.slowness.cache_clear()
        monkeypatch.setattr(run_time, "_calibrate", lambda took=took: took)
        assert run_time.slowness() == pytest.approx(found)
    run_time.slowness.cache_clear()
    monkeypatch.undo()
    assert run_time._calibrate() > 0.0


def test_the_drawn_rounds_stay_within_the_growth_that_a_run_allows():
    plan = planned(GEMS, 53_940, 3.0)
    end, path = run_time._growth(plan, plan.three_way)
    known = math.fsum(query.cells for query in plan.queries)
    assert known < end <= known + run_time.GROWTH_CELLS
    assert end <= path <= end * plan.three_way.rounds
