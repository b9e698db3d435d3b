"""The calibration curve and its expected error: do predicted probabilities come true?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import EvaluationError
from prism_core.evaluation.tstr.intervals import (
    TAILS,
    Interval,
    Resamples,
    calibration_statistic,
    share_interval,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.evaluation.results import Side

BINS = 10
"""Groups of a calibration curve; each holds about as many rows as the others."""

_FARTHEST, _SIZES = 3.0, 91
"""Errors up to this many times the one that was seen are tried, in so many steps."""


@dataclass(frozen=True, kw_only=True)
class CalibrationCurve:
    """Predicted against observed shares in groups of equal size. Outside epsilon.

    Attributes:
        learner: the learner.
        trained_on: "synthetic" or "real".
        predicted: mean predicted probability of every group, ascending.
        observed: share of rows of the group for which the prediction came true.
        rows: number of rows of every group.
        error: expected calibration error, 0 to 1: the mean of |observed - predicted| over rows.
        of: what is predicted: the label of the positive class, or "the most probable class".
        low, high: 95% interval of each observed share, by the rows of its group (Wilson).
        interval: 95% interval of the error over test rows; None where they were not resampled.
        outside_epsilon: True: read from private rows without noise.
    """

    learner: str
    trained_on: Side
    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    rows: tuple[int, ...]
    error: float
    of: str
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    interval: Interval | None = None
    outside_epsilon: bool = True

    def __post_init__(self) -> None:
        if not len(self.predicted) == len(self.observed) == len(self.rows) > 0:
            raise EvaluationError(
                "predicted, observed and rows must have the same length, 1 or more.",
                field="predicted",
            )


def places(predicted: NDArray[np.float64]) -> NDArray[np.int64]:
    """The group of each row, 0 to `BINS` - 1; shape (n,).

    Rows with the same prediction stay in one group, so the groups do not depend on row order.
    """
    _, place = np.unique(predicted, return_inverse=True)
    size = np.bincount(place)
    middle = np.cumsum(size) - size / 2.0
    return np.minimum((middle / len(predicted) * BINS).astype(int), BINS - 1)[place]


def groups(
    came_true: NDArray[np.bool_], predicted: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]] | None:
    """Mean prediction, observed share and size of up to `BINS` groups; None without rows."""
    if not len(predicted):
        return None
    group = places(predicted)
    rows = np.bincount(group, minlength=BINS)
    kept = rows > 0
    mean = np.bincount(group, weights=predicted, minlength=BINS)[kept] / rows[kept]
    share = np.bincount(group, weights=came_true, minlength=BINS)[kept] / rows[kept]
    return mean, share, rows[kept]


def calibration_curve(
    learner: str,
    side: Side,
    y: NDArray[np.integer],
    proba: NDArray[np.float64],
    labels: tuple[str, ...],
    sampled: Resamples | None = None,
) -> CalibrationCurve | None:
    """The curve of the second class when there are two, else of the most probable class.

    Args:
        learner: the learner.
        side: what it was trained on.
        y: shape (n,), class codes.
        proba: shape (n, classes).
        labels: of the classes, in code order.
        sampled: resamples of these rows, for the interval of the error.

    Returns:
        The curve, or None when there are no rows.
    """
    if not len(y):
        return None
    if proba.shape[1] == 2:
        came_true, forecast, of = y == 1, proba[:, 1], labels[1]
    else:
        came_true, forecast = proba.argmax(axis=1) == y, proba.max(axis=1)
        of = "the most probable class"
    found = groups(came_true, forecast)
    assert found is not None, "there are rows"
    predicted, observed, rows = found
    # Weighed by rows, so that a group of few does not count as much as one of many.
    error = float(np.abs(predicted - observed) @ rows / rows.sum())
    ends = [share_interval(share * n, int(n)) for share, n in zip(observed, rows, strict=True)]
    interval = None
    if sampled is not None:
        statistic = calibration_statistic(came_true, forecast, places(forecast))
        # Every row once: the gaps as they were seen.
        gaps = statistic(np.ones((1, len(y))))[0]
        interval = error_interval(gaps, sampled.scores({"gaps": statistic})["gaps"], len(y))
    return CalibrationCurve(
        learner=learner,
        trained_on=side,
        predicted=tuple(predicted.tolist()),
        observed=tuple(observed.tolist()),
        rows=tuple(rows.tolist()),
        error=error,
        of=of,
        low=tuple(low for low, _ in ends),
        high=tuple(high for _, high in ends),
        interval=interval,
    )


def error_interval(gaps: NDArray[np.float64], draws: NDArray[np.float64], rows: int) -> Interval:
    """The 95% interval of the expected calibration error, by inverting a test.

    Chance alone makes the mean of absolute gaps larger than 0, and a resample adds as much once
    more, so percentiles of the resamples do not cover an error of 0. Here an error is in the
    interval when the noise of the resamples, added to gaps of that size, gives the error that was
    seen neither too rarely from above nor from below. The size of the gaps does not say how they
    are spread: they are taken as they were seen, and as one and the same in every group, and the
    interval holds what either admits.

    Args:
        gaps: shape (groups,), observed less predicted, as parts of all rows.
        draws: shape (resamples, groups), the same in every resample.
        rows: number of rows.
    """
    error = float(np.abs(gaps).sum())
    if error < 1e-12:  # every forecast came true
        return 0.0, share_interval(0, rows)[1]
    # What drawing the rows again adds to the gaps that were seen.
    noise = draws - gaps
    # A sum of 0 has no sign, and gaps must be of some size.
    even = np.full(len(gaps), 1.0 / len(gaps)) * (np.sign(gaps.sum()) or 1.0)
    low, high = error, error
    for shape in (gaps / error, even):
        # A grid and not a search: what is admitted need not be one piece.
        for size in np.linspace(0.0, _FARTHEST * error, _SIZES):
            below = float((np.abs(size * shape + noise).sum(axis=1) <= error).mean())
            if TAILS[0] <= below <= TAILS[1]:
                low, high = min(low, size), max(high, size)
    return float(low), min(1.0, float(high))
