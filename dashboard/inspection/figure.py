"""Figure with its words, its numbers and their download."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.common.widgets import chart
from prism_core.data.tables.spreadsheet import csv_text
from prism_core.evaluation.score_text import ends, three
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prism_core.evaluation.tstr.intervals import Interval

MARK = "outside epsilon"


def badge(text: str = "") -> None:
    """Says that what follows was read from private rows without noise."""
    st.markdown(f":red-badge[{MARK}] {plain(text)}")


def score_card(
    place: Any,  # noqa: ANN401
    title: str,
    value: float | None,
    interval: Interval | None,
    text: str,
    form: Callable[[float], str] = three,
) -> None:
    """A score as a card, with its 95% interval below it."""
    # An interval of a single point would look like certainty.
    shown = ends(interval, form) if interval is not None and interval[0] < interval[1] else ""
    place.metric(
        title,
        "–" if value is None else form(value),
        border=True,
        help=text,
        delta=f"95%: {shown}" if shown else None,
        delta_color="off",
        delta_arrow="off",
        height="stretch",
    )


def figure(drawn: go.Figure, key: str, words: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Show a figure outside epsilon.

    Args:
        drawn: the figure; what is saved of it carries the mark.
        key: of the widget, and the name of the download.
        words: says what it shows; read aloud in its place.
        rows: its numbers.
    """
    chart(
        drawn,
        key=f"{key}_chart",
        alt=words,
        name=f"outside-epsilon-{key}",
        saved=_marked(drawn),
    )
    st.caption(plain(words))
    with st.expander("The numbers of this figure", icon=":material/table_view:"):
        table(rows, key)


def _marked(drawn: go.Figure) -> go.Figure:
    """As it leaves the page, whose badge does not go along."""
    return go.Figure(drawn).update_layout(
        title={
            "text": MARK,
            "font": {"size": 11, "color": "#b3402a", "weight": 400},
            "automargin": True,
            "yref": "container",
            "y": 0.0,
            "yanchor": "bottom",
            "x": 1.0,
            "xanchor": "right",
            "pad": {"b": 6},
        }
    )


def table(rows: Sequence[Mapping[str, Any]], key: str, *, inside: bool = False) -> None:
    """Numbers as a table with a download; both say whether epsilon covers them.

    Args:
        rows: the numbers.
        key: of the widgets, and the name of the download.
        inside: whether they are differentially private.
    """
    frame = pd.DataFrame(rows)
    if frame.empty:
        st.caption("There are no numbers here.")
        return
    if not any(row.get("note") for row in rows) and "note" in frame:
        frame = frame.drop(columns="note")
    mark = "inside epsilon" if inside else MARK
    marked = frame.assign(**{"covered by": mark})  # the table on screen has a download of its own
    floats = frame.select_dtypes("float").columns
    marked[floats] = marked[floats] + 0.0  # -0.0 is 0.0
    st.dataframe(
        marked,
        hide_index=True,
        width="stretch",
        key=f"{key}_table",
        placeholder="–",
        column_config={name: st.column_config.NumberColumn(format="%.4g") for name in floats},
    )
    st.download_button(
        "Download these numbers (CSV)",
        # Not pandas' own: a cell that a spreadsheet would take for a formula is made harmless.
        csv_text(marked).encode(),
        f"{mark.replace(' ', '-')}-{key}.csv",
        "text/csv",
        key=f"{key}_download",
        icon=":material/download:",
        on_click="ignore",
    )
