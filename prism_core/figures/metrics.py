"""One score of every learner, between its floor and its ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.evaluation.learners import LEARNER_LABELS
from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.evaluation.records import Evaluation, MetricRow

METRIC_TITLES = {
    "auc": "Area under the ROC curve (higher is better)",
    "accuracy": "Share of rows classified correctly (higher is better)",
    "log_loss": "Log loss in nats (lower is better)",
    "brier": "Brier score (lower is better)",
    "calibration_error": "Expected calibration error (lower is better)",
    "auc_from_s": "Area under the ROC curve from S alone (higher is better)",
    "level_error": "Mean number of levels off (lower is better)",
    "weighted_kappa": "Kappa with quadratic weights (higher is better)",
    "r2": "R² (higher is better; 0 is always giving the mean)",
    "r2_from_s": "R² from S alone (higher is better)",
    "rmse": "Root mean squared error, in the unit of the column (lower is better)",
}
"""Axis titles of the prediction metrics."""

_MARKS = (
    ("floor", "Guessing without any column (floor)", theme.FLOOR, "line-ns-open", "bottom center"),
    ("ceiling", "Trained on real rows", theme.REAL, "diamond-open", "bottom center"),
    ("value", "Trained on synthetic rows", theme.SYNTHETIC, "circle", "top center"),
)


def metric_figure(evaluation: Evaluation, name: str = "auc") -> go.Figure:
    """A dot per learner trained on synthetic rows, on the line from its floor to its ceiling.

    A score that is not defined is replaced by the sentence that says why. Outside epsilon.

    Args:
        evaluation: the result to draw.
        name: "auc", "accuracy", "log_loss", "brier", "level_error", "weighted_kappa", "r2" or
            "rmse".
    """
    return learners_figure(evaluation.find(name), name)


def learners_figure(found: Sequence[MetricRow], name: str = "auc") -> go.Figure:
    """The same for one score of some learners, from wherever it comes. Outside epsilon.

    Args:
        found: a row a learner.
        name: of the score.
    """
    rows = [row for row in found if row.learner is not None]
    if not rows:
        return theme.sentence_figure(f"No learner was scored by {name}.")
    labels = [LEARNER_LABELS.get(row.learner or "", row.learner or "") for row in rows]
    figure = theme.new_figure(
        height=130 + 72 * len(rows),
        xaxis={"title": {"text": METRIC_TITLES.get(name, theme.safe(name))}, "showgrid": True},
        yaxis=theme.rows_axis(labels)
        | {"ticktext": [theme.safe(label).replace(", ", ",<br>", 1) for label in labels]},
    )
    _spans(figure, rows)
    for mark in _MARKS:
        _points(figure, rows, labels, *mark)
    for place, row in enumerate(rows):
        if row.value is None:
            figure.add_annotation(
                text=theme.wrapped(row.note if len(row.note) < 150 else row.note[:149] + "…", 62),
                x=0.5,
                xref="x domain",
                y=place - 0.14,
                yanchor="bottom",
                showarrow=False,
                font={"size": 12},
            )
    return figure


def _spans(figure: go.Figure, rows: list[MetricRow]) -> None:
    """The line from floor to ceiling of every learner."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for place, row in enumerate(rows):
        ends = [end for end in (row.floor, row.ceiling, row.value) if end is not None]
        if len(ends) > 1:
            xs += [min(ends), max(ends), None]
            ys += [place, place, None]
    figure.add_scatter(
        x=xs,
        y=ys,
        mode="lines",
        line={"color": theme.AXIS, "width": 2},
        showlegend=False,
        hoverinfo="skip",
    )


def _points(
    figure: go.Figure,
    rows: list[MetricRow],
    labels: list[str],
    part: str,
    legend: str,
    colour: str,
    symbol: str,
    position: str,
) -> None:
    found = [
        (place, number)
        for place, row in enumerate(rows)
        if (number := getattr(row, part)) is not None
    ]
    figure.add_scatter(
        x=[number for _, number in found],
        y=[place for place, _ in found],
        mode="markers+text",
        marker={"color": colour, "symbol": symbol, "size": 14, "line": {"width": 2.5}},
        text=[f"{number:z.3f}" if abs(number) < 100 else f"{number:,.0f}" for _, number in found],
        textposition=position,
        textfont={"size": 12},
        name=legend,
        customdata=[theme.safe(labels[place]) for place, _ in found],
        hovertemplate=f"%{{customdata}}<br>{legend}: %{{x:.4f}}<extra></extra>",
        cliponaxis=False,
    )
