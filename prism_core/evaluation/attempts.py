"""What one learner trained on one side reached. Outside epsilon."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from prism_core.evaluation.learners import Fitted
    from prism_core.evaluation.records import PredictedCurve, RocCurve
    from prism_core.evaluation.regressors import Regressor


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What one learner trained on one side reached, and what a reader must know of it.

    Outside epsilon: read from private rows without noise, for the curator only.

    Attributes:
        values: the scores that are defined, by metric name.
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

    values: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    curves: tuple[RocCurve, ...] = ()
    fitted: Fitted | None = field(default=None, repr=False)
    proba: NDArray[np.float64] | None = field(default=None, repr=False)
    regressor: Regressor | None = field(default=None, repr=False)
    predicted: NDArray[np.float64] | None = field(default=None, repr=False)
    curve: PredictedCurve | None = None
    outside_epsilon: bool = True
