"""Dots of a story: one line a method, with its interval, beside what the real rows give."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import plotly.graph_objects as go

    from prism_core.figures.epsilon_curves import ResultLine

Line = TypeVar("Line", bound="ResultLine")

FEWEST = 3
"""Seeds from which intervals are shown: the t-interval of two is 12.7 standard errors wide, and
would hide the means."""

_LINE = 58  # pixels
_COIN = 50.0


def story_dots(
    rows: Sequence[Line], heading: str, named: Callable[[Line], str]
) -> theme.CaptionedFigure:
    """Pairs ranked right, of 100, by method: a dot, its 95% interval, and the ceiling.

    The first line is the story's own and is drawn in colour; the others are grey.

    Args:
        rows: of one benchmark at one epsilon, from top to bottom.
        heading: of the figure.
        named: a line in plain words.
    """
    figure = theme.new_figure(
        height=84 + _LINE * len(rows),
        margin={"l": 16, "r": 24, "t": 40, "b": 16},
        # At the right: at the left stands what the dotted line is.
        legend=theme.legend_above() | {"x": 1.0, "xanchor": "right"},
        font={"size": 15},
    )
    labels = [named(row) for row in rows]
    figure.update_yaxes(**theme.rows_axis(labels))
    figure.update_yaxes(ticktext=[_two_lines(label) for label in labels])
    lowest = min([_COIN, *(100 * (row.onehot.auc_mean - _half(row)) for row in rows)])
    # A little beyond 100, or marks there would be cut in half.
    figure.update_xaxes(
        title={"text": "Pairs ranked right, of 100"}, range=[max(0.0, lowest - 3), 102.0]
    )
    figure.add_vline(x=_COIN, line={"color": theme.GREY, "width": 1.5, "dash": "dot"})
    figure.add_annotation(
        x=_COIN, y=1.0, yref="paper", yanchor="bottom", text="a coin", showarrow=False
    )
    _dots(figure, rows, labels)
    words = " ".join(_words(row, label) for row, label in zip(rows, labels, strict=True))
    return theme.CaptionedFigure(title=heading, figure=figure, words=words)


def _dots(figure: go.Figure, rows: Sequence[ResultLine], labels: Sequence[str]) -> None:
    places = list(range(len(rows)))
    figure.add_scatter(
        x=[100 * row.onehot.ceiling for row in rows],
        y=places,
        mode="markers",
        name="the same, from the real rows",
        marker={"symbol": "diamond-open", "size": 12, "color": theme.TEXT, "line": {"width": 2}},
        hovertemplate="from the real rows: %{x:.1f}<extra></extra>",
    )
    for place, row in zip(places, rows, strict=True):
        colour = theme.ORANGE if place == 0 else theme.GREY
        figure.add_scatter(
            x=[100 * row.onehot.auc_mean],
            y=[place],
            mode="markers+text",
            # Above the dot, where neither the interval nor the ceiling's mark runs through it.
            text=[f"{100 * row.onehot.auc_mean:.1f}"],
            textposition="top center",
            cliponaxis=False,
            name=theme.safe(labels[place]),
            showlegend=False,
            marker={"size": 15 if place == 0 else 12, "color": colour},
            error_x={
                "type": "data",
                "array": [100 * _half(row)],
                "color": colour,
                "thickness": 2,
                "width": 6,
            },
            hovertemplate=f"{theme.safe(labels[place])}: %{{x:.1f}}<extra></extra>",
        )


def _half(row: ResultLine) -> float:
    return (row.onehot.auc_ci or 0.0) if len(row.seeds) >= FEWEST else 0.0


def _words(row: ResultLine, label: str) -> str:
    half = _half(row)
    interval = f" ± {100 * half:.1f}" if half else ""
    return (
        f"{label}: {100 * row.onehot.auc_mean:.1f}{interval} of 100 pairs ranked right at epsilon "
        f"{row.epsilon:g}; from the real rows {100 * row.onehot.ceiling:.1f}."
    )


def _two_lines(label: str) -> str:
    return theme.wrapped(f"{label[:1].upper()}{label[1:]}", 26)
