"""Numeric targets by squared loss, ordered and many classes: scores, learners, sentences."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.metrics import (
    cohen_kappa_score,
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)

from prism_core.data.decoding import decode_column
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.schema import Schema
from prism_core.errors import EvaluationError
from prism_core.evaluation import (
    LEARNERS,
    REGRESSORS,
    Candidate,
    PredictedCurve,
    by_squared_loss,
    compare_candidates,
    evaluate,
    fit_numeric,
    learners_of,
    predict,
    representatives,
    sentences,
)
from prism_core.evaluation.score_text import amount, score_name
from prism_core.evaluation.tstr import scoring
from prism_core.evaluation.tstr.model_agreement import agreement
from prism_core.evaluation.tstr.regressors import ridge_terms
from prism_core.evaluation.tstr.squared_loss import target_values
from prism_core.evaluation.tstr.subgroup_scores import subgroups
from prism_core.figures import learners_figure, predicted_figure, subgroup_figure
from tests.support.numeric_rows import rows, schema_of, subject
from tests.support.refusals import refused


@pytest.fixture(scope="module")
def found():
    return predict(subject())


def number(edges, *, lower=0.0, upper=10.0, decimals=None, kind="numeric", nullable=False):
    return Column(
        name="y",
        kind=kind,
        lower=lower,
        upper=upper,
        edges=edges,
        decimals=decimals,
        nullable=nullable,
    )


# --- which targets, and their values -------------------------------------------------------------


def test_a_numeric_target_of_three_bins_is_a_number_and_of_two_a_class():
    three, two = number((2.0, 4.0)), number((2.0,))
    date = number((5.0, 8.0), kind="date")
    assert by_squared_loss(three)
    assert by_squared_loss(date)
    assert not by_squared_loss(two)
    assert not by_squared_loss(three, as_classes=True)
    assert not by_squared_loss(Column(name="y", kind="ordinal", levels=(1, 2, 3)))
    assert learners_of(three) == REGRESSORS
    assert learners_of(two) == learners_of(three, as_classes=True) == LEARNERS


def test_a_bin_stands_for_its_middle_and_a_bin_of_one_value_for_that_value():
    assert representatives(number((2.0, 4.0))).tolist() == [1.0, 3.0, 7.0]
    assert representatives(number((0.0, 4.0))).tolist() == [0.0, 2.0, 7.0]  # {0} is a bin
    # Whole numbers: 0-2, 3, 4-10.
    assert representatives(number((2.0, 3.0), decimals=0)).tolist() == [1.0, 3.0, 7.0]
    # One decimal: 0.0-0.2, 0.3-1.0.
    tenths = number((0.2,), upper=1.0, decimals=1)
    assert representatives(tenths) == pytest.approx([0.1, 0.65])
    assert representatives(number((5.0, 8.0), kind="date", nullable=True)).tolist() == [
        2.5,
        7.0,
        9.5,
    ]


@settings(deadline=None, max_examples=60)
@given(st.integers(-50, 50), st.integers(1, 60), st.integers(1, 12), st.sampled_from([None, 0, 1]))
def test_the_value_of_a_bin_lies_in_it_and_is_the_mean_of_what_is_drawn(lower, width, bins, places):
    upper = lower + width
    column = number(
        equal_edges(lower, upper, bins, places), lower=lower, upper=upper, decimals=places
    )
    values = representatives(column)
    assert len(values) == column.level_count
    assert (np.diff(values) > 0).all()
    for code, value in enumerate(values):
        low, high = column.bin_bounds(code)
        assert low - 1e-9 <= value <= high + 1e-9
    code = len(values) // 2
    low, high = column.bin_bounds(code)
    drawn = decode_column(column, np.full(4_000, code), np.random.default_rng(0))
    # 9 standard errors of a uniform law: a false alarm has odds below 1e-18.
    reach = 9 * (high - low) / math.sqrt(12 * 4_000) + 1e-9
    assert abs(np.asarray(drawn, dtype=float).mean() - values[code]) <= reach


# --- scores --------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=2, max_size=20))
def test_r2_and_rmse_are_those_of_scikit_learn(pairs):
    y, predicted = np.array(pairs).T
    assert scoring.rmse(y, predicted) == pytest.approx(root_mean_squared_error(y, predicted))
    if np.ptp(y) < 1e-3:
        return
    assert scoring.r_squared(y, predicted) == pytest.approx(r2_score(y, predicted))


def test_what_has_no_score_is_none():
    none = np.zeros(0)
    assert scoring.rmse(none, none) is None
    assert scoring.r_squared(none, none) is None
    assert scoring.r_squared(np.ones(3), np.zeros(3)) is None
    assert scoring.level_error(none.astype(int), np.zeros((0, 3))) is None
    assert scoring.weighted_kappa(none.astype(int), np.zeros((0, 3))) is None
    assert scoring.weighted_kappa(np.ones(3, dtype=int), np.eye(3)[[1, 1, 1]]) is None


@settings(deadline=None, max_examples=50)
@given(st.integers(3, 20), st.integers(0, 10_000))
def test_ordered_scores_are_those_of_scikit_learn(classes, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, 30)
    proba = rng.dirichlet(np.ones(classes), 30)
    taken = proba.argmax(axis=1)
    assert scoring.level_error(y, proba) == pytest.approx(mean_absolute_error(y, taken))
    assert scoring.weighted_kappa(y, proba) == pytest.approx(
        cohen_kappa_score(y, taken, weights="quadratic", labels=list(range(classes)))
    )
    assert scoring.weighted_kappa(y, np.eye(classes)[y]) == pytest.approx(1.0)


# --- learners ------------------------------------------------------------------------------------


def test_ridge_is_that_of_scikit_learn_on_standard_numbers_and_indicators():
    table, test = rows(400, 1), rows(100, 2)
    fitted = fit_numeric("ridge", table, target="y")
    values = representatives(table.schema["x"])
    known = table.column("x") < 10

    def design(part):
        x, g = part.column("x"), part.column("g")
        mean, spread = (
            values[table.column("x")[known]].mean(),
            values[table.column("x")[known]].std(),
        )
        standard = np.where(x < 10, (np.append(values, 0.0)[x] - mean) / spread, 0.0)
        return np.column_stack([standard, x == 10, *[g == code for code in range(3)]])

    model = Ridge(alpha=1.0).fit(design(table), target_values(table, "y"))
    assert fitted.predictions(test) == pytest.approx(np.clip(model.predict(design(test)), 5, 95))
    assert ridge_terms(table, ("x", "g")) == [
        ("x", ""),
        ("x", "(missing)"),
        ("g", "a"),
        ("g", "b"),
        ("g", "c"),
    ]


@pytest.mark.parametrize("learner", REGRESSORS)
def test_predictions_stay_in_the_declared_range_and_unseen_levels_are_no_error(learner):
    narrow = rows(300, 1)
    narrow = narrow.take(np.flatnonzero((narrow.column("x") < 4) & (narrow.column("g") < 2)))
    fitted = fit_numeric(learner, narrow, target="y")
    everything = np.array([[x, g, 0] for x in range(11) for g in range(3)])
    found = fitted.predictions(EncodedTable(schema=narrow.schema, codes=everything))
    assert found.min() >= 5.0
    assert found.max() <= 95.0
    assert fitted.predictions(narrow.take(np.zeros(0, dtype=int))).shape == (0,)


@pytest.mark.parametrize("learner", REGRESSORS)
def test_rows_with_a_missing_target_take_no_part(learner):
    schema = schema_of(nullable=True)
    table = rows(300, 1, schema=schema)
    codes = np.array(table.codes)
    codes[:100, 2] = 10
    gappy = replace(table, codes=codes)
    known = table.take(np.arange(100, 300))
    test = rows(50, 2, schema=schema)
    assert fit_numeric(learner, gappy, target="y").predictions(test) == pytest.approx(
        fit_numeric(learner, known, target="y").predictions(test)
    )


def test_what_cannot_be_fitted_is_refused():
    table = rows(20, 1)
    with refused(EvaluationError, "learners"):
        fit_numeric("logistic_onehot", table, target="y")
    with pytest.raises(EvaluationError, match="numeric or date target"):
        fit_numeric("ridge", table, target="g")
    with pytest.raises(EvaluationError, match="known target"):
        fit_numeric("ridge", table.take(np.zeros(0, dtype=int)), target="y")
    with pytest.raises(EvaluationError, match="must be one of ridge"):
        evaluate(table, table, target="y", learners=LEARNERS[:1])
    with pytest.raises(EvaluationError, match="must be one of logistic_onehot"):
        evaluate(table, table, target="y", learners=("ridge",), as_classes=True)


# --- the evaluation ------------------------------------------------------------------------------


def test_an_evaluation_of_a_number():
    subject_ = subject()
    result = evaluate(
        subject_.synthetic, subject_.holdout, target="y", train=subject_.train, s=("x",)
    )
    assert result.learners == REGRESSORS
    assert (result.score, result.roc, result.tstr_auc) == ("r2", (), None)
    ridge = result.find("r2", "ridge")[0]
    assert 0.7 < ridge.value <= ridge.ceiling < 1.0
    y = target_values(subject_.holdout, "y")
    mean = target_values(subject_.train, "y").mean()
    assert ridge.floor == pytest.approx(r2_score(y, np.full(len(y), mean)))
    error = result.find("rmse", "ridge")[0]
    assert error.floor == pytest.approx(root_mean_squared_error(y, np.full(len(y), mean)))
    assert error.floor > error.value >= error.ceiling
    assert result.find("r2_from_s")[0].ceiling < ridge.ceiling
    assert not result.find("auc")
    found = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (found["score"], found["tstr"], found["trtr"]) == ("r2", ridge.value, ridge.ceiling)


def test_a_number_as_classes_and_a_number_of_two_bins():
    subject_ = subject()
    result = evaluate(
        subject_.synthetic,
        subject_.holdout,
        target="y",
        train=subject_.train,
        learners=LEARNERS[:1],
        as_classes=True,
    )
    assert result.score == "auc"
    assert not result.find("r2")
    assert {"level_error", "weighted_kappa"} <= {row.name for row in result.rows}
    two = schema_of(2)
    result = evaluate(rows(200, 1, schema=two), rows(100, 2, schema=two), target="y")
    assert result.learners == LEARNERS
    assert result.find("auc")
    assert not result.find("level_error")


@pytest.mark.parametrize("empty", ["synthetic", "holdout", "train"])
def test_no_rows_are_a_sentence(empty):
    none = rows(5, 1).take(np.zeros(0, dtype=int))
    result = predict(subject(**{empty: none}))
    row = result.row("r2")
    if empty == "train":
        assert row.value is not None
        assert row.ceiling is None
    else:
        assert row.value is None
        assert "There are no" in row.note
        assert "There is no R²" in sentences.trust(result)
        assert sentences.predicted(result)
    assert len(predicted_figure(result.predicted, "y", row.note).layout.annotations) == (
        0 if result.predicted else 1
    )


def test_a_constant_target_is_a_sentence():
    one = rows(50, 1)
    codes = np.array(one.codes)
    codes[:, 2] = 4
    flat = replace(one, codes=codes)
    made = predict(subject(synthetic=flat))
    assert "that is what is predicted everywhere" in made.row("r2").note
    assert made.row("r2").value == pytest.approx(
        r2_score(target_values(made.test, "y"), np.full(500, 45.0))
    )
    tested = predict(subject(holdout=flat))
    assert tested.row("r2").value is None
    assert "R² is not defined" in tested.row("r2").note
    assert tested.row("rmse").value is not None


@settings(deadline=None, max_examples=12)
@given(
    n_synthetic=st.integers(0, 4),
    n_holdout=st.integers(0, 4),
    n_train=st.integers(0, 4),
    seed=st.integers(0, 99),
    nullable=st.booleans(),
)
def test_tiny_tables_never_crash(n_synthetic, n_holdout, n_train, seed, nullable):
    schema = schema_of(nullable=nullable)
    rng = np.random.default_rng(seed)

    def draw(n):
        codes = np.stack([rng.integers(0, c.size, n) for c in schema.columns], axis=1)
        return EncodedTable(schema=schema, codes=codes)

    result = evaluate(draw(n_synthetic), draw(n_holdout), target="y", train=draw(n_train), s=("x",))
    for row in result.rows:
        assert (row.value is not None and math.isfinite(row.value)) or row.note


@settings(deadline=None, max_examples=10)
@given(st.integers(3, 20), st.integers(0, 999), st.sampled_from(["ordinal", "categorical"]))
def test_classes_that_one_side_never_shows_are_no_error_and_are_told(classes, seed, kind):
    rng = np.random.default_rng(seed)
    schema = Schema(
        columns=(
            Column(name="x", kind="ordinal", levels=tuple(range(5))),
            Column(name="y", kind=kind, levels=tuple(range(classes))),
        )
    )

    def draw(n, allowed):
        x = rng.integers(0, 5, n)
        y = allowed[np.minimum(len(allowed) - 1, x * len(allowed) // 5)]
        return EncodedTable(schema=schema, codes=np.stack([x, y], axis=1))

    some, other = (np.sort(rng.choice(classes, 2, replace=False)) for _ in range(2))
    train = draw(60, np.arange(classes))
    result = evaluate(
        draw(60, some), draw(40, other), target="y", train=train, learners=LEARNERS[:1]
    )
    found = {row.name: row for row in result.rows if row.learner}
    assert ("level_error" in found) == ("weighted_kappa" in found) == (kind == "ordinal")
    assert "never show" in found["auc"].note
    assert f"2 of {classes} classes" in found["auc"].note
    assert all(math.isfinite(row.value) for row in found.values() if row.value is not None)
    if kind == "ordinal":
        assert 0.0 <= found["level_error"].value <= classes - 1
        assert found["level_error"].ceiling is not None


# --- what is said and drawn ----------------------------------------------------------------------


def test_a_learner_in_full(found):
    assert found.numeric
    assert found.score == "r2"
    assert (found.roc, found.calibration, found.confusion) == ((), (), ())
    assert [curve.trained_on for curve in found.predicted] == ["synthetic", "real"]
    curve = found.predicted[0]
    y, predicted = target_values(found.test, "y"), found.made.predicted
    for value, mean, low, high, count in zip(
        curve.actual, curve.predicted, curve.low, curve.high, curve.rows, strict=True
    ):
        assert mean == pytest.approx(predicted[y == value].mean())
        assert count == (y == value).sum()
        assert low <= high
    with pytest.raises(EvaluationError, match="same length"):
        PredictedCurve(
            learner="ridge", trained_on="real", actual=(), predicted=(), low=(), high=(), rows=()
        )


def test_the_words_speak_of_r2_and_rmse(found):
    r2, rmse = found.row("r2"), found.row("rmse")
    text = sentences.trust(found)
    assert f"R² {r2.value:.3f}" in text
    low, high = r2.kept_interval
    assert f"(95% interval {low:.0%} to {high:.0%})" in text
    assert f"against {r2.ceiling:.3f}" in text
    assert "always giving the mean" in text
    inner = predict(subject().from_s)
    assert "AUC" not in text + sentences.beside(inner, "causal") + sentences.off_by(found)
    assert amount(rmse.value) in sentences.off_by(found)
    assert "off by" in sentences.off_by(inner)
    assert "from the protected features S alone" in sentences.off_by(inner)
    assert sentences.trust(inner).startswith("From the protected features S alone")
    assert "no ceiling for this release" in sentences.beside(found, "causal")
    assert "Columns outside S carry no extra" in sentences.beside(inner)
    assert "lowest and in the highest bin of y" in sentences.predicted(found)
    assert score_name("r2_from_s") == "R² from S"
    shown = [amount(value) for value in (0.12345, 52.345, 12_345.6)]
    assert shown == ["0.1235", "52.34", "12,346"]


def test_groups_are_scored_by_rmse(found):
    groups = subgroups(found, "g")
    y, g = target_values(found.test, "y"), found.test.column("g")
    for code, group in enumerate(groups):
        inside = g == code
        assert group.synthetic == pytest.approx(
            root_mean_squared_error(y[inside], found.made.predicted[inside])
        )
        assert group.accuracy is group.calibration_error is None
    assert "the RMSE of the model" in sentences.subgroups(groups, "g", numeric=True)
    drawn = subgroup_figure(groups, "g", numeric=True)
    assert drawn.layout.xaxis.title.text == "Root mean squared error"


@pytest.mark.parametrize("learner", REGRESSORS)
def test_the_same_rows_agree_with_themselves(learner):
    same = subject(synthetic=rows(1_000, 3))
    result = agreement(same, predict(same, learner), np.random.default_rng(0))
    assert result.rank_correlation == pytest.approx(1.0)
    assert result.same_sign == 1.0
    largest = max(result.weights, key=lambda weight: abs(weight.real))
    assert largest.column == "x"
    if learner == "ridge":
        levels = [weight.real for weight in result.weights if weight.column == "g"]
        assert sum(levels) == pytest.approx(0.0, abs=1e-9)
        assert levels == sorted(levels)
    else:
        assert "R² lost on 500 holdout rows" in result.note


def test_weights_of_a_number_are_in_the_same_unit_whatever_the_spread_of_the_rows():
    """The same slope learned from rows of half the spread weighs the same."""
    narrow = rows(3_000, 4, noise=1.0)
    narrow = narrow.take(np.flatnonzero((narrow.column("x") > 2) & (narrow.column("x") < 8)))
    asked = subject(synthetic=narrow, train=rows(3_000, 3, noise=1.0))
    result = agreement(asked, predict(asked), np.random.default_rng(0))
    (slope,) = [weight for weight in result.weights if weight.column == "x" and not weight.term]
    assert slope.synthetic == pytest.approx(slope.real, rel=0.05)


def test_releases_are_compared_by_r2_and_rmse(found):
    same = subject()
    (line,) = compare_candidates(
        same, [Candidate(name="a", synthetic=same.synthetic, epsilon=1.0, stamp="x")]
    )
    assert line.score.name == "r2"
    assert line.score.value == found.row("r2").value
    assert line.rmse.value == found.row("rmse").value
    assert line.calibration_error is None


def test_predictions_are_drawn_beside_the_diagonal(found):
    figure = predicted_figure(found.predicted, "y<b>")
    diagonal, real, made = figure.data
    assert list(diagonal.x) == list(diagonal.y)
    assert real.name.startswith("Trained on real rows")
    assert list(made.y) == list(found.predicted[0].predicted)
    assert min(made.error_y.array) >= 0.0
    assert "<b>" not in figure.layout.xaxis.title.text
    drawn = learners_figure([found.row("rmse")], "rmse")
    assert drawn.layout.xaxis.title.text.startswith("Root mean")
