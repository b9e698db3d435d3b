"""What "Can I trust it?" shows of a numeric target: R², RMSE, predicted against actual."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.parts.inspect_figure import figure, score_card
from dashboard.parts.inspect_work import inspection
from dashboard.widgets import plain
from prism_core.evaluation import by_squared_loss, sentences
from prism_core.evaluation.number_words import amount, score_name
from prism_core.figures import predicted_figure

if TYPE_CHECKING:
    from prism_core.evaluation import MetricRow, Prediction


def key(name: str) -> str:
    """A widget's key: numbers and classes have other learners and scores to choose from."""
    return f"{name}_numeric" if inspection().subject.numeric else name


def choice() -> None:
    """Whether bins are told apart as classes instead; nothing for other targets."""
    subject = inspection().subject
    if not by_squared_loss(subject.schema[subject.target]):
        return
    st.toggle(
        "Tell its bins apart as classes instead", value=subject.as_classes, key="as_classes",
        on_change=_changed,
        help="A numeric target is predicted as a number: R² and RMSE. As classes it has AUC, "
        "accuracy, calibration and confusion, and the mean number of bins off.",
    )  # fmt: skip


def _changed() -> None:
    """What was worked out for the other kind goes."""
    now = inspection()
    now.subject = replace(now.subject, as_classes=bool(st.session_state["as_classes"]))
    now.drop("predict:", "agreement:", "compare:", "subgroups:")


def numbers(found: Prediction, row: MetricRow, third: Any, fourth: Any) -> None:  # noqa: ANN401
    """The floor of R², and the error in the column's own unit."""
    score_card(third, "R², always the mean", row.floor, row.floor_interval,
               "The floor: the mean of the training rows, no column looked at.")  # fmt: skip
    error = found.row("rmse")
    score_card(fourth, f"{score_name(error.name)}, trained on synthetic", error.value,
               error.interval, f"Root of the mean squared error from {found.learned_from}, in the "
               "unit of the column.", amount)  # fmt: skip
    words = sentences.off_by(found)
    if words:
        st.markdown(plain(words))


def curves(found: Prediction) -> None:
    """Predicted against actual: ROC, calibration and confusion are for classes."""
    st.subheader("Predicted against actual", anchor=False)
    st.caption(plain(f"Learned from {found.learned_from}."))
    rows = [
        {"trained on": curve.trained_on, "actual": actual, "mean prediction": mean,
         "10% below": low, "10% above": high, "rows": count}
        for curve in found.predicted
        for actual, mean, low, high, count in zip(
            curve.actual, curve.predicted, curve.low, curve.high, curve.rows, strict=True
        )
    ]  # fmt: skip
    drawn = predicted_figure(found.predicted, found.target, found.row("r2").note)
    figure(drawn, "predicted", sentences.predicted(found), rows)
