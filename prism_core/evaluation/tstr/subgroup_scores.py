"""Subgroup scores: by level of one column, small groups suppressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import EvaluationError
from prism_core.evaluation.tstr.attempts import Attempt
from prism_core.evaluation.tstr.calibration_curve import calibration_curve
from prism_core.evaluation.tstr.intervals import FEWEST, Interval, enough, resamples, too_few
from prism_core.evaluation.tstr.predictive import scored_classes
from prism_core.evaluation.tstr.squared_loss import scored_numbers, target_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.evaluation.tstr.prediction import Prediction

LEAST = 50
"""Groups of fewer holdout rows are suppressed by default: their scores are mostly chance, and
close to single people."""


@dataclass(frozen=True, kw_only=True)
class Subgroup:
    """Scores of the holdout rows with one level. Outside epsilon.

    Attributes:
        label: the level.
        rows: holdout rows with a known target; None when the group is suppressed.
        synthetic, real: AUC of the model trained on synthetic and on real rows (RMSE of a numeric
            target: within one group R^2 would be against that group's own mean); None when it is
            not defined, and then `note` says why.
        accuracy: of the model trained on synthetic rows; None for a numeric target.
        calibration_error: of the same.
        synthetic_interval, real_interval, accuracy_interval, calibration_interval: 95% intervals
            over the group's test rows, each None where its number is.
        note: a sentence, or "".
        outside_epsilon: True: read from private rows without noise.
    """

    label: str
    rows: int | None
    synthetic: float | None = None
    real: float | None = None
    accuracy: float | None = None
    calibration_error: float | None = None
    synthetic_interval: Interval | None = None
    real_interval: Interval | None = None
    accuracy_interval: Interval | None = None
    calibration_interval: Interval | None = None
    note: str = ""
    outside_epsilon: bool = True


def subgroups(
    found: Prediction, column: str, least: int = LEAST, rng: np.random.Generator | None = None
) -> tuple[Subgroup, ...]:
    """One row for every level of a column, in the declared order.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.

    Args:
        found: the learner's fits and their probabilities on the holdout rows.
        column: any column but the target.
        least: groups of fewer holdout rows are suppressed; their size is not said either.
        rng: draws the resamples of each group's rows that 95% intervals come from; None for the
            same ones each time.

    Raises:
        EvaluationError: when the column is unknown or the target, or `least` is below 2.
    """
    check_groups(found, column, least)
    schema = found.test.schema
    codes = found.test.column(column)
    rng = np.random.default_rng(0) if rng is None else rng
    return tuple(
        _group(found, label, codes == code, least, rng)
        for code, label in enumerate(schema[column].labels())
    )


def check_groups(found: Prediction, column: str, least: int) -> None:
    """Check what groups are made by.

    Raises:
        EvaluationError: when the column is unknown or the target, or `least` is below 2.
    """
    if column not in found.test.schema or column == found.target:
        raise EvaluationError(
            "column must be one of the columns, and not the target.", field="column"
        )
    if isinstance(least, bool) or not isinstance(least, int) or not least >= 2:
        raise EvaluationError("least must be a whole number, 2 or more.", field="least")


def _group(
    found: Prediction, label: str, inside: NDArray[np.bool_], least: int, rng: np.random.Generator
) -> Subgroup:
    rows = int(inside.sum())
    if rows < least:
        return Subgroup(label=label, rows=None, note=f"Fewer than {least:,} rows: suppressed.")
    # All test rows have a known target, so the codes are those of levels.
    y = found.test.column(found.target)[inside]
    column = found.test.schema[found.target]
    labels = column.labels()[: column.level_count]
    made = _inside(found, found.made, inside, rng)
    if made is None:
        return Subgroup(label=label, rows=rows, note=" ".join(found.made.notes) or "Not scored.")
    real = _inside(found, found.real, inside, rng) or Attempt()
    # R^2 within a group would be against the group's own mean, which differs from group to group.
    name = "rmse" if found.numeric else "auc"
    curve, note = None, ""
    if found.numeric:
        if rows < FEWEST:
            note = f"Fewer than {FEWEST} rows: too few to score."
    else:
        if not enough(name, y, len(labels)):
            note = too_few(y, found.target, labels)
        if enough("calibration_error", y, len(labels)):
            assert found.made.proba is not None, "it was scored"
            curve = calibration_curve(
                found.learner,
                "synthetic",
                y,
                found.made.proba[inside],
                labels,
                resamples(rows, rng, found.test.take(np.flatnonzero(inside)).person),
            )
    return Subgroup(
        label=label,
        rows=rows,
        synthetic=made.values.get(name),
        real=real.values.get(name),
        accuracy=made.values.get("accuracy"),
        calibration_error=None if curve is None else curve.error,
        synthetic_interval=made.intervals.get(name),
        real_interval=real.intervals.get(name),
        accuracy_interval=made.intervals.get("accuracy"),
        calibration_interval=None if curve is None else curve.interval,
        note=note,
    )


def _inside(
    found: Prediction, side: Attempt | None, inside: NDArray[np.bool_], rng: np.random.Generator
) -> Attempt | None:
    """The scores of one side on the rows of a group; None where nothing was fitted."""
    if side is None:
        return None
    # Numbered anew by `take`, from 0 and without gaps, as resamples of persons need.
    person = found.test.take(np.flatnonzero(inside)).person
    sampled = resamples(int(inside.sum()), rng, person)
    if found.numeric:
        if side.predicted is None:
            return None
        y = target_values(found.test, found.target)[inside]
        return scored_numbers(y, side.predicted[inside], sampled)
    if side.proba is None:
        return None
    y = found.test.column(found.target)[inside]
    return scored_classes(found.test.schema[found.target], y, side.proba[inside], sampled)
