"""Regressors of a numeric target, fitted by squared loss, and which targets they are for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.errors import EvaluationError
from prism_core.evaluation.tstr.learners import (
    LEARNERS,
    boosting_design,
    check_learners,
    labelled,
    one_thread,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable
    from prism_core.data.schema.column import Column

REGRESSORS = ("ridge", "gradient_boosting")
"""The learners of a numeric target, the default first."""

PENALTY = 1.0
"""Weight of the squared coefficients beside the sum of squared errors."""

ROUNDS = 100
"""Trees of a gradient boosting fit."""


@dataclass(frozen=True, kw_only=True)
class Regressor:
    """A fitted regression.

    Attributes:
        learner: its name in `REGRESSORS`.
        features: the columns it reads, in order.
        target: the column it predicts.
        low, high: smallest and largest value of the target; predictions are clipped to them.
        model: the scikit-learn estimator.
        scale: mean and standard deviation of every numeric feature among the fit rows that have
            a value, shape (2, numeric features); None for gradient boosting.
    """

    learner: str
    features: tuple[str, ...]
    target: str
    low: float
    high: float
    model: Any = field(repr=False)
    scale: NDArray[np.float64] | None = field(default=None, repr=False)

    def predictions(self, table: EncodedTable) -> NDArray[np.float64]:
        """A value for every row, in the target's unit, shape (table.n,).

        Clipping to the declared range is public and never takes a prediction further from a
        value in it. Reads private rows; spends nothing and gives no guarantee: outside epsilon,
        for the curator only.
        """
        if not table.n:
            return np.zeros(0)
        with one_thread():
            found = self.model.predict(_design(self.learner, table, self.features, self.scale))
        return np.clip(np.asarray(found, dtype=float), self.low, self.high)


def fit_numeric(
    learner: str, table: EncodedTable, *, target: str, features: Sequence[str] | None = None
) -> Regressor:
    """Fit a regression by squared loss to the rows whose target is known.

    Reads the rows without noise: on private rows this spends nothing and gives no guarantee, so
    it is outside epsilon and for the curator only.

    Args:
        learner: one of `REGRESSORS`. "ridge" takes numeric columns by the values of their bins,
            standardised by the fit rows that have one (with an indicator of missing and of every
            special value), and an indicator for every declared code of the others.
            "gradient_boosting" takes codes, with categorical columns of fewer than 255 codes split
            by subsets and the others by order.
        table: the fit rows.
        target: the column to predict; it must have bins.
        features: the columns to predict from; by default all others.

    Raises:
        EvaluationError: when the learner is unknown, the target has no bins, or no row has one.
    """
    check_learners((learner,), REGRESSORS)
    schema = table.schema
    if not schema[target].binned:
        raise EvaluationError(
            "A regression needs a numeric or date target; classes are told apart by `fit`.",
            field="target",
        )
    names = tuple(n for n in schema.names if n != target) if features is None else tuple(features)
    rows = labelled(table, target)
    if not rows.n:
        raise EvaluationError("There must be a fit row with a known target.", field="target")
    values = representatives(schema[target])
    scale = _scale(rows, names) if learner == "ridge" else None
    model = _estimator(learner, rows, names)
    with one_thread():
        model.fit(_design(learner, rows, names, scale), values[rows.column(target)])
    return Regressor(
        learner=learner,
        features=names,
        target=target,
        low=float(values[0]),
        high=float(values[-1]),
        model=model,
        scale=scale,
    )


def ridge_terms(table: EncodedTable, names: Sequence[str]) -> list[tuple[str, str]]:
    """Column and level of every coefficient of a ridge fit; the level is "" for a value.

    A fact of the schema: looks at no row and spends nothing.
    """
    schema = table.schema
    terms = [(name, "") for name in names if schema[name].binned]
    for name in names:
        labels = schema[name].labels()
        terms += [(name, labels[code]) for code in _indicated(schema[name])]
    return terms


def _indicated(column: Column) -> range:
    """The codes with an indicator: those that are no number in a numeric column, else all."""
    return range(column.level_count if column.binned else 0, column.size)


def _estimator(learner: str, table: EncodedTable, names: Sequence[str]) -> Any:  # noqa: ANN401
    if learner == "ridge":
        from sklearn.linear_model import Ridge

        return Ridge(alpha=PENALTY)
    from sklearn.ensemble import HistGradientBoostingRegressor

    by_subset, _ = boosting_design(table, names)
    # scikit-learn carries no types: pyright reads "str" off the default of this argument.
    never: Any = False
    return HistGradientBoostingRegressor(
        max_iter=ROUNDS, categorical_features=by_subset, early_stopping=never, random_state=0
    )


def _design(
    learner: str, table: EncodedTable, names: Sequence[str], scale: NDArray[np.float64] | None
) -> Any:  # noqa: ANN401 - a dense or a sparse matrix
    if learner != "ridge" or scale is None:
        return boosting_design(table, names)[1]
    from scipy.sparse import csr_matrix, hstack

    values, known = _values(table, names)
    mean, deviation = scale
    varies = known & (deviation > 0)
    # An unknown value stands at the mean, which is 0 here; its indicator says that it is unknown.
    standard = np.where(varies, (values - mean) / np.where(deviation > 0, deviation, 1.0), 0.0)
    parts: list[Any] = [csr_matrix(standard)]
    for name in names:
        codes = table.column(name)
        shown = _indicated(table.schema[name])
        # Of a numeric column only codes that are no number have an indicator.
        rows = np.flatnonzero(codes >= shown.start)
        places = (rows, codes[rows] - shown.start)
        parts.append(csr_matrix((np.ones(len(rows)), places), shape=(table.n, len(shown))))
    return hstack(parts, format="csr")


def _values(
    table: EncodedTable, names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values of the numeric features and which are known, both (n, numeric features)."""
    numeric = [name for name in names if table.schema[name].binned]
    values = np.zeros((table.n, len(numeric)))
    known = np.ones((table.n, len(numeric)), dtype=bool)
    for place, name in enumerate(numeric):
        column, codes = table.schema[name], table.column(name)
        known[:, place] = codes < column.level_count
        values[:, place] = code_values(column)[codes]
    return values, known


def _scale(table: EncodedTable, names: Sequence[str]) -> NDArray[np.float64]:
    values, known = _values(table, names)
    rows = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, values, 0.0).sum(axis=0) / rows
    spread = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0) / rows
    # A column of one value has a spread of rounding alone, which must not be divided by.
    spread = np.where(spread > (1e-12 * np.abs(values).max(axis=0, initial=0.0)) ** 2, spread, 0.0)
    return np.stack([mean, np.sqrt(spread)])


def representatives(column: Column) -> NDArray[np.float64]:
    """The value that stands for each bin, in the column's own unit; shape (level_count,).

    The middle of the bin; of a bin with whole numbers (or a fixed number of decimals) the middle
    of the values it holds, so a bin of one value is that value. It is also the mean of what
    `decoding.decode` draws in the bin (where no decimals are declared, but for their rounding to
    a thousandth of it). Public: it follows from the declaration alone.
    """
    if column.decimals is None:
        ends = [column.bin_bounds(code) for code in range(column.level_count)]
        return np.array([(low + high) / 2.0 for low, high in ends])
    scale = 10.0**column.decimals
    steps = [column.grid(code) for code in range(column.level_count)]
    return np.array([(first + last) / 2.0 / scale for first, last in steps])


def code_values(column: Column) -> NDArray[np.float64]:
    """`representatives`, with 0 for codes that are no number: which these are is looked at apart.

    Shape (size,).
    """
    return np.pad(representatives(column), (0, len(column.valueless_codes)))


def by_squared_loss(column: Column, *, as_classes: bool = False) -> bool:
    """Whether a target is predicted as a number: it has at least three declared bins.

    Args:
        column: the target; a fact of the schema, no row is looked at.
        as_classes: the curator wants its bins told apart as classes instead.
    """
    return column.is_number and not as_classes


def ordered_classes(column: Column) -> bool:
    """Whether classes far from the true one are worse than its neighbours."""
    return column.is_number or (column.kind == "ordinal" and column.level_count > 2)


def learners_of(column: Column, *, as_classes: bool = False) -> tuple[str, ...]:
    """The learners of a target, the default first."""
    return REGRESSORS if by_squared_loss(column, as_classes=as_classes) else LEARNERS
