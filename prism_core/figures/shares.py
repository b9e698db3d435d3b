"""Shares of the budget and the expected error they buy, by marginal and against epsilon.

Needs no row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from prism_core.figures import theme
from prism_core.text.numbers import error_text, share_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import plotly.graph_objects as go


class BudgetLine(Protocol):
    """What a figure needs to know of one marginal. An attribute `cells` is shown when there."""

    @property
    def label(self) -> str:
        """The marginal in words, "age × readmitted_30d"."""
        ...

    @property
    def pool(self) -> str:
        """The part of the budget it is paid from, "task" or "background"."""
        ...

    @property
    def share(self) -> float:
        """Its part of the total budget (rho), 0 to 1."""
        ...

    @property
    def sigma(self) -> float | None:
        """Standard deviation of the noise of one cell, in rows."""
        ...

    @property
    def relative_error(self) -> float | None:
        """Expected l1 error over all cells, in units of n; None when there is no forecast."""
        ...


@dataclass(frozen=True, kw_only=True)
class BudgetRow:
    """A plain `BudgetLine`."""

    label: str
    pool: str
    share: float
    sigma: float | None
    relative_error: float | None
    cells: int | None = None


_POOLS = ("task", "background", "selection", "choice")


def pool_style(pool: str) -> theme.Style:
    """How one of the four pools is drawn, in every figure and on the bar of shares."""
    return theme.STYLES[_POOLS.index(pool)]


def budget_figure(
    rows: Sequence[BudgetLine], *, beside: Sequence[float] = (), beside_name: str = "if uniform"
) -> go.Figure:
    """Bars of the share of every marginal, in the order given, coloured by pool.

    Args:
        rows: the marginals.
        beside: their shares under another allocation, marked on each bar; none when empty.
        beside_name: that allocation, in the legend.
    """
    if not rows:
        return theme.sentence_figure("There are no marginals to pay for yet.")
    figure = _figure(rows, "Share of the total budget")
    figure.update_layout(barmode="overlay", bargap=0.28)
    # Room for the number at the end of the longest bar.
    top = max((*(row.share for row in rows), *beside), default=0.0) * 1.12 or 1.0
    figure.update_xaxes(tickformat=".1~%", range=[0.0, top])
    for pool, style in _styles(rows).items():
        places = [place for place, row in enumerate(rows) if row.pool == pool]
        figure.add_bar(
            x=[rows[place].share for place in places],
            y=places,
            orientation="h",
            name=theme.safe(pool, 40),
            marker={"color": style.colour, "pattern": theme.pattern(style.pattern)},
            # Beside another allocation the numbers stand behind bar and mark (`_numbers`).
            text=[share_text(rows[place].share) if not beside else "" for place in places],
            textposition="outside",
            textangle=0,
            cliponaxis=False,
            textfont={"size": 11},
            customdata=[_facts(rows[place]) for place in places],
            hovertemplate="%{customdata}<extra></extra>",
        )
    if beside:
        figure.add_scatter(
            x=list(beside),
            y=list(range(len(rows))),
            mode="markers",
            name=theme.safe(beside_name, 40),
            marker={
                "symbol": "line-ns-open",
                "size": 17,
                "line": {"width": 3},
                "color": theme.VERMILION,
            },
            hovertemplate=f"{theme.safe(beside_name)}: %{{x:.2%}}<extra></extra>",
        )
        _numbers(figure, rows, beside)
    return figure


def _numbers(figure: go.Figure, rows: Sequence[BudgetLine], beside: Sequence[float]) -> None:
    """The shares in digits, to the right of bar and mark."""
    figure.add_scatter(
        x=[max(row.share, other) for row, other in zip(rows, beside, strict=True)],
        y=list(range(len(rows))),
        mode="text",
        text=[f"  {share_text(row.share)}" for row in rows],
        textposition="middle right",
        textfont={"size": 11},
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )


def error_figure(rows: Sequence[BudgetLine]) -> go.Figure:
    """Expected relative error of every marginal on a logarithmic scale, marked by pool.

    The line at 100% is where the noise is as large as the data.

    Args:
        rows: the marginals, in the order in which they are drawn.
    """
    if not rows:
        return theme.sentence_figure("There are no marginals to forecast yet.")
    known = [place for place, row in enumerate(rows) if _forecast(row) is not None]
    if not known:
        return theme.sentence_figure("There is no error forecast for these marginals.")
    figure = _figure(rows, "Expected error relative to the number of rows (log scale)")
    errors = [_forecast(rows[place]) or 1.0 for place in known]
    # With 1 among them, so that the line where noise drowns the data is always in sight.
    low, high = math.log10(min(*errors, 1.0)), math.log10(max(*errors, 1.0))
    figure.update_xaxes(
        type="log",
        range=[low - 0.15, high + 0.15],
        # D2 labels 2 and 5 as well: whole powers of ten are too few on a short axis.
        dtick=1 if high - low > 2 else "D2",
        tickformat="~%",
    )
    figure.update_yaxes(showgrid=True)
    for pool, style in _styles(rows).items():
        places = [place for place in known if rows[place].pool == pool]
        figure.add_scatter(
            x=[rows[place].relative_error for place in places],
            y=places,
            mode="markers",
            name=theme.safe(pool, 40),
            marker={"color": style.colour, "symbol": style.symbol, "size": 10},
            customdata=[_facts(rows[place]) for place in places],
            hovertemplate="%{customdata}<extra></extra>",
        )
    figure.add_scatter(
        x=[1.0, 1.0],
        y=[-0.6, len(rows) - 0.4],
        mode="lines",
        name="noise as large as the data",
        line={"color": theme.VERMILION, "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
    )
    _without_forecast(figure, rows, known)
    return figure


def _without_forecast(figure: go.Figure, rows: Sequence[BudgetLine], known: list[int]) -> None:
    for place in sorted(set(range(len(rows))) - set(known)):
        figure.add_annotation(
            text="no forecast",
            x=0.01,
            xref="x domain",
            xanchor="left",
            y=place,
            showarrow=False,
            font={"size": 11},
        )


def _figure(rows: Sequence[BudgetLine], title: str) -> go.Figure:
    axis = theme.rows_axis([row.label for row in rows], limit=48)
    axis["tickfont"] = {"size": 12}
    return theme.new_figure(
        height=110 + 22 * max(3, len(rows)),
        xaxis={"title": {"text": title}, "showgrid": True},
        yaxis=axis,
    )


def _styles(rows: Sequence[BudgetLine]) -> dict[str, theme.Style]:
    """A style a pool; the four pools always have the same."""
    found = dict.fromkeys(row.pool for row in rows)
    order = [*dict.fromkeys((*_POOLS, *found))]
    # By the fixed order of pools, so that a pool keeps its colour when another one pays for
    # nothing.
    return {pool: theme.STYLES[order.index(pool) % len(theme.STYLES)] for pool in found}


def _forecast(row: BudgetLine) -> float | None:
    """The forecast when it can stand on a logarithmic scale."""
    error = row.relative_error
    return error if error is not None and math.isfinite(error) and error > 0 else None


def _facts(row: BudgetLine) -> str:
    """Everything about one marginal, for hovering."""
    cells = getattr(row, "cells", None)
    error = row.relative_error
    lines = [
        f"<b>{theme.safe(row.label)}</b>",
        f"pool: {theme.safe(row.pool)}",
        f"share of the budget: {share_text(row.share)}",
        *([f"cells: {cells:,}"] if cells is not None else []),
        *([f"noise a cell (sigma): {row.sigma:,.3g} rows"] if row.sigma is not None else []),
        "expected error: "
        + (error_text(error) if error is not None and math.isfinite(error) else "no forecast"),
    ]
    return "<br>".join(lines)


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
    # Largest errors are drawn for the first design alone, so only those widen the axis.
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
    figure: go.Figure,
    points: Sequence[ErrorPoint],
    attribute: str,
    name: str,
    line: Mapping[str, object],
) -> None:
    figure.add_scatter(
        x=[point.epsilon for point in points],
        y=[getattr(point, attribute) for point in points],
        mode="lines",
        name=theme.safe(name, 40),
        line=dict(line),
        hovertemplate="epsilon %{x:.3g}<br>error %{y:.2%}<extra>%{fullData.name}</extra>",
    )


_LEFT_END = 0.04


def _mark(
    figure: go.Figure, point: ErrorPoint, name: str, style: theme.Style, *, labelled: bool
) -> None:
    figure.add_scatter(
        x=[point.epsilon],
        y=[point.mean],
        mode="markers+text",
        name=theme.safe(f"{name}: now", 40),
        text=[f"ε = {point.epsilon:g}: {error_text(point.mean)}" if labelled else ""],
        # The curves fall: below and to the left of a point there is no line, but at the left end no
        # room either.
        textposition="bottom left" if point.epsilon > _LEFT_END else "top right",
        marker={
            "color": style.colour,
            "symbol": style.symbol,
            "size": 13,
            "line": {"color": theme.TEXT, "width": 1.5},
        },
        hovertemplate="epsilon %{x:g}<br>error %{y:.2%}<extra>%{fullData.name}</extra>",
        showlegend=False,
    )
