"""Agreement of two models: coefficients and importances, synthetic beside real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.tstr.regressors import Regressor, ridge_terms
from prism_core.evaluation.tstr.scoring import macro_auc, r_squared
from prism_core.evaluation.tstr.squared_loss import target_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable
    from prism_core.evaluation.subject import Subject
    from prism_core.evaluation.tstr.learners import FittedLearner
    from prism_core.evaluation.tstr.prediction import Prediction

IMPORTANCE_ROWS = 2_000
"""Most holdout rows on which importances are measured."""


@dataclass(frozen=True, kw_only=True)
class ModelAgreement:
    """How alike both models are. Outside epsilon.

    Attributes:
        kind: "coefficient" or "permutation importance".
        weights: every term that both models could learn.
        rank_correlation: Spearman's, -1 to 1; None when not defined, and then `note` says why.
        same_sign: share of the terms on the same side of 0; None without terms.
        note: what a reader must know.
        outside_epsilon: True: read from private rows without noise.
    """

    kind: str
    weights: tuple[Weight, ...]
    rank_correlation: float | None
    same_sign: float | None
    note: str = ""
    outside_epsilon: bool = True


def agreement(
    subject: Subject,
    found: Prediction,
    rng: np.random.Generator,
    progress: Callable[[float, str], None] = lambda _share, _text: None,
) -> ModelAgreement:
    """Compare what the two models of a learner rely on.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.

    Args:
        subject: what is inspected.
        found: the learner's fits on both sides.
        rng: shuffles columns; used for importances only.
        progress: called with the share done and what comes next; may raise to stop.
    """
    kind = "permutation importance" if found.learner == "gradient_boosting" else "coefficient"
    fits = [side.regressor or side.fitted for _, side in found.sides]
    if subject.train is None or len(fits) < 2 or fits[0] is None or fits[1] is None:
        missing = " ".join(note for _, side in found.sides for note in side.notes)
        note = missing or "No real training rows were given, so there is nothing to agree with."
        return ModelAgreement(
            kind=kind, weights=(), rank_correlation=None, same_sign=None, note=note
        )
    if kind != "coefficient":
        weights, note = _importances(found, fits[0], fits[1], rng, progress)
    elif isinstance(fits[0], Regressor) and isinstance(fits[1], Regressor):
        weights, note = ridge_weights(subject, fits[0], fits[1])
    else:
        assert not isinstance(fits[0], Regressor) and not isinstance(fits[1], Regressor)
        weights, note = _coefficients(subject, fits[0], fits[1])
    made = np.array([weight.synthetic for weight in weights])
    real = np.array([weight.real for weight in weights])
    correlation = rank_correlation(made, real)
    if correlation is None:
        note = f"Fewer than two different terms, so there is no rank correlation. {note}".strip()
    return ModelAgreement(
        kind=kind,
        weights=weights,
        rank_correlation=correlation,
        same_sign=float((np.sign(made) == np.sign(real)).mean()) if weights else None,
        note=note,
    )


def rank_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    """Spearman's rank correlation, ties sharing their mean rank; None where one side is flat."""
    if len(a) < 2 or np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        return None
    from scipy.stats import rankdata

    return float(np.corrcoef(rankdata(a), rankdata(b))[0, 1])


def _coefficients(
    subject: Subject, made: FittedLearner, real: FittedLearner
) -> tuple[tuple[Weight, ...], str]:
    """Terms that both sides show; those of one column are centred, as only differences count."""
    assert subject.train is not None
    terms = _terms(subject, made)
    schema = subject.schema
    labels = schema[subject.target].labels()
    tables = (subject.synthetic, subject.train)
    # In the order of `_terms`, of which there is one for every code.
    counts = [
        np.concatenate([np.bincount(t.column(n), minlength=schema.size(n)) for n in made.features])
        for t in tables
    ]
    by_level = made.learner == "logistic_onehot"
    # Terms of whole columns are learned from every row; a level is learned from the rows that have
    # it.
    seen = np.minimum(*counts) > 0 if by_level else np.ones(len(terms), dtype=bool)
    weights: list[Weight] = []
    for name, first, second in _rows_of_both(made, real, labels):
        shifted = [centred(row, terms, seen) if by_level else row for row in (first, second)]
        for place, (column, term) in enumerate(terms):
            if seen[place]:
                weights.append(
                    Weight(
                        column=column,
                        term=term,
                        class_label=name,
                        synthetic=float(shifted[0][place]),
                        real=float(shifted[1][place]),
                        rows=int(counts[1][place]) if by_level else None,
                    )
                )
    left_out = int((~seen).sum())
    note = f"{left_out:,} levels that one side never shows are left out." if left_out else ""
    return tuple(weights), note


def _terms(subject: Subject, fitted: FittedLearner) -> list[tuple[str, str]]:
    if fitted.learner != "logistic_onehot":
        return [(name, "") for name in fitted.features]
    return [(n, label) for n in fitted.features for label in subject.schema[n].labels()]


def _rows_of_both(
    made: FittedLearner, real: FittedLearner, labels: tuple[str, ...]
) -> list[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """Coefficient rows of the classes that both models know."""
    rows = [_by_class(made), _by_class(real)]
    if made.classes == 2:
        # The row of the second class says it all: that of the first is its negative.
        return [("", rows[0][1], rows[1][1])] if 1 in rows[0] and 1 in rows[1] else []
    return [(labels[k], rows[0][k], rows[1][k]) for k in sorted(rows[0].keys() & rows[1].keys())]


def _by_class(fitted: FittedLearner) -> dict[int, NDArray[np.float64]]:
    """Coefficients by class code; a model of two classes holds the second one's only."""
    classes = [int(code) for code in fitted.model.classes_]
    rows = np.asarray(fitted.model.coef_, dtype=float)
    if len(classes) == 2:
        # The log odds of the first class are those of the second, turned round.
        return {classes[0]: -rows[0], classes[1]: rows[0]}
    return dict(zip(classes, rows, strict=True))


def _quality(fitted: FittedLearner | Regressor, test: EncodedTable, target: str) -> float | None:
    """AUC of a classifier, R^2 of a regression."""
    if isinstance(fitted, Regressor):
        return r_squared(target_values(test, target), fitted.predictions(test))
    return macro_auc(test.column(target), fitted.probabilities(test))


def _importances(
    found: Prediction,
    made: FittedLearner | Regressor,
    real: FittedLearner | Regressor,
    rng: np.random.Generator,
    progress: Callable[[float, str], None],
) -> tuple[tuple[Weight, ...], str]:
    test = found.test
    if test.n > IMPORTANCE_ROWS:
        test = test.take(rng.choice(test.n, IMPORTANCE_ROWS, replace=False))
    score = "R²" if found.numeric else "AUC"
    whole = [_quality(fitted, test, found.target) for fitted in (made, real)]
    if whole[0] is None or whole[1] is None:
        return (), f"{score} is not defined on these holdout rows, so there are no importances."
    weights: list[Weight] = []
    for place, name in enumerate(made.features):
        progress(place / len(made.features), f"shuffling column {place + 1:,}")
        # One shuffle for both models, or chance would set them apart.
        shuffled = _shuffled(test, name, rng)
        # Defined here as well: shuffling leaves the target as it is.
        lost = [
            full - (_quality(fitted, shuffled, found.target) or 0.0)
            for full, fitted in ((whole[0], made), (whole[1], real))
        ]
        weights.append(
            Weight(column=name, term="", class_label="", synthetic=lost[0], real=lost[1])
        )
    return tuple(weights), f"{score} lost on {test.n:,} holdout rows when the column is shuffled."


def _shuffled(table: EncodedTable, name: str, rng: np.random.Generator) -> EncodedTable:
    from dataclasses import replace

    codes = np.array(table.codes, order="F")
    place = table.schema.index(name)
    codes[:, place] = rng.permutation(codes[:, place])
    return replace(table, codes=codes)


def ridge_weights(
    subject: Subject, made: Regressor, real: Regressor
) -> tuple[tuple[Weight, ...], str]:
    """Terms that both sides show, in the target's unit, and what is left out.

    A numeric column weighs what the prediction changes by when it rises by one standard deviation
    of the real training rows, in both models. Levels of another column are centred within it, as
    only their differences count.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.
    """
    assert subject.train is not None and made.scale is not None and real.scale is not None
    schema = subject.schema
    terms = ridge_terms(subject.train, made.features)
    numeric = made.scale.shape[1]
    counts = [_counts(subject, made, side) for side in ("synthetic", "train")]
    seen = np.minimum(*counts) > 0
    # A column that does not vary on one side has taught that side's model nothing.
    seen[:numeric] = np.minimum(made.scale[1], real.scale[1]) > 0
    levels = np.array([bool(term) and not schema[name].binned for name, term in terms])
    rows: list[NDArray[np.float64]] = []
    for fitted in (made, real):
        row = np.array(fitted.model.coef_, dtype=float)
        assert fitted.scale is not None
        # A coefficient is for one deviation of its own fit rows; brought to that of the real ones.
        own = fitted.scale[1]
        row[:numeric] *= np.where(own > 0, real.scale[1] / np.where(own > 0, own, 1.0), 0.0)
        rows.append(np.where(levels, centred(row, terms, seen & levels), row))
    weights = tuple(
        Weight(
            column=name,
            term=term,
            class_label="",
            synthetic=float(rows[0][place]),
            real=float(rows[1][place]),
            rows=int(counts[1][place]) if term else None,
        )
        for place, (name, term) in enumerate(terms)
        if seen[place]
    )
    left_out = int((~seen).sum())
    note = f"{left_out:,} terms that one side never shows are left out." if left_out else ""
    return weights, note


def _counts(subject: Subject, fitted: Regressor, side: str) -> NDArray[np.int64]:
    """Rows that show each term; of numeric values all rows."""
    table = subject.synthetic if side == "synthetic" else subject.train
    assert table is not None
    schema = table.schema
    found = [table.n for name in fitted.features if schema[name].binned]
    for name in fitted.features:
        # As `ridge_terms` orders them: values of numeric columns first, then indicators by column.
        column = schema[name]
        each = np.bincount(table.column(name), minlength=column.size)
        found += each[column.level_count if column.binned else 0 :].tolist()
    return np.array(found, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Weight:
    """What one term weighs in both models. Outside epsilon.

    Attributes:
        column: the column.
        term: the level, "" for the whole column.
        class_label: the class whose log odds it changes, "" with two classes, a numeric
            target or importances.
        synthetic, real: coefficient or importance in the model trained on these rows.
        rows: real training rows that show the level; None for a whole column.
    """

    column: str
    term: str
    class_label: str
    synthetic: float
    real: float
    rows: int | None = None

    @property
    def label(self) -> str:
        """The term in words."""
        term = f"{self.column} = {self.term}" if self.term else self.column
        return f"{term} (for {self.class_label})" if self.class_label else term


def centred(
    row: NDArray[np.float64], terms: Sequence[tuple[str, str]], seen: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Coefficients less the mean of their column's: only differences between levels count.

    Args:
        row: shape (terms,).
        terms: column and level of each.
        seen: the terms that both models could learn; only these make up the mean.
    """
    columns = np.unique([name for name, _ in terms], return_inverse=True)[1]
    total = np.bincount(columns, weights=np.where(seen, row, 0.0))
    size = np.maximum(np.bincount(columns, weights=seen), 1.0)
    return row - (total / size)[columns]
