"""A figure as one HTML file, for those who reach no toolbar above it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import plotly.graph_objects as go


def page(figure: go.Figure, words: str) -> bytes:
    """The figure with its words, in a file that loads nothing from elsewhere; some five megabytes.

    Args:
        figure: any; what is marked in it stays marked.
        words: what it shows, for those who do not see it; stands beneath it, too.
    """
    drawn = figure.to_html(full_html=False, include_plotlyjs=True, config={"displaylogo": False})
    said = html.escape(words)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Figure</title></head>'
        f'<body style="font-family:sans-serif"><div role="img" aria-label="{said}">{drawn}</div>'
        f"<p>{said}</p></body></html>\n"
    ).encode()
