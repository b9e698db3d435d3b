"""Coverage of 95% intervals: scores and Cramér's V, 19 times of 20."""

from __future__ import annotations

import math

import numpy as np
import pytest

from prism_core.evaluation.fidelity.association import associations
from prism_core.evaluation.tstr.attempts import Attempt, difference_interval, kept_interval
from prism_core.evaluation.tstr.calibration_curve import calibration_curve
from prism_core.evaluation.tstr.intervals import (
    auc_interval,
    class_statistics,
    number_statistics,
    percentiles,
    resamples,
)

pytestmark = pytest.mark.statistical
TABLES = 400
COVERED = (0.90, 0.985)


def share(covered: list[bool]) -> float:
    return sum(covered) / len(covered)


def normal_below(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@pytest.mark.parametrize(
    ("negative", "positive", "apart"),
    [(218, 43, 1.2), (30, 10, 0.6), (40, 12, 2.0), (500, 500, 0.0)],
)
def test_delongs_interval_covers_the_area_of_two_normal_laws(negative, positive, apart):
    """Scores N(0, 1) and N(apart, 1): the area is Phi(apart / sqrt 2)."""
    rng = np.random.default_rng([negative, positive])
    truth = normal_below(apart / math.sqrt(2.0))
    label = np.repeat([False, True], [negative, positive])
    covered = []
    for _ in range(TABLES):
        low, high = auc_interval(label, rng.normal(size=len(label)) + apart * label)
        covered.append(low <= truth <= high)
    assert COVERED[0] <= share(covered) <= COVERED[1]


def persons(rng: np.random.Generator, n: int, *, shift: float = 0.0):
    """A risk from 5% to 65%, what came of it, and three forecasts of it.

    The forecasts are right but for `shift`, coarse, and blurred.
    """
    risk = rng.choice(np.linspace(0.05, 0.65, 13), n)
    y = (rng.random(n) < risk).astype(int)
    blurred = np.clip(risk + rng.normal(0.0, 0.15, n), 0.01, 0.99)
    said = {"right": risk + shift, "coarse": np.where(risk > 0.35, 0.5, 0.2), "blurred": blurred}
    return y, {name: np.stack([1 - p, p], axis=1) for name, p in said.items()}


def test_bootstrap_intervals_of_classifiers_cover_their_scores_and_the_share_of_the_ceiling():
    many, forecasts = persons(np.random.default_rng(0), 1_000_000)
    everyone = np.ones((1, len(many)))
    truth = {
        side: {name: float(s(everyone)[0]) for name, s in class_statistics(many, p).items()}
        for side, p in forecasts.items()
    }
    kept = (truth["blurred"]["auc"] - 0.5) / (truth["right"]["auc"] - 0.5)
    behind = truth["blurred"]["auc"] - truth["right"]["auc"]
    rng = np.random.default_rng(1)
    covered = {name: [] for name in ("auc", "accuracy", "log_loss", "brier", "kept", "behind")}
    for table in range(TABLES):
        y, forecasts = persons(rng, 261)
        sampled = resamples(261, np.random.default_rng(table))
        sides = {
            side: Attempt(draws=sampled.scores(class_statistics(y, p)))
            for side, p in forecasts.items()
        }
        for name, drawn in sides["blurred"].draws.items():
            low, high = percentiles(drawn)
            covered[name].append(low <= truth["blurred"][name] <= high)
        floor = Attempt(draws={"auc": np.full(sampled.draws, 0.5)})
        low, high = kept_interval(sides["blurred"], sides["right"], floor, "auc")
        covered["kept"].append(low <= kept <= high)
        low, high = difference_interval(sides["blurred"], sides["right"], "auc")
        covered["behind"].append(low <= behind <= high)
    for name, each in covered.items():
        assert COVERED[0] <= share(each) <= COVERED[1], name


def test_bootstrap_intervals_of_a_regression_cover_r2_and_rmse():
    """y = x + e with Var(x) = Var(e) = 1, predicted by x: R^2 is 1/2 and the RMSE 1."""
    rng = np.random.default_rng(2)
    covered = {"r2": [], "rmse": []}
    for table in range(TABLES):
        x = rng.normal(size=261)
        y = x + rng.normal(size=261)
        drawn = resamples(261, np.random.default_rng(table)).scores(number_statistics(y, x))
        for name, truth in (("r2", 0.5), ("rmse", 1.0)):
            low, high = percentiles(drawn[name])
            covered[name].append(low <= truth <= high)
    for name, each in covered.items():
        assert COVERED[0] <= share(each) <= COVERED[1], name


@pytest.mark.parametrize(("shift", "truth"), [(0.0, 0.0), (0.1, 0.1), (0.2, 0.2)])
def test_the_interval_of_the_calibration_error_covers_a_right_forecast_and_one_that_is_off(
    shift, truth
):
    """At least 88%, and the truth 0 in nearly all; percentiles of the resamples never reach 0.

    The spread of the gaps over the groups is not known, so the interval is no better than that.
    """
    rng = np.random.default_rng([3, int(10 * shift)])
    covered = []
    for table in range(TABLES // 2):
        y, forecasts = persons(rng, 261, shift=shift)
        sampled = resamples(261, np.random.default_rng(table))
        curve = calibration_curve("l", "real", y, forecasts["right"], ("no", "yes"), sampled)
        low, high = curve.interval
        covered.append(low <= truth <= high)
    assert share(covered) >= (0.94 if truth == 0.0 else 0.88)


def found(share, n, rng):
    start = np.array([0])
    return associations(rng.multinomial(n, share.ravel()).reshape(share.shape) / n, start, start, n)


def follows(size: int, strength: float):
    """Two columns of so many levels; the second is the first in so many rows: V is that share."""
    return np.eye(size) / size * strength + (1 - strength) / size**2


@pytest.mark.parametrize(
    ("size", "strength", "n"),
    [(2, 0.5, 100), (4, 0.3, 200), (4, 0.6, 200), (4, 0.9, 1_000), (20, 0.3, 1_000)],
)
def test_the_interval_covers_v(size, strength, n):
    rng = np.random.default_rng([size, n])
    ends = [found(follows(size, strength), n, rng) for _ in range(TABLES)]
    covered = np.mean([one.low[0, 0] <= strength <= one.high[0, 0] for one in ends])
    assert 0.90 <= covered <= 0.985


@pytest.mark.parametrize(
    "share", [follows(20, 0.0), np.outer([0.9, 0.07, 0.03], [0.5, 0.3, 0.15, 0.05])]
)
def test_independent_columns_stay_below_the_chance_level(share):
    rng = np.random.default_rng(share.size)
    tables = [found(share, 400, rng) for _ in range(TABLES)]
    below = np.mean([one.within_chance[0, 0] for one in tables])
    assert 0.90 <= below <= 0.985
    assert np.mean([one.low[0, 0] <= 0.0 for one in tables]) >= 0.93
