"""Would one learn the same from the synthetic rows? What both models rely on, side by side.

Linear models are compared by their coefficients, tree ensembles by permutation importance: the
AUC (R^2 of a numeric target) that is lost when one column of the holdout is shuffled (Breiman
2001; Fisher, Rudin, Dominici 2019). All of it is outside epsilon, for the curator only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.regressors import Regressor
from prism_core.evaluation.ridge_weights import ridge_weights
from prism_core.evaluation.scoring import macro_auc, r_squared
from prism_core.evaluation.squared_loss import target_values
from prism_core.evaluation.weights import Weight, centred

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable
    from prism_core.evaluation.learners import Fitted
    from prism_core.evaluation.prediction import Prediction
    from prism_core.evaluation.subject import Subject

IMPORTANCE_ROWS = 2_000
"""Most holdout rows on which importances are measured."""


@dataclass(frozen=True, kw_only=True)
class Agreement:
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
) -> Agreement:
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
        return Agreement(kind=kind, weights=(), rank_correlation=None, same_sign=None, note=note)
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
    return Agreement(
        kind=kind, weights=weights, rank_correlation=correlation,
        same_sign=float((np.sign(made) == np.sign(real)).mean()) if weights else None, note=note,
    )  # fmt: skip


def rank_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    """Spearman's rank correlation, ties sharing their mean rank; None where one side is flat."""
    if len(a) < 2 or np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        return None
    from scipy.stats import rankdata

    return float(np.corrcoef(rankdata(a), rankdata(b))[0, 1])


def _coefficients(subject: Subject, made: Fitted, real: Fitted) -> tuple[tuple[Weight, ...], str]:
    """Terms that both sides show; those of one column are centred, as only differences count."""
    assert subject.train is not None
    terms = _terms(subject, made)
    schema = subject.schema
    labels = schema[subject.target].labels()
    tables = (subject.synthetic, subject.train)
    counts = [
        np.concatenate(
            [np.bincount(t.column(n), minlength=schema.size(n)) for n in made.features]
        )
        for t in tables
    ]  # fmt: skip
    by_level = made.learner == "logistic_onehot"
    seen = np.minimum(*counts) > 0 if by_level else np.ones(len(terms), dtype=bool)
    weights: list[Weight] = []
    for name, first, second in _rows_of_both(made, real, labels):
        shifted = [centred(row, terms, seen) if by_level else row for row in (first, second)]
        for place, (column, term) in enumerate(terms):
            if seen[place]:
                weights.append(
                    Weight(
                        column=column, term=term, class_label=name,
                        synthetic=float(shifted[0][place]), real=float(shifted[1][place]),
                        rows=int(counts[1][place]) if by_level else None,
                    )
                )  # fmt: skip
    left_out = int((~seen).sum())
    note = f"{left_out:,} levels that one side never shows are left out." if left_out else ""
    return tuple(weights), note


def _terms(subject: Subject, fitted: Fitted) -> list[tuple[str, str]]:
    if fitted.learner != "logistic_onehot":
        return [(name, "") for name in fitted.features]
    return [(n, label) for n in fitted.features for label in subject.schema[n].labels()]


def _rows_of_both(
    made: Fitted, real: Fitted, labels: tuple[str, ...]
) -> list[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """Coefficient rows of the classes that both models know."""
    rows = [_by_class(made), _by_class(real)]
    if made.classes == 2:
        return [("", rows[0][1], rows[1][1])] if 1 in rows[0] and 1 in rows[1] else []
    return [(labels[k], rows[0][k], rows[1][k]) for k in sorted(rows[0].keys() & rows[1].keys())]


def _by_class(fitted: Fitted) -> dict[int, NDArray[np.float64]]:
    """Coefficients by class code; a model of two classes holds the second one's only."""
    classes = [int(code) for code in fitted.model.classes_]
    rows = np.asarray(fitted.model.coef_, dtype=float)
    if len(classes) == 2:
        return {classes[0]: -rows[0], classes[1]: rows[0]}
    return dict(zip(classes, rows, strict=True))


def _quality(fitted: Fitted | Regressor, test: EncodedTable, target: str) -> float | None:
    """AUC of a classifier, R^2 of a regression."""
    if isinstance(fitted, Regressor):
        return r_squared(target_values(test, target), fitted.predictions(test))
    return macro_auc(test.column(target), fitted.probabilities(test))


def _importances(
    found: Prediction,
    made: Fitted | Regressor,
    real: Fitted | Regressor,
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
        shuffled = _shuffled(test, name, rng)
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
