"""What an attacker can gain: a membership test's trade-off, and a guess before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.figures import theme
from prism_core.planning.words import out_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from prism_core.planning.meaning import Gain, Guess

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
    shown = [gain for gain in curve if gain.rate > 0.0] if log else list(curve)
    axis = {"tickformat": "~%", "showgrid": True, "type": "log" if log else "linear"}
    least = shown[0].rate if shown else 1e-4
    figure = theme.new_figure(
        height=380,
        xaxis=axis | {"title": {"text": "False alarms: people wrongly said to be in the table"}},
        yaxis=axis | {"title": {"text": "True positives, at most"}},
    )
    start = least if log else 0.0
    figure.add_scatter(
        x=[start, 1.0], y=[start, 1.0], mode="lines", name="Knowing nothing",
        line={"color": theme.GREY, "width": 1.5, "dash": "dash"}, hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=[gain.rate for gain in shown], y=[gain.power for gain in shown], mode="lines",
        name="Best test, at most", fill="tonexty", fillcolor="rgba(0, 114, 178, 0.12)",
        line={"color": theme.BLUE, "width": 2.5},
        hovertemplate="at %{x:.2%} false alarms<br>at most %{y:.2%} true positives<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=[gain.rate for gain in marked], y=[gain.power for gain in marked], mode="markers",
        showlegend=False, marker={"color": theme.BLUE, "symbol": "diamond", "size": 10},
        customdata=[theme.wrapped(gain.sentence, 60) for gain in marked],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    return figure


def odds_figure(guess: Guess) -> go.Figure:
    """People about whom somebody guesses, and how many of the guesses are right: before, after.

    A field of people each, one mark a person (of 100, or of 1,000 for seldom guesses); rounded up.
    """
    people = min(guess.people, 1_000)
    wide = 10 if people == 100 else 25
    rows = people // wide
    figure = theme.new_figure(
        height=270, margin={"l": 8, "r": 8, "t": 68, "b": 8},
        xaxis={"visible": False, "range": [-0.6, wide * (2.0 + _GAP) - 0.4]},
        yaxis={"visible": False, "range": [rows - 0.4, -0.6]},
        legend=theme.legend_above() | {"y": 1.14},
    )  # fmt: skip
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
            text=f"<b>{right:,}</b> of {people:,} {when}", x=left - 0.4, y=1.0, yref="paper",
            xanchor="left", yanchor="bottom", showarrow=False, font={"size": 14},
        )  # fmt: skip
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
            x=marks[right][0], y=marks[right][1], mode="markers", name=name, hoverinfo="skip",
            marker={"color": colour, "symbol": symbol, "size": 10 if few else 3},
        )  # fmt: skip
    return figure
