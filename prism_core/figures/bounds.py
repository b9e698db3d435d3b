"""The theory's bounds of a plan: the three terms of the excess risk, and what noise may come to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.planning.bounds import Bound, ErmBound, MarginalBounds

MOST = 30
"""Most marginals that are drawn."""

_WIDEST = 1.12  # of an axis: beyond 1 there is nothing to read off


def erm_figure(erm: ErmBound) -> go.Figure:
    """One bar of the three terms end to end, and the line above which it says nothing.

    A term that is not known is named in the legend and takes no room.
    """
    figure = theme.new_figure(
        height=190, barmode="stack", margin={"l": 8, "r": 16, "t": 76, "b": 8},
        xaxis={
            "title": {"text": "Excess risk (a share of wrong decisions); above 1: no guarantee"},
            "range": [0.0, _WIDEST], "showgrid": True,
        },
        yaxis={"visible": False, "range": [-0.55, 0.55]},
        legend=theme.legend_above() | {"traceorder": "normal", "y": 1.04},
    )  # fmt: skip
    for term, style in zip(erm.terms, theme.STYLES, strict=False):
        _term(figure, term, style)
    figure.add_scatter(
        x=[1.0, 1.0], y=[-0.5, 0.5], mode="lines", name="no guarantee beyond",
        line={"color": theme.VERMILION, "width": 1.5, "dash": "dot"}, hoverinfo="skip",
    )  # fmt: skip
    return figure


def _term(figure: go.Figure, term: Bound, style: theme.Style) -> None:
    figure.add_bar(
        x=[term.raw or 0.0], y=[0], orientation="h", width=0.62,
        name=theme.safe(f"{term.name}: {term.text}"),
        marker={"color": style.colour, "pattern": theme.pattern(style.pattern)},
        customdata=[
            f"<b>{theme.safe(term.name)}</b>: {term.text}<br>{theme.wrapped(term.sentence)}"
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


def bounds_figure(lines: Sequence[MarginalBounds]) -> go.Figure:
    """l1 error of every marginal: expected and guaranteed, on one logarithmic line.

    Args:
        lines: the marginals; the first `MOST` are drawn, in the order given.
    """
    shown = list(lines[:MOST])
    if not shown:
        return theme.sentence_figure("There are no marginals with the target yet.")
    low = math.log10(min([_place(line.expected) for line in shown]))
    figure = theme.new_figure(
        height=120 + 24 * max(3, len(shown)),
        xaxis={
            "title": {"text": "l1 error over the number of rows (log scale)"}, "type": "log",
            "range": [low - 0.15, math.log10(_WIDEST) + 0.03], "tickformat": "~%",
            "showgrid": True, "dtick": 1 if low < -2 else "D2",
        },
        yaxis=theme.rows_axis([line.label for line in shown], limit=48) | {"showgrid": True},
    )  # fmt: skip
    places = list(range(len(shown)))
    figure.add_scatter(  # one broken line joins each pair
        x=[x for line in shown for x in (_place(line.expected), _place(line.l1), None)],
        y=[y for place in places for y in (place, place, None)], mode="lines", showlegend=False,
        line={"color": theme.AXIS, "width": 2}, hoverinfo="skip",
    )  # fmt: skip
    kinds = (
        ("Expected", [line.expected for line in shown], theme.SKY, "circle"),
        ("Guaranteed", [line.l1 for line in shown], theme.BLUE, "diamond"),
    )
    for name, found, colour, symbol in kinds:
        figure.add_scatter(
            x=[_place(bound) for bound in found], y=places, mode="markers", name=name,
            marker={"color": colour, "symbol": symbol, "size": 10},
            customdata=[
                f"<b>{theme.safe(line.label)}</b><br>{bound.name}: {bound.text}"
                for line, bound in zip(shown, found, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=[1.0, 1.0], y=[-0.6, len(shown) - 0.4], mode="lines", name="no guarantee beyond",
        line={"color": theme.VERMILION, "width": 1.5, "dash": "dot"}, hoverinfo="skip",
    )  # fmt: skip
    return figure


def _place(bound: Bound) -> float:
    """Where a bound stands on the axis; what is above 1 stands just beyond the line."""
    return min(bound.raw or _WIDEST, _WIDEST)
