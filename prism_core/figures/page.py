"""Figures as one HTML file, for those who reach no toolbar above them."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go


def page(figure: go.Figure, words: str) -> bytes:
    """The figure with its words, in a file that loads nothing from elsewhere; some five megabytes.

    Args:
        figure: any; what is marked in it stays marked.
        words: what it shows, for those who do not see it; stands beneath it, too.
    """
    return pages([("", figure, words)])


def pages(drawn: Sequence[tuple[str, go.Figure, str]]) -> bytes:
    """Several figures below each other in such a file.

    Args:
        drawn: heading (may be ""), figure and words of each.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Figure</title></head>'
        '<body style="font-family:sans-serif">'
        f"{''.join(_part(place, *one) for place, one in enumerate(drawn))}</body></html>\n"
    ).encode()


def _part(place: int, heading: str, figure: go.Figure, words: str) -> str:
    code = figure.to_html(
        full_html=False, include_plotlyjs=place == 0, config={"displaylogo": False}
    )
    said = html.escape(words)
    above = f"<h2>{html.escape(heading)}</h2>" if heading else ""
    return f'{above}<div role="img" aria-label="{said}">{code}</div><p>{said}</p>'
