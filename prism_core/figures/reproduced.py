"""The paper's figures from rows of results: AUC and 1-way distance against epsilon."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from prism_core.figures import theme
from prism_core.figures.rehearsal import lowest, rehearsal_figure, rehearsal_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import plotly.graph_objects as go


FEWEST = 3
"""Seeds from which a story shows intervals: the t-interval of two is 12.7 standard errors wide, and
would hide the means."""


class Scores(Protocol):
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


class Line(Protocol):
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
    def onehot(self) -> Scores:
        """Logistic regression on one-hot levels."""
        ...

    @property
    def l1(self) -> float:
        """Mean 1-way l1 distance."""
        ...


@dataclass(frozen=True, kw_only=True)
class _Point:
    """A `rehearsal.CurvePoint`."""

    variant: str
    epsilon: float
    mean: float
    half: float | None
    ceiling: float
    runs: int
    metric: Literal["auc"] = "auc"


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A figure with its heading and its words.

    Attributes:
        title: stands above it.
        figure: the figure.
        words: what it shows, for those who do not see it.
    """

    title: str
    figure: go.Figure
    words: str


def paper_figures(
    rows: Sequence[Line], heading: str, named: Callable[[str], str] = str
) -> tuple[Drawn, ...]:
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
        Drawn(
            title=f"{heading}: AUC, setting {setting}", words=rehearsal_text(some),
            figure=rehearsal_figure(some, names=list(dict.fromkeys(names)), low=lowest(every)),
        )
        for setting, some in points.items()
    ]  # fmt: skip
    return (*drawn, _fidelity(ordered, heading, named)) if ordered else ()


def story_figure(
    rows: Sequence[Line], heading: str, named: Callable[[str], str] = str, *,
    order: Sequence[tuple[str, str]] = (), low: float | None = None,
) -> Drawn:  # fmt: skip
    """AUC against epsilon of methods and settings side by side, in one figure.

    A line of fewer than `FEWEST` seeds has no interval.

    Args:
        rows: of one benchmark and one number of synthetic rows.
        heading: of the figure.
        named: a method in words.
        order: methods with their settings in the order of their colours, so that two figures of
            one story give a method the same one.
        low: lower end of the axis of AUC, to share it between figures.
    """

    def label(method: str, setting: str) -> str:
        return named(method) + (", as in the paper" if setting == "paper" else "")

    points = [_told(row, label(row.method, row.setting)) for row in rows]
    return Drawn(
        title=heading, words=rehearsal_text(points),
        figure=rehearsal_figure(points, names=[label(*line) for line in order], low=low),
    )  # fmt: skip


def story_low(rows: Sequence[Line]) -> float:
    """A lower end of the axis of AUC that serves all these rows."""
    return lowest([_told(row, row.method) for row in rows])


def _told(row: Line, variant: str) -> _Point:
    point = _point(row, lambda _: variant)
    return point if point.runs >= FEWEST else replace(point, half=None)


def _point(row: Line, named: Callable[[str], str]) -> _Point:
    return _Point(
        variant=named(row.method), epsilon=row.epsilon, mean=row.onehot.auc_mean,
        half=row.onehot.auc_ci, ceiling=row.onehot.ceiling, runs=len(row.seeds),
    )  # fmt: skip


def _fidelity(rows: Sequence[Line], heading: str, named: Callable[[str], str]) -> Drawn:
    """Mean 1-way l1 distance against epsilon, both axes logarithmic."""
    figure = theme.new_figure(height=400, margin={"l": 16, "r": 16, "t": 56, "b": 16})
    wanted = sorted({row.epsilon for row in rows})
    figure.update_xaxes(
        type="log", title={"text": "Epsilon (log scale)"}, tickvals=wanted, showgrid=False,
        ticktext=[f"{epsilon:g}" for epsilon in wanted],
    )  # fmt: skip
    figure.update_yaxes(type="log", title={"text": "1-way l1 distance"}, showgrid=True)
    words: list[str] = []
    lines = dict.fromkeys((row.method, row.setting) for row in rows)
    for place, (method, setting) in enumerate(lines):
        some = [row for row in rows if (row.method, row.setting) == (method, setting)]
        dash = "solid" if setting == "ours" else "dot"
        style, name = theme.STYLES[place % len(theme.STYLES)], f"{named(method)}, {setting}"
        figure.add_scatter(
            x=[row.epsilon for row in some], y=[row.l1 for row in some], mode="lines+markers",
            name=theme.safe(name, 48), showlegend=True,
            line={"color": style.colour, "width": 2, "dash": dash},
            marker={"color": style.colour, "symbol": style.symbol, "size": 9},
        )  # fmt: skip
        said = ", ".join(f"{row.l1:.4f} at epsilon {row.epsilon:g}" for row in some)
        words.append(f"{name}: {said}.")
    return Drawn(title=f"{heading}: 1-way l1 distance", figure=figure, words=" ".join(words))
