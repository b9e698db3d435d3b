"""Scores by level of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.evaluation.subgroups import Subgroup


def subgroup_figure(groups: Sequence[Subgroup], column: str, *, numeric: bool = False) -> go.Figure:
    """AUC (or RMSE) of every level, trained on synthetic and on real rows. Outside epsilon.

    Suppressed levels keep their place and have no mark.

    Args:
        groups: in the declared order.
        column: whose levels they are.
        numeric: whether the scores are RMSEs of a numeric target.
    """
    if not any(group.synthetic is not None for group in groups):
        return theme.sentence_figure("No level has enough rows of both classes to be scored.")
    figure = theme.new_figure(
        height=120 + 28 * max(3, len(groups)),
        xaxis={
            "title": {"text": "Root mean squared error" if numeric else "Area under the ROC curve"},
            "showgrid": True,
        },
        yaxis=theme.rows_axis([group.label for group in groups])
        | {"title": {"text": theme.safe(column, 40)}},
    )
    for title, part, colour, symbol in (
        ("Trained on real rows", "real", theme.REAL, "diamond-open"),
        ("Trained on synthetic rows", "synthetic", theme.SYNTHETIC, "circle"),
    ):
        known = [
            (place, value)
            for place, group in enumerate(groups)
            if (value := getattr(group, part)) is not None
        ]
        figure.add_scatter(
            x=[value for _, value in known], y=[place for place, _ in known], mode="markers",
            name=title, marker={"color": colour, "symbol": symbol, "size": 12,
                                "line": {"width": 2}},
            customdata=[theme.safe(groups[place].label) for place, _ in known],
            hovertemplate=f"%{{customdata}}<br>{title}: %{{x:.4g}}<extra></extra>",
        )  # fmt: skip
    return figure
