"""Evaluation: hand-computed scores, brute-force distances, and everything that can be absent."""

import itertools
import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prism_core.evaluation as evaluation_room
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import CancelledError, EvaluationError
from prism_core.evaluation import (
    LEARNERS,
    ColumnShape,
    Evaluation,
    MetricRow,
    PairTv,
    RocCurve,
    evaluate,
    fit,
)
from prism_core.evaluation.fidelity import distances
from prism_core.evaluation.fidelity.distances import RowComparison, pair_tv, variation
from prism_core.evaluation.tstr import learners, predictive, scoring


def cat(name, size, *, nullable=False):
    levels = tuple(f"{name}{i}" for i in range(size))
    return Column(name=name, kind="categorical", levels=levels, nullable=nullable)


SCHEMA = Schema(
    columns=(
        cat("a", 4),
        Column(name="b", kind="numeric", lower=0, upper=6, edges=(2.0, 4.0), nullable=True),
        cat("c", 3, nullable=True),
        Column(name="y", kind="boolean"),
    )
)


def table(schema, codes):
    return EncodedTable(schema=schema, codes=np.asarray(codes).reshape(-1, len(schema.columns)))


def draw(rng, n, *, schema=SCHEMA, slope=0.2):
    codes = np.stack([rng.integers(0, c.size, n) for c in schema.columns], axis=1)
    codes[:, -1] = rng.random(n) < 0.1 + slope * codes[:, 0]
    return table(schema, codes)


def with_target(rows, values):
    codes = rows.codes.copy()
    codes[:, -1] = values
    return table(rows.schema, codes)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def three(rng):
    return draw(rng, 600), draw(rng, 300), draw(rng, 500)


def by_name(rows, name):
    return [row for row in rows if row.name == name]


# Scores


def test_auc_by_hand():
    positive = np.array([False, False, True, True])
    # Pairs won by the positive: (.35>.1) (.8>.1) (.8>.4), lost (.35<.4): 3 of 4.
    assert scoring.binary_auc(positive, np.array([0.1, 0.4, 0.35, 0.8])) == 0.75
    assert scoring.binary_auc(positive, np.zeros(4)) == 0.5
    assert scoring.binary_auc(positive, np.array([0.9, 0.8, 0.2, 0.1])) == 0.0
    # One tie counts half: (1 + 1 + 1 + 0.5) / 4.
    assert scoring.binary_auc(positive, np.array([0.1, 0.4, 0.4, 0.8])) == 0.875


def test_auc_needs_two_classes():
    assert scoring.binary_auc(np.array([True, True]), np.array([0.1, 0.2])) is None
    assert scoring.binary_auc(np.array([], dtype=bool), np.array([])) is None
    assert scoring.macro_auc(np.array([2, 2]), np.full((2, 3), 1 / 3)) is None


def test_macro_auc_is_the_mean_over_present_classes():
    y = np.array([0, 1, 1])
    proba = np.array([[0.6, 0.3, 0.1], [0.7, 0.2, 0.1], [0.1, 0.8, 0.1]])
    # Class 0: beats one of two; class 1: (.2>.3 no) (.8>.3 yes) -> 1/2; class 2 is absent.
    assert scoring.macro_auc(y, proba) == 0.5
    assert scoring.macro_auc(np.array([0, 1]), proba[[0, 2]]) == 1.0


def test_other_scores_by_hand():
    y = np.array([1, 0])
    proba = np.array([[0.2, 0.8], [0.4, 0.6]])
    assert scoring.accuracy(y, proba) == 0.5
    assert scoring.brier(y, proba) == pytest.approx((0.04 + 0.36) / 2)
    assert scoring.log_loss(y, proba) == pytest.approx(-(math.log(0.8) + math.log(0.4)) / 2)
    many = np.array([[0.5, 0.3, 0.2]])
    assert scoring.brier(np.array([1]), many) == pytest.approx(0.25 + 0.49 + 0.04)
    assert scoring.accuracy(np.array([1, 1]), np.array([[0.5, 0.5]] * 2)) == 0.0


def test_log_loss_is_clipped_and_finite():
    ruled_out = np.array([[1.0, 0.0]])
    assert scoring.log_loss(np.array([1]), ruled_out) == pytest.approx(-math.log(1e-12))
    assert scoring.log_loss(np.array([0]), ruled_out) == 0.0


@pytest.mark.parametrize("score", [scoring.accuracy, scoring.log_loss, scoring.brier])
def test_scores_of_no_rows_are_none(score):
    assert score(np.array([], dtype=int), np.zeros((0, 2))) is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=30))
def test_auc_counts_pairs_and_equals_the_area_under_its_curve(pairs):
    positive = np.array([p for p, _ in pairs])
    score = np.array([float(s) for _, s in pairs])
    area = scoring.binary_auc(positive, score)
    points = scoring.roc_points(positive, score)
    if area is None:
        assert points is None
        assert positive.all() or not positive.any()
        return
    won = [(a > b) + (a == b) / 2 for a, b in itertools.product(score[positive], score[~positive])]
    assert area == pytest.approx(np.mean(won))
    assert points is not None
    assert np.trapezoid(points[1], points[0]) == pytest.approx(area)


def test_roc_points_by_hand():
    points = scoring.roc_points(np.array([False, True, True]), np.array([0.5, 0.9, 0.5]))
    assert points is not None
    assert points[0].tolist() == [0.0, 0.0, 1.0]
    assert points[1].tolist() == [0.0, 0.5, 1.0]


def test_long_curves_are_thinned_and_keep_their_ends(rng):
    positive = rng.random(5000) < 0.3
    score = rng.random(5000) + positive
    points = scoring.roc_points(positive, score)
    assert points is not None
    fpr, tpr = points
    assert len(fpr) <= scoring.CURVE_POINTS
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(fpr) >= 0).all()
    assert np.trapezoid(tpr, fpr) == pytest.approx(scoring.binary_auc(positive, score), abs=0.01)


# Learners


@pytest.mark.parametrize("learner", LEARNERS)
def test_probabilities_are_aligned_with_the_declared_classes(learner, rng):
    schema = Schema(columns=(cat("a", 4), cat("y", 4)))
    a = rng.integers(0, 4, 400)
    seen = np.where(rng.random(400) < 0.5, 1, 3)
    fitted = fit(learner, table(schema, np.stack([a, seen], 1)), target="y")
    proba = fitted.probabilities(table(schema, [[0, 0], [3, 2]]))
    assert proba.shape == (2, 4)
    assert (proba[:, [0, 2]] == 0).all()
    assert proba.sum(axis=1) == pytest.approx(1)
    assert fitted.converged


@pytest.mark.parametrize("learner", LEARNERS)
def test_unseen_levels_and_constant_columns_can_be_scored(learner, rng):
    rows = draw(rng, 300)
    codes = rows.codes.copy()
    codes[:, 1] = 0
    codes[:, 2] = np.minimum(codes[:, 2], 1)
    fitted = fit(learner, table(SCHEMA, codes), target="y")
    proba = fitted.probabilities(draw(rng, 200))
    assert np.isfinite(proba).all()


def test_onehot_has_a_column_for_every_declared_code():
    design = learners._onehot(table(SCHEMA, [[1, 3, 0, 1]]), ("a", "b", "c"))
    assert design.toarray().tolist() == [[0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0]]


def test_onehot_matches_scikit_learn(three):
    from sklearn.linear_model import LogisticRegression

    synthetic, holdout, _ = three
    eye = [np.eye(size) for size in (4, 4, 4)]

    def dense(rows):
        return np.hstack([eye[j][rows.codes[:, j]] for j in range(3)])

    model = LogisticRegression(C=1.0, max_iter=1000).fit(dense(synthetic), synthetic.column("y"))
    ours = fit("logistic_onehot", synthetic, target="y").probabilities(holdout)
    assert ours == pytest.approx(model.predict_proba(dense(holdout)), abs=1e-3)


def test_standardised_uses_the_fit_rows(rng):
    rows = draw(rng, 300)
    fitted = fit("logistic_standardised", rows, target="y")
    assert fitted.scale is not None
    assert fitted.scale[0] == pytest.approx(rows.codes[:, :3].mean(axis=0))
    assert fitted.scale[1] == pytest.approx(rows.codes[:, :3].std(axis=0))


def test_boosting_is_repeatable(three):
    synthetic, holdout, _ = three
    first = fit("gradient_boosting", synthetic, target="y").probabilities(holdout)
    second = fit("gradient_boosting", synthetic, target="y").probabilities(holdout)
    assert (first == second).all()


@pytest.mark.parametrize("learner", LEARNERS)
def test_rows_with_a_missing_target_are_left_out(learner, rng):
    schema = Schema(columns=(cat("a", 4), cat("y", 2, nullable=True)))
    a = rng.integers(0, 4, 300)
    y = (rng.random(300) < 0.2 + 0.2 * a).astype(int)
    known = table(schema, np.stack([a, y], 1))
    junk = table(schema, np.stack([np.zeros(100, int), np.full(100, 2)], 1))
    both = table(schema, np.concatenate([known.codes, junk.codes]))
    plain = evaluate(known, known, target="y", train=known, learners=(learner,))
    mixed = evaluate(both, both, target="y", train=both, learners=(learner,))
    for row, other in zip(plain.find("auc"), mixed.find("auc"), strict=True):
        assert row == other


def test_fit_refuses_one_class_and_unknown_learners(rng):
    with pytest.raises(EvaluationError, match="two classes"):
        fit(LEARNERS[0], with_target(draw(rng, 20), 1), target="y")
    with pytest.raises(EvaluationError, match=r"learner \(nonsense\) must be one of"):
        fit("nonsense", draw(rng, 20), target="y")


def test_a_fit_that_stops_early_says_so(three, monkeypatch):
    monkeypatch.setattr(learners, "MAX_ITERATIONS", 1)
    synthetic, holdout, _ = three
    row = evaluate(synthetic, holdout, target="y", learners=LEARNERS[:1]).find("auc")[0]
    assert "stopped before it had converged" in row.note
    assert row.value is not None


# TSTR


def test_an_ordinary_evaluation(three):
    synthetic, holdout, train = three
    found = evaluate(synthetic, holdout, target="y", train=train, s=("a", "b"))
    assert found.learners == LEARNERS
    assert [r.name for r in found.rows[:4]] == ["auc", "accuracy", "log_loss", "brier"]
    for row in found.rows:
        assert row.value is not None
        assert row.outside_epsilon
    for row in found.find("auc"):
        assert row.floor == 0.5
        assert 0.6 < row.value < 0.9
        assert row.ceiling == pytest.approx(row.value, abs=0.1)
    assert found.tstr_auc == found.find("auc", "logistic_onehot")[0].value
    assert found.trtr_auc == found.find("auc", "logistic_onehot")[0].ceiling
    assert (found.n_synthetic, found.n_train, found.n_holdout) == (600, 500, 300)
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301


def test_floor_comes_from_the_real_training_rows(rng):
    holdout = with_target(draw(rng, 40), [1, 1, 1, 0] * 10)
    train = with_target(draw(rng, 4), [0, 0, 0, 1])
    rows = evaluate(draw(rng, 50), holdout, target="y", train=train, learners=LEARNERS[:1])
    floor = {row.name: row.floor for row in rows.rows[:4]}
    assert floor["auc"] == 0.5
    assert floor["accuracy"] == 0.25
    assert floor["log_loss"] == pytest.approx(-(3 * math.log(0.25) + math.log(0.75)) / 4)
    assert floor["brier"] == pytest.approx((3 * 0.75**2 + 0.25**2) / 4)
    alone = evaluate(draw(rng, 50), holdout, target="y", learners=LEARNERS[:1])
    assert alone.find("accuracy")[0].floor == 0.75
    assert alone.find("accuracy")[0].ceiling is None
    assert "no ceiling" in alone.find("accuracy")[0].note


def test_single_class_synthetic_rows_give_a_sentence(three):
    synthetic, holdout, train = three
    found = evaluate(with_target(synthetic, 1), holdout, target="y", train=train)
    for row in found.rows[:12]:
        assert row.value is None
        assert row.floor is not None
        assert row.ceiling is not None
        assert "All synthetic rows have y = true" in row.note
    assert found.tstr_auc is None
    assert {curve.trained_on for curve in found.roc} == {"real"}


def test_single_class_holdout_has_a_sentence_in_place_of_every_score(three):
    synthetic, holdout, train = three
    found = evaluate(synthetic, with_target(holdout, 0), target="y", train=train)
    for row in found.find("auc"):
        assert (row.value, row.floor, row.ceiling) == (None, None, None)
        assert "All holdout rows have y = false" in row.note
    for row in found.find("brier"):
        assert (row.value, row.floor, row.ceiling) == (None, None, None)
        assert "Fewer than 10 test rows have y = true" in row.note
    assert found.roc == ()


@pytest.mark.parametrize("empty", ["synthetic", "holdout", "train"])
def test_zero_rows_give_sentences(three, empty):
    tables = dict(zip(("synthetic", "holdout", "train"), three, strict=True))
    tables[empty] = table(SCHEMA, np.zeros((0, 4), dtype=int))
    found = evaluate(
        tables["synthetic"], tables["holdout"], target="y", train=tables["train"], s=("a",)
    )
    auc = found.find("auc")[0]
    words = {
        "synthetic": "no synthetic rows with a known y",
        "holdout": "no holdout rows with a known y",
        "train": "no real training rows with a known y",
    }
    assert words[empty] in auc.note
    assert (auc.value is None) == (empty != "train")
    l1 = found.find("l1_1way")[0]
    assert (l1.value is None) == (empty == "synthetic")
    assert (found.pair_tv.names == ()) == (empty == "synthetic")
    json.dumps(found.to_dict(), allow_nan=False)


def test_nothing_at_all_is_still_an_evaluation():
    none = table(SCHEMA, np.zeros((0, 4), dtype=int))
    found = evaluate(none, none, target="y", train=none, s=("a",))
    assert all(row.value is None and row.note for row in found.rows)
    assert all(shape.l1 is None for shape in found.columns)


def test_many_classes_and_a_class_the_synthetic_rows_never_show(rng):
    schema = Schema(
        columns=(
            cat("a", 5),
            Column(name="y", kind="numeric", lower=0, upper=5, edges=(1.0, 2.0, 3.0, 4.0)),
        )
    )

    def rows(top, n=400):
        a = rng.integers(0, 5, n)
        return table(schema, np.stack([a, (a + rng.integers(0, 2, n)) % 5 % top], 1))

    found = evaluate(rows(4), rows(5), target="y", train=rows(5), as_classes=True)
    for learner in LEARNERS:
        auc = found.find("auc", learner)[0]
        assert auc.value is not None
        assert auc.value > 0.6
        assert "never show y = (4, 5], which gets probability 0" in auc.note
        assert "5 of 5 classes" in auc.note
        assert found.find("log_loss", learner)[0].value > found.find("log_loss", learner)[0].ceiling
    assert len({curve.class_label for curve in found.roc}) == 5


def test_targets_with_too_many_classes_are_not_predicted(rng):
    size = predictive.MAX_CLASSES + 1
    schema = Schema(columns=(cat("a", 3), cat("y", size)))
    rows = table(schema, np.stack([rng.integers(0, 3, 50), rng.integers(0, size, 50)], 1))
    row = evaluate(rows, rows, target="y", learners=LEARNERS[:1]).find("auc")[0]
    assert row.value is None
    assert "101 classes" in row.note


def test_a_class_with_one_row_does_not_break_any_learner(rng):
    rows = with_target(draw(rng, 60), [1] + [0] * 59)
    found = evaluate(rows, draw(rng, 60), target="y", train=rows)
    assert all(row.value is not None for row in found.find("auc"))


def test_all_missing_ordered_column(rng):
    codes = draw(rng, 200).codes.copy()
    codes[:, 1] = 3
    found = evaluate(table(SCHEMA, codes), draw(rng, 100), target="y")
    assert all(row.value is not None for row in found.find("auc"))
    assert "constant in one of the tables: b" in found.find("correlation_difference")[0].note


# Distances


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


PAIR = Schema(columns=(cat("a", 3), cat("b", 2)))
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


# Values


def test_to_dict_is_json_with_the_promised_keys(three):
    synthetic, holdout, train = three
    found = evaluate(synthetic, holdout, target="y", train=train, learners=LEARNERS[:1])
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["tstr_auc"] == found.tstr_auc
    assert again["trtr_auc"] == found.trtr_auc
    assert "not covered by epsilon" in again["notice"]
    assert set(again["metrics"][0]) == {
        "name",
        "learner",
        "subject",
        "value",
        "floor",
        "ceiling",
        "note",
        "interval",
        "floor_interval",
        "ceiling_interval",
        "difference",
        "difference_interval",
        "kept",
        "kept_interval",
        "outside_epsilon",
    }
    assert len(again["metrics"]) == len(found.rows)


def test_without_the_default_learner_the_first_one_is_the_headline(three):
    synthetic, holdout, _ = three
    found = evaluate(synthetic, holdout, target="y", learners=("gradient_boosting",))
    assert found.default_learner == "gradient_boosting"
    assert found.tstr_auc is not None
    assert found.trtr_auc is None


def test_values_are_checked_at_birth():
    nothing = {"learner": None, "subject": "x", "floor": None, "ceiling": None}
    with pytest.raises(EvaluationError, match="needs a note"):
        MetricRow(name="auc", value=None, **nothing)
    with pytest.raises(EvaluationError, match="value must be a number"):
        MetricRow(name="auc", value=math.nan, **nothing)
    with pytest.raises(EvaluationError, match="same length"):
        ColumnShape(name="a", labels=("x",), real=(), synthetic=(), l1=None)
    with pytest.raises(EvaluationError, match="one row and column"):
        PairTv(names=("a",), matrix=())
    with pytest.raises(EvaluationError, match="by_chance must have one row"):
        PairTv(names=("a",), matrix=((0.0,),))
    with pytest.raises(EvaluationError, match="same length"):
        RocCurve(
            learner="l", trained_on="real", class_label="x", fpr=(0.0,), tpr=(0.0, 1.0), auc=0.5
        )


def test_what_cannot_be_evaluated_is_refused_before_rows_are_read(three):
    synthetic, holdout, _ = three
    with pytest.raises(EvaluationError, match="no column 'z'"):
        evaluate(synthetic, holdout, target="z")
    with pytest.raises(EvaluationError, match="no column 'z'"):
        evaluate(synthetic, holdout, target="y", s=("z",))
    with pytest.raises(EvaluationError, match="predict the target from"):
        evaluate(synthetic, holdout, target="y", features=("y",))
    other = table(PAIR, [[0, 0]])
    with pytest.raises(EvaluationError, match="holdout rows have other columns"):
        evaluate(synthetic, other, target="y")
    with pytest.raises(EvaluationError, match="must be one of"):
        evaluate(synthetic, holdout, target="y", learners=("svm",))


def test_features_restrict_what_is_read(three):
    synthetic, holdout, _ = three
    found = evaluate(synthetic, holdout, target="y", features=("b",), learners=("logistic_onehot",))
    assert found.tstr_auc == pytest.approx(0.5, abs=0.12)
    assert [row.subject for row in found.find("task_tv")] == ["b"]


def test_progress_runs_from_zero_to_one_and_can_stop(three):
    synthetic, holdout, train = three
    told = []
    evaluate(synthetic, holdout, target="y", train=train, progress=lambda *x: told.append(x))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)

    def stop(share, text):
        raise CancelledError("stop")

    with pytest.raises(CancelledError):
        evaluate(synthetic, holdout, target="y", progress=stop)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_tiny_tables_never_crash(n_synthetic, n_holdout, n_train, seed):
    rng = np.random.default_rng(seed)
    schema = Schema(columns=(cat("a", 2), cat("b", 3, nullable=True), cat("y", 3, nullable=True)))
    sizes = [2, 4, 4]
    made, held, real = (
        table(schema, rng.integers(0, sizes, (n, 3))) for n in (n_synthetic, n_holdout, n_train)
    )
    found = evaluate(made, held, target="y", train=real, s=("a", "b"))
    assert isinstance(found, Evaluation)
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_room_lists_what_it_offers_and_imports_nothing_heavy():
    assert all(hasattr(evaluation_room, name) for name in evaluation_room.__all__)
    code = (
        "import sys, prism_core.evaluation; "
        "bad = {'sklearn', 'scipy', 'plotly', 'streamlit'} & set(sys.modules); "
        "sys.exit(repr(bad) if bad else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_ceiling_from_the_protected_features_alone_is_told_apart(three):
    synthetic, train, holdout = three
    found = evaluate(synthetic, holdout, target="y", train=train, s=("a",))
    (row,) = found.find("auc_from_s")
    alone = evaluate(synthetic, holdout, target="y", train=train, features=("a",))
    assert (row.value, row.ceiling) == (alone.tstr_auc, alone.trtr_auc)
    assert [other.name for other in found.rows].count("auc") == 3
    everything = tuple(name for name in train.schema.names if name != "y")
    assert not evaluate(synthetic, holdout, target="y", s=everything).find("auc_from_s")
