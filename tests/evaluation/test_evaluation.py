"""Evaluation: an ordinary one, everything that can be absent, what is refused, and its values."""

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
)
from prism_core.evaluation.tstr import predictive
from tests.support.scored_tables import PAIR, SCHEMA, cat, draw, table, with_target


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def three(rng):
    return draw(rng, 600), draw(rng, 300), draw(rng, 500)


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
