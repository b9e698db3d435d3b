"""Predictions of models from synthetic and real rows: ROC, calibration, confusion, weights.

With predicted against actual values of a numeric target, and what both models rely on, one against
the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.evaluation.score_text import ends
from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.evaluation.results import PredictedCurve, RocCurve
    from prism_core.evaluation.tstr.calibration_curve import CalibrationCurve
    from prism_core.evaluation.tstr.model_agreement import ModelAgreement
    from prism_core.evaluation.tstr.prediction import Confusion

_NAMES = {"synthetic": "Trained on synthetic rows", "real": "Trained on real rows"}


def curves_figure(curves: Sequence[RocCurve], note: str = "", learned_from: str = "") -> go.Figure:
    """ROC curves of one learner on the same real rows, above the diagonal floor. Outside epsilon.

    With two classes the colours tell the training rows apart; with more, a colour is a class
    (against the rest) and the training rows are told apart by the dashes.

    Args:
        curves: what to draw; each is named with its area and that area's 95% interval.
        note: says why there are none.
        learned_from: the columns that the models learned from, in words.
    """
    if not curves:
        return theme.sentence_figure(note or "There is no curve to draw.")
    labels = list(dict.fromkeys(curve.class_label for curve in curves))
    # A little beyond both ends, or curves along the edge would be cut in half.
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
    # One pair of curves leaves the lower right corner free; more need room beside them.
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


MOST_CLASSES = 12
"""Classes drawn in a confusion matrix; the table beside it holds all."""


def calibration_figure(
    curves: Sequence[CalibrationCurve], note: str = "", learned_from: str = ""
) -> go.Figure:
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
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        hoverinfo="skip",
        name="Every forecast comes true",
        line={"color": theme.FLOOR, "width": 1.5, "dash": "dot"},
    )
    for curve in curves:
        made = curve.trained_on == "synthetic"
        name = f"Trained on {curve.trained_on} rows: error {curve.error:.3f}"
        name += f" ({ends(curve.interval)})" if curve.interval else ""
        figure.add_scatter(
            x=list(curve.predicted),
            y=list(curve.observed),
            mode="lines+markers",
            name=name,
            line={
                "color": theme.SYNTHETIC if made else theme.REAL,
                "width": 2.5,
                "dash": "solid" if made else "dash",
            },
            marker={"size": 8, "symbol": "circle" if made else "diamond"},
            error_y={
                "type": "data",
                "symmetric": False,
                "thickness": 1,
                "width": 3,
                "array": [b - y for b, y in zip(curve.high, curve.observed, strict=True)],
                "arrayminus": [y - a for a, y in zip(curve.low, curve.observed, strict=True)],
            },
            customdata=list(zip(curve.rows, curve.low, curve.high, strict=True)),
            hovertemplate="predicted %{x:.1%}<br>observed %{y:.1%} (95% interval "
            "%{customdata[1]:.1%} to %{customdata[2]:.1%})<br>%{customdata[0]:,} rows"
            "<extra></extra>",
        )
    place = {"x": 0.02, "xanchor": "left", "y": 0.98, "yanchor": "top", "orientation": "v"}
    heading = theme.legend_title(learned_from, "in brackets and as bars")
    figure.update_layout(legend=place | heading)
    return figure


def confusion_figure(table: Confusion) -> go.Figure:
    """Shares of every true class by predicted class, with the counts in the cells.

    Of more than `MOST_CLASSES` classes the most frequent are drawn. Outside epsilon.
    """
    size = [sum(row) for row in table.counts]
    # The most frequent ones, and then in the declared order, which may mean something.
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
        # The first class on top, as a matrix is read.
        yaxis=axis | {"title": {"text": "True"}, "range": [len(kept) - 0.5, -0.5]},
        margin={"l": 16, "r": 16, "t": 16, "b": 16},
    )
    figure.add_heatmap(
        x=list(range(len(kept))),
        y=list(range(len(kept))),
        z=shares,
        zmin=0.0,
        zmax=1.0,
        colorscale=theme.SEQUENTIAL,
        xgap=2,
        ygap=2,
        text=[[f"{c:,}" for c in row] for row in counts],
        texttemplate="%{text}",
        hovertemplate="%{text} rows, %{z:.1%} of the true class<extra></extra>",
        colorbar={
            "title": {"text": "Share of the true class", "side": "right"},
            "thickness": 12,
            "tickformat": ".0%",
            "outlinewidth": 0,
        },
    )
    return figure


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
    # The diagonal from the lowest to the highest bin that any side shows.
    ends = [min(c.actual[0] for c in curves), max(c.actual[-1] for c in curves)]
    figure.add_scatter(
        x=ends,
        y=ends,
        mode="lines",
        hoverinfo="skip",
        name="Predicted as it is",
        line={"color": theme.FLOOR, "width": 1.5, "dash": "dot"},
    )
    # By name: real first, so that synthetic points lie on top.
    for curve in sorted(curves, key=lambda curve: curve.trained_on):
        _add_predicted(figure, curve)
    return figure


def _add_predicted(figure: go.Figure, curve: PredictedCurve) -> None:
    title, colour, symbol = _SIDES[curve.trained_on]
    triples = list(zip(curve.predicted, curve.low, curve.high, strict=True))
    figure.add_scatter(
        x=list(curve.actual),
        y=list(curve.predicted),
        mode="lines+markers",
        name=title,
        line={"color": colour, "width": 2},
        marker={"symbol": symbol, "size": 9},
        error_y={
            "type": "data",
            "symmetric": False,
            "thickness": 1,
            "width": 3,
            # The mean may lie outside the quantiles of a skewed bin: no bar is negative.
            "array": [max(0.0, high - mean) for mean, _, high in triples],
            "arrayminus": [max(0.0, mean - low) for mean, low, _ in triples],
        },
        customdata=list(curve.rows),
        hovertemplate=f"{title}<br>actual %{{x:.4g}}<br>predicted %{{y:.4g}} on average"
        "<br>%{customdata:,} rows<extra></extra>",
    )


def agreement_figure(found: ModelAgreement) -> go.Figure:
    """A point a term; on the diagonal both models agree. Outside epsilon."""
    if not found.weights:
        return theme.sentence_figure(found.note or "There is nothing to compare.")
    made = [weight.synthetic for weight in found.weights]
    real = [weight.real for weight in found.weights]
    # With 0: on which side of it a term lies is part of what is compared.
    low, high = min(*made, *real, 0.0), max(*made, *real, 0.0)
    # Where all terms are 0 the axis still needs a length.
    pad = 0.05 * (high - low or 1.0)
    ends = [low - pad, high + pad]
    what = found.kind.capitalize()
    figure = theme.new_figure(
        height=440,
        xaxis={"title": {"text": f"{what}, trained on real rows"}, "range": ends, "zeroline": True},
        yaxis={
            "title": {"text": f"{what}, trained on synthetic rows"},
            "range": ends,
            "zeroline": True,
        },
        margin={"l": 16, "r": 16, "t": 32, "b": 16},
    )
    figure.add_scatter(
        x=ends,
        y=ends,
        mode="lines",
        hoverinfo="skip",
        name="Both models agree",
        line={"color": theme.FLOOR, "width": 1.5, "dash": "dot"},
    )
    one = "level" if found.weights[0].term else "column"
    figure.add_scatter(
        x=real,
        y=made,
        mode="markers",
        name=f"One {one}",
        marker={"color": theme.SYNTHETIC, "size": 9, "opacity": 0.75, "line": {"width": 1}},
        customdata=[theme.safe(weight.label) for weight in found.weights],
        hovertemplate="%{customdata}<br>real %{x:.3f}<br>synthetic %{y:.3f}<extra></extra>",
    )
    return figure
