"""Scores by level of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.evaluation.subgroups import Subgroup


def subgroup_figure(
    groups: Sequence[Subgroup], column: str, learned_from: str = "", *, numeric: bool = False
) -> go.Figure:
    """AUC (or RMSE) of every level, trained on synthetic and on real rows. Outside epsilon.

    A bar at each mark is its 95% interval over the group's test rows. Suppressed levels keep
    their place and have no mark.

    Args:
        groups: in the declared order.
        column: whose levels they are.
        learned_from: the columns that the models learned from, in words.
        numeric: whether the scores are RMSEs of a numeric target.
    """
    if not any(group.synthetic is not None for group in groups):
        return theme.sentence_figure("No level has enough rows of both classes to be scored.")
    figure = theme.new_figure(
        height=140 + 36 * max(3, len(groups)),
        xaxis={
            "title": {"text": "Root mean squared error" if numeric else "Area under the ROC curve"},
            "showgrid": True,
        },
        yaxis=theme.rows_axis([group.label for group in groups])
        | {"title": {"text": theme.safe(column, 40)}},
    )
    for title, part, colour, symbol, shift in (
        ("Trained on real rows", "real", theme.REAL, "diamond-open", 0.15),
        ("Trained on synthetic rows", "synthetic", theme.SYNTHETIC, "circle", -0.15),
    ):
        known = [
            (place, value)
            for place, group in enumerate(groups)
            if (value := getattr(group, part)) is not None
        ]
        # No interval, no bar: its length is 0.
        intervals = [
            getattr(groups[place], f"{part}_interval") or (value, value) for place, value in known
        ]
        figure.add_scatter(
            x=[value for _, value in known], y=[place + shift for place, _ in known],
            mode="markers",
            error_x={
                "type": "data", "symmetric": False, "thickness": 2, "width": 4,
                "array": [max(0.0, high - value)
                          for (_, high), (_, value) in zip(intervals, known, strict=True)],
                "arrayminus": [max(0.0, value - low)
                               for (low, _), (_, value) in zip(intervals, known, strict=True)],
            },
            name=title, marker={"color": colour, "symbol": symbol, "size": 12,
                                "line": {"width": 2}},
            customdata=[
                [theme.safe(groups[place].label), *ends]
                for (place, _), ends in zip(known, intervals, strict=True)
            ],
            hovertemplate=f"%{{customdata[0]}}<br>{title}: %{{x:.4g}} (95% interval "
            "%{customdata[1]:.4g} to %{customdata[2]:.4g})<extra></extra>",
        )  # fmt: skip
    heading = theme.legend_title(learned_from, "as bars")
    figure.update_layout(legend=theme.legend_above() | heading)
    return figure
