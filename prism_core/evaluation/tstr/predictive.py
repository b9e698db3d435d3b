"""Predictive scores: train on synthetic, test on real (TSTR), beside ceiling and floor.

The ceiling (TRTR) is the same learner trained on real rows; the floor predicts the class
shares and looks at no feature. All of it reads private rows without noise: it spends nothing
and gives no guarantee, so it is outside epsilon and for the curator only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.results import FROM_S, MetricRow, RocCurve, Side
from prism_core.evaluation.tstr import scoring, squared_loss
from prism_core.evaluation.tstr.attempts import Attempt, difference_interval, kept_interval
from prism_core.evaluation.tstr.intervals import (
    Interval,
    Resamples,
    auc_interval,
    class_statistics,
    enough,
    percentiles,
    rare_classes,
    resamples,
    share_interval,
    too_few,
)
from prism_core.evaluation.tstr.learners import check_learners, fit, labelled
from prism_core.evaluation.tstr.regressors import by_squared_loss, learners_of, ordered_classes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable
    from prism_core.data.schema.column import Column

METRICS: dict[str, Callable[[NDArray[np.integer], NDArray[np.float64]], float | None]] = {
    "auc": scoring.macro_auc,
    "accuracy": scoring.accuracy,
    "log_loss": scoring.log_loss,
    "brier": scoring.brier,
}
"""The scores of a classifier, by metric name."""

ORDERED_METRICS: dict[str, Callable[[NDArray[np.integer], NDArray[np.float64]], float | None]] = {
    "level_error": scoring.level_error,
    "weighted_kappa": scoring.weighted_kappa,
}
"""What is added for three or more classes in an order."""

MAX_CLASSES = 100
"""Targets with more classes are not predicted: the fits would take hours."""

MAX_CURVE_CLASSES = 6
"""With more than two classes, ROC curves are kept for the most frequent ones in the holdout."""


def scores_of(column: Column, *, as_classes: bool = False) -> tuple[str, ...]:
    """Names of the scores of a target, the headline first: "auc", or "r2" of a numeric one."""
    if by_squared_loss(column, as_classes=as_classes):
        return tuple(squared_loss.METRICS)
    return (*METRICS, *(ORDERED_METRICS if ordered_classes(column) else ()))


def predictive_rows(
    synthetic: EncodedTable,
    holdout: EncodedTable,
    *,
    target: str,
    features: Sequence[str],
    train: EncodedTable | None = None,
    learners: Sequence[str] | None = None,
    as_classes: bool = False,
    sampled: Resamples | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[tuple[MetricRow, ...], tuple[RocCurve, ...]]:
    """TSTR rows and ROC curves of every learner.

    Rows whose target is missing are left out in fitting and in scoring. A numeric target of
    three or more bins is predicted by squared loss and has no ROC curve. The AUC counts the last
    class as positive when there are two classes; with more it is the mean over the classes
    present in the holdout, each against the rest. Spends nothing and gives no guarantee: outside
    epsilon, for the curator only.

    Args:
        synthetic: the rows to train on.
        holdout: real rows that took no part in making the synthetic ones.
        target: the column to predict.
        features: the columns to predict from.
        train: real training rows, for the ceiling.
        learners: which to try; None for all of `learners_of` the target.
        as_classes: tell the bins of a numeric target apart as classes instead.
        sampled: resamples of the holdout rows with a known target, for the intervals; None for
            those of `resamples`.
        progress: told what starts; may raise to stop.

    Raises:
        EvaluationError: when a learner is unknown.
    """
    column = holdout.schema[target]
    allowed = learners_of(column, as_classes=as_classes)
    learners = allowed if learners is None else learners
    check_learners(learners, allowed)
    names = scores_of(column, as_classes=as_classes)
    test = labelled(holdout, target)
    # The same resamples for all learners, so that their scores are compared pair by pair.
    sampled = resamples(test.n, person=test.person) if sampled is None else sampled
    floor = floor_scores(test, target, train, sampled, as_classes=as_classes)
    rows: list[MetricRow] = []
    curves: list[RocCurve] = []
    for learner in learners:
        progress(f"{learner} on synthetic rows")
        made = attempt(
            learner, "synthetic", synthetic, test, target, features, sampled, as_classes=as_classes
        )
        real = None
        if train is not None:
            progress(f"{learner} on real rows")
            real = attempt(
                learner, "real", train, test, target, features, sampled, as_classes=as_classes
            )
        rows += [metric_row(name, learner, test, target, made, real, floor) for name in names]
        curves += made.curves + (real.curves if real else ())
    return tuple(rows), tuple(curves)


def protected_rows(
    synthetic: EncodedTable,
    holdout: EncodedTable,
    *,
    target: str,
    s: Sequence[str],
    train: EncodedTable | None = None,
    as_classes: bool = False,
    sampled: Resamples | None = None,
) -> tuple[MetricRow, ...]:
    """The AUC (or R^2) of the default learner from the protected features S alone.

    The causal regime leaves predictive columns out on purpose, so its honest ceiling is what
    real rows reach with S. Spends nothing and gives no guarantee: outside epsilon, for the
    curator only.
    """
    column = holdout.schema[target]
    rows, _ = predictive_rows(
        synthetic,
        holdout,
        target=target,
        features=s,
        train=train,
        # The first is the default one; a second set of scores for each would double the time.
        learners=learners_of(column, as_classes=as_classes)[:1],
        as_classes=as_classes,
        sampled=sampled,
    )
    score = scores_of(column, as_classes=as_classes)[0]
    return tuple(replace(row, name=f"{score}{FROM_S}") for row in rows if row.name == score)


def metric_row(
    name: str,
    learner: str,
    test: EncodedTable,
    target: str,
    made: Attempt,
    real: Attempt | None,
    floor: Attempt,
) -> MetricRow:
    """One score of both sides with its intervals and notes. Spends nothing; outside epsilon."""
    value = made.values.get(name)
    notes = [*made.notes]
    if real is None:
        notes.append("No real training rows were given, so there is no ceiling.")
    else:
        # Once, where both sides say the same.
        notes += [note for note in real.notes if note not in notes]
    numeric = name in squared_loss.METRICS
    notes += (squared_loss.numeric_notes if numeric else _test_notes)(name, test, target)
    return MetricRow(
        name=name,
        learner=learner,
        subject=target,
        value=value,
        floor=floor.values.get(name),
        ceiling=None if real is None else real.values.get(name),
        note=" ".join(notes),
        interval=made.intervals.get(name),
        floor_interval=floor.intervals.get(name),
        ceiling_interval=None if real is None else real.intervals.get(name),
        difference_interval=difference_interval(made, real, name),
        kept_interval=kept_interval(made, real, floor, name) if name in ("auc", "r2") else None,
    )


def attempt(
    learner: str,
    side: Side,
    table: EncodedTable,
    test: EncodedTable,
    target: str,
    features: Sequence[str],
    sampled: Resamples,
    *,
    as_classes: bool = False,
) -> Attempt:
    """Fit a learner to one side and score it on the test rows and their resamples.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.
    """
    column = table.schema[target]
    if by_squared_loss(column, as_classes=as_classes):
        return squared_loss.attempt_numeric(learner, side, table, test, target, features, sampled)
    rows = labelled(table, target)
    shown = np.unique(rows.column(target))
    refusal = _refusal(rows, shown, side, target)
    if refusal or not test.n:
        return Attempt(notes=(refusal,) if refusal else ())
    fitted = fit(learner, rows, target=target, features=features)
    proba = fitted.probabilities(test)
    return replace(
        scored_classes(column, test.column(target), proba, sampled),
        notes=_fit_notes(rows, shown, side, target, converged=fitted.converged),
        curves=_curves(learner, side, test, target, proba),
        fitted=fitted,
        proba=proba,
    )


def _refusal(table: EncodedTable, shown: NDArray[np.integer], side: Side, target: str) -> str:
    """Why no classifier can be fitted to these rows, or ""."""
    column = table.schema[target]
    rows = "synthetic rows" if side == "synthetic" else "real training rows"
    if column.level_count > MAX_CLASSES:
        return (
            f"{target} has {column.level_count:,} classes and at most {MAX_CLASSES} are "
            "predicted; group its levels to evaluate it."
        )
    if not table.n:
        return f"There are no {rows} with a known {target}, so nothing can be fitted to them."
    if len(shown) == 1:
        return (
            f"All {rows} have {target} = {column.labels()[shown[0]]}, so nothing can be "
            "fitted to them."
        )
    return ""


def _fit_notes(
    table: EncodedTable, shown: NDArray[np.integer], side: Side, target: str, *, converged: bool
) -> tuple[str, ...]:
    rows = "synthetic rows" if side == "synthetic" else "real training rows"
    labels = table.schema[target].labels()[: table.schema[target].level_count]
    absent = [label for code, label in enumerate(labels) if code not in shown]
    notes: list[str] = []
    if absent:
        names = ", ".join(absent[:3]) + (f" and {len(absent) - 3} more" if len(absent) > 3 else "")
        notes.append(f"The {rows} never show {target} = {names}, which gets probability 0.")
    if not converged:
        notes.append(f"The fit to the {rows} was stopped before it had converged.")
    return tuple(notes)


def _test_notes(name: str, test: EncodedTable, target: str) -> list[str]:
    """What the holdout rows themselves do to a score."""
    column = test.schema[target]
    if not test.n:
        return [f"There are no holdout rows with a known {target}, so nothing can be scored."]
    y = test.column(target)
    present = np.unique(y)
    if name == "auc" and len(present) == 1:
        label = column.labels()[present[0]]
        return [f"All holdout rows have {target} = {label}, so the AUC is not defined."]
    if not enough(name, y, column.level_count):
        return [too_few(y, target, column.labels()[: column.level_count])]
    if name == "auc" and column.level_count > 2:
        return [
            f"Mean over the {len(present)} of {column.level_count} classes that the holdout "
            "shows, each against the rest."
        ]
    return []


def scored_classes(
    column: Column, y: NDArray[np.integer], proba: NDArray[np.float64], sampled: Resamples
) -> Attempt:
    """The scores of a classifier that are defined, with their intervals and resampled values.

    The interval of an AUC of two classes is DeLong's where each row is another person's; the others
    are percentiles of the resamples.
    Spends nothing and gives no guarantee: outside epsilon, for the curator only.

    Args:
        column: the target.
        y: shape (n,), class codes of the test rows.
        proba: shape (n, classes).
        sampled: resamples of these rows.
    """
    ordered = ordered_classes(column)
    labels = column.labels()[: column.level_count]
    every = METRICS | (ORDERED_METRICS if ordered else {})
    values = {
        name: value
        for name, score in every.items()
        if enough(name, y, len(labels)) and (value := score(y, proba)) is not None
    }
    statistics = class_statistics(y, proba, ordered=ordered)
    draws = sampled.scores({name: statistics[name] for name in values})
    intervals: dict[str, Interval] = {}
    for name, value in values.items():
        ends = percentiles(draws[name])
        # DeLong's rows are independent, and those of one person are not.
        if name == "auc" and len(labels) == 2 and sampled.person is None:
            ends = auc_interval(y == 1, proba[:, 1])
        elif values.get("accuracy") in (0.0, 1.0) and name in ("accuracy", *ORDERED_METRICS):
            # No resample differs from the rows: that is no certainty.
            ends = share_interval(value * len(y), len(y)) if name == "accuracy" else None
        if ends is not None:
            intervals[name] = ends
    return Attempt(values=values, intervals=intervals, draws=draws)


def floor_scores(
    test: EncodedTable,
    target: str,
    train: EncodedTable | None,
    sampled: Resamples,
    *,
    as_classes: bool = False,
) -> Attempt:
    """Scores of the class shares of the real training rows (else of the holdout itself).

    Of a numeric target those of their mean.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.
    """
    column = test.schema[target]
    if by_squared_loss(column, as_classes=as_classes):
        return squared_loss.numeric_floor(test, target, train, sampled)
    known = test if train is None else labelled(train, target)
    # Training rows may have no known target; the shares then are the holdout's own.
    source = known if known.n else test
    if not source.n or not test.n:
        return Attempt()
    classes = column.level_count
    shares = np.bincount(source.column(target), minlength=classes) / source.n
    y = test.column(target)
    # A view: the same shares for every row take no memory.
    return scored_classes(column, y, np.broadcast_to(shares, (test.n, classes)), sampled)


def _curves(
    learner: str, side: Side, test: EncodedTable, target: str, proba: NDArray[np.float64]
) -> tuple[RocCurve, ...]:
    column = test.schema[target]
    y = test.column(target)
    # Of two classes one curve is enough: the other's is its mirror image.
    codes = [1]
    if column.level_count != 2:
        counts = np.bincount(y, minlength=column.level_count)
        # Stable: classes with as many rows keep the declared order.
        codes = [int(c) for c in np.argsort(-counts, kind="stable")[:MAX_CURVE_CLASSES]]
    curves: list[RocCurve] = []
    rare = rare_classes(y, column.level_count)
    for code in codes:
        # Of two classes a curve rests on the rows of both.
        if code in rare or (rare and column.level_count == 2):
            continue
        positive = y == code
        points = scoring.roc_points(positive, proba[:, code])
        area = scoring.binary_auc(positive, proba[:, code])
        if points is None or area is None:
            continue
        curves.append(
            RocCurve(
                learner=learner,
                trained_on=side,
                class_label=column.labels()[code],
                fpr=tuple(points[0].tolist()),
                tpr=tuple(points[1].tolist()),
                auc=area,
                interval=None
                if test.person is not None
                else auc_interval(positive, proba[:, code]),
            )
        )
    return tuple(curves)
