"""The look all figures share, the only way text gets into them, and their HTML file."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from prism_core.text import documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILION = "#D55E00"
PINK = "#CC79A7"
SKY = "#56B4E9"
YELLOW = "#F0E442"
GREY = "#8A8A8A"
"""Readable on white and on near-black; takes the place of Okabe and Ito's black."""

PALETTE = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, YELLOW, GREY)
TEXT = "#767676"
FONTS = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif'
GRID = "rgba(128, 128, 128, 0.25)"
AXIS = "rgba(128, 128, 128, 0.6)"

SYNTHETIC, REAL, FLOOR = ORANGE, BLUE, GREY
"""Colours of the same three things in every figure."""

SEQUENTIAL = [[0.0, "rgba(0, 114, 178, 0.06)"], [1.0, BLUE]]
"""From next to nothing to the largest, on a light and on a dark page."""

_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}


@dataclass(frozen=True, kw_only=True)
class Style:
    """How one group is drawn: a colour, and a pattern and a symbol that say the same in grey."""

    colour: str
    pattern: str
    symbol: str


@dataclass(frozen=True, kw_only=True)
class CaptionedFigure:
    """A figure with its heading and its words.

    Attributes:
        title: stands above it.
        figure: the figure.
        words: what it shows, for those who do not see it.
    """

    title: str
    figure: go.Figure
    words: str


STYLES = tuple(
    Style(colour=colour, pattern=pattern, symbol=symbol)
    for colour, pattern, symbol in zip(
        PALETTE,
        ("", "/", ".", "x", "-", "\\", "+", "|"),
        ("circle", "diamond", "square", "x", "triangle-up", "triangle-down", "star", "cross"),
        strict=True,
    )
)
"""Styles in the order in which groups get them; used again from the start after the last."""


def safe(text: object, limit: int | None = None) -> str:
    """Text that plotly shows as it is written.

    Plotly reads some HTML in every label and, where MathJax is loaded, LaTeX between dollar
    signs. Names come from files, so they are escaped; control characters become blanks.

    Args:
        text: a name or label.
        limit: longest text shown, in characters; the middle of a longer one becomes an
            ellipsis, because names tend to differ at either end.

    Example:
        >>> safe("<b>age & sex</b>", limit=9)
        '&lt;b&gt;a…&lt;/b&gt;'
    """
    # Before it is cut: a control character must not count as one that is shown.
    plain = "".join(c if c.isprintable() else " " for c in str(text))
    if limit is not None and len(plain) > limit:
        tail = (limit - 1) // 2
        plain = plain[: limit - 1 - tail] + "…" + plain[len(plain) - tail :]
    # After it is cut: an entity cut in half would be shown as it is written.
    return "".join(_SPECIAL.get(c, c) for c in plain)


def wrapped(text: object, width: int = 80) -> str:
    """Safe text over several lines."""
    plain = "".join(c if c.isprintable() else " " for c in str(text))
    return "<br>".join(safe(line) for line in textwrap.wrap(plain, width)) or " "


def new_figure(*, height: int, **layout: Any) -> go.Figure:  # noqa: ANN401 - plotly's own names
    """An empty figure in the shared look.

    Args:
        height: in pixels; the width is that of the page.
        layout: further plotly layout properties.
    """
    import plotly.graph_objects as go

    base: dict[str, Any] = {
        "template": _template(),
        "height": height,
        # Clear, as the page beneath may be light or dark.
        "paper_bgcolor": "rgba(0, 0, 0, 0)",
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "margin": {"l": 16, "r": 16, "t": 40, "b": 16},
        "legend": legend_above(),
        # A decimal point in every language, as in the text around.
        "separators": ".,",
    }
    return go.Figure(layout=base | layout)


@cache  # made once: plotly checks every value of it, and copies it into each figure
def _template() -> go.layout.Template:
    """What all figures have in common."""
    import plotly.graph_objects as go

    axis = {
        "gridcolor": GRID,
        "zerolinecolor": AXIS,
        "linecolor": AXIS,
        "zeroline": False,
        "automargin": True,
        "ticks": "",
        "title": {"standoff": 12},
    }
    return go.layout.Template(
        layout={
            "xaxis": axis,
            "yaxis": axis,
            "colorway": list(PALETTE),
            "font": {"family": FONTS, "size": 13, "color": TEXT},
            "hoverlabel": {"align": "left", "namelength": -1},
        }
    )


def legend_above() -> dict[str, Any]:
    """A legend in one line over the plot."""
    return {
        "orientation": "h",
        "x": 0.0,
        "xanchor": "left",
        "y": 1.0,
        "yanchor": "bottom",
        "bgcolor": "rgba(0, 0, 0, 0)",
        "itemsizing": "constant",
    }


def legend_title(learned_from: str, intervals: str) -> dict[str, Any]:
    """A legend's heading: which columns the models learned from, and where 95% intervals are."""
    if not learned_from:
        return {}
    text = f"Learned from {safe(learned_from)}; 95% intervals {intervals}"
    return {"title": {"text": text, "font": {"size": 12}}}


def sentence_figure(text: str) -> go.Figure:
    """A figure that says why there is nothing to draw."""
    figure = new_figure(height=160, xaxis={"visible": False}, yaxis={"visible": False})
    figure.add_annotation(
        text=wrapped(text), x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False
    )
    return figure


def pattern(shape: str) -> dict[str, Any]:
    """A bar pattern drawn over the bar's own colour."""
    return {"shape": shape, "fillmode": "overlay", "solidity": 0.22, "size": 8}


def name_axis(names: Sequence[str], *, limit: int = 32) -> dict[str, Any]:
    """An axis of names at the positions 0, 1, 2, ...

    Positions instead of plotly's category axis: two names that look the same when cut stay two
    rows, and a name like "2024-01" is not taken for a date.
    """
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [safe(name, limit) for name in names],
        "showgrid": False,
        "type": "linear",
    }


def rows_axis(names: Sequence[str], *, limit: int = 32) -> dict[str, Any]:
    """A vertical axis of names, the first on top."""
    return name_axis(names, limit=limit) | {"range": [len(names) - 0.4, -0.6]}


def html_page(figure: go.Figure, words: str, name: str = "figure") -> bytes:
    """The figure with its words, in a file that loads nothing from elsewhere; some five megabytes.

    Args:
        figure: any; what is marked in it stays marked.
        words: what it shows, for those who do not see it; stands beneath it, too.
        name: of the images that the page saves.
    """
    return html_pages([("", figure, words)], name)


def html_pages(drawn: Sequence[tuple[str, go.Figure, str]], name: str = "figure") -> bytes:
    """Several figures below each other in such a file.

    Args:
        drawn: heading (may be ""), figure and words of each.
        name: of the images that the page saves.
    """
    figures = [
        {
            "heading": heading,
            "words": words,
            # The library stands in the file once, before the first figure.
            "code": figure.to_html(
                full_html=False, include_plotlyjs=place == 0, config={"displaylogo": False}
            ),
        }
        for place, (heading, figure, words) in enumerate(drawn)
    ]
    return documents.render("figures.html", figures=figures, name=name).encode()
