"""95% intervals of scores: against published values, brute force, and every small case."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score, r2_score, roc_auc_score, root_mean_squared_error

from prism_core.errors import EvaluationError
from prism_core.evaluation import (
    Candidate,
    MetricRow,
    compare_candidates,
    discriminate,
    evaluate,
    predict,
    sentences,
)
from prism_core.evaluation.score_text import scored
from prism_core.evaluation.tstr import scoring as scores
from prism_core.evaluation.tstr.attempts import Attempt, difference_interval, kept_interval
from prism_core.evaluation.tstr.calibration_curve import calibration_curve, places
from prism_core.evaluation.tstr.intervals import (
    DRAWS,
    FEWEST,
    FEWEST_DRAWS,
    Resamples,
    area_interval,
    auc_interval,
    calibration_statistic,
    class_statistics,
    delong,
    enough,
    number_statistics,
    percentiles,
    rare_classes,
    resamples,
    share_interval,
    too_few,
)
from prism_core.evaluation.tstr.predictive import METRICS, ORDERED_METRICS
from prism_core.evaluation.tstr.subgroup_scores import subgroups
from prism_core.figures import calibration_figure, curves_figure, learners_figure, subgroup_figure
from tests.support.inspected import rows, subject

# --- DeLong --------------------------------------------------------------------------------------


def test_delong_gives_the_published_interval_of_ct_ratings():
    """Ratings of 109 CT images by Hanley and McNeil 1982.

    Stata's manual (roctab, which uses DeLong's variance) prints the area 0.8932, its standard
    error 0.0307 and the interval 0.83295 to 0.95339.
    """
    counts = ((33, 6, 6, 11, 2), (3, 2, 2, 11, 33))
    score = np.concatenate([np.repeat(np.arange(5.0), each) for each in counts])
    positive = np.repeat([False, True], [58, 51])
    area, variance = delong(positive, score)
    half = 1.959963984540054 * np.sqrt(variance)
    assert area == pytest.approx(0.8932, abs=5e-5)
    assert np.sqrt(variance) == pytest.approx(0.0307, abs=5e-5)
    assert (area - half, area + half) == pytest.approx((0.83295, 0.95339), abs=5e-6)
    low, high = auc_interval(positive, score)
    assert 0.8 < low < area - half  # longer towards the middle
    assert area < high < area + half


def brute(positive, score):
    """The structural components of DeLong 1988, pair by pair."""
    high, low = score[positive], score[~positive]
    won = np.array([[(x > y) + 0.5 * (x == y) for y in low] for x in high])
    variance = won.mean(1).var(ddof=1) / len(high) + won.mean(0).var(ddof=1) / len(low)
    return won.mean(), variance


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=4, max_size=25))
def test_delong_is_the_variance_of_all_pairs_with_ties_as_halves(pairs):
    positive = np.array([p for p, _ in pairs])
    score = np.array([float(s) for _, s in pairs])
    if min(positive.sum(), (~positive).sum()) < 2:
        assert auc_interval(positive, score) is None
        return
    assert delong(positive, score) == pytest.approx(brute(positive, score))
    low, high = auc_interval(positive, score)
    assert 0.0 <= low <= scores.binary_auc(positive, score) <= high <= 1.0


def test_rows_in_perfect_order_are_no_certainty():
    """All of m independent pairs in order: their chance is at least 0.025^(1/m), exactly."""
    positive = np.repeat([False, True], [40, 12])
    ordered = np.arange(52.0)
    expected = binomtest(12, 12).proportion_ci(0.95, "exact").low
    assert auc_interval(positive, ordered) == pytest.approx((expected, 1.0))
    assert auc_interval(positive, -ordered) == pytest.approx((0.0, 1.0 - expected))
    assert auc_interval(positive, np.zeros(52)) == (0.5, 0.5)  # ranks nobody: 0.5 on any rows
    assert area_interval(1.0, 0.0, 10)[0] < 0.7


def test_the_interval_of_a_share_is_wilsons_and_never_of_length_zero():
    for hits, n in ((0, 20), (3, 20), (20, 20), (130, 261)):
        expected = binomtest(hits, n).proportion_ci(0.95, "wilson")
        assert share_interval(hits, n) == pytest.approx((expected.low, expected.high), abs=1e-12)
        assert share_interval(hits, n)[0] < share_interval(hits, n)[1]


# --- resamples -----------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4])
def test_every_statistic_is_the_score_of_the_rows_as_often_as_they_were_drawn(classes):
    """Against the plain scores, and scikit-learn's, of rows written out one by one."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, 60)
    proba = rng.dirichlet(np.ones(classes), 60).round(1) + 0.05
    proba /= proba.sum(axis=1, keepdims=True)
    sampled = Resamples(rows=60, seed=3)
    weights = next(sampled.blocks())[:30]
    assert (weights.sum(axis=1) == 60).all()
    found = {n: s(weights) for n, s in class_statistics(y, proba, ordered=True).items()}
    assert list(found) == [*METRICS, *ORDERED_METRICS]
    curve = calibration_curve("l", "real", y, proba, tuple("abcd"), sampled)
    forecast, true = (
        (proba[:, 1], y == 1) if classes == 2 else (proba.max(axis=1), proba.argmax(axis=1) == y)
    )
    group = places(forecast)
    error = np.abs(calibration_statistic(true, forecast, group)(weights)).sum(axis=1)
    for place, drawn in enumerate(weights.astype(int)):
        again = np.repeat(np.arange(60), drawn)
        for name, score in (METRICS | ORDERED_METRICS).items():
            assert found[name][place] == pytest.approx(score(y[again], proba[again]))
        taken = proba.argmax(axis=1)[again]
        kappa = cohen_kappa_score(y[again], taken, labels=range(classes), weights="quadratic")
        assert found["weighted_kappa"][place] == pytest.approx(kappa)
        if classes == 2:
            assert found["auc"][place] == pytest.approx(roc_auc_score(y[again], proba[again, 1]))
        gaps = [
            abs(forecast[again][group[again] == g].sum() - true[again][group[again] == g].sum())
            for g in np.unique(group)
        ]
        assert error[place] == pytest.approx(sum(gaps) / 60)
    all_once = calibration_statistic(true, forecast, group)(np.ones((1, 60)))
    assert np.abs(all_once).sum() == pytest.approx(curve.error)


def test_r2_and_rmse_of_resamples_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    y = 1e6 + rng.normal(size=50)
    predicted = y + rng.normal(size=50)
    weights = next(Resamples(rows=50, seed=4).blocks())[:30]
    found = {name: s(weights) for name, s in number_statistics(y, predicted).items()}
    for place, drawn in enumerate(weights.astype(int)):
        again = np.repeat(np.arange(50), drawn)
        assert found["r2"][place] == pytest.approx(r2_score(y[again], predicted[again]))
        rmse = root_mean_squared_error(y[again], predicted[again])
        assert found["rmse"][place] == pytest.approx(rmse)


def test_resamples_are_the_same_each_time_and_follow_the_generator():
    sampled = resamples(30, np.random.default_rng(5))
    first, second = (np.concatenate(list(sampled.blocks())) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.shape == (DRAWS, 30)
    assert sampled == resamples(30, np.random.default_rng(5))
    assert sampled != resamples(30, np.random.default_rng(6))
    assert resamples(30) == resamples(30)
    assert Resamples(rows=1_000_000, seed=0).draws == FEWEST_DRAWS
    assert Resamples(rows=10_000, seed=0).draws == DRAWS
    assert Resamples(rows=0, seed=0).scores({"x": lambda w: w.sum(1)}) == {}


def test_percentiles_need_values_in_nearly_every_resample():
    draws = np.linspace(0.0, 1.0, 1_001)
    assert percentiles(draws) == pytest.approx((0.025, 0.975))
    draws[:20] = np.nan
    assert percentiles(draws) is not None
    draws[:40] = np.nan
    assert percentiles(draws) is None


def test_the_bootstrap_of_an_area_is_as_wide_as_delongs_interval():
    """Two roads to one length: the standard deviation of 1,000 resamples is within a tenth."""
    rng = np.random.default_rng(2)
    positive = np.repeat([False, True], [218, 43])
    score = rng.normal(size=261) + 1.2 * positive
    proba = np.stack([1 - score, score], axis=1)
    drawn = resamples(261).scores({"auc": class_statistics(positive * 1, proba)["auc"]})["auc"]
    assert np.std(drawn) == pytest.approx(np.sqrt(delong(positive, score)[1]), rel=0.1)


# --- what is not scored --------------------------------------------------------------------------


def test_ten_rows_of_each_class_are_needed():
    two = np.repeat([0, 1], [200, 9])
    assert rare_classes(two, 2) == (1,)
    assert not any(enough(name, two, 2) for name in METRICS)
    assert too_few(two, "Y", ("no", "yes")) == (
        "Fewer than 10 test rows have Y = yes: too few to score it, so there is no number."
    )
    assert all(enough(name, np.repeat([0, 1], [200, 10]), 2) for name in METRICS)
    many = np.repeat([0, 1, 2], [50, 50, 9])  # and a fourth that never appears
    assert rare_classes(many, 4) == (2,)
    assert not enough("auc", many, 4)
    assert enough("accuracy", many, 4)
    assert not enough("accuracy", np.repeat([0, 1, 2], [50, 9, 9]), 4)
    crowd = np.repeat(np.arange(8), [60, 1, 1, 1, 1, 1, 1, 1])
    assert "= 1, 2, 3 and 4 more:" in too_few(crowd, "Y", tuple("01234567"))


def with_cases(n):
    """600 test rows of which `n` are cases."""
    codes = np.array(rows(600, seed=2).codes)
    codes[:, -1] = np.arange(600) < n
    return replace(rows(600), codes=codes)


def test_below_ten_cases_a_sentence_stands_in_place_of_every_number():
    few = subject(holdout=with_cases(9))
    found = predict(few)
    assert found.roc == ()
    assert found.calibration == ()
    for row in found.rows:
        assert (row.value, row.floor, row.ceiling) == (None, None, None)
        assert row.interval is row.ceiling_interval is row.difference_interval is None
        assert "Fewer than 10 test rows have Y = 1" in row.note
    assert "Fewer than 10 test rows" in sentences.trust(found)
    assert "Fewer than 10 test rows" in sentences.curves(found)
    note = found.row("calibration_error").note
    assert sentences.calibration((), "all columns", note) == note
    assert "Fewer than 10" in calibration_figure((), note).layout.annotations[0].text
    lines = evaluate(few.synthetic, few.holdout, target="Y", train=few.train, s=("a",)).to_dict()
    assert lines["tstr"] is lines["tstr_interval"] is lines["trtr_interval"] is None
    (line,) = compare_candidates(
        few, [Candidate(name="x", synthetic=few.synthetic, epsilon=1, stamp="r")]
    )
    assert line.score.value is line.calibration_error.value is None
    enough_rows = predict(subject(holdout=with_cases(10)))
    assert all(row.interval is not None for row in enough_rows.rows)


def test_a_rare_class_of_many_has_no_curve_and_takes_the_mean_with_it():
    codes = np.array(rows(600, seed=2, classes=3).codes)
    codes[:, -1] = np.repeat([0, 1, 2], [300, 295, 5])
    found = predict(subject(3, holdout=replace(rows(600, classes=3), codes=codes)))
    assert found.row("auc").value is None
    assert found.row("accuracy").interval is not None
    assert {curve.class_label for curve in found.roc} == {"0", "1"}


def test_fewer_than_ten_test_rows_of_a_numeric_target_are_a_sentence():
    from tests.support.numeric_rows import rows as number_rows
    from tests.support.numeric_rows import subject as number_subject

    found = predict(number_subject(holdout=number_rows(9, 1)))
    for row in found.rows:
        assert row.value is None
        assert row.ceiling is None
        assert "Fewer than 10 test rows have a known y" in row.note
    assert predict(number_subject(holdout=number_rows(10, 1))).row("rmse").interval is not None


# --- every score has its interval ----------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4])
def test_every_score_of_a_learner_lies_in_its_interval(classes):
    found = predict(subject(classes))
    for row in found.rows:
        pairs = [(row.value, row.interval), (row.ceiling, row.ceiling_interval)]
        if row.name != "calibration_error":
            pairs += [(row.floor, row.floor_interval), (row.difference, row.difference_interval)]
        for value, (low, high) in pairs:
            assert low <= value <= high
    auc = found.row("auc")
    assert auc.floor_interval == (0.5, 0.5)
    assert auc.kept_interval[0] < auc.kept < auc.kept_interval[1]
    assert found.row("accuracy").kept is found.row("accuracy").kept_interval is None
    if classes == 2:
        y, proba = found.test.column("Y"), found.made.proba[:, 1]
        assert auc.interval == auc_interval(y == 1, proba)
    for curve in found.roc:
        code = int(curve.class_label)
        proba = dict(found.sides)[curve.trained_on].proba[:, code]
        assert curve.interval == auc_interval(found.test.column("Y") == code, proba)
    for curve in found.calibration:
        pairs = zip(curve.low, curve.observed, curve.high, strict=True)
        assert all(low <= share <= high for low, share, high in pairs)


def test_the_share_of_what_can_be_learned_is_by_the_same_resamples():
    made, real, floor = (
        Attempt(draws={"auc": np.array(values)})
        for values in ([0.7, 0.8, 0.75], [0.8, 0.9, 0.85], [0.5, 0.5, 0.5])
    )
    low, high = kept_interval(made, real, floor, "auc")
    assert low == pytest.approx(np.quantile([2 / 3, 3 / 4, 5 / 7], 0.025))
    assert high == pytest.approx(np.quantile([2 / 3, 3 / 4, 5 / 7], 0.975))
    assert difference_interval(made, real, "auc") == pytest.approx((-0.1, -0.1))
    assert kept_interval(made, floor, floor, "auc") is None  # nothing to learn
    assert kept_interval(made, None, floor, "auc") is None
    assert difference_interval(made, None, "auc") is None


def test_the_headline_reads_with_its_intervals():
    found = predict(subject())
    row = found.row("auc")
    words = sentences.trust(found)
    c, d = row.kept_interval
    assert f"AUC {row.value:.3f} against {row.ceiling:.3f}; guessing gives 0.500." in words
    assert f"carry {row.kept:.0%} (95% interval {c:.0%} to {d:.0%}) of what" in words
    apart = "do not tell" if row.difference_interval[1] >= 0 else "rows tell the two apart"
    assert apart in sentences.difference(row)
    bare = replace(row, kept_interval=None, difference_interval=None)
    unsure = replace(found, rows=(bare,))
    assert "cannot be told from so few test rows" in sentences.trust(unsure)
    assert sentences.difference(bare) == ""
    assert scored(0.5, (0.5, 0.5)) == "0.500"


def test_a_learner_without_a_wrong_row_is_no_certainty():
    same = np.array(rows(400, seed=2).codes)
    same[:, 0] = 2 * same[:, -1]  # a says all
    sure = replace(rows(400), codes=same)
    found = predict(subject(holdout=sure, synthetic=sure, train=sure))
    assert found.row("accuracy").value == found.row("auc").value == 1.0
    assert found.row("accuracy").interval == pytest.approx((1 / (1 + 1.959964**2 / 400), 1.0))
    low, high = found.row("auc").interval
    assert (low < 0.99, high) == (True, 1.0)


def test_an_evaluation_is_the_same_each_time_and_its_document_holds_the_intervals():
    found = subject()

    def run(seed=None):
        rng = None if seed is None else np.random.default_rng(seed)
        return evaluate(
            found.synthetic,
            found.holdout,
            target="Y",
            train=found.train,
            s=("a",),
            learners=("logistic_onehot",),
            rng=rng,
        )

    first = run()
    assert first == run()
    assert run(1).rows != first.rows
    document = json.loads(json.dumps(first.to_dict(), allow_nan=False))
    assert document["tstr_interval"] == list(first.headline.interval)
    assert document["trtr_interval"] == list(first.headline.ceiling_interval)
    auc = next(row for row in document["metrics"] if row["name"] == "auc")
    assert auc["interval"][0] < auc["value"] < auc["interval"][1]
    assert auc["kept_interval"][0] < auc["kept"] < auc["kept_interval"][1]
    assert next(row for row in document["metrics"] if row["name"] == "auc_from_s")["interval"]
    assert all(row["interval"] is None for row in document["metrics"] if row["learner"] is None)


def test_an_interval_of_a_row_is_checked_at_birth():
    entries = {
        "name": "auc",
        "learner": None,
        "subject": "y",
        "value": 0.7,
        "floor": None,
        "ceiling": None,
    }
    for wrong in ((0.8, 0.6), (0.1, float("nan")), (float("-inf"), 0.2)):
        with pytest.raises(EvaluationError, match="two numbers in order"):
            MetricRow(**entries, ceiling_interval=wrong)


def test_groups_have_intervals_of_their_own_rows_and_few_cases_a_sentence():
    found = predict(subject())
    groups = subgroups(found, "c")
    y, codes = found.test.column("Y"), found.test.column("c")
    for code, group in enumerate(groups):
        inside = codes == code
        if group.synthetic is None:
            continue
        assert group.synthetic_interval == auc_interval(y[inside] == 1, found.made.proba[inside, 1])
        for value, (low, high) in (
            (group.real, group.real_interval),
            (group.accuracy, group.accuracy_interval),
        ):
            assert low <= value <= high
        assert group.calibration_interval is not None
    assert sum(group.synthetic is not None for group in groups) >= 2
    # Nine cases in the group "b is false": a sentence, and no number of any kind.
    flat = np.array(found.test.codes)
    false = np.flatnonzero(flat[:, 1] == 0)
    flat[false, -1] = np.arange(len(false)) < FEWEST - 1
    rare = predict(subject(holdout=replace(found.test, codes=flat)))
    group = subgroups(rare, "b")[0]
    assert group.rows == len(false)
    assert (group.synthetic, group.real, group.accuracy, group.calibration_error) == (None,) * 4
    assert "Fewer than 10 test rows have Y = 1" in group.note
    assert "1 group has no number" in sentences.subgroups(subgroups(rare, "b"), "b")


def test_lines_of_a_comparison_come_with_paired_differences():
    found = subject()
    like = Candidate(name="the same", synthetic=found.synthetic, epsilon=1.0, stamp="release")
    good = Candidate(name="real rows", synthetic=rows(seed=11, spread=0.9), epsilon=None, stamp="")
    noise = np.array(found.synthetic.codes)
    noise[:, -1] = np.random.default_rng(0).permutation(noise[:, -1])
    bad = Candidate(
        name="noise", synthetic=replace(found.synthetic, codes=noise), epsilon=None, stamp=""
    )
    first, second, third, fourth = compare_candidates(found, (like, like, good, bad))
    assert first.difference is first.difference_interval is first.told_apart is None
    assert (second.difference, second.difference_interval) == (0.0, (0.0, 0.0))
    assert second.told_apart is False
    low, high = third.difference_interval
    assert low <= third.difference <= high
    alone = third.score.interval[1] - third.score.interval[0]
    assert high - low < alone  # paired: known better than either score
    assert fourth.told_apart is True
    assert fourth.difference_interval[1] < 0.0
    assert first.calibration_error.interval is not None


def test_the_discriminator_has_an_interval_and_covers_chance_for_rows_of_one_kind():
    same = subject(synthetic=rows(600, seed=8), train=rows(600, seed=9))
    row = discriminate(same, np.random.default_rng(4), "logistic_onehot")
    assert row.interval[0] < row.value < row.interval[1]
    assert row.ceiling_interval[0] < row.ceiling < row.ceiling_interval[1]
    assert row.interval[1] - row.interval[0] == pytest.approx(0.066, abs=0.01)  # 600 a side
    assert f"{row.value:.3f} (95% interval " in sentences.discriminator(row)


# --- figures -------------------------------------------------------------------------------------


def test_figures_draw_the_intervals_and_say_which_columns():
    found = predict(subject(train=rows(seed=3, spread=0.9)).from_s)
    roc = curves_figure(found.roc, learned_from=found.learned_from)
    low, high = found.roc[0].interval
    assert f"AUC {found.roc[0].auc:.3f} ({low:.3f} to {high:.3f})" in roc.data[1].name
    calibration = calibration_figure(found.calibration, learned_from=found.learned_from)
    groups = subgroups(found, "c")
    by_level = subgroup_figure(groups, "c", found.learned_from)
    for figure in (roc, calibration, by_level):
        assert "the protected features S alone" in figure.layout.legend.title.text
    curve = found.calibration[0]
    assert np.allclose(
        np.array(calibration.data[1].y) + np.array(calibration.data[1].error_y.array), curve.high
    )
    known = [group for group in groups if group.synthetic is not None]
    made = by_level.data[1]
    assert np.allclose(
        np.array(made.x) - np.array(made.error_x.arrayminus),
        [group.synthetic_interval[0] for group in known],
    )
    row = found.row("auc")
    learners = learners_figure([row], row.name)
    assert "from S alone" in learners.layout.xaxis.title.text
    drawn = learners.data[-1]
    assert drawn.x[0] + drawn.error_x.array[0] == pytest.approx(row.interval[1])
    assert f"({row.interval[0]:.3f} to {row.interval[1]:.3f})" in drawn.text[0]


@pytest.mark.parametrize(("n", "cases"), list(itertools.product((24, 40), (10, 12))))
def test_small_tables_never_crash(n, cases):
    rng = np.random.default_rng(n + cases)
    codes = np.array(rows(n, seed=2).codes)
    codes[:, -1] = rng.permutation(np.arange(n) < cases)
    found = predict(subject(holdout=replace(rows(n), codes=codes)))
    assert found.row("auc").interval is not None
    assert json.dumps([row.to_dict() for row in found.rows], allow_nan=False)
