"""Does it work for everybody? Scores by level of one column, small groups suppressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import EvaluationError
from prism_core.evaluation import scoring
from prism_core.evaluation.calibration import calibration_curve
from prism_core.evaluation.squared_loss import target_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.evaluation.prediction import Prediction

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
        note: a sentence, or "".
        outside_epsilon: True: read from private rows without noise.
    """

    label: str
    rows: int | None
    synthetic: float | None = None
    real: float | None = None
    accuracy: float | None = None
    calibration_error: float | None = None
    note: str = ""
    outside_epsilon: bool = True


def subgroups(found: Prediction, column: str, least: int = LEAST) -> tuple[Subgroup, ...]:
    """One row for every level of a column, in the declared order.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.

    Args:
        found: the learner's fits and their probabilities on the holdout rows.
        column: any column but the target.
        least: groups of fewer holdout rows are suppressed; their size is not said either.

    Raises:
        EvaluationError: when the column is unknown or the target, or `least` is below 2.
    """
    schema = found.test.schema
    if column not in schema or column == found.target:
        raise EvaluationError(
            "column must be one of the columns, and not the target.", field="column"
        )
    if isinstance(least, bool) or not isinstance(least, int) or not least >= 2:
        raise EvaluationError("least must be a whole number, 2 or more.", field="least")
    codes = found.test.column(column)
    return tuple(
        _group(found, label, codes == code, least)
        for code, label in enumerate(schema[column].labels())
    )


def _group(found: Prediction, label: str, inside: NDArray[np.bool_], least: int) -> Subgroup:
    rows = int(inside.sum())
    if rows < least:
        return Subgroup(label=label, rows=None, note=f"Fewer than {least:,} rows: suppressed.")
    if found.numeric:
        return _numeric_group(found, label, inside)
    y = found.test.column(found.target)[inside]
    made, real = (
        None if side is None or side.proba is None else side.proba[inside]
        for side in (found.made, found.real)
    )
    if made is None:
        return Subgroup(label=label, rows=rows, note=" ".join(found.made.notes) or "Not scored.")
    classes = np.unique(y)
    column = found.test.schema[found.target]
    note = ""
    if len(classes) == 1:
        note = f"All rows have {found.target} = {column.labels()[classes[0]]}: no AUC."
    curve = calibration_curve(found.learner, "synthetic", y, made, column.labels())
    return Subgroup(
        label=label,
        rows=rows,
        synthetic=scoring.macro_auc(y, made),
        real=None if real is None else scoring.macro_auc(y, real),
        accuracy=scoring.accuracy(y, made),
        calibration_error=None if curve is None else curve.error,
        note=note,
    )


def _numeric_group(found: Prediction, label: str, inside: NDArray[np.bool_]) -> Subgroup:
    y = target_values(found.test, found.target)[inside]
    made, real = (
        None if side is None or side.predicted is None
        else scoring.rmse(y, side.predicted[inside])
        for side in (found.made, found.real)
    )  # fmt: skip
    note = "" if made is not None else " ".join(found.made.notes) or "Not scored."
    return Subgroup(label=label, rows=len(y), synthetic=made, real=real, note=note)
