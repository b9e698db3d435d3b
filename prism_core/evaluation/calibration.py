"""Do predicted probabilities come true? The calibration curve and its expected error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import EvaluationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        outside_epsilon: True: read from private rows without noise.
    """

    learner: str
    trained_on: Side
    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    rows: tuple[int, ...]
    error: float
    of: str
    outside_epsilon: bool = True

    def __post_init__(self) -> None:
        if not len(self.predicted) == len(self.observed) == len(self.rows) > 0:
            raise EvaluationError(
                "predicted, observed and rows must have the same length, 1 or more.",
                field="predicted",
            )


def groups(
    came_true: NDArray[np.bool_], predicted: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]] | None:
    """Mean prediction, observed share and size of up to `BINS` groups; None without rows.

    Rows with the same prediction stay in one group, so the groups do not depend on row order.
    """
    if not len(predicted):
        return None
    _, place = np.unique(predicted, return_inverse=True)
    size = np.bincount(place)
    middle = np.cumsum(size) - size / 2.0
    group = np.minimum((middle / len(predicted) * BINS).astype(int), BINS - 1)[place]
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
) -> CalibrationCurve | None:
    """The curve of the second class when there are two, else of the most probable class.

    Args:
        learner: the learner.
        side: what it was trained on.
        y: shape (n,), class codes.
        proba: shape (n, classes).
        labels: of the classes, in code order.

    Returns:
        The curve, or None when there are no rows.
    """
    if proba.shape[1] == 2:
        found, of = groups(y == 1, proba[:, 1]), labels[1]
    else:
        likely = proba.argmax(axis=1) if len(y) else y
        found, of = groups(likely == y, proba.max(axis=1, initial=0.0)), "the most probable class"
    if found is None:
        return None
    predicted, observed, rows = found
    return CalibrationCurve(
        learner=learner,
        trained_on=side,
        predicted=tuple(predicted.tolist()),
        observed=tuple(observed.tolist()),
        rows=tuple(rows.tolist()),
        error=float(np.abs(predicted - observed) @ rows / rows.sum()),
        of=of,
    )
