"""The coefficients of two ridge regressions, made comparable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.regressors import ridge_terms
from prism_core.evaluation.weights import Weight, centred

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.evaluation.regressors import Regressor
    from prism_core.evaluation.subject import Subject


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
    seen[:numeric] = np.minimum(made.scale[1], real.scale[1]) > 0
    levels = np.array([bool(term) and not schema[name].binned for name, term in terms])
    rows: list[NDArray[np.float64]] = []
    for fitted in (made, real):
        row = np.array(fitted.model.coef_, dtype=float)
        assert fitted.scale is not None
        own = fitted.scale[1]
        row[:numeric] *= np.where(own > 0, real.scale[1] / np.where(own > 0, own, 1.0), 0.0)
        rows.append(np.where(levels, centred(row, terms, seen & levels), row))
    weights = tuple(
        Weight(
            column=name, term=term, class_label="", synthetic=float(rows[0][place]),
            real=float(rows[1][place]), rows=int(counts[1][place]) if term else None,
        )
        for place, (name, term) in enumerate(terms) if seen[place]
    )  # fmt: skip
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
        column = schema[name]
        each = np.bincount(table.column(name), minlength=column.size)
        found += each[column.level_count if column.binned else 0 :].tolist()
    return np.array(found, dtype=np.int64)
