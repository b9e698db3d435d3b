"""Files of the drawing: the page of pyvis stands alone, the SVG is text, and names stay names."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

import pytest

from dashboard.structure import export_graph
from prism_core.bundle.report import report_copy
from prism_core.structure.dag import Dag, Drawing
from tests.support.pages import open_page, texts
from tests.support.released import EDGES

HOSTILE = "</script><img src=http://evil.example onerror=alert(1)>"
NAMES = ("age", HOSTILE, "smoker & <b>", "Y")


@pytest.fixture
def drawing() -> Drawing:
    edges = (("age", "Y"), (HOSTILE, "Y"), ("Y", "smoker & <b>"))
    return Drawing(dag=Dag(nodes=NAMES, edges=edges), positions={})


def test_the_page_names_no_address_and_forbids_itself_to_load(drawing):
    page = export_graph.interactive_page(drawing, "Y", {"age"})
    outside = page.replace(HOSTILE, "")
    named = set(re.findall(r"https?://[\w.-]+", outside))
    # The name of SVG is no place to load from; the column's own name is data.
    assert {name for name in named if "evil" not in name} == {"http://www.w3.org"}
    assert not re.search(r"<(link|script|img|iframe)\b[^>]*(href|src)=", page.split("<body>")[0])
    assert "default-src 'none'" in page
    assert page.count("<h1>") == 1


def test_a_hostile_name_is_no_markup(drawing):
    page = export_graph.interactive_page(drawing, HOSTILE, ())
    assert "<img" not in page
    assert "&lt;/script&gt;" in page  # the heading
    image = export_graph.svg(drawing, HOSTILE, ())
    assert "<img" not in image
    root = Xml.fromstring(image)
    words = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "smoker & <b>" in words


def test_the_svg_draws_every_column_and_edge(drawing):
    root = Xml.fromstring(export_graph.svg(drawing, "Y", {"age"}))
    spaced = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{spaced}g")) == len(NAMES)
    assert len(root.findall(f"{spaced}path")) == 2 * 3


@pytest.mark.skipif(report_copy.chromium() is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("form", ["png", "pdf"])
def test_chromium_draws_it(drawing, form):
    image = export_graph.svg(drawing, "Y", {"age"})
    _, _, width, height = export_graph.frame(export_graph.arranged(drawing))
    page = export_graph.sheet(image, (width, height))
    if form == "pdf":
        content = report_copy.report_pdf(page)
        assert content.startswith(b"%PDF-")
        assert len(re.findall(rb"/Type\s*/Page\b", content)) == 1
        return
    content = report_copy.page_png(page, round(width), round(height))
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20], "big") == 2 * round(width)


@pytest.mark.app
def test_the_page_structure_offers_them_and_says_where_chromium_is_missing(make, monkeypatch):
    project = make()
    assert project.structure.graph.edges == EDGES
    test = open_page("structure", project, structure_tabs=":material/download: Download")
    options = test.selectbox(key="graph_format").options
    assert [word for word in options if "Drawing" in word or "page" in word]
    for label in options[-4:]:
        test.selectbox(key="graph_format").select(label).run()
        assert not test.exception
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    test.selectbox(key="graph_format").select("Drawing (PNG)").run()
    assert "no Chromium on this machine" in texts(test)
