"""Predicted against actual values of a numeric target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.evaluation.records import PredictedCurve

_SIDES = {
    "real": ("Trained on real rows", theme.REAL, "diamond-open"),
    "synthetic": ("Trained on synthetic rows", theme.SYNTHETIC, "circle"),
}


def predicted_figure(curves: Sequence[PredictedCurve], target: str, note: str = "") -> go.Figure:
    """Mean prediction for each bin of the holdout, with eight of ten predictions as its bar.

    On the diagonal a prediction is the value itself. Outside epsilon.

    Args:
        curves: one a side.
        target: the column that is predicted.
        note: says why there are none.
    """
    if not curves:
        return theme.sentence_figure(note or "There are no predictions to draw.")
    name = theme.safe(target, 40)
    figure = theme.new_figure(
        height=440,
        xaxis={"title": {"text": f"{name}, actual (middle of the bin)"}, "showgrid": True},
        yaxis={"title": {"text": f"{name}, predicted"}, "showgrid": True},
        margin={"l": 16, "r": 16, "t": 32, "b": 16},
    )
    ends = [min(c.actual[0] for c in curves), max(c.actual[-1] for c in curves)]
    figure.add_scatter(
        x=ends, y=ends, mode="lines", hoverinfo="skip", name="Predicted as it is",
        line={"color": theme.FLOOR, "width": 1.5, "dash": "dot"},
    )  # fmt: skip
    for curve in sorted(curves, key=lambda curve: curve.trained_on):
        _add(figure, curve)
    return figure


def _add(figure: go.Figure, curve: PredictedCurve) -> None:
    title, colour, symbol = _SIDES[curve.trained_on]
    triples = list(zip(curve.predicted, curve.low, curve.high, strict=True))
    figure.add_scatter(
        x=list(curve.actual), y=list(curve.predicted), mode="lines+markers", name=title,
        line={"color": colour, "width": 2}, marker={"symbol": symbol, "size": 9},
        error_y={
            "type": "data", "symmetric": False, "thickness": 1, "width": 3,
            # The mean may lie outside the quantiles of a skewed bin: no bar is negative.
            "array": [max(0.0, high - mean) for mean, _, high in triples],
            "arrayminus": [max(0.0, mean - low) for mean, low, _ in triples],
        },
        customdata=list(curve.rows),
        hovertemplate=f"{title}<br>actual %{{x:.4g}}<br>predicted %{{y:.4g}} on average"
        "<br>%{customdata:,} rows<extra></extra>",
    )  # fmt: skip
