"""Scores of a prediction, computed by hand, and the learners that make them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.data.schema.schema import Schema
from prism_core.errors import EvaluationError
from prism_core.evaluation import LEARNERS, evaluate, fit
from prism_core.evaluation.tstr import learners, scoring
from tests.support.refusals import refused
from tests.support.scored_tables import SCHEMA, cat, draw, table, with_target


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def three(rng):
    return draw(rng, 600), draw(rng, 300), draw(rng, 500)


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
    with refused(EvaluationError, "learners"):
        fit("nonsense", draw(rng, 20), target="y")


def test_a_fit_that_stops_early_says_so(three, monkeypatch):
    monkeypatch.setattr(learners, "MAX_ITERATIONS", 1)
    synthetic, holdout, _ = three
    row = evaluate(synthetic, holdout, target="y", learners=LEARNERS[:1]).find("auc")[0]
    assert "stopped before it had converged" in row.note
    assert row.value is not None
