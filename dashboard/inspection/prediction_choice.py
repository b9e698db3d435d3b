"""Predictions on screen: from which columns, and as numbers or classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.common.fields import keeping
from dashboard.inspection.figure import figure, score_card
from dashboard.inspection.results import ask, inspection
from prism_core.evaluation import (
    MetricRow,
    Prediction,
    Subject,
    by_squared_loss,
    predict,
    sentences,
)
from prism_core.figures import predicted_figure
from prism_core.text.markdown import plain


def columns_choice() -> None:
    """One choice for all cards and curves; nothing where S leaves no column out."""
    now = inspection()
    inner = now.subject.from_s
    if inner is None:
        return
    words = {
        True: f"The protected features S alone ({len(inner.features):,})",
        False: f"All columns ({len(now.subject.features):,})",
    }
    # Only at first: what the curator chooses afterwards stays, also without the switch on screen.
    if now.s_alone is None:
        now.s_alone = sentences.s_first(release_regime())
    st.segmented_control(
        "The models learn from",
        list(words),
        default=now.s_alone,
        format_func=words.__getitem__,
        required=True,
        help="Holds for every number, card and curve below, here and under Subgroups.",
        **keeping(now, "s_alone", "inspect_columns", now.s_alone),
    )


def release_regime() -> str:
    """How the protected features of the release were found."""
    return str(inspection().certificate["task"].get("regime", ""))


def chosen_subject() -> Subject:
    """What is inspected, with the columns that were chosen."""
    return _with(s_alone=bool(inspection().s_alone))


def _with(*, s_alone: bool) -> Subject:
    subject = inspection().subject
    return (subject.from_s or subject) if s_alone else subject


def result_name(learner: str, *, s_alone: bool) -> str:
    """What a learner's results from these columns are kept under."""
    return f"{learner}:S" if s_alone else learner


def prediction(learner: str | None = None) -> Prediction | None:
    """A learner's scores from the chosen columns, by default the target's first learner's.

    None while they are worked out.
    """
    return _predicted(learner, s_alone=chosen_subject().s_alone)


def other_prediction() -> Prediction | None:
    """The first learner's scores from the other columns; None where there are none, or not yet."""
    if inspection().subject.from_s is None:
        return None
    return _predicted(None, s_alone=not chosen_subject().s_alone)


def _predicted(learner: str | None, *, s_alone: bool) -> Prediction | None:
    subject = _with(s_alone=s_alone)
    learner = subject.learners[0] if learner is None else learner
    key = result_name(learner, s_alone=subject.s_alone)
    return ask(f"predict:{key}", lambda tell: predict(subject, learner, tell))


def kind_key(name: str) -> str:
    """A widget's key: numbers and classes have other learners and scores to choose from."""
    return f"{name}_numeric" if inspection().subject.numeric else name


def target_kind_choice() -> None:
    """Whether bins are told apart as classes instead; nothing for other targets."""
    subject = inspection().subject
    if not by_squared_loss(subject.schema[subject.target]):
        return
    st.toggle(
        "Tell its bins apart as classes instead",
        value=subject.as_classes,
        key="as_classes",
        on_change=_changed,
        help="A numeric target is predicted as a number: R² and RMSE. As classes it has AUC, "
        "accuracy, calibration and confusion, and the mean number of bins off.",
    )


def _changed() -> None:
    """What was worked out for the other kind goes."""
    now = inspection()
    now.subject = replace(now.subject, as_classes=bool(st.session_state["as_classes"]))
    # Not all of it: errors, columns and pairs are the same for both kinds.
    now.drop("predict:", "agreement:", "compare:", "subgroups:")


def numeric_scores(found: Prediction, row: MetricRow, third: Any) -> None:  # noqa: ANN401
    """The floor of R², and the error in the column's own unit, in words."""
    score_card(
        third,
        "R², always the mean",
        row.floor,
        row.floor_interval,
        "The floor: the mean of the training rows, no column looked at.",
    )
    words = sentences.off_by(found)
    if words:
        st.markdown(plain(words))


def numeric_curves(found: Prediction) -> None:
    """Predicted against actual: ROC, calibration and confusion are for classes."""
    st.caption(plain(f"Learned from {found.learned_from}."))
    rows = [
        {
            "trained on": curve.trained_on,
            "actual": actual,
            "mean prediction": mean,
            "10% below": low,
            "10% above": high,
            "rows": count,
        }
        for curve in found.predicted
        for actual, mean, low, high, count in zip(
            curve.actual, curve.predicted, curve.low, curve.high, curve.rows, strict=True
        )
    ]
    drawn = predicted_figure(found.predicted, found.target, found.row("r2").note)
    figure(drawn, "predicted", sentences.predicted(found), rows)
