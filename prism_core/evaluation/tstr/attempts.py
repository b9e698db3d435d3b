"""An attempt: what one learner trained on one side reached; two compared. Outside epsilon."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.tstr.intervals import Interval, percentiles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from prism_core.evaluation.results import PredictedCurve, RocCurve
    from prism_core.evaluation.tstr.intervals import Draws
    from prism_core.evaluation.tstr.learners import FittedLearner
    from prism_core.evaluation.tstr.regressors import Regressor


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What one learner trained on one side reached, and what a reader must know of it.

    Outside epsilon: read from private rows without noise, for the curator only.

    Attributes:
        values: the scores that are defined, by metric name.
        intervals: the 95% interval of each, over test rows.
        draws: each in every resample of the test rows; the same resamples on every side.
        notes: sentences a reader needs to read them.
        curves: ROC curves; none for a numeric target.
        fitted: the classifier; None when nothing could be fitted, or for a numeric target.
        proba: class probabilities of the holdout rows with a known target, shape (rows,
            classes); None when nothing could be fitted or scored, or for a numeric target.
        regressor: the regression of a numeric target, else None.
        predicted: its values for the holdout rows with a known target, shape (rows,), else None.
        curve: what it predicts for each bin of a numeric target, else None.
        outside_epsilon: True: read from private rows without noise.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    draws: Mapping[str, Draws] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()
    curves: tuple[RocCurve, ...] = ()
    fitted: FittedLearner | None = field(default=None, repr=False)
    proba: NDArray[np.float64] | None = field(default=None, repr=False)
    regressor: Regressor | None = field(default=None, repr=False)
    predicted: NDArray[np.float64] | None = field(default=None, repr=False)
    curve: PredictedCurve | None = None
    outside_epsilon: bool = True


def difference_interval(one: Attempt, other: Attempt | None, name: str) -> Interval | None:
    """The 95% interval of one score less the other, resample by resample.

    Both were scored on the same test rows: what makes a resample easy for one makes it easy for
    the other, so the difference is known better than either score. Outside epsilon.
    """
    if other is None or name not in one.draws or name not in other.draws:
        return None
    return percentiles(one.draws[name] - other.draws[name])


def kept_interval(
    made: Attempt, real: Attempt | None, floor: Attempt, name: str
) -> Interval | None:
    """The 95% interval of the share of what can be learned: (made - floor) / (real - floor).

    None where the ceiling is not above the floor in nearly every resample: the share of nothing
    is no number. Outside epsilon.
    """
    if real is None or any(name not in one.draws for one in (made, real, floor)):
        return None
    room = real.draws[name] - floor.draws[name]
    good = room > 0.0
    # NaN is left out of the percentiles, and too many of them leave no interval.
    share = (made.draws[name] - floor.draws[name]) / np.where(good, room, np.nan)
    return percentiles(share)
