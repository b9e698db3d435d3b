"""One evaluation for each of several targets, and all of them as one document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prism_core.evaluation.evaluate import evaluate
from prism_core.planning.targets import features_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.encoding import EncodedTable
    from prism_core.evaluation.records import Evaluation
    from prism_core.planning.targets import Aim


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
            synthetic, holdout, target=aim.target, train=train, s=aim.s, learners=learners,
            as_classes=as_classes,
            features=features_for(synthetic.schema, aims, aim.target),
        )
        for aim in aims
    )  # fmt: skip


def document(found: Sequence[Evaluation], aims: Sequence[Aim]) -> dict[str, Any]:
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
            if row.learner is not None or row.name.startswith("task_tv")
        ]
    first["targets"] = [
        {
            "target": one.target, "weight": aim.weight, "s": list(aim.s),
            "score": one.score,
            "tstr": None if one.headline is None else one.headline.value,
            "trtr": None if one.headline is None else one.headline.ceiling,
            "tstr_interval": one.ends("interval"), "trtr_interval": one.ends("ceiling_interval"),
            "tstr_auc": one.tstr_auc, "trtr_auc": one.trtr_auc,
        }
        for one, aim in zip(found, aims, strict=True)
    ]  # fmt: skip
    return first
