"""Scores against epsilon: curves of a rehearsal, and the paper's figures from rows of results.

With intervals, ceilings and chance; of the paper's rows also the 1-way distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from prism_core.figures import theme
from prism_core.rehearsal.points import GUESS, GUESS_TEXT, METRIC_TEXT, Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import plotly.graph_objects as go


_DODGE = 0.025  # on the axis of epsilon, so that bars of different designs do not hide each other


class ScorePoint(Protocol):
    """What the figure needs to know of one design at one epsilon."""

    @property
    def variant(self) -> str:
        """Name of the design."""
        ...

    @property
    def epsilon(self) -> float:
        """Where on the axis."""
        ...

    @property
    def mean(self) -> float:
        """Mean score."""
        ...

    @property
    def half(self) -> float | None:
        """Half the width of the 95% interval, None with a single run."""
        ...

    @property
    def ceiling(self) -> float:
        """The score without noise."""
        ...

    @property
    def metric(self) -> Metric:
        """What is scored."""
        ...

    @property
    def runs(self) -> int:
        """Number of runs behind the mean."""
        ...


def rehearsal_figure(
    found: Sequence[ScorePoint],
    *,
    epsilons: Sequence[float] = (),
    names: Sequence[str] = (),
    low: float | None = None,
    height: int = 400,
    legend: bool = True,
) -> go.Figure:
    """Curves of one shift. A design has the same colour and symbol in every figure.

    Dashed lines are ceilings, in the colour of their design or grey for all; dotted is what
    knowing nothing scores.

    Args:
        found: the points, by design and increasing epsilon.
        epsilons: all values on the axis, also those without a point yet.
        names: all designs in the order of their styles.
        low: lower end of the axis of scores, to share it between figures.
        height: in pixels.
        legend: whether the designs are named; `legend_marks` gives the same for several figures.
    """
    # Values without a point yet, too: the axis does not move while points come in.
    wanted = sorted({*epsilons, *(point.epsilon for point in found)})
    if not wanted:
        return theme.sentence_figure("Nothing has been rehearsed yet.")
    figure = theme.new_figure(
        height=height,
        margin={"l": 16, "r": 16, "t": 56 if legend else 16, "b": 16},
        showlegend=legend,
    )
    figure.update_xaxes(
        type="log",
        title={"text": "Epsilon (log scale)"},
        tickvals=wanted,
        showgrid=False,
        ticktext=[f"{epsilon:g}" for epsilon in wanted],
        range=_log_range(wanted),
    )
    floor = lowest(found) if low is None else low
    metric = found[0].metric if found else "auc"
    guess = GUESS[metric]
    figure.update_yaxes(
        title={"text": f"{METRIC_TEXT[metric]} on rows kept aside"},
        # A little above 1, or marks at 1 would be cut in half.
        range=[floor, 1.01],
        tickformat=".2f",
        showgrid=True,
    )
    figure.add_annotation(
        text=GUESS_TEXT[metric],
        x=1.0,
        xref="paper",
        xanchor="right",
        y=guess,
        yanchor="top",
        showarrow=False,
        font={"size": 11},
    )
    # Designs as they were asked for, so that one keeps its style before the others have points.
    order = list(dict.fromkeys([*names, *(point.variant for point in found)]))
    _across(figure, wanted, guess, GUESS_TEXT[metric], theme.GREY, "dot", list(order))
    _ceilings(figure, found, order, wanted)
    for place, name in enumerate(order):
        _curve(figure, [p for p in found if p.variant == name], name, place, len(order))
    return figure


def legend_marks(names: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    """Name, colour and symbol of each design, as the figures of a rehearsal draw it."""
    styles = [theme.STYLES[place % len(theme.STYLES)] for place in range(len(names))]
    return tuple((n, s.colour, s.symbol) for n, s in zip(names, styles, strict=True))


def lowest(found: Sequence[ScorePoint]) -> float:
    """A lower end of the axis that leaves room under chance, every mean and its interval.

    R² has no lower end: an interval far below chance may be cut off, a mean is not.
    """
    guess = GUESS[found[0].metric] if found else 0.5
    ends = [guess, *(point.mean - (point.half or 0.0) for point in found)]
    cut = max(guess - 0.5, min(ends) - 0.03)
    return min([cut, *(point.mean - 0.03 for point in found if point.mean < guess - 0.5)])


def rehearsal_text(found: Sequence[ScorePoint]) -> str:
    """The figure in words, for those who do not see it."""
    if not found:
        return "Nothing has been rehearsed yet."
    lines: list[str] = []
    for name in dict.fromkeys(point.variant for point in found):
        some = [point for point in found if point.variant == name]
        values = ", ".join(
            f"{point.mean:.3f}"
            + ("" if point.half is None else f" ± {point.half:.3f}")
            + f" at epsilon {point.epsilon:g}"
            for point in some
        )
        unit, ceiling = METRIC_TEXT[some[-1].metric], some[-1].ceiling
        lines.append(f"{name}: {unit} {values}; without noise {ceiling:.3f}.")
    return " ".join(lines)


def _curve(
    figure: go.Figure, some: Sequence[ScorePoint], name: str, place: int, count: int
) -> None:
    style = theme.STYLES[place % len(theme.STYLES)]
    # A factor is the same shift everywhere on a logarithmic axis.
    moved = 10 ** (_DODGE * (place - (count - 1) / 2))
    figure.add_scatter(
        x=[point.epsilon * moved for point in some],
        y=[point.mean for point in some],
        mode="lines+markers",
        name=theme.safe(name, 40),
        line={"color": style.colour, "width": 2.5},
        marker={"color": style.colour, "symbol": style.symbol, "size": 10},
        error_y={
            "type": "data",
            "array": [point.half or 0.0 for point in some],
            "thickness": 1.5,
            "width": 5,
            "color": style.colour,
        },
        customdata=[_facts(point) for point in some],
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=True,
    )


def _facts(point: ScorePoint) -> str:
    interval = "" if point.half is None else f" ± {point.half:.4f} (95%)"
    return "<br>".join(
        (
            f"<b>{theme.safe(point.variant)}</b>",
            f"epsilon {point.epsilon:g}: {METRIC_TEXT[point.metric]} {point.mean:.4f}{interval}",
            f"without noise: {point.ceiling:.4f}",
            f"{point.runs} run{'' if point.runs == 1 else 's'}",
        )
    )


def _ceilings(
    figure: go.Figure, found: Sequence[ScorePoint], order: Sequence[str], wanted: Sequence[float]
) -> None:
    """A dashed line a design; one for all where they are the same."""
    values = {point.variant: point.ceiling for point in found}
    # To the digits that are shown: lines that read the same are one.
    for value in dict.fromkeys(round(v, 4) for v in values.values()):
        members = [name for name in order if name in values and round(values[name], 4) == value]
        single = len(members) == 1
        colour = theme.STYLES[order.index(members[0]) % len(theme.STYLES)].colour
        _across(
            figure,
            wanted,
            value,
            f"without noise, {members[0]}" if single else "without noise",
            colour if single else theme.GREY,
            "dash",
            members,
        )


def _across(
    figure: go.Figure,
    wanted: Sequence[float],
    value: float,
    name: str,
    colour: str,
    dash: str,
    members: Sequence[str],
) -> None:
    low, high = (10**end for end in _log_range(wanted))
    named = ", ".join(theme.safe(member, 40) for member in members)
    figure.add_scatter(
        x=[low, high],
        y=[value, value],
        mode="lines",
        name=theme.safe(name, 56),
        line={"color": colour, "width": 1.5, "dash": dash},
        showlegend=False,
        hovertemplate=f"{theme.safe(name, 56)} ({named}): %{{y:.4f}}<extra></extra>",
    )


def _log_range(wanted: Sequence[float]) -> list[float]:
    # A little room at both ends, where marks and bars of the outer points stand.
    return [math.log10(wanted[0]) - 0.12, math.log10(wanted[-1]) + 0.12]


class LearnerScores(Protocol):
    """One learner over the seeds of a line."""

    @property
    def auc_mean(self) -> float:
        """Mean AUC."""
        ...

    @property
    def auc_ci(self) -> float | None:
        """Half the width of the 95% interval, None with a single seed."""
        ...

    @property
    def ceiling(self) -> float:
        """AUC of real rows."""
        ...


class ResultLine(Protocol):
    """What the figures need to know of a method at one epsilon."""

    @property
    def method(self) -> str:
        """Its name."""
        ...

    @property
    def setting(self) -> str:
        """How it ran."""
        ...

    @property
    def epsilon(self) -> float:
        """Where on the axis."""
        ...

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds behind the means."""
        ...

    @property
    def onehot(self) -> LearnerScores:
        """Logistic regression on one-hot levels."""
        ...

    @property
    def l1(self) -> float:
        """Mean 1-way l1 distance."""
        ...


@dataclass(frozen=True, kw_only=True)
class _Point:
    """A plain `ScorePoint`."""

    variant: str
    epsilon: float
    mean: float
    half: float | None
    ceiling: float
    runs: int
    metric: Literal["auc"] = "auc"


def paper_figures(
    rows: Sequence[ResultLine], heading: str, named: Callable[[str], str] = str
) -> tuple[theme.CaptionedFigure, ...]:
    """AUC against epsilon for every setting, on one axis, and the 1-way distance.

    Args:
        rows: of one benchmark and one number of synthetic rows.
        heading: of the benchmark.
        named: a method in words.
    """
    ordered = sorted(rows, key=lambda row: row.epsilon)
    points = {
        setting: [_point(row, named) for row in ordered if row.setting == setting]
        for setting in dict.fromkeys(row.setting for row in rows)
    }
    every = [point for some in points.values() for point in some]
    names = [named(row.method) for row in rows]
    drawn = [
        theme.CaptionedFigure(
            title=f"{heading}: AUC, setting {setting}",
            words=rehearsal_text(some),
            # One lower end for all settings, so that the figures can be compared by eye.
            figure=rehearsal_figure(some, names=list(dict.fromkeys(names)), low=lowest(every)),
        )
        for setting, some in points.items()
    ]
    return (*drawn, _fidelity(ordered, heading, named)) if ordered else ()


def _point(row: ResultLine, named: Callable[[str], str]) -> _Point:
    return _Point(
        variant=named(row.method),
        epsilon=row.epsilon,
        mean=row.onehot.auc_mean,
        half=row.onehot.auc_ci,
        ceiling=row.onehot.ceiling,
        runs=len(row.seeds),
    )


def _fidelity(
    rows: Sequence[ResultLine], heading: str, named: Callable[[str], str]
) -> theme.CaptionedFigure:
    """Mean 1-way l1 distance against epsilon, both axes logarithmic."""
    figure = theme.new_figure(height=400, margin={"l": 16, "r": 16, "t": 56, "b": 16})
    wanted = sorted({row.epsilon for row in rows})
    figure.update_xaxes(
        type="log",
        title={"text": "Epsilon (log scale)"},
        tickvals=wanted,
        showgrid=False,
        ticktext=[f"{epsilon:g}" for epsilon in wanted],
    )
    figure.update_yaxes(type="log", title={"text": "1-way l1 distance"}, showgrid=True)
    words: list[str] = []
    lines = dict.fromkeys((row.method, row.setting) for row in rows)
    for place, (method, setting) in enumerate(lines):
        some = [row for row in rows if (row.method, row.setting) == (method, setting)]
        dash = "solid" if setting == "ours" else "dot"
        style, name = theme.STYLES[place % len(theme.STYLES)], f"{named(method)}, {setting}"
        figure.add_scatter(
            x=[row.epsilon for row in some],
            y=[row.l1 for row in some],
            mode="lines+markers",
            name=theme.safe(name, 48),
            showlegend=True,
            line={"color": style.colour, "width": 2, "dash": dash},
            marker={"color": style.colour, "symbol": style.symbol, "size": 9},
        )
        said = ", ".join(f"{row.l1:.4f} at epsilon {row.epsilon:g}" for row in some)
        words.append(f"{name}: {said}.")
    return theme.CaptionedFigure(
        title=f"{heading}: 1-way l1 distance", figure=figure, words=" ".join(words)
    )
