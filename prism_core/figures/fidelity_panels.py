"""Real and synthetic shares side by side: columns, pairs, and the error of task marginals.

Pairs are shown as three heatmaps: real, synthetic and their difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go
    from numpy.typing import NDArray

    from prism_core.evaluation.fidelity.association import Associations
    from prism_core.evaluation.fidelity.pair_statistics import JointShares, PairStatistics
    from prism_core.evaluation.fidelity.task_error import TaskMarginal, TaskMarginalError
    from prism_core.evaluation.results import ColumnShape

MAX_BARS = 120
"""Columns with more codes show the most frequent ones and the rest as one bar."""

MAX_TICKS = 40
"""With more bars than this only some are labelled; hovering names all."""


def column_figure(shape: ColumnShape) -> go.Figure:
    """Grouped bars of the shares of every code. Outside epsilon.

    Args:
        shape: the column.
    """
    labels, real, synthetic = _shown(shape)
    # Rounded up, so that never more than `MAX_TICKS` are labelled.
    step = -(-len(labels) // MAX_TICKS)
    axis = theme.name_axis(labels, limit=24)
    axis["tickvals"], axis["ticktext"] = axis["tickvals"][::step], axis["ticktext"][::step]
    figure = theme.new_figure(
        height=360,
        barmode="group",
        bargap=0.25,
        xaxis=axis | {"title": {"text": theme.safe(shape.name, 60)}},
        yaxis={"title": {"text": "Share of rows"}, "tickformat": "~%", "rangemode": "tozero"},
    )
    for name, shares, colour, pattern in (
        ("Real rows", real, theme.REAL, ""),
        # On narrow bars a pattern is a blur.
        ("Synthetic rows", synthetic, theme.SYNTHETIC, "/" if len(labels) <= MAX_TICKS else ""),
    ):
        figure.add_bar(
            x=list(range(len(labels))),
            y=list(shares),
            name=name,
            marker={"color": colour, "pattern": theme.pattern(pattern)},
            customdata=[theme.safe(label) for label in labels],
            hovertemplate=f"%{{customdata}}<br>{name}: %{{y:.2%}}<extra></extra>",
        )
    return figure


def _shown(shape: ColumnShape) -> tuple[tuple[str, ...], tuple[float, ...], tuple[float, ...]]:
    """The codes that get a bar, in code order."""
    if len(shape.labels) <= MAX_BARS:
        return shape.labels, shape.real, shape.synthetic
    # By both sides together: a level that only one of them shows must be drawn, too.
    weight = [real + made for real, made in zip(shape.real, shape.synthetic, strict=True)]
    ranked = sorted(range(len(weight)), key=lambda code: -weight[code])
    # One bar less than there is room for: the rest has a bar of its own.
    keep, rest = sorted(ranked[: MAX_BARS - 1]), ranked[MAX_BARS - 1 :]
    return (
        (*(shape.labels[code] for code in keep), f"{len(rest):,} others"),
        (*(shape.real[code] for code in keep), sum(shape.real[code] for code in rest)),
        (*(shape.synthetic[code] for code in keep), sum(shape.synthetic[code] for code in rest)),
    )


_SMALLEST_TOP = 0.02
"""Colour scales reach at least this far, so that tiny differences do not look large."""

DIVERGING = [[0.0, theme.BLUE], [0.5, "#F2F2F2"], [1.0, theme.VERMILION]]
"""Blue, near-white, vermilion: told apart with colour-blindness, and by the sign on hovering."""


@dataclass(frozen=True, kw_only=True)
class _Panels:
    rows: Sequence[str]
    columns: Sequence[str]
    real: NDArray[np.float64]
    synthetic: NDArray[np.float64]
    what: str
    format: str
    row_title: str = ""
    column_title: str = ""
    marks: tuple[NDArray[np.bool_], ...] = ()
    more: tuple[NDArray[np.object_], ...] = ()


def association_figure(found: PairStatistics) -> go.Figure:
    """Cramér's V of every pair: real, synthetic, synthetic less real. Outside epsilon.

    A dot lies on what chance alone would give: V not above its chance level, and a difference
    with 0 in its interval. Hovering tells interval and chance level.

    Args:
        found: the columns to draw; `PairStatistics.take` picks some of many.
    """
    # A column with itself is 1 everywhere, and would take the whole scale.
    itself = np.eye(len(found.names), dtype=bool)
    real, made = found.real, found.synthetic
    return _draw(
        _Panels(
            rows=found.names,
            columns=found.names,
            real=np.where(itself, np.nan, real.v),
            synthetic=np.where(itself, np.nan, made.v),
            what="Cramér's V",
            format=".2f",
            marks=tuple(
                dots & ~itself for dots in (real.within_chance, made.within_chance, found.alike)
            ),
            more=(_told(real), _told(made)),
        )
    )


def _told(side: Associations) -> NDArray[np.object_]:
    """Interval and chance level of every pair, for hovering."""
    ends = zip(side.low.flat, side.high.flat, side.chance.flat, strict=True)
    texts = [
        f"<br>95% interval {low:.2f} to {high:.2f}<br>by chance up to {by:.2f}"
        for low, high, by in ends
    ]
    return np.array(texts, dtype=object).reshape(side.v.shape)


def joint_figure(found: JointShares) -> go.Figure:
    """One pair cell by cell: real, synthetic, synthetic less real. Outside epsilon."""
    return _draw(
        _Panels(
            rows=found.labels_a,
            columns=found.labels_b,
            real=found.real,
            synthetic=found.synthetic,
            what="share of rows",
            format=".2%",
            row_title=found.a,
            column_title=found.b,
        )
    )


def _draw(panels: _Panels) -> go.Figure:
    if not panels.real.size:
        return theme.sentence_figure("Choose at least one column.")
    tall = len(panels.rows)
    axis = {"tickfont": {"size": 11}, "ticks": ""}
    many = len(panels.columns) > 12
    # Downwards, as a table is read: the first level stands at the top.
    down = theme.name_axis(panels.rows, limit=26) | axis | {"range": [tall - 0.5, -0.5]}
    right = (
        theme.name_axis(panels.columns, limit=20)
        | axis
        | {"range": [-0.5, len(panels.columns) - 0.5], "tickangle": -90 if many else -45}
    )
    if many:
        right = right | {"tickfont": {"size": 9}}
    if tall > 40:
        down = down | {"tickfont": {"size": 8}}
    layout: dict[str, Any] = {}
    # Room for a scale of colours behind the second and the third field.
    for number, (low, high) in enumerate(((0.0, 0.29), (0.34, 0.63), (0.71, 1.0)), start=1):
        end = "" if number == 1 else str(number)
        layout[f"xaxis{end}"] = right | {
            "domain": [low, high],
            "anchor": f"y{end}",
            "title": {"text": theme.safe(panels.column_title, 30)},
        }
        layout[f"yaxis{end}"] = down | {
            "anchor": f"x{end}",
            "showticklabels": number == 1,
            "title": {"text": theme.safe(panels.row_title, 30) if number == 1 else ""},
        }
    figure = theme.new_figure(
        # A column of many levels is not to make an endless page.
        height=min(1100, 210 + 22 * max(8, tall)),
        margin={"l": 16, "r": 16, "t": 48, "b": 16},
        **layout,
    )
    _panels(figure, panels)
    return figure


def _panels(figure: go.Figure, panels: _Panels) -> None:
    # One top for both, or the same value would have two colours.
    top = max(_SMALLEST_TOP, *(_largest(matrix) for matrix in (panels.real, panels.synthetic)))
    gap = panels.synthetic - panels.real
    # As far to either side, so that no difference is white.
    reach = max(_SMALLEST_TOP, _largest(np.abs(gap)))
    hover = [
        [f"{theme.safe(a, 40)} × {theme.safe(b, 40)}" for b in panels.columns] for a in panels.rows
    ]
    for number, (title, matrix, low, high, scale) in enumerate(
        (
            ("Real", panels.real, 0.0, top, theme.SEQUENTIAL),
            ("Synthetic", panels.synthetic, 0.0, top, theme.SEQUENTIAL),
            ("Synthetic less real", gap, -reach, reach, DIVERGING),
        ),
        start=1,
    ):
        end = "" if number == 1 else str(number)
        told = panels.more[number - 1].tolist() if number <= len(panels.more) else None
        if number <= len(panels.marks):
            # What chance gives has no colour: many faint cells would read as a pattern.
            matrix = np.where(panels.marks[number - 1], np.nan, matrix)
        figure.add_heatmap(
            x=list(range(len(panels.columns))),
            y=list(range(len(panels.rows))),
            z=_cells(matrix),
            zmin=low,
            zmax=high,
            colorscale=scale,
            xaxis=f"x{end}",
            yaxis=f"y{end}",
            customdata=hover,
            # Real and synthetic shares have one scale, whose bar stands beside the second.
            showscale=number > 1,
            text=told,
            hovertemplate=f"%{{customdata}}<br>{panels.what}: %{{z:{panels.format}}}"
            f"{'%{text}' if told else ''}<extra>{title}</extra>",
            colorbar={
                "thickness": 10,
                "outlinewidth": 0,
                "tickformat": panels.format,
                "x": 0.635 if number == 2 else 1.005,
            },
        )
        figure.add_annotation(
            text=f"<b>{title}</b>",
            x=(0.145, 0.485, 0.855)[number - 1],
            y=1.0,
            xref="paper",
            yref="paper",
            yanchor="bottom",
            yshift=6,
            showarrow=False,
        )
    for number, covered in enumerate(panels.marks, start=1):
        _veil(figure, panels, covered, number)
    if panels.marks:  # above the titles
        figure.update_layout(
            margin={"t": 80}, legend={"yref": "container", "y": 0.99, "yanchor": "top", "x": 0.0}
        )


def _veil(figure: go.Figure, panels: _Panels, covered: NDArray[np.bool_], number: int) -> None:
    """A plain cell in place of every one that chance alone would give; hovering still tells it."""
    end = "" if number == 1 else str(number)
    down, right = np.nonzero(covered)
    names = [
        f"{theme.safe(panels.rows[i], 40)} × {theme.safe(panels.columns[j], 40)}"
        for i, j in zip(down.tolist(), right.tolist(), strict=True)
    ]
    figure.add_scatter(
        x=right.tolist(),
        y=down.tolist(),
        xaxis=f"x{end}",
        yaxis=f"y{end}",
        mode="markers",
        name="no more than chance gives (95%)",
        legendgroup="chance",
        showlegend=number == 1,
        customdata=names,
        hovertemplate="%{customdata}<br>no more than chance<extra></extra>",
        marker={"size": 3, "symbol": "circle", "color": "rgba(128, 128, 128, 0.45)"},
    )


def _largest(matrix: NDArray[np.float64]) -> float:
    known = matrix[~np.isnan(matrix)]
    return float(known.max()) if known.size else 0.0


def _cells(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    """Plotly leaves cells without a number blank."""
    return [[None if np.isnan(value) else value for value in row] for row in matrix.tolist()]


MOST_ROWS = 30
"""Marginals drawn; the table beside the figure holds all."""

MOST_LEVELS = 60
"""Levels of a column drawn; the most frequent ones."""


def error_split_figure(errors: Sequence[TaskMarginalError], target: str) -> go.Figure:
    """Bars of the error of each (X_j, Y): what noise explains, and the rest. Outside epsilon.

    A mark shows how large the error would be at most from noise alone (95%).

    Args:
        errors: the largest first; `MOST_ROWS` are drawn.
        target: Y.
    """
    shown = [error for error in errors if error.total is not None][:MOST_ROWS]
    if not shown:
        return theme.sentence_figure("There are no rows to compare on one of the sides.")
    figure = theme.new_figure(
        height=120 + 24 * max(3, len(shown)),
        barmode="stack",
        bargap=0.3,
        xaxis={
            "title": {"text": f"Distance (l1 of shares) of the pair with {theme.safe(target, 40)}"},
            "rangemode": "tozero",
            "showgrid": True,
        },
        yaxis=theme.rows_axis([error.name for error in shown]),
    )
    names = [theme.safe(error.name) for error in shown]
    for title, values, colour, shape in (
        ("Explained by noise", [e.from_noise for e in shown], theme.SKY, ""),
        ("Beyond noise: structure", [e.rest for e in shown], theme.VERMILION, "/"),
    ):
        figure.add_bar(
            x=values,
            y=list(range(len(shown))),
            orientation="h",
            name=title,
            marker={"color": colour, "pattern": theme.pattern(shape)},
            customdata=names,
            hovertemplate=f"%{{customdata}}<br>{title.lower()}: %{{x:.4f}}<extra></extra>",
        )
    known = [place for place, error in enumerate(shown) if error.limit is not None]
    if known:
        figure.add_scatter(
            x=[shown[place].limit for place in known],
            y=known,
            mode="markers",
            name="Noise alone stays below (95%)",
            marker={
                "symbol": "line-ns-open",
                "size": 14,
                "color": theme.REAL,
                "line": {"width": 3},
            },
            customdata=[names[place] for place in known],
            hovertemplate="%{customdata}<br>noise alone: below %{x:.4f}<extra></extra>",
        )
    return figure


def task_marginal_figure(found: TaskMarginal, code: int) -> go.Figure:
    """Shares of one class of Y by level of X_j, with the noise band drawn. Outside epsilon.

    Args:
        found: the marginal.
        code: which class of Y.
    """
    weight = [sum(row) for row in found.real]
    ranked = sorted(range(len(weight)), key=lambda level: -weight[level])[:MOST_LEVELS]
    kept = sorted(ranked)
    labels = [found.levels[level] for level in kept]
    step = -(-len(labels) // 40)
    axis = theme.name_axis(labels, limit=24)
    axis["tickvals"], axis["ticktext"] = axis["tickvals"][::step], axis["ticktext"][::step]
    title = f"Share of all rows with {theme.safe(found.target, 30)} = " + theme.safe(
        found.classes[code], 30
    )
    figure = theme.new_figure(
        height=380,
        xaxis=axis | {"title": {"text": theme.safe(found.name, 60)}},
        yaxis={"title": {"text": title}, "tickformat": "~%", "rangemode": "tozero"},
    )
    places = list(range(len(kept)))
    full = [theme.safe(label) for label in labels]
    real = [found.real[level][code] for level in kept]
    band = None if found.band is None else [found.band[level][code] for level in kept]
    figure.add_scatter(
        x=places,
        y=real,
        mode="markers",
        name="Real rows" + ("" if band is None else " with the noise band (95%)"),
        marker={"color": theme.REAL, "symbol": "line-ew-open", "size": 16, "line": {"width": 3}},
        error_y=None
        if band is None
        else {
            "type": "data",
            "array": band,
            # A share cannot be below 0, so its band ends there.
            "arrayminus": [min(b, r) for b, r in zip(band, real, strict=True)],
            "color": theme.REAL,
            "thickness": 1.5,
            "width": 5,
        },
        customdata=full,
        hovertemplate="%{customdata}<br>real: %{y:.3%}<extra></extra>",
    )
    figure.add_scatter(
        x=places,
        y=[found.synthetic[level][code] for level in kept],
        mode="markers",
        name="Synthetic rows",
        marker={"color": theme.SYNTHETIC, "size": 11, "line": {"width": 1.5}},
        customdata=full,
        hovertemplate="%{customdata}<br>synthetic: %{y:.3%}<extra></extra>",
    )
    return figure
