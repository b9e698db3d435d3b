"""Export of the graph: a file for another tool, the drawing, or a page to explore it with.

The page is made by pyvis and opens without a network: the library is inside of it, and what pyvis
asks other hosts for is taken out.
"""

from __future__ import annotations

import json
import re
from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

import streamlit as st

from dashboard.common.widgets import mistakes
from dashboard.components.dag_editor import ShownGraph, shown_graph
from dashboard.session.shelf import project
from prism_core.bundle.report.report_copy import chromium, page_png, report_pdf
from prism_core.structure import formats
from prism_core.structure.dag import Drawing
from prism_core.structure.roles import node_roles
from prism_core.structure.routing.node_boxes import LINE, NODE_STYLES, lines_of, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
_MARGIN = 12.0
_INK, _EDGE = "#1d2733", "#5c6672"
_FONT = "system-ui, 'Segoe UI', 'Noto Sans', sans-serif"
_BY_CHROMIUM = ("png", "pdf")


def section() -> None:
    """One choice, one button."""
    state = project()
    if state.dag is None:
        st.caption("Draw or upload a graph first.")
        return
    choice, button = st.columns([1, 1], vertical_alignment="bottom")
    # Only those that can hold this graph: what a format cannot say would be lost in the file
    # unseen.
    forms = [form for form in _WORDS if form in formats.holding(state.dag)]
    # A drawing colours the columns by what they are to the target.
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
            # The canvas keeps the places of names that have left the graph; the file knows none.
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
    # Taken now: the file is made in a later run, and is to be of what the page shows here.
    target, s, foreign = (
        state.structure.target or "",
        state.settled_s,
        state.structure.graph.foreign,
    )

    def make() -> str | bytes:
        if form == "page":
            return interactive_page(drawing, target, s, foreign=foreign)
        image = svg(drawing, target, s, foreign=foreign)
        if form == "svg":
            return image
        _, _, width, height = frame(arranged(drawing, foreign=foreign))
        page = sheet(image, (width, height))
        return report_pdf(page) if form == "pdf" else page_png(page, round(width), round(height))

    return make


def arranged(drawing: Drawing, *, foreign: bool = False) -> ShownGraph:
    """The whole graph as the page places it, with the columns that are hidden there.

    Args:
        drawing: the graph, and where the user put its columns.
        foreign: whether these places are in a unit of their own.
    """
    return shown_graph(
        drawing.dag.nodes,
        frozenset(drawing.dag.nodes),
        drawing.dag.edges,
        tuple((name, x, y) for name, (x, y) in drawing.positions.items()),
        foreign=foreign,
    )


def frame(shown: ShownGraph) -> tuple[float, float, float, float]:
    """Left, top, width and height of the drawing, in pixels."""
    boxes = shown.boxes.values()
    # Edges may swing out beyond the boxes, and must not be cut off.
    ends = [tuple(map(float, pair)) for way in shown.ways for pair in _pairs(way.line)]
    left = min([box.x - box.w / 2 for box in boxes] + [x for x, _ in ends]) - _MARGIN
    top = min([box.y - box.h / 2 for box in boxes] + [y for _, y in ends]) - _MARGIN
    right = max([box.x + box.w / 2 for box in boxes] + [x for x, _ in ends]) + _MARGIN
    bottom = max([box.y + box.h / 2 for box in boxes] + [y for _, y in ends]) + _MARGIN
    return left, top, right - left, bottom - top


def _pairs(path: str) -> list[tuple[str, str]]:
    return re.findall(r"(-?[\d.]+(?:e-?\d+)?),(-?[\d.]+(?:e-?\d+)?)", path)


def svg(drawing: Drawing, target: str, s: Iterable[str], *, foreign: bool = False) -> str:
    """The drawing as an SVG file of its own.

    Args:
        drawing: the graph and its places.
        target: the column to be predicted.
        s: columns kept together with it.
        foreign: whether the places are in a unit of their own.
    """
    shown = arranged(drawing, foreign=foreign)
    left, top, width, height = frame(shown)
    root = Xml.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"{left:g} {top:g} {width:g} {height:g}",
            "width": f"{width:g}",
            "height": f"{height:g}",
            "font-family": _FONT,
            "font-size": "16",
            "role": "img",
        },
    )
    Xml.SubElement(root, "title").text = f"Graph of {plain(target)}"
    paper = {"x": left, "y": top, "width": width, "height": height}
    Xml.SubElement(root, "rect", {k: f"{v:g}" for k, v in paper.items()} | {"fill": "#ffffff"})
    for way in shown.ways:
        line = {"d": way.line, "fill": "none", "stroke": _EDGE, "stroke-width": "1.7"}
        Xml.SubElement(root, "path", line)
        Xml.SubElement(root, "path", {"d": way.head, "fill": _EDGE})
    for role in node_roles(drawing.dag, target, s):
        box, look = shown.boxes[role.name], NODE_STYLES[role.role]
        node = Xml.SubElement(root, "g", {"transform": f"translate({box.x:g} {box.y:g})"})
        border = {"d": look.outline(box.w, box.h), "fill": look.fill, "stroke": look.stroke}
        border["stroke-width"] = "4" if role.in_s else "2" if look.double else "1.5"
        if look.dashed and not role.in_s:
            border["stroke-dasharray"] = "4 3"
        Xml.SubElement(node, "path", border)
        if look.double:
            inset = 10.0 if role.in_s else 8.0
            inner = look.outline(box.w - inset, box.h - inset)
            within = {"d": inner, "fill": "none", "stroke": look.stroke, "stroke-width": "1.5"}
            Xml.SubElement(node, "path", within)
        lines = lines_of(role.name)
        for number, line in enumerate(lines):
            # SVG places the baseline: 5.5 lower, capitals of 16 pixels stand in the middle.
            y = (number - (len(lines) - 1) / 2) * LINE + 5.5
            words = {"y": f"{y:g}", "text-anchor": "middle", "fill": _INK}
            Xml.SubElement(node, "text", words).text = line
    return Xml.tostring(root, encoding="unicode")


# Names of columns come from files: should one ever pass for markup, it still can load nothing.
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">"
)
_OPTIONS = {
    "physics": {"enabled": False},
    "edges": {"color": {"color": _EDGE}, "smooth": False},
    "interaction": {"hover": True, "keyboard": True, "navigationButtons": False},
}
# Of what pyvis writes: its heading stands twice, and Bootstrap is asked for from another host.
_TWICE = re.compile(r"<center>\s*<h1>.*?</h1>\s*</center>", re.DOTALL)
_FOREIGN = re.compile(
    r"<link\b[^>]*\bhref=\"https?:[^>]*>|<script\b[^>]*\bsrc=\"https?:[^>]*>\s*</script>"
)
_LEFT_OVER = re.compile(r"<!-- <link\b.*?-->", re.DOTALL)  # files of pyvis' own folder
# Addresses in comments and messages of the library; the namespace of SVG is a name, not a place.
_ADDRESS = re.compile(r"https?://(?!www\.w3\.org/)")
_LIBRARY = re.compile(r"<script>.*?</script>", re.DOTALL)


def interactive_page(
    drawing: Drawing, target: str, s: Iterable[str], *, foreign: bool = False
) -> str:
    """The graph as one page to move, zoom and drag in; it needs no network and asks for none.

    Args:
        drawing: the graph and its places.
        target: the column to be predicted.
        s: columns kept together with it.
        foreign: whether the places are in a unit of their own.
    """
    from pyvis.network import Network  # brings IPython: seconds that only this file is worth

    # pyvis writes its heading into the page as it is.
    heading = escape(f"Graph of {plain(target)}")
    network = Network(height="80vh", directed=True, cdn_resources="in_line", heading=heading)
    shown = arranged(drawing, foreign=foreign)
    for number, role in enumerate(node_roles(drawing.dag, target, s)):
        box, look = shown.boxes[role.name], NODE_STYLES[role.role]
        network.add_node(
            number,
            label="\n".join(lines_of(role.name)),
            shape="ellipse" if look.ellipse else "box",
            x=box.x,
            y=box.y,
            # vis takes a fill and a border; pyvis says text only.
            color={"background": look.fill, "border": look.stroke},  # pyright: ignore[reportArgumentType]
            borderWidth=4 if role.in_s else 2,
            font={"color": _INK, "size": 16},
            shapeProperties={"borderDashes": look.dashed and not role.in_s},
        )
    numbers = {name: number for number, name in enumerate(drawing.dag.nodes)}
    for cause, effect in drawing.dag.edges:
        network.add_edge(numbers[cause], numbers[effect])
    network.set_options(json.dumps(_OPTIONS))
    return _alone(network.generate_html(notebook=False), heading)


def _alone(page: str, heading: str) -> str:
    """The page without a host, and with a policy that lets a browser ask for none."""
    page = _FOREIGN.sub("", _LEFT_OVER.sub("", _TWICE.sub("", page, count=1)))
    library, rest = page.split("</head>", 1)
    library = _LIBRARY.sub(lambda found: _ADDRESS.sub("", found[0]), library)
    title = f'<head>{_POLICY}<meta charset="utf-8"><title>{heading}</title>'
    return "<!DOCTYPE html>\n" + library.replace("<head>", title, 1) + "</head>" + rest


def sheet(image: str, size: tuple[float, float]) -> str:
    """A page that holds the drawing alone, for Chromium to print.

    Args:
        image: the SVG.
        size: width and height in pixels.
    """
    width, height = size
    return (
        f"<!DOCTYPE html><html><head>{_POLICY}<meta charset='utf-8'><style>"
        f"@page{{size:{width:.0f}px {height:.0f}px;margin:0}}"
        "html,body{margin:0;overflow:hidden}svg{display:block}"
        f"</style></head><body>{image}</body></html>"
    )
