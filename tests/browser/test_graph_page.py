"""The graph's interactive page in Chromium: it opens from a file, and asks nobody for anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dashboard.structure import export_graph
from prism_core.structure.dag import Dag, Drawing
from tests.browser.driver import Watch

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
NAMES = ("age", '</script><img src="http://example.org/x" onerror="document.title=7">', "Y")


def test_it_opens_without_a_network_and_a_name_stays_text(chromium: Browser, tmp_path: Path):
    drawing = Drawing(dag=Dag(nodes=NAMES, edges=((NAMES[0], "Y"), (NAMES[1], "Y"))), positions={})
    source = tmp_path / "graph.html"
    source.write_text(export_graph.interactive_page(drawing, NAMES[1], ()), encoding="utf-8")
    page = chromium.new_page()
    watch = Watch()
    watch.on(page)
    page.goto(source.as_uri())
    page.locator("#mynetwork canvas").wait_for()
    assert page.evaluate("nodes.length") == len(NAMES)
    assert page.evaluate("network.getScale()") > 0
    assert page.locator("img").count() == 0
    assert page.locator("h1").inner_text() == f"Graph of {NAMES[1]}"
    assert [url for url in watch.requested if not url.startswith(("file:", "data:"))] == []
    assert watch.errors == []
    page.close()
