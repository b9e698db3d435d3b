"""Scores of predicted probabilities, and the ROC curve. Pure functions of arrays.

Each returns None where the score is not defined, never NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CURVE_POINTS = 200
"""A drawn ROC curve has at most this many points."""

SMALLEST_PROBABILITY = 1e-12
"""Probabilities are raised to this before the logarithm, so a class that was ruled out costs
27.6 nats a row and not infinity."""


def binary_auc(positive: NDArray[np.bool_], score: NDArray[np.float64]) -> float | None:
    """Probability that a positive row scores above a negative one, ties counting half.

    Args:
        positive: shape (n,), which rows are positive.
        score: shape (n,), larger means more likely positive.

    Returns:
        The area under the ROC curve, or None unless both classes appear.
    """
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return None
    rank_sum = float(midranks(score)[positive].sum())
    # Less the least rank sum that so many rows can have it counts the pairs won (Mann and Whitney).
    return (rank_sum - n_positive * (n_positive + 1) / 2.0) / (n_positive * n_negative)


def midranks(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1; tied values share the mean of theirs."""
    _, group, size = np.unique(score, return_inverse=True, return_counts=True)
    return (np.cumsum(size) - (size - 1) / 2.0)[group]


def macro_auc(y: NDArray[np.integer], proba: NDArray[np.float64]) -> float | None:
    """AUC: of the last class when there are two, else the one-vs-rest mean.

    With more than two declared classes the mean runs over the classes present in `y`, each
    against all other rows, with equal weights.

    Args:
        y: shape (n,), class codes.
        proba: shape (n, classes).

    Returns:
        The AUC, or None when `y` shows fewer than two classes.
    """
    if proba.shape[1] == 2:
        return binary_auc(y == 1, proba[:, 1])
    present = np.unique(y)
    if len(present) < 2:
        return None
    areas = [binary_auc(y == code, proba[:, code]) for code in present]
    return float(np.mean([area for area in areas if area is not None]))


def accuracy(y: NDArray[np.integer], proba: NDArray[np.float64]) -> float | None:
    """Share of rows whose most probable class is the true one; ties go to the first class."""
    return float(np.mean(proba.argmax(axis=1) == y)) if len(y) else None


def log_loss(y: NDArray[np.integer], proba: NDArray[np.float64]) -> float | None:
    """Mean of -ln p(true class), with p at least `SMALLEST_PROBABILITY`; in nats."""
    if not len(y):
        return None
    true = np.maximum(proba[np.arange(len(y)), y], SMALLEST_PROBABILITY)
    # -0.0, of a perfect forecast, becomes 0.0.
    return float(-np.log(true).mean()) + 0.0


def brier(y: NDArray[np.integer], proba: NDArray[np.float64]) -> float | None:
    """Brier score: (p - y)^2 of class 1 with two classes, else the sum of squares over classes.

    Means over rows; 0 to 1 with two classes, 0 to 2 with more.
    """
    if not len(y):
        return None
    if proba.shape[1] == 2:
        return float(np.mean((proba[:, 1] - y) ** 2))
    true = proba[np.arange(len(y)), y]
    # sum_k (p_k - [k = y])^2 = sum_k p_k^2 - 2 p_y + 1
    return float(np.mean((proba**2).sum(axis=1) - 2.0 * true + 1.0))


def roc_points(
    positive: NDArray[np.bool_], score: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The ROC curve, thinned to `CURVE_POINTS` of its corners.

    Args:
        positive: shape (n,), which rows are positive.
        score: shape (n,).

    Returns:
        False and true positive rates, both from 0 to 1, or None unless both classes appear.
    """
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return None
    order = np.argsort(-score, kind="stable")
    hits = np.cumsum(positive[order])
    # A threshold can only lie where the score changes.
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    tpr = np.concatenate([[0.0], hits[ends] / n_positive])
    fpr = np.concatenate([[0.0], (ends + 1 - hits[ends]) / n_negative])
    # Both rates grow along the curve, so their sum tells how far along it a point is.
    keep = _spread(fpr + tpr)
    return fpr[keep], tpr[keep]


def _spread(length: NDArray[np.float64]) -> NDArray[np.intp]:
    """Indices of points evenly spread along a curve, both ends included."""
    if len(length) <= CURVE_POINTS:
        return np.arange(len(length))
    wanted = np.linspace(length[0], length[-1], CURVE_POINTS)
    found = np.searchsorted(length, wanted).clip(max=len(length) - 1)
    # Both ends, whatever rounding made of them: a curve goes from 0 to 1.
    found[0], found[-1] = 0, len(length) - 1
    return np.unique(found)


def level_error(y: NDArray[np.integer], proba: NDArray[np.float64]) -> float | None:
    """Mean number of levels between the most probable class and the true one.

    For ordered classes; ties go to the first class.
    """
    return float(np.abs(proba.argmax(axis=1) - y).mean()) if len(y) else None


def weighted_kappa(y: NDArray[np.integer], proba: NDArray[np.float64]) -> float | None:
    """Cohen's kappa with quadratic weights, of the most probable class and the true one.

    1 is full agreement, 0 what the two margins give by chance; a miss by two levels counts four
    times one by a single level. By scikit-learn. None without rows, and where all rows have one
    and the same class on both sides.
    """
    taken = proba.argmax(axis=1)
    if not len(y) or (np.ptp(y) == 0 and (taken == y).all()):
        return None
    from sklearn.metrics import cohen_kappa_score

    # All declared classes: by default it would weigh distances among those that appear.
    labels = np.arange(proba.shape[1])
    return float(cohen_kappa_score(y, taken, labels=labels, weights="quadratic"))


def rmse(y: NDArray[np.float64], predicted: NDArray[np.float64]) -> float | None:
    """Root of the mean squared error, in the unit of `y`; None without rows."""
    return float(np.sqrt(np.mean((predicted - y) ** 2))) if len(y) else None


def r_squared(y: NDArray[np.float64], predicted: NDArray[np.float64]) -> float | None:
    """1 less the sum of squared errors over that of the mean of `y`.

    1 is perfect, 0 as good as that mean, below 0 worse. None without rows and for a constant `y`.
    """
    if not len(y) or np.ptp(y) == 0.0:
        return None
    return float(1.0 - np.sum((predicted - y) ** 2) / np.sum((y - y.mean()) ** 2))
