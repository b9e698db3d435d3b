"""Predicted against observed shares, and which class was taken for which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.evaluation.number_words import ends
from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.evaluation.calibration import CalibrationCurve
    from prism_core.evaluation.prediction import Confusion

MOST_CLASSES = 12
"""Classes drawn in a confusion matrix; the table beside it holds all."""


def calibration_figure(
    curves: Sequence[CalibrationCurve], note: str = "", learned_from: str = ""
) -> go.Figure:  # fmt: skip
    """One line for each side, beside the diagonal of a perfect forecast. Outside epsilon.

    A bar at each point is the 95% interval of its observed share.

    Args:
        curves: of one learner.
        note: says why there are none.
        learned_from: the columns that the models learned from, in words.
    """
    if not curves:
        why = note or "There are no scored rows, so there is no calibration."
        return theme.sentence_figure(why)
    share = {"range": [-0.02, 1.02], "dtick": 0.2, "tickformat": ".0%"}
    figure = theme.new_figure(
        height=440,
        xaxis={"title": {"text": "Predicted probability"}, **share},
        yaxis={"title": {"text": f"Share that is {theme.safe(curves[0].of, 40)}"}, **share},
        margin={"l": 16, "r": 16, "t": 16, "b": 16},
    )
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", hoverinfo="skip", name="Every forecast comes true",
        line={"color": theme.FLOOR, "width": 1.5, "dash": "dot"},
    )  # fmt: skip
    for curve in curves:
        made = curve.trained_on == "synthetic"
        name = f"Trained on {curve.trained_on} rows: error {curve.error:.3f}"
        name += f" ({ends(curve.interval)})" if curve.interval else ""
        figure.add_scatter(
            x=list(curve.predicted), y=list(curve.observed), mode="lines+markers", name=name,
            line={
                "color": theme.SYNTHETIC if made else theme.REAL, "width": 2.5,
                "dash": "solid" if made else "dash",
            },
            marker={"size": 8, "symbol": "circle" if made else "diamond"},
            error_y={
                "type": "data", "symmetric": False, "thickness": 1, "width": 3,
                "array": [b - y for b, y in zip(curve.high, curve.observed, strict=True)],
                "arrayminus": [y - a for a, y in zip(curve.low, curve.observed, strict=True)],
            },
            customdata=list(zip(curve.rows, curve.low, curve.high, strict=True)),
            hovertemplate="predicted %{x:.1%}<br>observed %{y:.1%} (95% interval "
            "%{customdata[1]:.1%} to %{customdata[2]:.1%})<br>%{customdata[0]:,} rows"
            "<extra></extra>",
        )  # fmt: skip
    place = {"x": 0.02, "xanchor": "left", "y": 0.98, "yanchor": "top", "orientation": "v"}
    heading = theme.legend_title(learned_from, "in brackets and as bars")
    figure.update_layout(legend=place | heading)
    return figure


def confusion_figure(table: Confusion) -> go.Figure:
    """Shares of every true class by predicted class, with the counts in the cells.

    Of more than `MOST_CLASSES` classes the most frequent are drawn. Outside epsilon.
    """
    size = [sum(row) for row in table.counts]
    ranked = sorted(range(len(size)), key=lambda code: -size[code])[:MOST_CLASSES]
    kept = sorted(ranked)
    counts = [[table.counts[i][j] for j in kept] for i in kept]
    shares = [
        [count / max(1, size[i]) for count in row] for i, row in zip(kept, counts, strict=True)
    ]
    labels = [table.labels[code] for code in kept]
    axis = theme.name_axis(labels, limit=18)
    figure = theme.new_figure(
        height=150 + 44 * max(3, len(kept)),
        xaxis=axis | {"title": {"text": "Predicted"}, "range": [-0.5, len(kept) - 0.5]},
        yaxis=axis | {"title": {"text": "True"}, "range": [len(kept) - 0.5, -0.5]},
        margin={"l": 16, "r": 16, "t": 16, "b": 16},
    )
    figure.add_heatmap(
        x=list(range(len(kept))), y=list(range(len(kept))), z=shares, zmin=0.0, zmax=1.0,
        colorscale="Cividis", xgap=2, ygap=2, text=[[f"{c:,}" for c in row] for row in counts],
        texttemplate="%{text}",
        hovertemplate="%{text} rows, %{z:.1%} of the true class<extra></extra>",
        colorbar={"title": {"text": "Share of the true class", "side": "right"}, "thickness": 12,
                  "tickformat": ".0%", "outlinewidth": 0},
    )  # fmt: skip
    return figure
