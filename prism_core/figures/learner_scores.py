"""Scores of learners between floor and ceiling, and by level of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.evaluation.results import FROM_S, MetricRow
from prism_core.evaluation.score_text import amount, ends, three
from prism_core.evaluation.tstr.learners import LEARNER_LABELS
from prism_core.figures import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.evaluation.tstr.intervals import Interval
    from prism_core.evaluation.tstr.subgroup_gaps import SubgroupGap
    from prism_core.evaluation.tstr.subgroup_scores import Subgroup

METRIC_TITLES = {
    "auc": "Area under the ROC curve (higher is better)",
    "accuracy": "Share of rows classified correctly (higher is better)",
    "log_loss": "Log loss in nats (lower is better)",
    "brier": "Brier score (lower is better)",
    "calibration_error": "Expected calibration error (lower is better)",
    "level_error": "Mean number of levels off (lower is better)",
    "weighted_kappa": "Kappa with quadratic weights (higher is better)",
    "r2": "R² (higher is better; 0 is always giving the mean)",
    "rmse": "Root mean squared error, in the unit of the column (lower is better)",
}
"""Axis titles of the prediction metrics; `axis_title` for those that were learned from S alone."""

_MARKS = (
    ("floor", "Guessing without any column (floor)", theme.FLOOR, "line-ns-open", "bottom center"),
    ("ceiling", "Trained on real rows", theme.REAL, "diamond-open", "bottom center"),
    ("value", "Trained on synthetic rows", theme.SYNTHETIC, "circle", "top center"),
)
_SHIFT = {"value": -0.14, "ceiling": 0.1, "floor": 0.1}
_PANELS = (
    ("found_gap", "found_interval", "Cases found,<br>points against all other levels"),
    ("off", "off_interval", "Observed less predicted share,<br>points"),
)
_SIDES = (
    ("real", "Trained on real rows", theme.REAL, "diamond-open", 0.15),
    ("synthetic", "Trained on synthetic rows", theme.SYNTHETIC, "circle", -0.15),
)


def axis_title(name: str) -> str:
    """The axis title of a score; one of S alone says so."""
    own = name.removesuffix(FROM_S)
    title = METRIC_TITLES.get(own, theme.safe(own))
    return title if own == name else f"{title}, from S alone"


def learners_figure(found: Sequence[MetricRow], name: str = "auc") -> go.Figure:
    """A dot per learner trained on synthetic rows, on the line from its floor to its ceiling.

    A bar at each mark is its 95% interval over test rows; the text beside a mark names its ends. A
    score that is not defined is replaced by the sentence that says why. Outside epsilon.

    Args:
        found: a row a learner.
        name: of the score.
    """
    rows = [row for row in found if row.learner is not None]
    if not rows:
        return theme.sentence_figure(f"No learner was scored by {name}.")
    labels = [LEARNER_LABELS.get(row.learner or "", row.learner or "") for row in rows]
    figure = theme.new_figure(
        height=140 + 96 * len(rows),
        xaxis={"title": {"text": axis_title(name)}, "showgrid": True},
        yaxis=theme.rows_axis(labels)
        # Names of learners are long, and break at their comma.
        | {"ticktext": [theme.safe(label).replace(", ", ",<br>", 1) for label in labels]},
    )
    _spans(figure, rows)
    for mark in _MARKS:
        _points(figure, rows, labels, *mark)
    for place, row in enumerate(rows):
        if row.value is None:
            figure.add_annotation(
                # A note may be longer than there is room between two learners.
                text=theme.wrapped(row.note if len(row.note) < 150 else row.note[:149] + "…", 62),
                x=0.5,
                xref="x domain",
                y=place - 0.14,
                yanchor="bottom",
                showarrow=False,
                font={"size": 12},
            )
    return figure


def _spans(figure: go.Figure, rows: list[MetricRow]) -> None:
    """The line from floor to ceiling of every learner."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for place, row in enumerate(rows):
        # With the score itself, which may lie outside floor and ceiling.
        ends = [end for end in (row.floor, row.ceiling, row.value) if end is not None]
        # A line needs two ends; a lone mark stands without one.
        if len(ends) > 1:
            xs += [min(ends), max(ends), None]
            ys += [place, place, None]
    figure.add_scatter(
        x=xs,
        y=ys,
        mode="lines",
        line={"color": theme.AXIS, "width": 2},
        showlegend=False,
        hoverinfo="skip",
    )


def _points(
    figure: go.Figure,
    rows: list[MetricRow],
    labels: list[str],
    part: str,
    legend: str,
    colour: str,
    symbol: str,
    position: str,
) -> None:
    found = [
        (place, number)
        for place, row in enumerate(rows)
        if (number := getattr(row, part)) is not None
    ]
    intervals = [_interval(rows[place], part) for place, _ in found]
    # An RMSE has the unit of its column: three decimals of thousands say nothing.
    form = amount if any(abs(number) >= 100 for _, number in found) else three
    figure.add_scatter(
        x=[number for _, number in found],
        # The three stand at heights of their own: their bars overlap.
        y=[place + _SHIFT[part] for place, _ in found],
        error_x={
            "type": "data",
            "symmetric": False,
            "thickness": 2,
            "width": 5,
            "color": colour,
            # An interval of percentiles need not hold the value, and a bar has no length below 0.
            "array": [
                0.0 if i is None else max(0.0, i[1] - x)
                for i, (_, x) in zip(intervals, found, strict=True)
            ],
            "arrayminus": [
                0.0 if i is None else max(0.0, x - i[0])
                for i, (_, x) in zip(intervals, found, strict=True)
            ],
        },
        mode="markers+text",
        marker={"color": colour, "symbol": symbol, "size": 14, "line": {"width": 2.5}},
        text=[
            form(number) + (f" ({ends(i, form)})" if i and i[0] < i[1] else "")
            for i, (_, number) in zip(intervals, found, strict=True)
        ],
        textposition=position,
        textfont={"size": 12},
        name=legend,
        customdata=[
            [theme.safe(labels[place]), f", 95% interval {ends(i, form)}" if i else ""]
            for i, (place, _) in zip(intervals, found, strict=True)
        ],
        hovertemplate=f"%{{customdata[0]}}<br>{legend}: %{{x:.4f}}%{{customdata[1]}}"
        "<extra></extra>",
        cliponaxis=False,
    )


def _interval(row: MetricRow, part: str) -> Interval | None:
    return row.interval if part == "value" else getattr(row, f"{part}_interval")


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
            x=[value for _, value in known],
            y=[place + shift for place, _ in known],
            mode="markers",
            error_x={
                "type": "data",
                "symmetric": False,
                "thickness": 2,
                "width": 4,
                "array": [
                    max(0.0, high - value)
                    for (_, high), (_, value) in zip(intervals, known, strict=True)
                ],
                "arrayminus": [
                    max(0.0, value - low)
                    for (low, _), (_, value) in zip(intervals, known, strict=True)
                ],
            },
            name=title,
            marker={"color": colour, "symbol": symbol, "size": 12, "line": {"width": 2}},
            customdata=[
                [theme.safe(groups[place].label), *ends]
                for (place, _), ends in zip(known, intervals, strict=True)
            ],
            hovertemplate=f"%{{customdata[0]}}<br>{title}: %{{x:.4g}} (95% interval "
            "%{customdata[1]:.4g} to %{customdata[2]:.4g})<extra></extra>",
        )
    heading = theme.legend_title(learned_from, "as bars")
    figure.update_layout(legend=theme.legend_above() | heading)
    return figure


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
