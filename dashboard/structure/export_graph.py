"""Export of the graph: a file for another tool, the drawing, or a page to explore it with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.widgets import mistakes
from dashboard.session.shelf import project
from dashboard.structure import graph_files
from prism_core.bundle.report.report_copy import chromium, page_png, report_pdf
from prism_core.structure import formats
from prism_core.structure.dag import Drawing

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.session.project import Project

_WORDS = {
    "dagitty": ("DAGitty", "txt"),
    "node-link": ("JSON (networkx, d3)", "json"),
    "edge-list": ("CSV: one edge a line", "csv"),
    "adjacency": ("CSV: matrix of 0 and 1", "csv"),
    "dot": ("DOT (Graphviz)", "dot"),
    "graphml": ("GraphML", "graphml"),
    "gml": ("GML", "gml"),
    "bif": ("BIF (structure only)", "bif"),
    "model-string": ("bnlearn model string", "txt"),
}

_PICTURES = {
    "svg": ("Drawing (SVG)", "svg", "image/svg+xml"),
    "png": ("Drawing (PNG)", "png", "image/png"),
    "pdf": ("Drawing (PDF)", "pdf", "application/pdf"),
    "page": ("Interactive page (HTML, opens without a network)", "html", "text/html"),
}
_BY_CHROMIUM = ("png", "pdf")


def section() -> None:
    """One choice, one button."""
    state = project()
    if state.dag is None:
        st.caption("Draw or upload a graph first.")
        return
    choice, button = st.columns([1, 1], vertical_alignment="bottom")
    forms = [form for form in _WORDS if form in formats.holding(state.dag)]
    pictures = list(_PICTURES) if state.structure.target is not None else []
    form = choice.selectbox(
        "Format",
        [*forms, *pictures],
        format_func=lambda key: (_WORDS.get(key) or _PICTURES[key])[0],
        key="graph_format",
    )
    if form in _BY_CHROMIUM and chromium() is None:
        st.info(
            "There is no Chromium on this machine, which draws PNG and PDF. Install chromium, name "
            "it in the variable CHROMIUM, or take the SVG: every browser opens and prints it.",
            icon=":material/picture_as_pdf:",
        )
        return
    with mistakes():
        drawing = Drawing(
            dag=state.dag,
            positions={
                k: v for k, v in state.structure.graph.positions.items() if k in state.dag.graph
            },
            outcome=() if state.structure.target is None else (state.structure.target,),
        )
        picture = form in _PICTURES
        _, suffix, *kind = _PICTURES[form] if picture else _WORDS[form]
        button.download_button(
            "Download the graph",
            # Of a picture, only once it is asked for: Chromium and pyvis take their seconds.
            _picture(form, drawing, state) if picture else formats.write(drawing, form),
            f"dag.{suffix}",
            kind[0] if kind else None,
            key="graph_download",
            icon=":material/download:",
        )


def _picture(form: str, drawing: Drawing, state: Project) -> Callable[[], str | bytes]:
    """Makes the file of the drawing, or the page, when it is called."""
    target, s, foreign = (
        state.structure.target or "",
        state.settled_s,
        state.structure.graph.foreign,
    )

    def make() -> str | bytes:
        if form == "page":
            return graph_files.interactive_page(drawing, target, s, foreign=foreign)
        image = graph_files.svg(drawing, target, s, foreign=foreign)
        if form == "svg":
            return image
        _, _, width, height = graph_files.frame(graph_files.arranged(drawing, foreign=foreign))
        page = graph_files.sheet(image, (width, height))
        return report_pdf(page) if form == "pdf" else page_png(page, round(width), round(height))

    return make
