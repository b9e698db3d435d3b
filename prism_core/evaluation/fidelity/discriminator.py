"""The discriminator test: can a classifier tell synthetic rows from real ones?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.evaluation.results import MetricRow
from prism_core.evaluation.tstr.intervals import Interval, area_interval, delong
from prism_core.evaluation.tstr.learners import check_learners, fit

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.evaluation.subject import Subject

MOST_ROWS = 10_000
"""Rows taken of each side at most."""

FEWEST_ROWS = 20
"""With fewer rows on a side there is nothing to learn from."""


def discriminate(
    subject: Subject,
    rng: np.random.Generator,
    learner: str = "gradient_boosting",
    progress: Callable[[float, str], None] = lambda _share, _text: None,
) -> MetricRow:
    """AUC of a classifier that tells synthetic from real holdout rows, by twofold cross-fitting.

    0.5 is chance: nothing to tell them apart by. The ceiling is the same for real training rows
    in the place of the synthetic ones. A high AUC is no leak: noise has a pattern of its own.
    Spends nothing and gives no guarantee: outside epsilon, for the curator only.

    Args:
        subject: what is inspected.
        rng: draws equally many rows of each side and cuts them in halves.
        learner: which learner tells them apart.
        progress: called with the share done and what comes next; may raise to stop.

    Raises:
        EvaluationError: when the learner is unknown.
    """
    check_learners((learner,))
    progress(0.0, "telling synthetic rows from real ones")
    value, interval, note = _auc(subject.synthetic, subject.holdout, learner, rng)
    ceiling = ceiling_interval = None
    if subject.train is not None:
        progress(0.5, "telling real rows from real ones")
        ceiling, ceiling_interval, _ = _auc(subject.train, subject.holdout, learner, rng)
    return MetricRow(
        name="discriminator_auc",
        learner=learner,
        subject="synthetic or real",
        value=value,
        floor=None,
        ceiling=ceiling,
        note=note,
        interval=interval,
        ceiling_interval=ceiling_interval,
    )


def _auc(
    made: EncodedTable, real: EncodedTable, learner: str, rng: np.random.Generator
) -> tuple[float | None, Interval | None, str]:
    """The mean area of both halves, its 95% interval, and a note.

    Each half has rows of its own, so the variance of the mean is a quarter of the sum of DeLong's.
    """
    size = min(made.n, real.n, MOST_ROWS)
    if size < FEWEST_ROWS:
        return None, None, f"Fewer than {FEWEST_ROWS} rows on one side: nothing to tell apart by."
    both, label = _stacked(
        made.take(rng.choice(made.n, size, replace=False)),
        real.take(rng.choice(real.n, size, replace=False)),
    )
    # Each side is halved by itself, so that either half has as many rows of both.
    half = np.zeros(2 * size, dtype=bool)
    half[rng.permutation(size)[: size // 2]] = True
    half[size + rng.permutation(size)[: size // 2]] = True
    found: list[tuple[float, float]] = []
    for inside in (half, ~half):
        fitted = fit(learner, both.take(np.flatnonzero(~inside)), target=label)
        test = both.take(np.flatnonzero(inside))
        found.append(delong(test.column(label) == 1, fitted.probabilities(test)[:, 1]))
    area, variance = np.mean(found, axis=0)
    note = f"{size:,} rows of each side, twofold cross-fitting; 0.5 is chance."
    # Half of the mean of both variances is a quarter of their sum.
    return float(area), area_interval(area, variance / 2.0, size), note


def _stacked(made: EncodedTable, real: EncodedTable) -> tuple[EncodedTable, str]:
    """Both tables under each other with a column that says which row is synthetic."""
    schema = real.schema
    # A column of the table may have this name.
    label = "synthetic"
    while label in schema:
        label += "_"
    # Who a row stands for plays no part here.
    wider = replace(schema, columns=(*schema.columns, Column(name=label, kind="boolean")))
    side = np.repeat([1, 0], [made.n, real.n])[:, None]
    codes = np.concatenate([np.concatenate([made.codes, real.codes]), side], axis=1)
    return EncodedTable(schema=wider, codes=codes), label
