"""A numeric target by squared loss: R^2 and RMSE, trained on synthetic rows, tested on real ones.

The target's value is that of its declared bin (`regressors.representatives`), on both sides. Reads
private rows without noise: it spends nothing and gives no guarantee, so all of it is outside
epsilon and for the curator only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.results import PredictedCurve, Side
from prism_core.evaluation.tstr import scoring
from prism_core.evaluation.tstr.attempts import Attempt
from prism_core.evaluation.tstr.intervals import FEWEST, Resamples, number_statistics, percentiles
from prism_core.evaluation.tstr.learners import labelled
from prism_core.evaluation.tstr.regressors import fit_numeric, representatives

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable

METRICS: dict[str, Callable[[NDArray[np.float64], NDArray[np.float64]], float | None]] = {
    "r2": scoring.r_squared,
    "rmse": scoring.rmse,
}
"""The scores of a regression, by metric name; RMSE is in the unit of the column."""

TAILS = (0.1, 0.9)
"""Eight of ten predictions of a bin lie between these quantiles."""


def target_values(table: EncodedTable, target: str) -> NDArray[np.float64]:
    """The value of every row's bin; rows must have a known target. Spends nothing."""
    return representatives(table.schema[target])[table.column(target)]


def attempt_numeric(
    learner: str,
    side: Side,
    table: EncodedTable,
    test: EncodedTable,
    target: str,
    features: Sequence[str],
    sampled: Resamples,
) -> Attempt:
    """Fit a regression to one side and score it on the test rows (with a known target).

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.
    """
    rows = labelled(table, target)
    named = "synthetic rows" if side == "synthetic" else "real training rows"
    if not rows.n:
        note = f"There are no {named} with a known {target}, so nothing can be fitted to them."
        return Attempt(notes=(note,))
    if not test.n:
        return Attempt()
    fitted = fit_numeric(learner, rows, target=target, features=features)
    predicted = fitted.predictions(test)
    y = target_values(test, target)
    shown = np.unique(rows.column(target))
    label = table.schema[target].labels()[shown[0]]
    # Unlike a classifier a regression can be fitted to one value: it learns a constant.
    alone = f"All {named} have {target} = {label}, so that is what is predicted everywhere."
    return replace(
        scored_numbers(y, predicted, sampled),
        notes=(alone,) if len(shown) == 1 else (),
        regressor=fitted,
        predicted=predicted,
        curve=predicted_curve(learner, side, test, target, predicted),
    )


def numeric_floor(
    test: EncodedTable, target: str, train: EncodedTable | None, sampled: Resamples
) -> Attempt:
    """Scores of the mean of the real training rows (else of the holdout itself).

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.
    """
    known = test if train is None else labelled(train, target)
    # Training rows without a known target have no mean.
    source = known if known.n else test
    if not source.n or not test.n:
        return Attempt()
    mean = float(target_values(source, target).mean())
    return scored_numbers(target_values(test, target), np.full(test.n, mean), sampled)


def numeric_notes(name: str, test: EncodedTable, target: str) -> list[str]:
    """What the holdout rows and the declared bins do to a score.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.
    """
    column = test.schema[target]
    if not test.n:
        return [f"There are no holdout rows with a known {target}, so nothing can be scored."]
    if name == "r2" and np.ptp(test.column(target)) == 0:
        label = column.labels()[test.column(target)[0]]
        return [f"All holdout rows have {target} = {label}, so R² is not defined."]
    if test.n < FEWEST:
        return [
            f"Fewer than {FEWEST} test rows have a known {target}: too few to score it, so there "
            "is no number."
        ]
    return [
        f"{target} counts as the middle of its declared bin ({column.level_count:,} bins), in "
        "training and in testing; what differs within a bin is not scored."
    ]


def predicted_curve(
    learner: str, side: Side, test: EncodedTable, target: str, predicted: NDArray[np.float64]
) -> PredictedCurve:
    """Mean and spread of the predictions for each declared bin that the test rows show.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.
    """
    values = representatives(test.schema[target])
    codes = test.column(target)
    shown = np.unique(codes)
    groups = [predicted[codes == code] for code in shown]
    low, high = ([float(np.quantile(group, tail)) for group in groups] for tail in TAILS)
    return PredictedCurve(
        learner=learner,
        trained_on=side,
        actual=tuple(values[shown].tolist()),
        predicted=tuple(float(group.mean()) for group in groups),
        low=tuple(low),
        high=tuple(high),
        rows=tuple(len(group) for group in groups),
    )


def scored_numbers(
    y: NDArray[np.float64], predicted: NDArray[np.float64], sampled: Resamples
) -> Attempt:
    """The scores of a regression that are defined, with their intervals and resampled values.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.

    Args:
        y: shape (n,), values of the test rows.
        predicted: shape (n,).
        sampled: resamples of these rows.
    """
    if len(y) < FEWEST:
        # The sentence that says so is from `numeric_notes`.
        return Attempt()
    scores = {name: score(y, predicted) for name, score in METRICS.items()}
    values = {name: value for name, value in scores.items() if value is not None}
    statistics = number_statistics(y, predicted)
    draws = sampled.scores({name: statistics[name] for name in values})
    ends = {name: percentiles(drawn) for name, drawn in draws.items()}
    intervals = {name: pair for name, pair in ends.items() if pair is not None}
    return Attempt(values=values, intervals=intervals, draws=draws)
