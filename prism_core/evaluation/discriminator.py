"""Can a classifier tell synthetic rows from real ones? The discriminator test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.column import Column
from prism_core.data.encoding import EncodedTable
from prism_core.evaluation.learners import check_learners, fit
from prism_core.evaluation.records import MetricRow
from prism_core.evaluation.scoring import binary_auc

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
    value, note = _auc(subject.synthetic, subject.holdout, learner, rng)
    ceiling = None
    if subject.train is not None:
        progress(0.5, "telling real rows from real ones")
        ceiling, _ = _auc(subject.train, subject.holdout, learner, rng)
    return MetricRow(
        name="discriminator_auc", learner=learner, subject="synthetic or real", value=value,
        floor=None, ceiling=ceiling, note=note,
    )  # fmt: skip


def _auc(
    made: EncodedTable, real: EncodedTable, learner: str, rng: np.random.Generator
) -> tuple[float | None, str]:
    size = min(made.n, real.n, MOST_ROWS)
    if size < FEWEST_ROWS:
        return None, f"Fewer than {FEWEST_ROWS} rows on one side: nothing to tell apart by."
    both, label = _stacked(
        made.take(rng.choice(made.n, size, replace=False)),
        real.take(rng.choice(real.n, size, replace=False)),
    )
    half = np.zeros(2 * size, dtype=bool)
    half[rng.permutation(size)[: size // 2]] = True
    half[size + rng.permutation(size)[: size // 2]] = True
    score = np.empty(2 * size)
    areas: list[float] = []
    for inside in (half, ~half):
        fitted = fit(learner, both.take(np.flatnonzero(~inside)), target=label)
        test = both.take(np.flatnonzero(inside))
        score[inside] = fitted.probabilities(test)[:, 1]
        area = binary_auc(test.column(label) == 1, score[inside])
        if area is not None:
            areas.append(area)
    note = f"{size:,} rows of each side, twofold cross-fitting; 0.5 is chance."
    return (float(np.mean(areas)), note) if areas else (None, "Only one side was drawn.")


def _stacked(made: EncodedTable, real: EncodedTable) -> tuple[EncodedTable, str]:
    """Both tables under each other with a column that says which row is synthetic."""
    schema = real.schema
    label = "synthetic"
    while label in schema:
        label += "_"
    # Who a row stands for plays no part here.
    wider = replace(
        schema, columns=(*schema.columns, Column(name=label, kind="boolean")),
    )  # fmt: skip
    side = np.repeat([1, 0], [made.n, real.n])[:, None]
    codes = np.concatenate([np.concatenate([made.codes, real.codes]), side], axis=1)
    return EncodedTable(schema=wider, codes=codes), label
