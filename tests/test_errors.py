"""One exception tree, and what bad wishes get before any row is read."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from prism_core import errors
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, PlanError, PrismError, StructureError, TaskError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release
from tests.support.refusals import refused

DAG = Dag(nodes=("age", "smoker", "readmitted"), edges=(("age", "readmitted"),))
TASK = Task(target="readmitted")
FAST = Synthesis(model="naive_bayes")


def test_the_tree_in_the_docstring_is_the_tree():
    found = {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert all(issubclass(kind, PrismError) for kind in found.values())
    for name, kind in found.items():
        assert name in (errors.__doc__ or "")
        assert kind.__doc__


@pytest.mark.parametrize(
    "error",
    [
        PrismError("It is wrong.", field="x"),
        errors.TableError("It is wrong.", separator=";", encoding="latin-1"),
        errors.CycleError(("a", "b", "a")),
        errors.OverspentError("Too much.", field="epsilon"),
    ],
)
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  (our own bytes)
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


# --- epsilon, delta, shares ------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, -math.inf, "1", None, True])
def test_epsilon_is_a_finite_number_above_0(epsilon):
    with refused(BudgetError, "epsilon") as e:
        Budget(epsilon=epsilon)
    assert e.value.field == "epsilon"


@pytest.mark.parametrize("delta", [0, 0.0, -1e-6, math.nan, math.inf, 1, 1.0, 2, "small", True])
def test_delta_lies_strictly_between_0_and_1(delta):
    with refused(BudgetError, "delta") as caught:
        Budget(delta=delta)
    assert caught.value.field == "delta"


def test_a_delta_that_may_publish_a_row_gets_a_warning(schema):
    for delta, warned in ((1 / 300, True), (0.4, True), (1 / 301, False), (None, False)):
        plan = design(Brief(schema, TASK, Budget(delta=delta), 300, dag=DAG, synthesis=FAST))
        assert bool(plan.warnings) == warned
        if warned:
            assert "not below 1/n" in plan.warnings[0]
            assert "Use 1/n² or smaller." in plan.warnings[0]


@pytest.mark.parametrize("shares", [{"task": 0.9}, {"task": -0.1}, {"task": math.nan}])
def test_shares_add_up(shares):
    with pytest.raises(BudgetError) as caught:
        Shares(**shares)
    assert caught.value.field == "shares"


# --- task and graph --------------------------------------------------------------------------


def wish(schema, *, task=TASK, dag=DAG, n=300):
    return design(Brief(schema, task, Budget(), n, dag=dag, synthesis=FAST))


@pytest.mark.parametrize(
    ("task", "dag", "kind", "field", "texts"),
    [
        (Task(target="Y"), DAG, TaskError, "target", ("'Y' is not a column",)),
        (TASK, None, TaskError, "dag", ("needs a graph", "predictive")),
        (
            Task(target="smoker"),
            DAG,
            TaskError,
            "dag",
            ("'smoker' has no parents", "Draw the edges", "graphical regime", "predictive"),
        ),
        (
            Task(target="grade", regime="graphical"),
            DAG,
            TaskError,
            "dag",
            ("no neighbours", "Draw its parents and children", "predictive"),
        ),
        (
            Task(target="readmitted", regime="predictive", k=7),
            None,
            TaskError,
            "k",
            ("k = 7 is more than the 6 features", "at most 6"),
        ),
        (
            TASK,
            Dag(nodes=("shoe size", "readmitted"), edges=(("shoe size", "readmitted"),)),
            StructureError,
            "nodes",
            ("'shoe size'", "not columns", "Rename or remove"),
        ),
    ],
)
def test_a_wish_that_cannot_be_met_is_answered(schema, task, dag, kind, field, texts):
    with pytest.raises(kind) as caught:
        wish(schema, task=task, dag=dag)
    assert caught.value.field == field
    assert all(text in str(caught.value) for text in texts)


@pytest.mark.parametrize("n", [0, 1, -3, 2.0, True, None])
def test_one_row_is_too_few(schema, n):
    with pytest.raises(BudgetError, match="at least 2 rows") as caught:
        wish(schema, n=n)
    assert caught.value.field == "n"


def test_a_target_with_one_declared_level_is_refused():
    schema = Schema(
        columns=(Column(name="y", kind="ordinal", levels=(1,)), Column(name="x", kind="boolean"))
    )
    dag = Dag(nodes=("x", "y"), edges=(("x", "y"),))
    with refused(TaskError, "target"):
        design(Brief(schema, Task(target="y"), Budget(), 300, dag=dag))


def test_a_model_that_would_not_fit_in_memory_is_refused_from_the_plan():
    levels = tuple(range(2_000))
    columns = tuple(Column(name=name, kind="ordinal", levels=levels) for name in ("x", "y"))
    schema = Schema(columns=columns, one_row_per_person=True)
    dag = Dag(nodes=("x", "y"), edges=(("x", "y"),))
    with refused(PlanError, "levels") as caught:
        design(Brief(schema, Task(target="y"), Budget(), 300, dag=dag))
    assert "Most of it is 'x' (2,000 levels): group the levels of 'x'" in str(caught.value)
    assert caught.value.field == "levels"


def test_a_tree_of_many_large_cliques_is_refused_too():
    wide = Column(name="y", kind="ordinal", levels=tuple(range(900)))
    names = [f"x{i}" for i in range(50)]
    columns = [Column(name=name, kind="ordinal", levels=tuple(range(1_000))) for name in names]
    schema = Schema(columns=(wide, *columns), one_row_per_person=True)
    dag = Dag(nodes=("y", *names), edges=tuple((name, "y") for name in names))
    with refused(PlanError, "levels"):
        design(Brief(schema, Task(target="y"), Budget(), 300, dag=dag))


# --- a release never depends on rows in what it refuses --------------------------------------


@pytest.mark.privacy
@pytest.mark.parametrize("level", [0, 1])
def test_one_class_in_the_rows_is_no_reason_to_refuse(schema, level):
    """All rows equal: constant columns, one class, missing everywhere."""
    row = [0, 2, 0, 0, 0, 3, level]
    table = EncodedTable(schema=schema, codes=np.array([row] * 300), public=True)
    plan = wish(schema)
    rng = np.random.default_rng(0)
    made = release(plan, table, ledger=None, noise=SeededNoise(rng), rng=rng)
    assert len(made.table) == 300
    assert tuple(made.table.columns) == schema.names


@pytest.mark.privacy
def test_refusals_of_a_release_speak_of_declared_facts_only(schema, canary):
    table = EncodedTable(schema=schema, codes=np.zeros((299, 7), int), public=True)
    rng = np.random.default_rng(0)
    with pytest.raises(PlanError, match="300 training rows") as caught:
        release(wish(schema), table, ledger=None, noise=SeededNoise(rng), rng=rng)
    assert "299" not in str(caught.value)
    other = EncodedTable(schema=replace(schema, provenance="public twin"), codes=table.codes)
    with pytest.raises(PlanError, match="another schema"):
        release(wish(schema, n=299), other, ledger=None, rng=rng)
