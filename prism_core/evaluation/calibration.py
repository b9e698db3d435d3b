"""Do predicted probabilities come true? The calibration curve and its expected error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import EvaluationError
from prism_core.evaluation.bootstrap import calibration_statistic
from prism_core.evaluation.intervals import percentiles, share_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.evaluation.bootstrap import Draws, Resamples
    from prism_core.evaluation.intervals import Interval
    from prism_core.evaluation.records import Side

BINS = 10
"""Groups of a calibration curve; each holds about as many rows as the others."""


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
        draws: the error in every resample; None likewise.
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
    draws: Draws | None = field(default=None, repr=False, compare=False)
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
    error = float(np.abs(predicted - observed) @ rows / rows.sum())
    ends = [share_interval(share * n, int(n)) for share, n in zip(observed, rows, strict=True)]
    draws = None
    if sampled is not None:
        statistic = calibration_statistic(came_true, forecast, places(forecast))
        draws = sampled.scores({"error": statistic})["error"]
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
        interval=None if draws is None else _interval(error, draws),
        draws=draws,
    )


def _interval(error: float, draws: Draws) -> Interval | None:
    """The basic bootstrap interval, which turns the percentiles about the estimate.

    Chance adds to a mean of absolute gaps, and a resample adds as much once more: percentiles of
    the resamples would lie above an error that is 0.
    """
    ends = percentiles(draws)
    if ends is None:
        return None
    low, high = (min(1.0, max(0.0, 2.0 * error - end)) for end in reversed(ends))
    return low, high
