"""Guarantees of a plan: the theory's bounds on error, and what an attacker can gain at most."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prism_core.figures import theme
from prism_core.text.numbers import out_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.explain.error_bounds import Bound, ErmBound, MarginalBounds
    from prism_core.explain.meaning import Gain, Guess

MOST_MARGINALS = 30
"""Most marginals that are drawn."""

_WIDEST = 1.12  # of an axis: beyond 1 there is nothing to read off


def erm_figure(erm: ErmBound) -> go.Figure:
    """One bar of the three terms end to end, and the line above which it says nothing.

    A term that is not known is named in the legend and takes no room.
    """
    figure = theme.new_figure(
        height=190,
        barmode="stack",
        margin={"l": 8, "r": 16, "t": 76, "b": 8},
        xaxis={
            "title": {"text": "Excess risk (a share of wrong decisions); above 1: no guarantee"},
            "range": [0.0, _WIDEST],
            "showgrid": True,
        },
        yaxis={"visible": False, "range": [-0.55, 0.55]},
        legend=theme.legend_above() | {"traceorder": "normal", "y": 1.04},
    )
    # Not strict: there are more styles than terms.
    for term, style in zip(erm.terms, theme.STYLES, strict=False):
        _term(figure, term, style)
    figure.add_scatter(
        x=[1.0, 1.0],
        y=[-0.5, 0.5],
        mode="lines",
        name="no guarantee beyond",
        line={"color": theme.VERMILION, "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
    )
    return figure


def _term(figure: go.Figure, term: Bound, style: theme.Style) -> None:
    figure.add_bar(
        x=[term.raw or 0.0],
        y=[0],
        orientation="h",
        width=0.62,
        name=theme.safe(f"{term.name}: {term.text}"),
        marker={"color": style.colour, "pattern": theme.pattern(style.pattern)},
        customdata=[
            f"<b>{theme.safe(term.name)}</b>: {term.text}<br>{theme.wrapped(term.sentence)}"
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )


def bounds_figure(lines: Sequence[MarginalBounds]) -> go.Figure:
    """l1 error of every marginal: expected and guaranteed, on one logarithmic line.

    Args:
        lines: the marginals; the first `MOST_MARGINALS` are drawn, in the order given.
    """
    shown = list(lines[:MOST_MARGINALS])
    if not shown:
        return theme.sentence_figure("There are no marginals with the target yet.")
    # Expected errors are the smaller ones, so they set the low end.
    low = math.log10(min([_place(line.expected) for line in shown]))
    figure = theme.new_figure(
        height=120 + 24 * max(3, len(shown)),
        xaxis={
            "title": {"text": "l1 error over the number of rows (log scale)"},
            "type": "log",
            # Axis ranges of a logarithmic axis are exponents.
            "range": [low - 0.15, math.log10(_WIDEST) + 0.03],
            "tickformat": "~%",
            "showgrid": True,
            # Over less than two decades ticks at 1, 2 and 5 too, or there would be one or two.
            "dtick": 1 if low < -2 else "D2",
        },
        yaxis=theme.rows_axis([line.label for line in shown], limit=48) | {"showgrid": True},
    )
    places = list(range(len(shown)))
    figure.add_scatter(  # one broken line joins each pair
        # None ends a line, so one trace draws them all.
        x=[x for line in shown for x in (_place(line.expected), _place(line.l1), None)],
        y=[y for place in places for y in (place, place, None)],
        mode="lines",
        showlegend=False,
        line={"color": theme.AXIS, "width": 2},
        hoverinfo="skip",
    )
    kinds = (
        ("Expected", [line.expected for line in shown], theme.SKY, "circle"),
        ("Guaranteed", [line.l1 for line in shown], theme.BLUE, "diamond"),
    )
    for name, found, colour, symbol in kinds:
        figure.add_scatter(
            x=[_place(bound) for bound in found],
            y=places,
            mode="markers",
            name=name,
            marker={"color": colour, "symbol": symbol, "size": 10},
            customdata=[
                f"<b>{theme.safe(line.label)}</b><br>{bound.name}: {bound.text}"
                for line, bound in zip(shown, found, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    figure.add_scatter(
        x=[1.0, 1.0],
        y=[-0.6, len(shown) - 0.4],
        mode="lines",
        name="no guarantee beyond",
        line={"color": theme.VERMILION, "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
    )
    return figure


def _place(bound: Bound) -> float:
    """Where a bound stands on the axis; what is above 1 stands just beyond the line."""
    # A bound that is not known has no place either, and stands there, too.
    return min(bound.raw or _WIDEST, _WIDEST)


_GAP = 0.35  # between the two fields of people, in parts of one


def trade_off_figure(
    curve: Sequence[Gain], marked: Sequence[Gain], *, log: bool = False
) -> go.Figure:
    """True positives against false alarms, with the line of a test that knows nothing.

    Between the points of the curve the line is straight; it is for looking, the marked values are
    exact upper bounds.

    Args:
        curve: the bound at many rates, rising.
        marked: values that are spelled out.
        log: a logarithmic scale for both rates, which shows the small ones.
    """
    # 0 has no place on a logarithmic axis.
    shown = [gain for gain in curve if gain.rate > 0.0] if log else list(curve)
    axis = {"tickformat": "~%", "showgrid": True, "type": "log" if log else "linear"}
    # The line of a test that knows nothing starts where the curve does.
    least = shown[0].rate if shown else 1e-4
    figure = theme.new_figure(
        height=380,
        xaxis=axis | {"title": {"text": "False alarms: people wrongly said to be in the table"}},
        yaxis=axis | {"title": {"text": "True positives, at most"}},
    )
    start = least if log else 0.0
    figure.add_scatter(
        x=[start, 1.0],
        y=[start, 1.0],
        mode="lines",
        name="Knowing nothing",
        line={"color": theme.GREY, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=[gain.rate for gain in shown],
        y=[gain.power for gain in shown],
        mode="lines",
        name="Best test, at most",
        fill="tonexty",
        fillcolor="rgba(0, 114, 178, 0.12)",
        line={"color": theme.BLUE, "width": 2.5},
        hovertemplate="at %{x:.2%} false alarms<br>at most %{y:.2%} true positives<extra></extra>",
    )
    figure.add_scatter(
        x=[gain.rate for gain in marked],
        y=[gain.power for gain in marked],
        mode="markers",
        showlegend=False,
        marker={"color": theme.BLUE, "symbol": "diamond", "size": 10},
        customdata=[theme.wrapped(gain.sentence, 60) for gain in marked],
        hovertemplate="%{customdata}<extra></extra>",
    )
    return figure


def odds_figure(guess: Guess) -> go.Figure:
    """People about whom somebody guesses, and how many of the guesses are right: before, after.

    A field of people each, one mark a person (of 100, or of 1,000 for seldom guesses); rounded up.
    """
    people = min(guess.people, 1_000)
    wide = 10 if people == 100 else 25
    rows = people // wide
    figure = theme.new_figure(
        height=270,
        margin={"l": 8, "r": 8, "t": 68, "b": 8},
        xaxis={"visible": False, "range": [-0.6, wide * (2.0 + _GAP) - 0.4]},
        # Downwards, so that the first row of people is the top one.
        yaxis={"visible": False, "range": [rows - 0.4, -0.6]},
        legend=theme.legend_above() | {"y": 1.14},
    )
    marks: dict[bool, tuple[list[float], list[int]]] = {True: ([], []), False: ([], [])}
    sides = (("before", guess.before), ("after, at most", guess.after))
    for place, (when, chance) in enumerate(sides):
        right = out_of(chance, people)
        left = place * wide * (1.0 + _GAP)
        for member in range(people):
            x, y = marks[member < right]
            x.append(left + member % wide)
            y.append(member // wide)
        figure.add_annotation(
            text=f"<b>{right:,}</b> of {people:,} {when}",
            x=left - 0.4,
            y=1.0,
            yref="paper",
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
            font={"size": 14},
        )
    few = people == 100  # a thousand open circles would run into one another
    looks = (
        (True, "Guessed right", theme.VERMILION, "circle"),
        (
            False,
            "Guessed wrong",
            theme.GREY if few else theme.GRID,
            "circle-open" if few else "square",
        ),
    )
    for right, name, colour, symbol in looks:
        figure.add_scatter(
            x=marks[right][0],
            y=marks[right][1],
            mode="markers",
            name=name,
            hoverinfo="skip",
            marker={"color": colour, "symbol": symbol, "size": 10 if few else 3},
        )
    return figure
