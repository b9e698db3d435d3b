"""Evaluations of one or several targets: prediction on real holdout rows, then distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prism_core.errors import EvaluationError
from prism_core.evaluation.fidelity import distances as fidelity
from prism_core.evaluation.results import Evaluation
from prism_core.evaluation.tstr.intervals import resamples
from prism_core.evaluation.tstr.learners import check_learners, labelled
from prism_core.evaluation.tstr.predictive import predictive_rows, protected_rows
from prism_core.evaluation.tstr.regressors import learners_of
from prism_core.planning.regimes import Aim, features_for
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from prism_core.data.encoding import EncodedTable


def evaluate(
    synthetic: EncodedTable,
    holdout: EncodedTable,
    *,
    target: str,
    train: EncodedTable | None = None,
    features: Sequence[str] | None = None,
    s: Sequence[str] = (),
    learners: Sequence[str] | None = None,
    as_classes: bool = False,
    rng: np.random.Generator | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Evaluation:
    """Compare synthetic rows with real ones, for one prediction task.

    Reads private rows without noise. It spends nothing and gives no guarantee: outside
    epsilon, for the curator only. Keeping the best of several releases by these numbers is
    itself a leak. Rows whose target is missing are left out of fitting and scoring.

    Args:
        synthetic: the synthetic rows.
        holdout: real rows that took no part in making them.
        target: the column to predict.
        train: the real rows they were made from; give the ceiling, and the side that
            distances are measured against (else the holdout).
        features: the columns to predict from; by default all others.
        s: the protected columns, for the distance of the joint (S, Y).
        learners: which to try: of `LEARNERS`, or of `REGRESSORS` for a numeric target; None for
            all of them.
        as_classes: tell the bins of a numeric target apart as classes, instead of predicting its
            value by squared loss.
        rng: draws the resamples of the holdout rows that 95% intervals come from; None for the
            same ones each time.
        progress: called with the share done (0 to 1) and what comes next; may raise to stop.

    Returns:
        The evaluation. What is not defined for these rows (one class, no rows) is a row with
        value None and a note; it never raises for what the rows hold.

    Raises:
        EvaluationError: when the tables have different columns, or a name is unknown.
    """
    names = check_evaluated_tables(synthetic, holdout, train, target=target, features=features, s=s)
    allowed = learners_of(synthetic.schema[target], as_classes=as_classes)
    learners = allowed if learners is None else learners
    check_learners(learners, allowed)
    known = labelled(holdout, target)
    sampled = resamples(known.n, rng, known.person)
    # A fit a learner and side, then distances of columns and of pairs.
    steps = len(learners) * (1 if train is None else 2) + 2
    done = iter(range(steps + 1))

    def tell(text: str) -> None:
        if progress is not None:
            progress(next(done) / steps, text)

    rows, curves = predictive_rows(
        synthetic,
        holdout,
        target=target,
        features=names,
        train=train,
        learners=learners,
        as_classes=as_classes,
        sampled=sampled,
        progress=tell,
    )
    # With all columns in S the scores would be the same once more.
    if learners and s and set(s) < set(names):
        rows = rows + protected_rows(
            synthetic,
            holdout,
            target=target,
            s=s,
            train=train,
            as_classes=as_classes,
            sampled=sampled,
        )
    tell("distances of columns")
    comparison = _comparison(synthetic, holdout, train)
    distances = [
        *fidelity.column_rows(comparison),
        *fidelity.task_rows(comparison, target=target, features=names, s=s),
        *fidelity.correlation_rows(comparison),
    ]
    tell("distances of pairs")
    pairs = fidelity.pair_tv(synthetic, comparison.real)
    distances += fidelity.pair_rows(comparison, pairs)
    tell("done")
    return Evaluation(
        target=target,
        rows=(*rows, *distances),
        roc=curves,
        columns=fidelity.column_shapes(comparison),
        pair_tv=pairs,
        n_synthetic=synthetic.n,
        n_train=None if train is None else train.n,
        n_holdout=holdout.n,
    )


def check_evaluated_tables(
    synthetic: EncodedTable,
    holdout: EncodedTable,
    train: EncodedTable | None,
    *,
    target: str,
    features: Sequence[str] | None,
    s: Sequence[str],
) -> tuple[str, ...]:
    """The features; everything that can be wrong without looking at a row is refused here.

    Spends nothing: no row is looked at.

    Raises:
        EvaluationError: when the tables have different columns, or a name is unknown.
    """
    schema = synthetic.schema
    others = [("holdout", holdout), *([("train", train)] if train is not None else [])]
    for field, table in others:
        # Columns alone: how persons are declared differs between real and synthetic rows.
        if table.schema.columns != schema.columns:
            raise EvaluationError(
                f"The {field} rows have other columns than the synthetic rows. Encode both with "
                "the same schema.",
                field=field,
            )
    for field, wanted in (("target", (target,)), ("features", features or ()), ("s", s)):
        for name in wanted:
            if name not in schema:
                close = suggestion(name, schema.names)
                raise EvaluationError(
                    f"There is no column {name!r} in the schema.{close}", field=field
                )
    names = tuple(schema.names if features is None else dict.fromkeys(features))
    # The target is dropped silently: a caller may name all columns.
    names = tuple(name for name in names if name != target)
    if not names:
        raise EvaluationError("There is no column to predict the target from.", field="features")
    return names


def evaluate_targets(
    synthetic: EncodedTable,
    holdout: EncodedTable,
    aims: Sequence[Aim],
    *,
    train: EncodedTable | None = None,
    learners: Sequence[str] | None = None,
    as_classes: bool = False,
) -> tuple[Evaluation, ...]:
    """Every target by itself: its features are all columns but targets that are not in its S.

    Reads private rows without noise. It spends nothing and gives no guarantee: outside epsilon,
    for the curator only. Arguments as for `evaluate`.

    Args:
        synthetic: the synthetic rows.
        holdout: real rows that took no part in making them.
        aims: targets with their features.
        train: the real rows they were made from.
        learners: which to try; those that fit each target when None.
        as_classes: whether bins of a numeric target are told apart as classes.
    """
    return tuple(
        evaluate(
            synthetic,
            holdout,
            target=aim.target,
            train=train,
            s=aim.s,
            learners=learners,
            as_classes=as_classes,
            features=features_for(synthetic.schema, aims, aim.target),
        )
        for aim in aims
    )


def evaluation_document(found: Sequence[Evaluation], aims: Sequence[Aim]) -> dict[str, Any]:
    """What `prism evaluate --json` prints: of one target its evaluation.

    Of several it is that of the first, with the metrics of the others behind its own (a metric
    names its target as its subject), and a list of the targets with their headline numbers.
    Distances that no target has a say in stand there once. Outside epsilon.
    """
    first = found[0].to_dict()
    if len(found) == 1:
        return first
    for other in found[1:]:
        first["metrics"] += [
            row.to_dict()
            for row in other.rows
            # Other distances are of the tables, whatever is predicted, and stand with the first
            # target.
            if row.learner is not None or row.name.startswith("task_tv")
        ]
    first["targets"] = [
        {
            "target": one.target,
            "weight": aim.weight,
            "s": list(aim.s),
            "score": one.score,
            "tstr": None if one.headline is None else one.headline.value,
            "trtr": None if one.headline is None else one.headline.ceiling,
            "tstr_interval": one.ends("interval"),
            "trtr_interval": one.ends("ceiling_interval"),
            "tstr_auc": one.tstr_auc,
            "trtr_auc": one.trtr_auc,
        }
        for one, aim in zip(found, aims, strict=True)
    ]
    return first


def _comparison(
    synthetic: EncodedTable, holdout: EncodedTable, train: EncodedTable | None
) -> fidelity.RowComparison:
    """What distances are measured against: the training rows, where there are any."""
    if train is None or train.n == 0:
        return fidelity.RowComparison(synthetic=synthetic, real=holdout, other=None)
    # The holdout then says what sampling alone does.
    return fidelity.RowComparison(synthetic=synthetic, real=train, other=holdout)
