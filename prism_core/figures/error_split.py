"""Where the error of the task marginals comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.evaluation.error_split import TaskError, TaskMarginal

MOST_ROWS = 30
"""Marginals drawn; the table beside the figure holds all."""

MOST_LEVELS = 60
"""Levels of a column drawn; the most frequent ones."""


def error_split_figure(errors: Sequence[TaskError], target: str) -> go.Figure:
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
            x=values, y=list(range(len(shown))), orientation="h", name=title,
            marker={"color": colour, "pattern": theme.pattern(shape)}, customdata=names,
            hovertemplate=f"%{{customdata}}<br>{title.lower()}: %{{x:.4f}}<extra></extra>",
        )  # fmt: skip
    known = [place for place, error in enumerate(shown) if error.limit is not None]
    if known:
        figure.add_scatter(
            x=[shown[place].limit for place in known], y=known, mode="markers",
            name="Noise alone stays below (95%)",
            marker={"symbol": "line-ns-open", "size": 14, "color": theme.REAL,
                    "line": {"width": 3}},
            customdata=[names[place] for place in known],
            hovertemplate="%{customdata}<br>noise alone: below %{x:.4f}<extra></extra>",
        )  # fmt: skip
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
        x=places, y=real, mode="markers",
        name="Real rows" + ("" if band is None else " with the noise band (95%)"),
        marker={"color": theme.REAL, "symbol": "line-ew-open", "size": 16, "line": {"width": 3}},
        error_y=None if band is None else {
            "type": "data", "array": band,
            "arrayminus": [min(b, r) for b, r in zip(band, real, strict=True)],
            "color": theme.REAL, "thickness": 1.5, "width": 5,
        },
        customdata=full, hovertemplate="%{customdata}<br>real: %{y:.3%}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=places, y=[found.synthetic[level][code] for level in kept], mode="markers",
        name="Synthetic rows",
        marker={"color": theme.SYNTHETIC, "size": 11, "line": {"width": 1.5}},
        customdata=full, hovertemplate="%{customdata}<br>synthetic: %{y:.3%}<extra></extra>",
    )  # fmt: skip
    return figure
