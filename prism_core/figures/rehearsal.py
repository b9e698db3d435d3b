"""Scores against epsilon for the designs of a rehearsal, with intervals, ceilings and chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from prism_core.figures import theme
from prism_core.planning.metric import GUESS, GUESS_TEXT, METRIC_TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.planning.metric import Metric

_DODGE = 0.025  # on the axis of epsilon, so that bars of different designs do not hide each other


class CurvePoint(Protocol):
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
    found: Sequence[CurvePoint], *, epsilons: Sequence[float] = (), names: Sequence[str] = (),
    low: float | None = None,
) -> go.Figure:  # fmt: skip
    """Curves of one shift. A design has the same colour and symbol in every figure.

    Dashed lines are ceilings, in the colour of their design or grey for all; dotted is what
    knowing nothing scores.

    Args:
        found: the points, by design and increasing epsilon.
        epsilons: all values on the axis, also those without a point yet.
        names: all designs in the order of their styles.
        low: lower end of the axis of scores, to share it between figures.
    """
    wanted = sorted({*epsilons, *(point.epsilon for point in found)})
    if not wanted:
        return theme.sentence_figure("Nothing has been rehearsed yet.")
    figure = theme.new_figure(height=400, margin={"l": 16, "r": 16, "t": 56, "b": 16})
    figure.update_xaxes(
        type="log", title={"text": "Epsilon (log scale)"}, tickvals=wanted, showgrid=False,
        ticktext=[f"{epsilon:g}" for epsilon in wanted], range=_log_range(wanted),
    )  # fmt: skip
    floor = lowest(found) if low is None else low
    metric = found[0].metric if found else "auc"
    guess = GUESS[metric]
    figure.update_yaxes(
        title={"text": f"{METRIC_TEXT[metric]} on rows kept aside"},
        range=[floor, 1.01],
        tickformat=".2f",
        showgrid=True,
    )
    figure.add_annotation(
        text=GUESS_TEXT[metric], x=1.0, xref="paper", xanchor="right", y=guess, yanchor="top",
        showarrow=False, font={"size": 11},
    )  # fmt: skip
    order = list(dict.fromkeys([*names, *(point.variant for point in found)]))
    _across(figure, wanted, guess, GUESS_TEXT[metric], theme.GREY, "dot", list(order))
    _ceilings(figure, found, order, wanted)
    for place, name in enumerate(order):
        _curve(figure, [p for p in found if p.variant == name], name, place, len(order))
    return figure


def lowest(found: Sequence[CurvePoint]) -> float:
    """A lower end of the axis that leaves room under chance, every mean and its interval.

    R² has no lower end: an interval far below chance may be cut off, a mean is not.
    """
    guess = GUESS[found[0].metric] if found else 0.5
    ends = [guess, *(point.mean - (point.half or 0.0) for point in found)]
    cut = max(guess - 0.5, min(ends) - 0.03)
    return min([cut, *(point.mean - 0.03 for point in found if point.mean < guess - 0.5)])


def rehearsal_text(found: Sequence[CurvePoint]) -> str:
    """The figure in words, for those who do not see it."""
    if not found:
        return "Nothing has been rehearsed yet."
    lines: list[str] = []
    for name in dict.fromkeys(point.variant for point in found):
        some = [point for point in found if point.variant == name]
        values = ", ".join(
            f"{point.mean:.3f}" + ("" if point.half is None else f" ± {point.half:.3f}")
            + f" at epsilon {point.epsilon:g}"
            for point in some
        )  # fmt: skip
        unit, ceiling = METRIC_TEXT[some[-1].metric], some[-1].ceiling
        lines.append(f"{name}: {unit} {values}; without noise {ceiling:.3f}.")
    return " ".join(lines)


def _curve(
    figure: go.Figure, some: Sequence[CurvePoint], name: str, place: int, count: int
) -> None:
    style = theme.STYLES[place % len(theme.STYLES)]
    moved = 10 ** (_DODGE * (place - (count - 1) / 2))
    figure.add_scatter(
        x=[point.epsilon * moved for point in some],
        y=[point.mean for point in some],
        mode="lines+markers",
        name=theme.safe(name, 40),
        line={"color": style.colour, "width": 2.5},
        marker={"color": style.colour, "symbol": style.symbol, "size": 10},
        error_y={
            "type": "data", "array": [point.half or 0.0 for point in some], "thickness": 1.5,
            "width": 5, "color": style.colour,
        },
        customdata=[_facts(point) for point in some],
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=True,
    )  # fmt: skip


def _facts(point: CurvePoint) -> str:
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
    figure: go.Figure, found: Sequence[CurvePoint], order: Sequence[str], wanted: Sequence[float]
) -> None:
    """A dashed line a design; one for all where they are the same."""
    values = {point.variant: point.ceiling for point in found}
    for value in dict.fromkeys(round(v, 4) for v in values.values()):
        members = [name for name in order if name in values and round(values[name], 4) == value]
        single = len(members) == 1
        colour = theme.STYLES[order.index(members[0]) % len(theme.STYLES)].colour
        _across(
            figure, wanted, value, f"without noise, {members[0]}" if single else "without noise",
            colour if single else theme.GREY, "dash", members,
        )  # fmt: skip


def _across(
    figure: go.Figure, wanted: Sequence[float], value: float, name: str, colour: str, dash: str,
    members: Sequence[str],
) -> None:  # fmt: skip
    low, high = (10**end for end in _log_range(wanted))
    named = ", ".join(theme.safe(member, 40) for member in members)
    figure.add_scatter(
        x=[low, high], y=[value, value], mode="lines", name=theme.safe(name, 56),
        line={"color": colour, "width": 1.5, "dash": dash}, showlegend=False,
        hovertemplate=f"{theme.safe(name, 56)} ({named}): %{{y:.4f}}<extra></extra>",
    )  # fmt: skip


def _log_range(wanted: Sequence[float]) -> list[float]:
    return [math.log10(wanted[0]) - 0.12, math.log10(wanted[-1]) + 0.12]
