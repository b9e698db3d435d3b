"""The selection pool: features that are chosen privately."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.errors import BudgetError
from prism_core.planning.plan import SelectionChoice
from prism_core.planning.targets import free_features, selection_parts
from prism_core.privacy.information import mutual_information_sensitivity
from prism_core.privacy.regression import GRADIENT_SENSITIVITY
from prism_core.privacy.scores import association_sensitivity

if TYPE_CHECKING:
    from prism_core.planning.frame import Frame


def selections_of(frame: Frame, share: float) -> tuple[SelectionChoice, ...]:
    """The choice of each target; they share the pool by the targets' weights."""
    if share <= 0.0:
        if frame.chooses:
            raise BudgetError(
                "The predictive regime needs a selection share above 0.", field="shares"
            )
        return ()
    parts = selection_parts([target.weight for target in frame.task.targets])
    return tuple(
        _selection(frame, target.name, share * part, frame.taken * part)
        for target, part in zip(frame.task.targets, parts, strict=True)
    )


def _selection(frame: Frame, target: str, share: float, taken: float) -> SelectionChoice:
    amount = frame.total * share
    return SelectionChoice(
        candidates=free_features(frame.schema, frame.task),
        k=frame.task.count,
        rule=frame.task.selection,
        sensitivity=_score_sensitivity(frame, target),
        share=share,
        event=frame.accountant.approximate(amount, taken, "regression to choose features")
        if taken
        else frame.accountant.exponential(amount, frame.task.count, "choosing features"),
    )


def _score_sensitivity(frame: Frame, target: str) -> float:
    """The largest sensitivity of any candidate's score, by the declared domain alone."""
    if frame.task.selection == "logistic":
        return GRADIENT_SENSITIVITY
    if frame.task.selection != "mutual_information":
        return association_sensitivity(frame.n)
    features = map(frame.schema.size, free_features(frame.schema, frame.task))
    binary = frame.schema.size(target) <= 2 or max(features) <= 2
    return mutual_information_sensitivity(frame.n, binary=binary)
