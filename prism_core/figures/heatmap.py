"""Distances of pairs: all pairs as a heatmap, the pairs with the target as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.evaluation.results import Evaluation

_NOTHING = "There are no rows to compare on one of the sides."
_SMALLEST_TOP = 0.05
"""The colour scale reaches at least this far, so that tiny distances do not look large."""


def pair_heatmap(evaluation: Evaluation) -> go.Figure:
    """Total variation distance of every 2-way marginal; the diagonal is the column alone.

    Hovering tells what two samples of these sizes would be apart by chance.

    The colour scale (cividis, readable with colour-blindness) always starts at 0. Outside
    epsilon.

    Args:
        evaluation: the result to draw.
    """
    names, matrix = evaluation.pair_tv.names, evaluation.pair_tv.matrix
    if not names:
        return theme.sentence_figure(_NOTHING)
    size = len(names)
    full = [theme.safe(name) for name in names]
    hover = [
        [f"{full[i]} alone" if i == j else f"{full[i]} × {full[j]}" for j in range(size)]
        for i in range(size)
    ]
    axis = theme.name_axis(names, limit=20) | {"tickfont": {"size": 11}, "ticks": ""}
    figure = theme.new_figure(
        height=180 + 24 * max(6, size),
        xaxis=axis | {"tickangle": -45 if size > 4 else 0, "range": [-0.5, size - 0.5]},
        yaxis=axis | {"range": [size - 0.5, -0.5]},
        margin={"l": 16, "r": 16, "t": 16, "b": 16},
    )
    figure.add_heatmap(
        x=list(range(size)),
        y=list(range(size)),
        z=[list(row) for row in matrix],
        zmin=0.0,
        zmax=max(_SMALLEST_TOP, *(max(row) for row in matrix)),
        colorscale="Cividis",
        xgap=1,
        ygap=1,
        customdata=hover,
        text=[[f"{chance:.3f}" for chance in row] for row in evaluation.pair_tv.by_chance],
        hovertemplate="%{customdata}<br>distance %{z:.3f}<br>by chance %{text}<extra></extra>",
        colorbar={
            "title": {"text": "Distance (TV)", "side": "right"},
            "thickness": 14,
            "outlinewidth": 0,
        },
    )
    return figure


def task_tv_figure(evaluation: Evaluation) -> go.Figure:
    """Distance of every pair (column, target), the largest on top.

    A line shows what two samples of these sizes from one population are apart by chance, a mark
    the distance between real training and holdout rows, where both were given. Outside epsilon.

    Args:
        evaluation: the result to draw.
    """
    rows = [row for row in evaluation.find("task_tv") if row.value is not None]
    if not rows:
        return theme.sentence_figure(_NOTHING)
    rows.sort(key=lambda row: -(row.value or 0.0))
    title = f"Distance (TV) of the pair with {theme.safe(evaluation.target, 40)}"
    figure = theme.new_figure(
        height=110 + 24 * max(3, len(rows)),
        bargap=0.3,
        xaxis={"title": {"text": title}, "rangemode": "tozero", "showgrid": True},
        yaxis=theme.rows_axis([row.subject for row in rows]),
    )
    subjects = [theme.safe(row.subject) for row in rows]
    figure.add_bar(
        x=[row.value for row in rows],
        y=list(range(len(rows))),
        orientation="h",
        name="Synthetic rows against real rows",
        marker={"color": theme.SYNTHETIC},
        customdata=subjects,
        hovertemplate="%{customdata}<br>synthetic against real: %{x:.3f}<extra></extra>",
    )
    _marks(figure, [row.floor for row in rows], subjects, "By chance", theme.GREY, "line-ns-open")
    _marks(
        figure,
        [row.ceiling for row in rows],
        subjects,
        "Real training against real holdout rows",
        theme.REAL,
        "diamond-open",
    )
    return figure


def _marks(
    figure: go.Figure,
    values: Sequence[float | None],
    subjects: Sequence[str],
    name: str,
    colour: str,
    symbol: str,
) -> None:
    """One kind of mark on the rows that have it."""
    known = [place for place, value in enumerate(values) if value is not None]
    if not known:
        return
    figure.add_scatter(
        x=[values[place] for place in known],
        y=known,
        mode="markers",
        name=name,
        marker={"symbol": symbol, "size": 12, "color": colour, "line": {"width": 3}},
        customdata=[subjects[place] for place in known],
        hovertemplate=f"%{{customdata}}<br>{name.lower()}: %{{x:.3f}}<extra></extra>",
    )
