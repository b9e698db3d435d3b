"""Results of an evaluation as plain values: metric rows, curves, shapes, distances.

Everything in here was read off private rows without noise. It spends nothing and gives no
guarantee: outside epsilon, for the curator only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from prism_core.errors import EvaluationError
from prism_core.evaluation.tstr.learners import LEARNERS

if TYPE_CHECKING:
    from prism_core.evaluation.tstr.intervals import Interval

Side: TypeAlias = Literal["synthetic", "real"]

OUTSIDE_EPSILON = (
    "These numbers were read from the real rows without noise. They are not covered by epsilon "
    "and are meant for the data curator only."
)

ROOM = 0.02
"""A ceiling less than this above the floor leaves next to nothing to learn: no share of it is
taken."""

FROM_S = "_from_s"
"""Behind the name of a score whose model learned from the protected features S alone."""

INTERVALS = (
    "interval",
    "floor_interval",
    "ceiling_interval",
    "difference_interval",
    "kept_interval",
)
"""The intervals of a row; each is None or a pair of finite numbers in order."""


@dataclass(frozen=True, kw_only=True)
class MetricRow:
    """One number of an evaluation, or the sentence that says why there is none.

    Outside epsilon: read from private rows without noise, for the curator only.

    Attributes:
        name: "auc", "accuracy", "log_loss", "brier" of classes, "level_error" and
            "weighted_kappa" of ordered ones, "r2" and "rmse" of a numeric target, each with
            "_from_s" behind it where the model learned from S alone; "l1_1way",
            "tv_2way", "task_tv", "task_tv_mean", "task_tv_max", "task_tv_joint",
            "correlation_difference" or "correlation_difference_max".
        learner: the learner of a prediction metric, None for distances.
        subject: what was measured: the target, a column, a pair, "all columns".
        value: the number; None when it is not defined, and then `note` says why.
        floor: what a predictor that ignores all features reaches; of a distance of shares what two
            samples of these sizes from one population would be apart on average, as little as
            can be asked for; None for correlations.
        ceiling: the same number for real training rows: TRTR for a prediction metric, the
            distance between real training and holdout rows for a distance.
        note: what a reader must know to read the number; a sentence, or "".
        interval, floor_interval, ceiling_interval: 95% intervals over test rows of the three; None
            where there is no number, and for distances.
        difference_interval: of value less ceiling, on the same resamples of the test rows.
        kept_interval: of `kept`, likewise.
        outside_epsilon: True for everything read from private rows without noise.

    Raises:
        EvaluationError: when a number is not finite, or is absent without a note.
    """

    name: str
    learner: str | None
    subject: str
    value: float | None
    floor: float | None
    ceiling: float | None
    note: str = ""
    interval: Interval | None = None
    floor_interval: Interval | None = None
    ceiling_interval: Interval | None = None
    difference_interval: Interval | None = None
    kept_interval: Interval | None = None
    outside_epsilon: bool = True

    def __post_init__(self) -> None:
        for part in INTERVALS:
            ends = getattr(self, part)
            # JSON has no NaN, and `to_dict` promises values for it.
            if ends is not None and not (all(map(math.isfinite, ends)) and ends[0] <= ends[1]):
                raise EvaluationError(
                    f"{self.name}: {part} must be two numbers in order, or None.", field=part
                )
        for part in ("value", "floor", "ceiling"):
            number = getattr(self, part)
            if number is not None and not math.isfinite(number):
                raise EvaluationError(f"{self.name}: {part} must be a number or None.", field=part)
        # A gap in a table that nobody explains is taken for a mistake.
        if self.value is None and not self.note:
            raise EvaluationError(f"{self.name}: a row without a value needs a note.", field="note")

    @property
    def difference(self) -> float | None:
        """Value less ceiling; None where one of them is not there."""
        return None if self.value is None or self.ceiling is None else self.value - self.ceiling

    @property
    def kept(self) -> float | None:
        """Share of what can be learned: (value - floor) / (ceiling - floor).

        None for scores where less is better, and where the ceiling is less than `ROOM` above the
        floor.
        """
        if self.value is None or self.ceiling is None or self.floor is None:
            return None
        if self.name.removesuffix(FROM_S) not in ("auc", "r2"):
            return None
        room = self.ceiling - self.floor
        # Not cut to 0 and 1: synthetic rows may teach more than real ones, or the wrong thing.
        return (self.value - self.floor) / room if room > ROOM else None

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON-safe values."""
        return {
            "name": self.name,
            "learner": self.learner,
            "subject": self.subject,
            "value": self.value,
            "floor": self.floor,
            "ceiling": self.ceiling,
            "note": self.note,
            "difference": self.difference,
            "kept": self.kept,
            **{
                part: None if (ends := getattr(self, part)) is None else list(ends)
                for part in INTERVALS
            },
            "outside_epsilon": self.outside_epsilon,
        }


@dataclass(frozen=True, kw_only=True)
class RocCurve:
    """The trade-off of one classifier on the real holdout rows. Outside epsilon.

    Attributes:
        learner: the learner.
        trained_on: "synthetic" (TSTR) or "real" (TRTR).
        class_label: the class that counts as positive.
        fpr: false positive rates, from 0 to 1, at most `scoring.CURVE_POINTS` of them.
        tpr: true positive rates at the same thresholds.
        auc: area under the full curve, before thinning.
        interval: its 95% interval over test rows (DeLong).
        outside_epsilon: True: read from private rows without noise.
    """

    learner: str
    trained_on: Side
    class_label: str
    fpr: tuple[float, ...]
    tpr: tuple[float, ...]
    auc: float
    interval: Interval | None = None
    outside_epsilon: bool = True

    def __post_init__(self) -> None:
        if len(self.fpr) != len(self.tpr) or len(self.fpr) < 2:
            raise EvaluationError("fpr and tpr must have the same length, 2 or more.", field="fpr")


@dataclass(frozen=True, kw_only=True)
class PredictedCurve:
    """What a regression predicts for each declared bin of a numeric target. Outside epsilon.

    Attributes:
        learner: the learner.
        trained_on: "synthetic" (TSTR) or "real" (TRTR).
        actual: value of every bin that the holdout rows show, ascending.
        predicted: mean prediction for the rows of the bin.
        low, high: between them lie eight of ten predictions of the bin.
        rows: holdout rows of the bin.
        outside_epsilon: True: read from private rows without noise.
    """

    learner: str
    trained_on: Side
    actual: tuple[float, ...]
    predicted: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    rows: tuple[int, ...]
    outside_epsilon: bool = True

    def __post_init__(self) -> None:
        parts = (self.predicted, self.low, self.high, self.rows)
        if not self.actual or any(len(part) != len(self.actual) for part in parts):
            raise EvaluationError(
                "actual, predicted, low, high and rows must have the same length, 1 or more.",
                field="actual",
            )


@dataclass(frozen=True, kw_only=True)
class ColumnShape:
    """The shares of one column's codes in real and synthetic rows. Outside epsilon.

    Attributes:
        name: the column.
        labels: a label for every code, in code order.
        real: share of each code among the real rows; zeros when there are no rows.
        synthetic: share of each code among the synthetic rows.
        l1: sum of absolute differences, 0 to 2; None when one side has no rows.
        by_chance: the same between two samples of these sizes from one population, on average.
        outside_epsilon: True: read from private rows without noise.
    """

    name: str
    labels: tuple[str, ...]
    real: tuple[float, ...]
    synthetic: tuple[float, ...]
    l1: float | None
    by_chance: float | None = None
    outside_epsilon: bool = True

    def __post_init__(self) -> None:
        if not len(self.labels) == len(self.real) == len(self.synthetic):
            raise EvaluationError(
                f"Column {self.name!r}: labels, real and synthetic must have the same length.",
                field="labels",
            )


@dataclass(frozen=True, kw_only=True)
class PairTv:
    """Total variation distance of every 2-way marginal, real against synthetic. Outside epsilon.

    Attributes:
        names: the columns; empty when one side has no rows.
        matrix: symmetric, shape (len(names), len(names)), entries 0 to 1. The diagonal holds
            the distance of the column alone.
        by_chance: in the same places what two samples of these sizes from one population would be
            apart on average.
        outside_epsilon: True: read from private rows without noise.
    """

    names: tuple[str, ...] = ()
    matrix: tuple[tuple[float, ...], ...] = ()
    by_chance: tuple[tuple[float, ...], ...] = ()
    outside_epsilon: bool = True

    def __post_init__(self) -> None:
        size = len(self.names)
        for part in ("matrix", "by_chance"):
            square = getattr(self, part)
            if len(square) != size or any(len(row) != size for row in square):
                raise EvaluationError(f"{part} must have one row and column a name.", field=part)


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """How good the synthetic rows are for the task, and how close they are to the real ones.

    Outside epsilon: read from private rows without noise, for the curator only. The value is
    picklable; only `to_dict` is meant to leave the curator's screen, and only if she says so.

    Attributes:
        target: the column that is predicted.
        rows: prediction metrics first, then distances.
        roc: ROC curves on the holdout rows; none for a numeric target.
        columns: shares of every column.
        pair_tv: distance of every pair of columns.
        n_synthetic: synthetic rows.
        n_train: real training rows, None when not given.
        n_holdout: real holdout rows.
        outside_epsilon: True: read from private rows without noise.
    """

    target: str
    rows: tuple[MetricRow, ...]
    roc: tuple[RocCurve, ...]
    columns: tuple[ColumnShape, ...]
    pair_tv: PairTv
    n_synthetic: int
    n_train: int | None
    n_holdout: int
    outside_epsilon: bool = True

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners that were tried, in order."""
        return tuple(dict.fromkeys(row.learner for row in self.rows if row.learner is not None))

    @property
    def default_learner(self) -> str | None:
        """`LEARNERS[0]` when it was tried, else the first one that was."""
        tried = self.learners
        if LEARNERS[0] in tried:
            return LEARNERS[0]
        return tried[0] if tried else None

    def find(self, name: str, learner: str | None = None) -> tuple[MetricRow, ...]:
        """The rows of a metric, of one learner when given."""
        return tuple(
            row for row in self.rows if row.name == name and learner in (None, row.learner)
        )

    @property
    def score(self) -> str:
        """The headline score: "r2" of a numeric target, else "auc"."""
        # A numeric target has no AUC at all, and a row of R^2 even where it has no value.
        return "r2" if self.find("r2") else "auc"

    @property
    def headline(self) -> MetricRow | None:
        """The headline score of the default learner; None when no learner was tried."""
        rows = self.find(self.score, self.default_learner)
        return rows[0] if rows else None

    @property
    def tstr_auc(self) -> float | None:
        """AUC of the default learner trained on synthetic rows; None for a numeric target."""
        rows = self.find("auc", self.default_learner)
        return rows[0].value if rows else None

    @property
    def trtr_auc(self) -> float | None:
        """AUC of the default learner trained and tested on real rows: the ceiling."""
        rows = self.find("auc", self.default_learner)
        return rows[0].ceiling if rows else None

    def ends(self, part: str) -> list[float] | None:
        """Both ends of one of `INTERVALS` of the headline; None where there is none."""
        found = None if self.headline is None else getattr(self.headline, part)
        return None if found is None else list(found)

    def to_dict(self) -> dict[str, Any]:
        """The numbers as JSON-safe values.

        ROC curves, pair matrices and the real shares of every column stay out: they describe
        the private rows in more detail than an export needs. "tstr" and "trtr" are the headline
        `score` (R^2 of a numeric target) and its ceiling, with their 95% intervals.
        """
        row = self.headline
        return {
            "target": self.target,
            "score": self.score,
            "tstr": None if row is None else row.value,
            "trtr": None if row is None else row.ceiling,
            "tstr_interval": self.ends("interval"),
            "trtr_interval": self.ends("ceiling_interval"),
            "tstr_auc": self.tstr_auc,
            "trtr_auc": self.trtr_auc,
            "n_synthetic": self.n_synthetic,
            "n_train": self.n_train,
            "n_holdout": self.n_holdout,
            "outside_epsilon": self.outside_epsilon,
            "notice": OUTSIDE_EPSILON,
            "metrics": [row.to_dict() for row in self.rows],
        }
