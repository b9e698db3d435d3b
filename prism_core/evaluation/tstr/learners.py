"""The classifiers an evaluation trains, fitted on codes of the declared domain.

Design matrices are built from the declared sizes, never from the rows, so a level that the
fit rows do not show has its own (unused) place and scoring it cannot fail.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.errors import EvaluationError
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable

LEARNERS = ("logistic_onehot", "logistic_standardised", "gradient_boosting")
"""The learners, the default first."""

LEARNER_LABELS: dict[str, str] = {
    "logistic_onehot": "Logistic regression, one indicator a level",
    "logistic_standardised": "Logistic regression, standardised codes",
    "gradient_boosting": "Gradient boosting",
    "ridge": "Ridge regression, standardised numbers",
}
"""What each learner is called on a screen; ridge is for numeric targets (`regressors`)."""

MAX_ITERATIONS = 1_000
"""Steps of a logistic regression; a fit that needs more is used as it is and says so."""

MAX_TREES = 400
"""Trees of a gradient boosting fit over all classes: 100 rounds with up to four classes, fewer
with more, so that a target with many bins does not take minutes."""

# scikit-learn's boosting has 255 bins for a column.
_CATEGORICAL_LIMIT = 255


@dataclass(frozen=True, kw_only=True)
class FittedLearner:
    """A fitted classifier.

    Attributes:
        learner: its name in `LEARNERS`.
        features: the columns it reads, in order.
        classes: number of declared classes of the target, without special values and missing.
        converged: whether the fit ended by itself.
        model: the scikit-learn estimator.
        scale: mean and standard deviation of every feature in the fit rows, shape (2,
            features); only for standardised codes.
    """

    learner: str
    features: tuple[str, ...]
    classes: int
    converged: bool
    model: Any = field(repr=False)
    scale: NDArray[np.float64] | None = field(default=None, repr=False)

    def probabilities(self, table: EncodedTable) -> NDArray[np.float64]:
        """Class probabilities of every row, shape (table.n, classes).

        A class that the fit rows never showed has probability 0. Reads private rows; spends
        nothing and gives no guarantee: outside epsilon, for the curator only.
        """
        proba = np.zeros((table.n, self.classes))
        # scikit-learn refuses a matrix without rows.
        if table.n:
            matrix = _design(self.learner, table, self.features, self.scale)
            with one_thread():
                proba[:, self.model.classes_.astype(int)] = self.model.predict_proba(matrix)
        return proba


def labelled(table: EncodedTable, target: str) -> EncodedTable:
    """The rows whose target is known; a missing or special one is no class. Spends nothing."""
    column = table.schema[target]
    if not column.valueless_codes:
        return table
    return table.take(np.flatnonzero(table.column(target) < column.level_count))


def fit(
    learner: str, table: EncodedTable, *, target: str, features: Sequence[str] | None = None
) -> FittedLearner:
    """Fit a learner to the rows whose target is known.

    Rows whose target is missing or a special value are left out. Reads the rows without noise:
    on private rows this spends nothing and gives no guarantee, so it is outside epsilon and
    for the curator only.

    Args:
        learner: one of `LEARNERS`. "logistic_onehot" has an indicator for every declared
            code, missing included, and C=1. "logistic_standardised" takes codes as numbers
            and standardises them by the fit rows (constant columns and special values become 0).
            "gradient_boosting" takes codes, with categorical columns of fewer than 255 codes
            split by subsets and the others by order.
        table: the fit rows.
        target: the column to predict.
        features: the columns to predict from; by default all others.

    Raises:
        EvaluationError: when the learner is unknown or the rows show fewer than two classes.
    """
    check_learners((learner,))
    schema = table.schema
    names = tuple(n for n in schema.names if n != target) if features is None else tuple(features)
    rows = labelled(table, target)
    y, shown = rows.column(target), check_classes(rows, target)
    scale = _scale(rows, names) if learner == "logistic_standardised" else None
    model = _estimator(learner, rows, names, shown)
    with warnings.catch_warnings():
        # Whether it converged is read from the model and told to the reader instead.
        warnings.simplefilter("ignore")
        with one_thread():
            model.fit(_design(learner, rows, names, scale), y)
    converged = learner == "gradient_boosting" or int(np.max(model.n_iter_)) < MAX_ITERATIONS
    return FittedLearner(
        learner=learner,
        features=names,
        classes=schema[target].level_count,
        converged=converged,
        model=model,
        scale=scale,
    )


def check_classes(table: EncodedTable, target: str) -> int:
    """How many classes the rows with a known target show. Spends nothing.

    Raises:
        EvaluationError: when they are fewer than two, which nothing can be fitted to.
    """
    shown = len(np.unique(labelled(table, target).column(target)))
    if shown < 2:
        raise EvaluationError("The fit rows must show at least two classes.", field="target")
    return shown


def check_learners(learners: Sequence[str], allowed: Sequence[str] = LEARNERS) -> None:
    """Refuse unknown learners, and those that do not fit the kind of target.

    Raises:
        EvaluationError: naming the first unknown one and the allowed ones.
    """
    for learner in learners:
        if learner not in allowed:
            raise EvaluationError(
                f"learner ({learner}) must be one of {', '.join(allowed)}."
                f"{suggestion(learner, allowed)}",
                field="learners",
            )


def one_thread() -> AbstractContextManager[object]:
    """Keep OpenMP and BLAS to one thread.

    Their threads wait for each other by spinning at every small step: on a machine whose
    cores are busy a fit that takes a second alone then takes minutes.
    """
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)


def _estimator(learner: str, table: EncodedTable, names: Sequence[str], classes: int) -> Any:  # noqa: ANN401
    if learner != "gradient_boosting":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=1.0, solver="lbfgs", max_iter=MAX_ITERATIONS)
    from sklearn.ensemble import HistGradientBoostingClassifier

    by_subset, _ = boosting_design(table, names)
    # scikit-learn carries no types: pyright reads "str" off the default of this argument.
    never: Any = False
    # With more than two classes boosting grows a tree for each of them in every round.
    per_round = classes if classes > 2 else 1
    return HistGradientBoostingClassifier(
        max_iter=max(5, min(100, MAX_TREES // per_round)),
        categorical_features=by_subset,
        # The built-in stopping rule holds rows back by class and fails on a class of one row.
        early_stopping=never,
        # The same rows are to give the same score.
        random_state=0,
    )


def boosting_design(table: EncodedTable, names: Sequence[str]) -> tuple[Any, NDArray[np.float64]]:
    """Which columns gradient boosting splits by subsets, and the codes as numbers.

    Categorical columns of fewer than 255 codes by subsets; the others by order. Spends nothing:
    the numbers are as private as the rows.
    """
    columns = [table.schema[name] for name in names]
    by_subset = [c.kind == "categorical" and c.size < _CATEGORICAL_LIMIT for c in columns]
    return by_subset, _numbers(table, names)


def _scale(table: EncodedTable, names: Sequence[str]) -> NDArray[np.float64]:
    codes, known = _numbers(table, names), table.ordered[:, _places(table, names)]
    if known.all():
        return np.stack([codes.mean(axis=0), codes.std(axis=0)])
    # A column of special values alone has no mean; 0 over 1 keeps it out without a warning.
    rows = np.maximum(known.sum(axis=0), 1)
    mean = codes.sum(axis=0, where=known) / rows
    return np.stack([mean, np.sqrt(((codes - mean) ** 2).sum(axis=0, where=known) / rows)])


def _numbers(table: EncodedTable, names: Sequence[str]) -> NDArray[np.float64]:
    return table.codes[:, _places(table, names)].astype(float)


def _places(table: EncodedTable, names: Sequence[str]) -> list[int]:
    return [table.schema.index(name) for name in names]


def _design(
    learner: str, table: EncodedTable, names: Sequence[str], scale: NDArray[np.float64] | None
) -> Any:  # noqa: ANN401 - a dense or a sparse matrix
    if learner == "logistic_onehot":
        return _onehot(table, names)
    codes = _numbers(table, names)
    if scale is not None:
        mean, deviation = scale
        # A code that is no number is as far from the mean as the mean itself.
        varies = table.ordered[:, _places(table, names)] & (deviation > 0)
        return np.where(varies, (codes - mean) / np.where(varies, deviation, 1.0), 0.0)
    return codes


def _onehot(table: EncodedTable, names: Sequence[str]) -> Any:  # noqa: ANN401
    """Indicators of every declared code, CSR of shape (n, sum of sizes)."""
    from scipy.sparse import csr_matrix

    sizes = [table.schema.size(name) for name in names]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    places = table.codes[:, _places(table, names)] + offsets[:-1]
    # Every row has one entry a column, so where each row starts is known beforehand.
    starts = np.arange(0, places.size + 1, max(1, len(names)), dtype=np.int32)
    ones = np.ones(places.size)
    shape = (table.n, int(offsets[-1]))
    return csr_matrix((ones, places.ravel(order="C"), starts), shape=shape)
