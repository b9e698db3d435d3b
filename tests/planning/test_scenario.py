"""Scenarios: there and back again, on top of a configuration, and two plans side by side."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, ConfigError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.search.comparison import Difference, differences, figures
from prism_core.planning.wishes import scenario_files
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.scenario import MOST_NAME, Scenario
from prism_core.planning.wishes.task import (
    ALLOCATIONS,
    MODELS,
    PAIR_RULES,
    REGIMES,
    SAMPLINGS,
    SELECTIONS,
    THREE_WAYS,
    Budget,
    Shares,
    Synthesis,
    Task,
)
from prism_core.structure.dag import Dag

SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in {"a": 2, "b": 3, "y": 2, "c": 9}.items()
    ),
    one_row_per_person=True,
)
DAG = Dag(nodes=SCHEMA.names, edges=(("a", "y"), ("b", "y")))
A = Scenario(name="A", task=Task(target="y"))

NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=MOST_NAME)
COLUMNS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=9)
SCENARIOS = st.builds(
    Scenario,
    name=NAMES,
    task=st.builds(
        Task,
        target=COLUMNS,
        regime=st.sampled_from(REGIMES),
        k=st.integers(1, 99),
        weights=st.dictionaries(COLUMNS, st.floats(1e-9, 1e6), max_size=3),
        max_joint_cells=st.integers(0, 10**6),
        selection=st.sampled_from(SELECTIONS),
        three_way=st.sampled_from(THREE_WAYS),
        max_three_way=st.integers(1, 99),
    ),
    budget=st.builds(
        Budget,
        epsilon=st.floats(1e-9, 1e6),
        delta=st.none() | st.floats(1e-12, 0.5),
        allocation=st.sampled_from(ALLOCATIONS),
        tilt=st.floats(0.0, 1.0),
        locks=st.frozensets(COLUMNS, max_size=3).map(
            lambda names: tuple(Lock(columns=(name,), share=0.2) for name in sorted(names))
        ),
    ),
    synthesis=st.builds(
        Synthesis,
        model=st.sampled_from(MODELS),
        sampling=st.sampled_from(SAMPLINGS),
        pairs=st.sampled_from(PAIR_RULES),
        rows=st.none() | st.integers(1, 10**8),
    ),
)


@settings(max_examples=60)
@given(st.lists(SCENARIOS, min_size=1, max_size=3, unique_by=lambda scenario: scenario.name))
def test_toml_and_json_there_and_back(scenarios):
    assert scenario_files.loads(scenario_files.dumps(scenarios)) == tuple(scenarios)
    for scenario in scenarios:
        assert (
            scenario_files.from_dict(json.loads(json.dumps(scenario_files.to_dict(scenario))))
            == scenario
        )


def test_a_scenario_on_top_of_another_says_only_what_differs():
    base = Scenario(
        name="base",
        task=Task(target="y", weights={"a": 2.0}),
        budget=Budget(epsilon=2.0, locks=(Lock(columns=("a", "y"), share=0.1),)),
    )
    more, other = scenario_files.loads(
        '[[scenario]]\nname = "more"\n[scenario.budget]\nepsilon = 4\n'
        "[scenario.budget.shares]\ntask = 0.55\nbackground = 0.3\n"
        "[scenario.task.weights]\nb = 3.0\n"
        '[[scenario]]\nname = "other"\n[scenario.synthesis]\nmodel = "naive_bayes"\n'
        "[scenario.budget]\nlocks = []\n",
        base=base,
    )
    assert more.budget == replace(base.budget, epsilon=4, shares=Shares(task=0.55, background=0.3))
    assert dict(more.task.weights) == {"a": 2.0, "b": 3.0}
    assert more.synthesis == base.synthesis
    assert other.synthesis.model == "naive_bayes"
    assert other.budget == replace(base.budget, locks=())


@pytest.mark.parametrize(
    "name", ["", " ", " a", "a\n", "a\x00b", "a\u202eb", "x" * (MOST_NAME + 1), None, 3]
)
def test_unusable_names(name):
    with pytest.raises(ConfigError) as caught:
        replace(A, name=name)
    assert caught.value.field == "name"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "and nothing else"),
        ("", "and nothing else"),
        ("scenario = 3", "and nothing else"),
        ("scenario = [", "not valid TOML"),
        ("scenario = [3]", "must be a table"),
        ("[[scenario]]\n[scenario.task]\ntarget = 'y'", "needs the entry name"),
        ("[[scenario]]\nname = 'x'", "needs the entry target"),
        ("[[scenario]]\nname = 'x'\nwhy = 3", "unknown entry 'why'"),
        ("[[scenario]]\nname = 'x'\ntask = 3", "must be a section"),
        ("[[scenario]]\nname = 'x'\n[scenario.task]\ntarget='y'\nextra=1", "unknown entry 'extra'"),
        ("[[scenario]]\nname = 'x'\ntask = {target='y'}\n" * 2, "Two scenarios are named 'x'"),
    ],
)
def test_unusable_files(text, words):
    with pytest.raises(ConfigError, match=words):
        scenario_files.loads(text)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="does not exist"):
        scenario_files.load(tmp_path / "none.toml")
    with pytest.raises(BudgetError):
        scenario_files.loads("[[scenario]]\nname='x'\ntask={target='y'}\nbudget={epsilon=-1}")


def plan_of(task=A.task, budget=A.budget, synthesis=A.synthesis):
    dag = None if task.regime == "predictive" else DAG
    return design(Brief(SCHEMA, task, budget, 3_000, dag=dag, synthesis=synthesis))


def rows_of(a, b):
    return {row.what: row for row in differences(a, b)}


def test_a_plan_does_not_differ_from_itself():
    rows = differences(plan_of(), plan_of())
    assert [row.kind for row in rows] == ["outcome"] * len(rows)
    assert all(row.same and row.better is None for row in rows)
    assert {row.what for row in rows} >= {"features S", "cells of the model", "epsilon spent"}


def test_more_epsilon_is_less_error_and_more_spent():
    a, b = plan_of(), plan_of(budget=Budget(epsilon=2.0))
    rows = rows_of(a, b)
    assert rows["budget.epsilon"] == Difference(what="budget.epsilon", kind="entry", a=1.0, b=2.0)
    assert [row.what for row in differences(a, b) if row.kind == "entry"] == ["budget.epsilon"]
    for what in (
        "largest sigma, in counts",
        "mean expected error of the task marginals",
        "largest expected error of a task marginal",
    ):
        assert rows[what].better == "b"
        assert rows[what].a > rows[what].b
        assert rows_of(b, a)[what].better == "a"
    assert rows["epsilon spent"].better == "a"
    assert rows["synthetic rows"].better is None
    assert rows["features S"].a == "a, b"


def test_every_wish_that_differs_is_a_row_of_its_own():
    a = plan_of()
    b = plan_of(
        task=Task(target="y", regime="predictive", k=2, weights={"c": 2.0}, max_joint_cells=9),
        budget=Budget(
            delta=1e-7,
            accountant="basic",
            allocation="tilted",
            tilt=0.5,
            shares=Shares(selection=0.2, choice=0.0, task=0.6, background=0.2),
            locks=(Lock(columns=("c", "y"), share=0.1),),
        ),
        synthesis=Synthesis(model="naive_bayes", rows=500, sampling="iid"),
    )
    rows = rows_of(a, b)
    entries = {what for what, row in rows.items() if row.kind == "entry"}
    assert entries == {
        "task.regime",
        "task.k",
        "task.selection",
        "task.weights.c",
        "task.max_joint_cells",
        "budget.delta",
        "budget.accountant",
        "budget.allocation",
        "budget.tilt",
        "budget.shares.selection",
        "budget.shares.choice",
        "budget.shares.task",
        "budget.locks.c × y",
        "synthesis.model",
        "synthesis.rows",
        "synthesis.sampling",
    }
    assert (rows["task.k"].a, rows["task.k"].b) == (None, 2)
    assert rows["features S"].b == "2 of 3, chosen at run time"
    assert (rows["synthetic rows"].a, rows["synthetic rows"].b) == (3_000, 500)
    assert all(row.better is None for row in rows.values() if row.kind == "entry")


def test_the_figures_of_a_plan():
    plan = plan_of()
    found = figures(plan)
    assert found.s == ("a", "b")
    assert found.epsilon == plan.spent.epsilon
    errors = [query.relative_error for query in plan.queries if query.pool == "task"]
    assert found.mean_error == pytest.approx(math.fsum(errors) / len(errors))
    assert found.largest_sigma >= max(query.sigma for query in plan.queries)
    assert plan.tree is not None
    assert found.largest_sigma >= plan.tree.sigma
    (row,) = scenario_files.exported([(A, plan)])
    assert (
        scenario_files.from_dict({key: row[key] for key in ("name", "task", "budget", "synthesis")})
        == A
    )
    assert row["figures"]["s"] == ["a", "b"]
    assert row["plan_sha256"] == plan.hash
    json.dumps(row, allow_nan=False)
    chosen = plan_of(task=Task(target="y", regime="predictive", k=1))
    assert figures(chosen).s is None
