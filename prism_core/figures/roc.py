"""The ROC curves of a classifier trained on synthetic rows and on real rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.errors import EvaluationError
from prism_core.evaluation.number_words import ends
from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.evaluation.records import Evaluation, RocCurve

_NAMES = {"synthetic": "Trained on synthetic rows", "real": "Trained on real rows"}


def roc_figure(evaluation: Evaluation, learner: str | None = None) -> go.Figure:
    """TSTR and TRTR curves on the same real holdout rows, above the diagonal floor.

    With two classes the colours tell the training rows apart; with more, a colour is a class
    (against the rest) and the training rows are told apart by the dashes. Outside epsilon.

    Args:
        evaluation: the result to draw.
        learner: whose curves; by default the default learner's.

    Raises:
        EvaluationError: when the learner was not tried.
    """
    chosen = evaluation.default_learner if learner is None else learner
    if chosen is None or chosen not in evaluation.learners:
        raise EvaluationError(
            f"learner ({chosen}) must be one of {', '.join(evaluation.learners) or 'none'}.",
            field="learner",
        )
    curves = [curve for curve in evaluation.roc if curve.learner == chosen]
    return curves_figure(curves, evaluation.find("auc", chosen)[0].note)


def curves_figure(
    curves: Sequence[RocCurve], note: str = "", learned_from: str = ""
) -> go.Figure:  # fmt: skip
    """The same for the curves of one learner, from wherever they come. Outside epsilon.

    Args:
        curves: what to draw; each is named with its area and that area's 95% interval.
        note: says why there are none.
        learned_from: the columns that the models learned from, in words.
    """
    if not curves:
        return theme.sentence_figure(note or "There is no curve to draw.")
    labels = list(dict.fromkeys(curve.class_label for curve in curves))
    rate = {"range": [-0.01, 1.01], "dtick": 0.2, "tickformat": ".1f"}
    figure = theme.new_figure(
        height=440,
        xaxis={"title": {"text": "False positive rate"}, **rate},
        yaxis={"title": {"text": "True positive rate"}, **rate},
        margin={"l": 16, "r": 16, "t": 16, "b": 16},
    )
    _floor(figure)
    for curve in curves:
        _add(figure, curve, labels)
    corner = {"x": 0.99, "xanchor": "right", "y": 0.02, "yanchor": "bottom", "orientation": "v"}
    place = corner if len(labels) == 1 else _beside()
    figure.update_layout(legend=place | theme.legend_title(learned_from, "in brackets"))
    return figure


def _beside() -> dict[str, object]:
    return {"x": 1.02, "xanchor": "left", "y": 1.0, "yanchor": "top", "orientation": "v"}


def _add(figure: go.Figure, curve: RocCurve, labels: list[str]) -> None:
    single = len(labels) == 1
    place = labels.index(curve.class_label)
    side = theme.SYNTHETIC if curve.trained_on == "synthetic" else theme.REAL
    name = _NAMES[curve.trained_on]
    if not single:
        name = f"{theme.safe(curve.class_label, 20)}, {curve.trained_on}"
    figure.add_scatter(
        x=list(curve.fpr),
        y=list(curve.tpr),
        mode="lines",
        line={
            "color": side if single else theme.PALETTE[place % len(theme.PALETTE)],
            "width": 2.5,
            "dash": "solid" if curve.trained_on == "synthetic" else "dash",
        },
        name=f"{name}: AUC {curve.auc:.3f}"
        + (f" ({ends(curve.interval)})" if curve.interval else ""),
        hovertemplate=(
            f"{name}<br>false positives %{{x:.1%}}<br>true positives %{{y:.1%}}<extra></extra>"
            if single
            else "false positives %{x:.1%}<br>true positives %{y:.1%}<extra></extra>"
        ),
    )


def _floor(figure: go.Figure) -> None:
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": theme.FLOOR, "width": 1.5, "dash": "dot"},
        name="Guessing (floor): AUC 0.500",
        hoverinfo="skip",
    )
