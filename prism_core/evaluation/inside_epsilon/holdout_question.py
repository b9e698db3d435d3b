"""A question to the rows kept aside: how well does this model, made from synthetic rows, do?

The score of a row is a whole number of units from 0 to `UNITS`; a question's answer is the mean of
a row's scores. AUC is none: it compares pairs of rows, and one row moves it by much more than 1/n.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.errors import EvaluationError
from prism_core.evaluation.inside_epsilon.holdout_plan import UNITS
from prism_core.evaluation.tstr.learners import LEARNERS, FittedLearner, check_learners
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable
    from prism_core.data.schema.schema import Schema

METRICS: dict[str, str] = {"accuracy": "Accuracy", "log_loss": "Log loss, clipped"}
"""The metrics and what each is called on a screen."""

LOSS_CAP = 3.0
"""A row's log loss counts as this much at most, in nats: a true class given 5% or less."""

RANGES: dict[str, float] = {"accuracy": 1.0, "log_loss": LOSS_CAP}
"""Largest value of a metric; the least is 0."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked; public.

    Attributes:
        learner: one of `LEARNERS`; trained on the synthetic rows.
        metric: "accuracy" or "log_loss".
        features: the columns it learns from, in the order of the schema.
    """

    learner: str
    metric: str
    features: tuple[str, ...]

    @property
    def key(self) -> str:
        """The same for the same question, in every process."""
        # A list and not joined names, of which two lists could give one text; ASCII in every
        # locale.
        text = json.dumps([self.learner, self.metric, list(self.features)], ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def range(self) -> float:
        """Largest value of its metric."""
        return RANGES[self.metric]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"learner": self.learner, "metric": self.metric, "features": list(self.features)}


def question(
    schema: Schema,
    target: str,
    *,
    metric: str = "accuracy",
    learner: str = LEARNERS[0],
    features: Sequence[str] | None = None,
) -> Question:
    """A question about a target. Spends nothing and reads no row.

    Args:
        schema: the declared domain.
        target: the column that is predicted.
        metric: one of `METRICS`.
        learner: one of `LEARNERS`.
        features: the columns to learn from, in any order; by default all others.

    Raises:
        EvaluationError: naming what is allowed.
    """
    check_learners((learner,))
    if metric not in METRICS:
        raise EvaluationError(
            f"metric ({metric}) must be one of {', '.join(METRICS)}. Only means over rows are "
            f"answered: one row would move an AUC too far.{suggestion(metric, METRICS)}",
            field="metric",
        )
    others = [name for name in schema.names if name != target]
    wanted = others if features is None else list(features)
    unknown = [name for name in wanted if name not in others]
    if unknown or not wanted:
        raise EvaluationError(
            f"features must name columns of the schema other than the target {target!r}"
            + (
                f", and {unknown[0]!r} is none.{suggestion(unknown[0], others)}"
                if unknown
                else "; none is named."
            ),
            field="features",
        )
    # In the schema's order, so that the same columns are the same question, however they are named.
    kept = tuple(name for name in others if name in set(wanted))
    return Question(learner=learner, metric=metric, features=kept)


def scores(
    fitted: FittedLearner, metric: str, table: EncodedTable, target: str
) -> NDArray[np.int64]:
    """The score of every row, whole numbers from 0 to `UNITS`; shape (n,).

    Accuracy: `UNITS` where the most probable class is the true one, else 0. Log loss: -ln of the
    probability of the true class, at most `LOSS_CAP`, rounded. A row whose target is missing or a
    special value is scored as badly as can be, in every table, so that no row is left out.

    Proof that a total over n rows has sensitivity `UNITS` under replace-one. The model is a
    function of released rows. A row's score follows from that row's codes alone and lies between 0
    and `UNITS`; replacing one row changes one term of the sum, by at most `UNITS`.

    Reads private rows; spends nothing by itself and must not be shown or stored without noise.
    """
    proba = fitted.probabilities(table)
    y = table.column(target).astype(np.int64)
    known = y < table.schema[target].level_count
    if metric == "accuracy":
        return np.where(known & (proba.argmax(axis=1) == y), UNITS, 0).astype(np.int64)
    # Any code does for a missing target: what is read there is replaced below.
    true = proba[np.arange(table.n), np.where(known, y, 0)]
    # Only away from the logarithm of 0: any floor under exp(-LOSS_CAP) gives the same, by the cap.
    loss = -np.log(np.maximum(true, np.exp(-2.0 * LOSS_CAP)))
    share = np.where(known, np.minimum(loss, LOSS_CAP) / LOSS_CAP, 1.0)
    return np.clip(np.rint(share * UNITS), 0, UNITS).astype(np.int64)


def most_frequent(synthetic: EncodedTable, target: str) -> float:
    """Accuracy on released rows of always naming their most frequent class; what a model must beat.

    A missing or special target counts as wrong, as in `scores`. Spends nothing: the release paid
    for these rows. It must never be asked of the rows kept aside.
    """
    column = synthetic.schema[target]
    classes = np.bincount(synthetic.column(target), minlength=column.size)
    # Over all rows: those without a class count, and no guess is right for them.
    return float(classes[: column.level_count].max() / synthetic.n)
