"""One column: real shares beside synthetic shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.figures import theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from prism_core.evaluation.records import ColumnShape

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


def _shown(
    shape: ColumnShape,
) -> tuple[tuple[str, ...], tuple[float, ...], tuple[float, ...]]:
    """The codes that get a bar, in code order."""
    if len(shape.labels) <= MAX_BARS:
        return shape.labels, shape.real, shape.synthetic
    weight = [real + made for real, made in zip(shape.real, shape.synthetic, strict=True)]
    ranked = sorted(range(len(weight)), key=lambda code: -weight[code])
    keep, rest = sorted(ranked[: MAX_BARS - 1]), ranked[MAX_BARS - 1 :]
    return (
        (*(shape.labels[code] for code in keep), f"{len(rest):,} others"),
        (*(shape.real[code] for code in keep), sum(shape.real[code] for code in rest)),
        (*(shape.synthetic[code] for code in keep), sum(shape.synthetic[code] for code in rest)),
    )
