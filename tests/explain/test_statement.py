"""Setting rows aside, the budget as lines, and the sentence about S."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from prism_core.data.encoding import encode, set_aside
from prism_core.errors import TableError
from prism_core.explain.features_statement import features_statement, statement_without
from prism_core.explain.plan_lines import lines
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import REGIMES, Budget, Task
from prism_core.samples import catalogue
from prism_core.structure import formats
from prism_core.structure.dag import Dag


@pytest.fixture(scope="module")
def sample():
    return catalogue.load("scm_spurious")


def test_the_holdout_is_a_partition_of_a_fixed_size(sample):
    table = encode(sample.schema, sample.train.take(range(200)))
    train, holdout = set_aside(table, 60, np.random.default_rng(3))
    assert (train.n, holdout.n) == (140, 60)
    both = np.vstack([train.codes, holdout.codes])
    assert sorted(map(tuple, both)) == sorted(map(tuple, table.codes))


@pytest.mark.privacy
def test_the_cut_does_not_depend_on_the_rows(sample):
    table = encode(sample.schema, sample.train.take(range(200)))
    other = encode(sample.schema, sample.test.take(range(200)))
    marked = np.arange(200)
    order = np.random.default_rng(3).permutation(200)
    for rows in (table, other):
        _, holdout = set_aside(rows, 60, np.random.default_rng(3))
        assert (holdout.codes == rows.codes[marked[order[:60]]]).all()


@pytest.mark.parametrize("rows", [0, -1, 200, 201])
def test_both_parts_get_a_row(sample, rows):
    table = encode(sample.schema, sample.train.take(range(200)))
    with pytest.raises(TableError, match="at least one row"):
        set_aside(table, rows, np.random.default_rng(0))


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("accountant", ["zcdp", "basic"])
def test_the_lines_add_up_to_the_budget(sample, regime, accountant):
    dag = formats.read(sample.dag_json)
    task = Task(target="Y", regime=regime)
    plan = design(Brief(sample.schema, task, Budget(accountant=accountant), 5000, dag=dag))
    found = lines(plan)
    assert math.isclose(math.fsum(line.share for line in found), 1.0, rel_tol=1e-9)
    assert sum(line.times for line in found if line.measured) == sum(
        event.__class__.__name__ == "GaussianEvent" for event in plan.events
    )


def test_the_sentence_names_what_is_protected_and_what_is_left_out(sample):
    dag = formats.read(sample.dag_json)
    causal = features_statement(Task(target="Y"), dag)
    assert "Pa(Y) = {A, B}" in causal
    assert "{S1, S2" in causal
    blanket = features_statement(Task(target="Y", regime="graphical"), dag)
    assert "MB(Y) = {A, B, S1" in blanket
    assert "2 parents, 10 children" in blanket
    predictive = Task(target="Y", regime="predictive")
    assert "where the budget carries" in features_statement(predictive, None)
    assert "the 8 features most" in features_statement(replace(predictive, k=8), None, 9)
    assert "S is all 9 columns" in features_statement(replace(predictive, k=9), None, 9)
    assert "no parents" in features_statement(Task(target="A"), dag)
    assert "Draw what causes" in features_statement(Task(target="Y"), None)


def test_the_sentence_counts_and_stays_short():
    nodes = ("z", "p", "y", "c", *(f"x{i}" for i in range(40)))
    chain = (("z", "p"), ("p", "y"), ("y", "c"))
    causal = features_statement(Task(target="y"), Dag(nodes=nodes, edges=chain))
    assert "Its child {c} is left out: it follows from y and misleads" in causal
    assert "The indirect cause {z} is not needed: it acts on y through S." in causal
    blanket = features_statement(
        Task(target="y", regime="graphical"), Dag(nodes=nodes, edges=chain)
    )
    assert "(1 parent, 1 child)" in blanket
    assert "41 columns are left out." in blanket
    many = Dag(nodes=nodes, edges=tuple((f"x{i}", "y") for i in range(40)))
    assert "x10, x11 and 28 more}" in features_statement(Task(target="y"), many)


def test_a_cause_that_is_not_measured_leaves_s_and_is_named():
    dag = Dag(nodes=("a", "b", "y"), edges=(("a", "y"), ("b", "y"), ("a", "b")))
    task = Task(target="y", regime="causal")
    said = statement_without(task, dag, "a")
    assert said.startswith("S = Pa(y) = {b}")
    assert "a is not in the table" in said
    assert "not in the table" not in features_statement(task, dag)
