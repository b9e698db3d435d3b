"""What error an epsilon buys: expected error of the task marginals against epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from prism_core.figures import theme
from prism_core.planning.words import error_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import plotly.graph_objects as go


class ErrorPoint(Protocol):
    """What the figure needs to know of one epsilon."""

    @property
    def epsilon(self) -> float:
        """The privacy loss that is allowed."""
        ...

    @property
    def mean(self) -> float:
        """Mean expected l1 error of the task marginals, over n."""
        ...

    @property
    def largest(self) -> float:
        """The largest of them."""
        ...


def error_curve_figure(
    curves: Mapping[str, Sequence[ErrorPoint]], here: Mapping[str, ErrorPoint]
) -> go.Figure:
    """Mean error of every design on two logarithmic scales; for the first the largest, too.

    Args:
        curves: points of every design by its name, in increasing epsilon; the first is the one
            that is looked at.
        here: the design's own point, by the same names; marked.
    """
    known = {name: [p for p in points if _drawable(p)] for name, points in curves.items()}
    if not any(known.values()):
        return theme.sentence_figure("There is no error forecast for these epsilons.")
    figure = theme.new_figure(
        height=360,
        xaxis=_axis("Epsilon (log scale)", [p.epsilon for ps in known.values() for p in ps]),
        yaxis=_axis("Expected error, relative to n", _errors(known)) | {"tickformat": "~%"},
        hovermode="closest",
    )
    for place, (name, points) in enumerate(known.items()):
        style = theme.STYLES[place % len(theme.STYLES)]
        dash = ("solid", "dash", "dot", "dashdot", "longdash")[place % 5]
        _line(figure, points, "mean", f"{name}: mean", {"color": style.colour, "dash": dash})
        if place == 0:
            thin = {"color": style.colour, "dash": "dot", "width": 1.2}
            _line(figure, points, "largest", f"{name}: largest", thin)
        if name in here and _drawable(here[name]):
            _mark(figure, here[name], name, style, labelled=place == 0)
    first = next(iter(known))
    if first in here and _drawable(here[first]):
        figure.add_vline(x=here[first].epsilon, line={"color": theme.AXIS, "width": 1})
    return figure


def _drawable(point: ErrorPoint) -> bool:
    return all(0.0 < value < math.inf for value in (point.epsilon, point.mean, point.largest))


def _errors(curves: Mapping[str, Sequence[ErrorPoint]]) -> list[float]:
    first = next(points for points in curves.values() if points)
    means = [point.mean for points in curves.values() for point in points]
    return [*means, *(point.largest for point in first)]


def _axis(title: str, values: Sequence[float]) -> dict[str, object]:
    low, high = math.log10(min(values)), math.log10(max(values))
    return {
        "type": "log",
        "title": {"text": title},
        "range": [low - 0.04, high + 0.04],
        "dtick": 1 if high - low > 3 else "D2",
        "showgrid": True,
    }


def _line(
    figure: go.Figure, points: Sequence[ErrorPoint], attribute: str, name: str,
    line: Mapping[str, object],
) -> None:  # fmt: skip
    figure.add_scatter(
        x=[point.epsilon for point in points],
        y=[getattr(point, attribute) for point in points],
        mode="lines",
        name=theme.safe(name, 40),
        line=dict(line),
        hovertemplate="epsilon %{x:.3g}<br>error %{y:.2%}<extra>%{fullData.name}</extra>",
    )


def _mark(
    figure: go.Figure, point: ErrorPoint, name: str, style: theme.Style, *, labelled: bool
) -> None:
    figure.add_scatter(
        x=[point.epsilon],
        y=[point.mean],
        mode="markers+text",
        name=theme.safe(f"{name}: now", 40),
        text=[f"ε = {point.epsilon:g}: {error_text(point.mean)}" if labelled else ""],
        textposition="top right" if point.epsilon < 5 else "bottom left",
        marker={
            "color": style.colour,
            "symbol": style.symbol,
            "size": 13,
            "line": {"color": theme.TEXT, "width": 1.5},
        },
        hovertemplate="epsilon %{x:g}<br>error %{y:.2%}<extra>%{fullData.name}</extra>",
        showlegend=False,
    )
