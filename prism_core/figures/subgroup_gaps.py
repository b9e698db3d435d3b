"""Gaps between subgroups: cases found, and probabilities that come true, around a line at 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.evaluation.tstr.subgroup_gaps import SubgroupGap

_PANELS = (
    ("found_gap", "found_interval", "Cases found,<br>points against all other levels"),
    ("off", "off_interval", "Observed less predicted share,<br>points"),
)
_SIDES = (
    ("real", "Trained on real rows", theme.REAL, "diamond-open", 0.15),
    ("synthetic", "Trained on synthetic rows", theme.SYNTHETIC, "circle", -0.15),
)


def gaps_figure(gaps: Sequence[SubgroupGap], column: str) -> go.Figure:
    """Both gaps of both models by level, each with its 95% interval. Outside epsilon.

    Args:
        gaps: of both sides, each in the declared order.
        column: whose levels they are.
    """
    labels = list(dict.fromkeys(gap.label for gap in gaps))
    if not any(gap.off is not None for gap in gaps):
        return theme.sentence_figure("No level has enough rows to be compared.")
    rows = theme.rows_axis(labels)
    figure = theme.new_figure(
        height=150 + 36 * max(3, len(labels)),
        xaxis={"domain": [0.0, 0.47]},
        xaxis2={"domain": [0.53, 1.0], "anchor": "y2"},
        yaxis=rows | {"title": {"text": theme.safe(column, 40)}},
        yaxis2=rows | {"anchor": "x2", "showticklabels": False},
    )
    for number, (value, interval, title) in enumerate(_PANELS, start=1):
        end = "" if number == 1 else "2"
        figure.update_layout({f"xaxis{end}": {"title": {"text": title}, "showgrid": True}})
        figure.add_shape(
            type="line",
            x0=0.0,
            x1=0.0,
            y0=0.0,
            y1=1.0,
            xref=f"x{end}",
            yref=f"y{end} domain",
            line={"color": theme.GREY, "dash": "dot"},
        )
        for side, name, colour, symbol, shift in _SIDES:
            _dots(
                figure,
                [
                    # A little apart, so that the marks of both sides do not cover each other.
                    (labels.index(gap.label) + shift, gap)
                    for gap in gaps
                    if gap.trained_on == side and getattr(gap, value) is not None
                ],
                (value, interval, end),
                (name, colour, symbol),
            )
    return figure


def _dots(
    figure: go.Figure,
    known: Sequence[tuple[float, SubgroupGap]],
    parts: tuple[str, str, str],
    look: tuple[str, str, str],
) -> None:
    value, interval, end = parts
    name, colour, symbol = look
    at = [100 * getattr(gap, value) for _, gap in known]
    ends = [tuple(100 * each for each in getattr(gap, interval)) for _, gap in known]
    figure.add_scatter(
        x=at,
        y=[place for place, _ in known],
        xaxis=f"x{end}",
        yaxis=f"y{end}",
        mode="markers",
        name=name,
        legendgroup=name,
        # Once: both panels have the same names.
        showlegend=not end,
        marker={"color": colour, "symbol": symbol, "size": 12, "line": {"width": 2}},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [high - x for x, (_, high) in zip(at, ends, strict=True)],
            "arrayminus": [x - low for x, (low, _) in zip(at, ends, strict=True)],
            "color": colour,
            "thickness": 2,
            "width": 4,
        },
        customdata=[
            [theme.safe(gap.label), low, high]
            for (_, gap), (low, high) in zip(known, ends, strict=True)
        ],
        hovertemplate="%{customdata[0]}: %{x:+.1f} points (95% interval %{customdata[1]:+.1f} to "
        f"%{{customdata[2]:+.1f}})<extra>{name}</extra>",
    )
