"""One learner in full: scores, curves, calibration, confusion, trained on synthetic and on real.

Reads private rows without noise: it spends nothing and gives no guarantee, so all of it is
outside epsilon and for the curator only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.results import FROM_S, MetricRow, PredictedCurve, RocCurve, Side
from prism_core.evaluation.tstr.calibration_curve import CalibrationCurve, calibration_curve
from prism_core.evaluation.tstr.intervals import Resamples, enough, resamples
from prism_core.evaluation.tstr.learners import check_learners, labelled
from prism_core.evaluation.tstr.predictive import attempt, floor_scores, metric_row, scores_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable
    from prism_core.evaluation.subject import Subject
    from prism_core.evaluation.tstr.attempts import Attempt


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """How often each class was taken for which, on the real holdout rows. Outside epsilon.

    Attributes:
        learner: the learner.
        trained_on: "synthetic" or "real".
        labels: of the classes.
        counts: rows are true classes, columns predicted ones.
        outside_epsilon: True: read from private rows without noise.
    """

    learner: str
    trained_on: Side
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    outside_epsilon: bool = True


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What one learner reaches from synthetic and from real rows. Outside epsilon.

    Attributes:
        learner: its name in `LEARNERS`, or in `REGRESSORS` for a numeric target.
        target: the column that is predicted.
        features: the columns it was predicted from.
        s_alone: whether these are the protected features S and others were left out.
        rows: auc, accuracy, log_loss, brier and calibration_error (level_error and weighted_kappa,
            too, of three or more classes in an order), or r2 and rmse of a numeric target; each
            with floor and ceiling, and named "..._from_s" when `s_alone`.
        numeric: whether the target is predicted by squared loss; then there are no ROC,
            calibration and confusion, and `predicted` has a curve a side.
        predicted: what is predicted for each bin of a numeric target.
        roc: ROC curves.
        calibration: one curve a side, as far as it is defined.
        confusion: one table a side.
        test: the holdout rows with a known target.
        made, real: both fits, with their probabilities on `test`.
        outside_epsilon: True: read from private rows without noise.
    """

    learner: str
    target: str
    features: tuple[str, ...]
    rows: tuple[MetricRow, ...]
    roc: tuple[RocCurve, ...]
    calibration: tuple[CalibrationCurve, ...]
    confusion: tuple[Confusion, ...]
    test: EncodedTable = field(repr=False)
    made: Attempt = field(repr=False)
    real: Attempt | None = field(repr=False)
    numeric: bool = False
    s_alone: bool = False
    predicted: tuple[PredictedCurve, ...] = ()
    outside_epsilon: bool = True

    def row(self, name: str) -> MetricRow:
        """The row of a metric, whichever columns it was learned from."""
        return next(row for row in self.rows if row.name.removesuffix(FROM_S) == name)

    @property
    def learned_from(self) -> str:
        """The columns it learns from, in words."""
        return "the protected features S alone" if self.s_alone else "all columns"

    @property
    def score(self) -> str:
        """The headline score: "r2" of a numeric target, else "auc"."""
        return "r2" if self.numeric else "auc"

    @property
    def sides(self) -> tuple[tuple[Side, Attempt], ...]:
        """What was trained, by the rows it was trained on."""
        found: list[tuple[Side, Attempt]] = [("synthetic", self.made)]
        if self.real is not None:
            found.append(("real", self.real))
        return tuple(found)


def predict(
    subject: Subject,
    learner: str | None = None,
    progress: Callable[[float, str], None] = lambda _share, _text: None,
    rng: np.random.Generator | None = None,
) -> Prediction:
    """Train on synthetic and on real rows, test on the holdout.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.

    Args:
        subject: what is inspected.
        learner: one of `subject.learners`; None for the first of them.
        progress: called with the share done and what comes next; may raise to stop.
        rng: draws the resamples of the holdout rows that 95% intervals come from; None for the
            same ones each time.

    Raises:
        EvaluationError: when the learner is unknown.
    """
    learner = subject.learners[0] if learner is None else learner
    check_learners((learner,), subject.learners)
    target, features, by_class = subject.target, subject.features, subject.as_classes
    test = labelled(subject.holdout, target)
    # One set for both sides and the floor: the interval of a difference needs the same rows.
    sampled = resamples(test.n, rng, test.person)

    def tried(side: Side, table: EncodedTable) -> Attempt:
        return attempt(learner, side, table, test, target, features, sampled, as_classes=by_class)

    progress(0.0, "training on synthetic rows")
    made, real = tried("synthetic", subject.synthetic), None
    if subject.train is not None:
        progress(0.4, "training on real rows")
        real = tried("real", subject.train)
    progress(0.8, "scoring")
    floor = floor_scores(test, target, subject.train, sampled, as_classes=by_class)
    names = scores_of(subject.schema[target], as_classes=by_class)
    rows = [metric_row(name, learner, test, target, made, real, floor) for name in names]
    found = Prediction(
        learner=learner,
        target=target,
        features=features,
        rows=tuple(rows),
        roc=made.curves + (real.curves if real else ()),
        calibration=(),
        confusion=(),
        test=test,
        made=made,
        real=real,
        numeric=subject.numeric,
        s_alone=subject.s_alone,
    )
    if subject.numeric:
        curves = (side.curve for _, side in found.sides)
        found = replace(found, predicted=tuple(curve for curve in curves if curve is not None))
    else:
        found = _with_shapes(found, sampled)
    if not subject.s_alone:
        return found
    return replace(
        found, rows=tuple(replace(row, name=f"{row.name}{FROM_S}") for row in found.rows)
    )


def _with_shapes(found: Prediction, sampled: Resamples) -> Prediction:
    """Calibration, its error as a row, and confusion."""
    y = found.test.column(found.target)
    column = found.test.schema[found.target]
    labels = column.labels()[: column.level_count]
    curves: list[CalibrationCurve] = []
    tables: list[Confusion] = []
    for side, made in found.sides:
        if made.proba is None:
            continue
        curve = None
        if enough("calibration_error", y, len(labels)):
            curve = calibration_curve(found.learner, side, y, made.proba, labels, sampled)
        if curve is not None:
            curves.append(curve)
        tables.append(
            Confusion(
                learner=found.learner,
                trained_on=side,
                labels=labels,
                counts=confusion_counts(y, made.proba),
            )
        )
    row = _calibration_row(found.row("accuracy"), {curve.trained_on: curve for curve in curves})
    return replace(
        found, rows=(*found.rows, row), calibration=tuple(curves), confusion=tuple(tables)
    )


def _calibration_row(like: MetricRow, curves: Mapping[Side, CalibrationCurve]) -> MetricRow:
    """The error of both curves as a row, with the notes of another score of the same rows."""
    made, real = curves.get("synthetic"), curves.get("real")
    return replace(
        like,
        name="calibration_error",
        floor=None,
        floor_interval=None,
        value=None if made is None else made.error,
        interval=None if made is None else made.interval,
        ceiling=None if real is None else real.error,
        ceiling_interval=None if real is None else real.interval,
        difference_interval=None,  # both errors hold chance, and not the same amount
    )


def confusion_counts(
    y: NDArray[np.integer], proba: NDArray[np.float64]
) -> tuple[tuple[int, ...], ...]:
    """Rows by true class and most probable class; ties go to the first class."""
    classes = proba.shape[1]
    cells = y.astype(np.int64) * classes + proba.argmax(axis=1)
    counts = np.bincount(cells, minlength=classes * classes).reshape(classes, classes)
    return tuple(tuple(row) for row in counts.tolist())
