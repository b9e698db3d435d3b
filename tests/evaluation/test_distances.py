"""Distances between tables, by brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.data.schema.schema import Schema
from prism_core.evaluation import evaluate
from prism_core.evaluation.fidelity import distances
from prism_core.evaluation.fidelity.distances import RowComparison, pair_tv, variation
from tests.support.scored_tables import PAIR, SCHEMA, cat, draw, table


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def three(rng):
    return draw(rng, 600), draw(rng, 300), draw(rng, 500)


def brute_tv(a, b, names):
    cells = itertools.product(*(range(a.schema.size(name)) for name in names))
    total = 0.0
    for cell in cells:
        shares = [
            np.all([rows.column(n) == c for n, c in zip(names, cell, strict=True)], axis=0).mean()
            for rows in (a, b)
        ]
        total += abs(shares[0] - shares[1])
    return total / 2


@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("y", "c"), ("a", "c", "y")])
def test_total_variation_against_brute_force(three, names, monkeypatch):
    synthetic, holdout, _ = three
    expected = brute_tv(synthetic, holdout, names)
    assert variation(synthetic, holdout, names).distance == pytest.approx(expected)
    monkeypatch.setattr(distances, "_DENSE_CELLS", 0)
    assert variation(synthetic, holdout, names).distance == pytest.approx(expected)


ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=12)


@settings(deadline=None)
@given(ROWS, ROWS)
def test_total_variation_is_a_distance_of_shares(left, right):
    a, b = table(PAIR, left), table(PAIR, right)
    there, back = (variation(x, y, ("a", "b")).distance for x, y in ((a, b), (b, a)))
    assert there == back
    assert there is not None
    assert 0 <= there <= 1
    equal = all(left.count(c) * len(right) == right.count(c) * len(left) for c in {*left, *right})
    assert (there == 0) == equal
    assert variation(a, b, ("a",)).distance <= there + 1e-12


def test_distances_against_real_training_rows_with_holdout_as_reference(three):
    synthetic, holdout, train = three
    found = evaluate(synthetic, holdout, target="y", train=train, s=("a", "c"), learners=())
    l1 = {row.subject: row for row in found.find("l1_1way")}
    for name in SCHEMA.names:
        assert l1[name].value == pytest.approx(2 * brute_tv(synthetic, train, (name,)))
        assert l1[name].ceiling == pytest.approx(2 * brute_tv(train, holdout, (name,)))
        assert "real training and holdout" in l1[name].note
    assert l1["all columns"].value == pytest.approx(np.mean([l1[n].value for n in SCHEMA.names]))
    for row in found.find("task_tv"):
        assert row.value == pytest.approx(brute_tv(synthetic, train, (row.subject, "y")))
    worst = max(found.find("task_tv"), key=lambda row: row.value)
    assert found.find("task_tv_max")[0].subject == worst.subject
    joint = found.find("task_tv_joint")[0]
    assert joint.subject == "a × c × y"
    assert joint.value == pytest.approx(brute_tv(synthetic, train, ("a", "c", "y")))


def test_without_training_rows_the_holdout_is_the_real_side(three):
    synthetic, holdout, _ = three
    found = evaluate(synthetic, holdout, target="y", learners=())
    row = found.find("l1_1way")[0]
    assert row.value == pytest.approx(2 * brute_tv(synthetic, holdout, ("a",)))
    assert row.ceiling is None
    assert row.note == ""


def test_pairs(three):
    synthetic, holdout, train = three
    found = evaluate(synthetic, holdout, target="y", train=train, learners=())
    matrix = np.array(found.pair_tv.matrix)
    assert (matrix == matrix.T).all()
    assert matrix[0, 2] == pytest.approx(brute_tv(synthetic, train, ("a", "c")))
    assert matrix[0, 0] == pytest.approx(brute_tv(synthetic, train, ("a",)))
    mean, worst = found.find("tv_2way")
    upper = matrix[np.triu_indices(4, k=1)]
    assert mean.subject == "mean over pairs"
    assert mean.value == pytest.approx(upper.mean())
    assert worst.subject.startswith("pair ")
    beyond = (matrix - np.array(found.pair_tv.by_chance))[np.triu_indices(4, k=1)]
    assert worst.value == upper[beyond.argmax()]


def test_equal_tables_are_at_distance_zero(three):
    rows = three[0]
    found = evaluate(rows, rows, target="y", s=("a",), learners=())
    assert {row.value for row in found.rows} == {0.0}


def test_a_large_joint_table_is_not_compared(rng):
    schema = Schema(columns=(cat("a", 200), cat("b", 101), cat("y", 2)))
    rows = table(schema, np.zeros((3, 3), dtype=int))
    found = evaluate(rows, rows, target="y", s=("a", "b"), learners=())
    joint = found.find("task_tv_joint")[0]
    assert joint.value is None
    assert "40,400 cells" in joint.note


def test_correlation_difference_by_hand():
    schema = Schema(columns=(cat("a", 2), cat("b", 2), cat("c", 2)))
    same = table(schema, [[0, 0, 1], [1, 1, 1]] * 5)
    opposite = table(schema, [[0, 1, 0], [1, 0, 1]] * 5)
    row, largest = distances.correlation_rows(RowComparison(synthetic=opposite, real=same))
    assert row.value == pytest.approx(2.0)
    assert row.note.endswith("Left out, because constant in one of the tables: c.")
    assert (largest.subject, largest.value) == ("pair a × b", pytest.approx(2.0))
    constant = table(schema, [[0, 0, 0]] * 4)
    (none,) = distances.correlation_rows(RowComparison(synthetic=constant, real=same))
    assert none.value is None
    assert "Fewer than two columns vary" in none.note


def test_columns_hold_shares(three):
    synthetic, holdout, _ = three
    shape = evaluate(synthetic, holdout, target="y", learners=()).columns[1]
    assert shape.labels == SCHEMA["b"].labels()
    assert sum(shape.real) == pytest.approx(1)
    assert shape.synthetic == pytest.approx(np.bincount(synthetic.column("b"), minlength=4) / 600)
    gaps = [abs(p - q) for p, q in zip(shape.real, shape.synthetic, strict=True)]
    assert shape.l1 == pytest.approx(sum(gaps))


def test_pair_tv_of_many_columns_is_fast(rng):
    schema = Schema(columns=tuple(cat(f"c{i}", 9) for i in range(25)))
    rows = [table(schema, rng.integers(0, 9, (2000, 25))) for _ in range(2)]
    assert len(pair_tv(*rows).matrix) == 25
