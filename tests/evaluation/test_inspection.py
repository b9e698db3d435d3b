"""What an inspection works out: curves, agreement, where the error comes from, what is lost."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats.contingency import association
from sklearn.calibration import calibration_curve as sklearn_curve
from sklearn.metrics import confusion_matrix, roc_auc_score

from prism_core.data.encoding import EncodedTable
from prism_core.errors import CancelledError, EvaluationError
from prism_core.evaluation import (
    LEARNERS,
    Candidate,
    Measured,
    compare_candidates,
    discriminate,
    lost_pairs,
    lost_triples,
    not_measured,
    pair_statistics,
    predict,
    sentences,
    task_marginal,
)
from prism_core.evaluation.fidelity.distances import pair_tv
from prism_core.evaluation.fidelity.task_error import cell_sigma, error_split, expected_error
from prism_core.evaluation.tstr.calibration_curve import calibration_curve, groups
from prism_core.evaluation.tstr.model_agreement import agreement, rank_correlation
from prism_core.evaluation.tstr.prediction import confusion_counts
from prism_core.evaluation.tstr.subgroup_scores import subgroups
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.measure import measure
from prism_core.synthesis.naive_bayes import fit_naive_bayes
from tests.support.inspected import rows, schema_of, subject

# --- calibration and confusion ---------------------------------------------------------------


def test_calibration_groups_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    score = rng.random(5_000)
    true = rng.random(5_000) < score**1.5
    mean, share, size = groups(true, score)
    observed, predicted = sklearn_curve(true, score, n_bins=10, strategy="quantile")
    assert np.allclose(mean, predicted, atol=2e-3)
    assert np.allclose(share, observed, atol=5e-3)
    assert size.sum() == 5_000
    assert size.max() - size.min() <= 1


def test_the_calibration_error_of_a_right_forecast_is_small_and_of_a_wrong_one_its_gap():
    rng = np.random.default_rng(1)
    p = np.repeat([0.2, 0.7], 10_000)
    y = (rng.random(20_000) < p).astype(int)
    right = calibration_curve("x", "real", y, np.stack([1 - p, p], axis=1), ("no", "yes"))
    assert right.of == "yes"
    assert right.error < 0.02
    assert right.predicted == pytest.approx((0.2, 0.7))
    off = np.minimum(1.0, p + 0.25)
    wrong = calibration_curve("x", "synthetic", y, np.stack([1 - off, off], axis=1), ("no", "yes"))
    assert wrong.error == pytest.approx(0.25, abs=0.02)
    assert "too high" in sentences.calibration([wrong])


def test_equal_predictions_stay_in_one_group_and_no_rows_make_no_curve():
    mean, share, size = groups(np.array([True, False, True, True]), np.full(4, 0.5))
    assert (list(mean), list(share), list(size)) == ([0.5], [0.75], [4])
    empty = np.zeros((0, 2))
    assert calibration_curve("x", "real", np.zeros(0, dtype=int), empty, ("a", "b")) is None
    assert calibration_curve("x", "real", np.zeros(0, dtype=int), np.zeros((0, 3)), ("a",)) is None


@pytest.mark.parametrize("classes", [2, 4])
def test_confusion_is_that_of_scikit_learn(classes):
    rng = np.random.default_rng(2)
    y = rng.integers(0, classes, 300)
    proba = rng.random((300, classes))
    expected = confusion_matrix(y, proba.argmax(axis=1), labels=range(classes))
    assert np.array_equal(confusion_counts(y, proba), expected)


# --- prediction and agreement ----------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("learner", LEARNERS[:2])
def test_a_learner_in_full(classes, learner):
    found = predict(subject(classes), learner)
    auc = found.row("auc")
    y, proba = found.test.column("Y"), found.made.proba
    if classes == 2:
        assert auc.value == pytest.approx(roc_auc_score(y, proba[:, 1]))
    assert auc.floor == 0.5
    assert auc.value < auc.ceiling + 0.05
    assert {row.name for row in found.rows} >= {"accuracy", "brier", "log_loss"}
    assert all(row.outside_epsilon for row in found.rows)
    assert found.outside_epsilon
    assert found.row("calibration_error").value == found.calibration[0].error
    assert [curve.trained_on for curve in found.calibration] == ["synthetic", "real"]
    assert sum(map(sum, found.confusion[0].counts)) == 600
    assert not any(row.name.endswith("_from_s") for row in found.rows)
    assert f"{auc.value:.3f}" in sentences.trust(found)


def test_the_causal_headline_is_about_s_and_gives_the_other_ceiling_with_its_reason():
    asked = subject(train=rows(seed=3, spread=0.9), holdout=rows(600, seed=2, spread=0.9))
    whole, inner = predict(asked), predict(asked.from_s)
    ceilings = [f"{found.row('auc').ceiling:.3f}" for found in (whole, inner)]
    assert ceilings[0] != ceilings[1]
    assert {row.name for row in inner.rows} >= {"auc_from_s", "accuracy_from_s", "brier_from_s"}
    assert inner.features == ("a",)
    assert sentences.s_first("causal")
    headline, other = sentences.trust(inner), sentences.beside(whole, "causal")
    assert headline.startswith("From the protected features S alone")
    assert f"against {ceilings[1]}" in headline
    assert ceilings[0] not in headline
    assert ceilings[0] in other
    assert "leaves out on purpose" in other
    assert "leaves out on purpose" in sentences.beside(inner, "causal")  # all columns on top
    for regime in ("graphical", "predictive"):
        assert not sentences.s_first(regime)
        assert sentences.trust(whole).startswith("From all columns")
        assert f"against {ceilings[0]}" in sentences.trust(whole)
        assert ceilings[1] in sentences.beside(inner, regime)
        assert "on purpose" not in sentences.beside(inner, regime)


def test_curves_and_headline_are_of_the_same_columns_and_both_say_which():
    """The cards said .808 and the curve below .787, from other columns, without a word."""
    asked = subject(train=rows(seed=3, spread=0.9))
    for found, columns in (
        (predict(asked.from_s), "the protected features S alone"),
        (predict(asked), "all columns"),
    ):
        auc = f"{found.row('auc').value:.3f}"
        for words in (
            sentences.trust(found),
            sentences.curves(found),
            sentences.calibration(found.calibration, found.learned_from),
        ):
            assert f"rom {columns}" in words
        assert auc in sentences.trust(found)
        assert auc in sentences.curves(found)
        assert found.roc[0].auc == found.row("auc").value


def test_the_words_of_a_curve_name_the_class_as_a_value_of_the_target():
    words = sentences.curves(predict(subject()))
    assert "Y = 1: 0." in words
    assert "for 1 trained on" not in words  # "0.787 for true trained on synthetic rows"


def test_a_release_whose_s_is_every_column_has_one_ceiling():
    assert subject(s=("a", "b", "c", "flat")).from_s is None
    assert subject(s=()).from_s is None
    assert not sentences.beside(None, "causal")
    with pytest.raises(EvaluationError, match="no protected features"):
        subject(s=(), s_alone=True)


def test_without_training_rows_there_is_no_ceiling_and_a_sentence():
    found = predict(subject(train=False))
    assert found.row("auc").ceiling is None
    assert "no ceiling" in sentences.trust(found)
    result = agreement(subject(train=False), found, np.random.default_rng(0))
    assert result.rank_correlation is None
    assert result.note


def test_a_single_class_says_so_and_never_crashes():
    one = rows(seed=1)
    one = replace(one, codes=np.where(np.arange(5) == 4, 0, one.codes))
    for found in (subject(synthetic=one), subject(holdout=one)):
        result = predict(found)
        assert result.row("auc").value is None
        assert "Y = 0" in result.row("auc").note
        assert "There is no AUC" in sentences.trust(result)
        assert agreement(found, result, np.random.default_rng(0)).note is not None
        assert sentences.curves(result)


def test_the_same_rows_agree_with_themselves():
    same = subject(synthetic=rows(seed=3))
    for learner in LEARNERS[:2]:
        result = agreement(same, predict(same, learner), np.random.default_rng(0))
        assert result.rank_correlation == pytest.approx(1.0)
        assert result.same_sign == 1.0
        assert result.kind == "coefficient"


def test_levels_that_one_side_never_shows_are_left_out_and_the_rest_is_centred():
    found = subject()
    result = agreement(found, predict(found), np.random.default_rng(0))
    labels = {(weight.column, weight.term) for weight in result.weights}
    assert ("flat", "y") not in labels
    assert "levels that one side never shows are left out" in result.note
    for column in ("a", "c"):
        for side in ("real", "synthetic"):
            part = [getattr(w, side) for w in result.weights if w.column == column]
            assert sum(part) == pytest.approx(0.0, abs=1e-9)
    assert max(result.weights, key=lambda w: abs(w.real)).column == "a"


def test_importances_find_the_column_that_matters_and_can_be_stopped():
    small = subject(synthetic=rows(400, seed=1), train=rows(400, seed=3), holdout=rows(300, seed=2))
    scored = predict(small, "gradient_boosting")
    result = agreement(small, scored, np.random.default_rng(0))
    assert result.kind == "permutation importance"
    assert max(result.weights, key=lambda w: w.real).column == "a"
    flat = next(w for w in result.weights if w.column == "flat")
    assert flat.real == flat.synthetic == 0.0

    def stop(_share, _text):
        raise CancelledError("stop")

    with pytest.raises(CancelledError):
        agreement(small, scored, np.random.default_rng(0), stop)


def test_rank_correlation_is_not_defined_where_one_side_is_flat():
    assert rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0])) == 1.0
    assert rank_correlation(np.array([1.0, 2.0]), np.array([3.0, 3.0])) is None
    assert rank_correlation(np.array([1.0]), np.array([3.0])) is None


# --- noise or structure -----------------------------------------------------------------------


def test_expected_error_is_that_of_clipped_noise():
    """Against 400,000 draws: the mean is off by less than 7 standard errors (1e-11)."""
    z = np.random.default_rng(0).standard_normal(400_000)
    for share, deviation in ((0.0, 0.1), (0.05, 0.1), (0.3, 0.1), (0.5, 0.01)):
        draws = np.abs(np.maximum(0.0, share + deviation * z) - share)
        expected = expected_error(np.array([share]), np.array([deviation]))[0]
        assert abs(draws.mean() - expected) < 7 * draws.std() / math.sqrt(len(z))


def test_the_noise_of_a_cell_follows_from_every_measurement_that_holds_it():
    schema = schema_of()
    pair = Measured(clique=("a", "Y"), sigma=3.0)
    joint = Measured(clique=("a", "b", "Y"), sigma=3.0)
    assert cell_sigma(schema, ("a", "Y"), [pair]) == pytest.approx(3.0)
    assert cell_sigma(schema, ("a", "Y"), [joint]) == pytest.approx(3.0 * math.sqrt(2))
    both = cell_sigma(schema, ("a", "Y"), [pair, joint])
    assert both == pytest.approx(1 / math.sqrt(1 / 9 + 1 / 18))
    assert cell_sigma(schema, ("c", "Y"), [pair, joint]) is None


@pytest.mark.parametrize("classes", [2, 4])
def test_error_of_a_measured_pair_is_explained_by_noise_and_of_another_it_is_not(classes):
    """A star model fitted to noisy pairs: the pair that was left out is where structure is."""
    train = replace(rows(20_000, seed=5, classes=classes), public=True)
    schema = train.schema
    measured = (
        Measured(clique=("a", "Y"), sigma=30.0),
        Measured(clique=("c",), sigma=30.0),
        Measured(clique=("b",), sigma=30.0),
        Measured(clique=("flat",), sigma=30.0),
    )
    rng = np.random.default_rng(9)
    event = GaussianEvent(sigma=30.0)
    queries = [
        SimpleNamespace(linear=None, kind="pair", event=event, **vars(one)) for one in measured
    ]
    model = fit_naive_bayes(
        {c.name: c.size for c in schema.columns},
        "Y",
        train.n,
        measure(train, queries, SeededNoise(rng)),
    )
    synthetic = EncodedTable(schema=schema, codes=model.sample(20_000, rng, "rounded"))
    found = subject(classes, synthetic=synthetic, train=train, measured=measured, n=train.n)
    errors = {error.name: error for error in error_split(found)}
    assert errors["a"].noise is not None
    assert not errors["a"].beyond_noise
    assert errors["a"].total == pytest.approx(errors["a"].from_noise + errors["a"].rest)
    assert errors["c"].sigma is None
    assert 0.0 < errors["c"].noise < 0.02  # of the column alone
    assert errors["c"].limit is None
    assert errors["c"].beyond_noise
    assert errors["c"].rest > 5 * errors["a"].total
    assert error_split(found)[0].name == "c"
    words = sentences.error_split(error_split(found))
    assert "1 of 4 pairs were measured" in words
    assert "c (" in words
    marginal = task_marginal(found, "a")
    gap = np.abs(np.array(marginal.real) - np.array(marginal.synthetic))
    assert (gap <= 2.5 * np.array(marginal.band)).all()
    assert task_marginal(found, "c").band is None
    assert "no noise band" in sentences.task_marginal(task_marginal(found, "c"), 0)


def test_drawing_rows_at_random_widens_the_band():
    plain = subject()
    wider = replace(plain, sampling="iid")
    assert (
        np.array(task_marginal(wider, "a").band).sum()
        > np.array(task_marginal(plain, "a").band).sum()
    )


def test_no_rows_are_a_sentence():
    empty = rows(0)
    found = subject(synthetic=empty)
    assert all(error.total is None for error in error_split(found))
    assert "no rows" in sentences.error_split(error_split(found))
    assert pair_statistics(found) is None
    assert lost_triples(found) == ()
    assert predict(found).row("auc").value is None


# --- pairs, and what is lost -------------------------------------------------------------------


def test_all_pairs_at_once_are_the_pairs_one_by_one(monkeypatch):
    from prism_core.evaluation.fidelity import pair_statistics as pairs

    monkeypatch.setattr(pairs, "_BLOCK", 5)  # several blocks
    monkeypatch.setattr(pairs, "_CHUNK", 300)
    found = subject()
    statistics = pair_statistics(found)
    direct = pair_tv(found.synthetic, found.real)
    assert np.allclose(statistics.distance, np.array(direct.matrix))
    assert np.allclose(statistics.by_chance, np.array(direct.by_chance))
    for i, a in enumerate(statistics.names[:3]):
        for j, b in enumerate(statistics.names[:3]):
            if i < j:
                table = pairs.joint_shares(found, a, b).real * found.real.n
                plain = association(np.round(table).astype(int), method="cramer")
                expected = bergsma(plain, table)
                assert statistics.real.v[i, j] == pytest.approx(expected)
    flat = statistics.names.index("flat")
    assert statistics.real.v[flat].sum() == 1.0  # only with itself
    assert statistics.take(("b", "a")).real.v[0, 1] == statistics.real.v[0, 1]


def bergsma(plain: float, table: np.ndarray) -> float:
    """Cramér's V corrected as in Bergsma (2013), from the plain one."""
    n, (r, c) = table.sum(), ((table.sum(axis=axis) > 0).sum() for axis in (1, 0))
    corrected = max(0.0, plain**2 * (min(r, c) - 1) - (r - 1) * (c - 1) / (n - 1))
    levels = min(size - (size - 1) ** 2 / (n - 1) for size in (r, c))
    return float(np.sqrt(corrected / (levels - 1)))


def test_what_is_not_measured_is_named_by_the_plan_and_by_distance():
    measured = (
        Measured(clique=("a", "Y"), sigma=1.0),
        Measured(clique=("b", "c"), sigma=1.0),
        Measured(clique=("flat",), sigma=1.0),
        Measured(clique=("a", "b", "Y"), sigma=1.0),
    )
    found = subject(measured=measured)
    known = not_measured(found)
    assert (known.pairs, known.all_pairs) == (6, 10)  # aY, bc, ab, bY are measured
    assert known.untied == 4  # flat with each of the others
    assert known.without_target == ("c", "flat")
    assert (known.triples, known.all_triples) == (5, 6)
    assert "6 of 10 pairs" in sentences.not_preserved(known)
    pairs = lost_pairs(found, pair_statistics(found), most=3)
    beyond = [lost.distance - lost.by_chance for lost in pairs]
    assert beyond == sorted(beyond, reverse=True)
    cliques = {frozenset(lost.clique) for lost in lost_pairs(found, pair_statistics(found), 10)}
    assert len(cliques) == 6
    assert frozenset(("a", "Y")) not in cliques
    triples = lost_triples(found)
    assert len(triples) == 5
    assert all("Y" in lost.clique for lost in triples)
    assert not next(lost for lost in triples if "flat" in lost.clique).tied


# --- subgroups, discriminator, comparison ------------------------------------------------------


def test_subgroups_are_scored_and_small_ones_suppressed():
    found = predict(subject())
    groups_of_a = subgroups(found, "c", least=100)
    y, codes = found.test.column("Y"), found.test.column("c")
    for code, group in enumerate(groups_of_a):
        inside = codes == code
        if inside.sum() < 100:
            assert group.rows is None
            assert group.synthetic is None
            assert "Fewer than 100 rows" in group.note
        else:
            expected = roc_auc_score(y[inside], found.made.proba[inside, 1])
            assert group.synthetic == pytest.approx(expected)
            assert group.rows == inside.sum()
    assert any(group.rows is None for group in subgroups(found, "flat"))
    assert "suppressed" in sentences.subgroups(subgroups(found, "flat"), "flat")
    with pytest.raises(EvaluationError, match="not the target"):
        subgroups(found, "Y")
    for least in (1, True, math.nan):
        with pytest.raises(EvaluationError, match="2 or more"):
            subgroups(found, "a", least)


def test_the_discriminator_is_at_chance_for_rows_of_one_kind_and_above_for_others():
    """Chance: 600 rows a side, so the AUC's deviation is about .017; .12 is 7 of them."""
    rng = np.random.default_rng(4)
    same = subject(synthetic=rows(600, seed=8), train=False)
    row = discriminate(same, rng, LEARNERS[0])
    assert abs(row.value - 0.5) < 0.12
    assert row.ceiling is None
    shuffled = np.array(rows(600, seed=8).codes)
    shuffled[:, 2] = rng.permutation(shuffled[:, 2])
    shuffled[:, 0] = 2
    other = subject(synthetic=replace(rows(600), codes=shuffled), train=False)
    assert discriminate(other, rng, LEARNERS[0]).value > 0.7
    few = subject(synthetic=rows(5))
    assert discriminate(few, rng).value is None
    assert "Fewer than 20 rows" in sentences.discriminator(discriminate(few, rng))


def test_releases_and_anything_else_stand_in_one_table():
    found = subject()
    good = Candidate(name="real rows", synthetic=rows(seed=11), epsilon=None, stamp="no release")
    mine = Candidate(name="mine", synthetic=found.synthetic, epsilon=1.0, stamp="release")
    first, second = compare_candidates(found, (good, mine))
    assert first.task_distance < second.task_distance
    assert first.score.ceiling == second.score.ceiling
    assert first.epsilon is None
    other = replace(good, synthetic=rows(classes=3))
    with pytest.raises(EvaluationError, match="other columns"):
        compare_candidates(found, (other,))


def test_a_subject_is_checked_at_birth():
    with pytest.raises(EvaluationError, match="other columns"):
        subject(holdout=rows(classes=3))
    with pytest.raises(EvaluationError, match="no column 'Z'"):
        subject(target="Z")
    with pytest.raises(EvaluationError, match="no column of the schema"):
        subject(measured=(Measured(clique=("a", "Z"), sigma=1.0),))
    with pytest.raises(EvaluationError, match="above 0"):
        subject(n=0)
