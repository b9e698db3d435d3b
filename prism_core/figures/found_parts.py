"""Bins that were found: noisy counts on a column's fine grid, its cuts, and Y part by part."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from prism_core.figures import theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from prism_core.synthesis.fine_counts import FoundParts

MAX_TICKS = 24
"""Of more parts or cells only some are labelled; hovering names all."""


def parts_figure(found: FoundParts) -> go.Figure:
    """Cells of the fine grid above, the target in each part below. Covered by epsilon.

    Args:
        found: one column; its cells stand in the order of the parts.
    """
    # Cells stand in the order of the parts, so each part is one run.
    runs = [list(places) for _, places in itertools.groupby(range(len(found.parts)), _part(found))]
    axis = theme.name_axis(found.cells, limit=24)
    # Rounded up, so that never more than `MAX_TICKS` are labelled.
    step = -(-len(found.cells) // MAX_TICKS)
    axis["tickvals"], axis["ticktext"] = axis["tickvals"][::step], axis["ticktext"][::step]
    figure = theme.new_figure(
        height=420,
        bargap=0.05,
        showlegend=False,
        xaxis=axis | {"title": {"text": theme.safe(found.name, 60)}, "anchor": "y2"},
        yaxis={"domain": [0.56, 1.0], "title": {"text": "Noisy rows<br>of a cell"}},
        yaxis2={
            "domain": [0.0, 0.44],
            "title": {"text": f"Share with<br>{theme.safe(found.level, 24)}"},
            "tickformat": "~%",
            "rangemode": "tozero",
        },
    )
    # Two colours in turn tell neighbours apart, however many parts there are.
    colours = [theme.BLUE if part % 2 == 0 else theme.SKY for part in found.parts]
    figure.add_bar(
        x=list(range(len(found.cells))),
        y=list(found.counts),
        marker={"color": colours},
        customdata=[
            (theme.safe(cell), part + 1)
            for cell, part in zip(found.cells, found.parts, strict=True)
        ],
        hovertemplate="%{customdata[0]}<br>part %{customdata[1]}: %{y:,}<extra></extra>",
    )
    for run in runs[1:]:
        figure.add_shape(
            type="line",
            x0=run[0] - 0.5,
            x1=run[0] - 0.5,
            y0=0.0,
            y1=1.0,
            yref="paper",
            line={"color": theme.GREY, "dash": "dot", "width": 1},
        )
    _shares(figure, found, runs)
    return figure


def _part(found: FoundParts):  # noqa: ANN202 - a function of a place
    return lambda place: found.parts[place]


def _shares(figure: go.Figure, found: FoundParts, runs: list[list[int]]) -> None:
    known = [
        (run, share, deviation)
        for run, share, deviation in zip(runs, found.share, found.deviation, strict=True)
        if share is not None and deviation is not None
    ]
    figure.add_scatter(
        # In the middle of the cells that the part is made of.
        x=[(run[0] + run[-1]) / 2 for run, _, _ in known],
        y=[share for _, share, _ in known],
        error_y={
            # 1.96 deviations to either side hold 95% of normal noise.
            "array": [1.96 * deviation for _, _, deviation in known],
            "color": theme.ORANGE,
            "thickness": 1.5,
        },
        mode="markers",
        marker={"color": theme.ORANGE, "size": 9},
        yaxis="y2",
        customdata=[
            (theme.safe(found.cells[run[0]]), theme.safe(found.cells[run[-1]]))
            for run, _, _ in known
        ],
        hovertemplate="%{customdata[0]} to %{customdata[1]}<br>%{y:.1%}<extra></extra>",
    )


def parts_words(found: FoundParts) -> str:
    """What the figure shows, for those who do not see it."""
    count = max(found.parts) + 1
    # A part that is no more than noise has no share.
    known = [share for share in found.share if share is not None]
    ends = f", from {min(known):.0%} to {max(known):.0%}" if known else ""
    return (
        f"{found.name}: {len(found.cells):,} fine cells became {count} "
        f"{'part' if count == 1 else 'parts'}. Below, the share of rows with {found.level} in each "
        f"part{ends}; the bars are 95% intervals of the noise."
    )
