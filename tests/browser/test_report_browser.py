"""The report in Chromium: it opens from a file, asks for nothing, and prints."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from prism_core.bundle.certificate import REHEARSAL, Facts
from prism_core.bundle.report.report_copy import report_pdf
from prism_core.bundle.report.report_html import report
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.structure.dag import Dag
from prism_core.text.documents import TEMPLATES
from tests.browser.driver import Watch, chromium_path
from tests.support.bundles import stages_of

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
NAMES = ('<img src="http://example.org/x" onerror="document.title=7">', "readmitted")


@pytest.fixture(scope="module")
def html() -> str:
    columns = tuple(
        Column(name=name, kind="categorical", levels=("no", "yes", "<script>document.title=8"))
        for name in NAMES
    )
    schema = Schema(columns=columns, one_row_per_person=True)
    dag = Dag(nodes=NAMES, edges=(NAMES,))
    plan = design(
        Brief(
            schema,
            Task(target=NAMES[1]),
            Budget(),
            500,
            dag=dag,
            synthesis=Synthesis(model="naive_bayes"),
        )
    )
    stages = stages_of(plan)
    facts = Facts(
        plan_sha256="a" * 64,
        planned_sha256="b" * 64,
        stamp=REHEARSAL,
        charge=None,
        entry="",
        seed=1,
        versions={"prism-dashboard": "1.0"},
    )
    return report(stages, facts)


def test_it_opens_from_a_file_and_asks_for_nothing(html, chromium: Browser, tmp_path: Path):
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")
    page = chromium.new_page(viewport={"width": 900, "height": 1000})
    watch = Watch()
    watch.on(page)
    page.goto(path.as_uri())
    assert page.title().startswith("Rehearsal, not a release")
    assert watch.requested == [path.as_uri()]
    assert watch.errors == []
    assert page.get_by_text(NAMES[0], exact=True).count() > 1  # a name is shown as it is written
    assert page.locator("img").count() == 0
    # Nothing sticks out of the page, on a desk and on a telephone.
    for width in (900, 400):
        page.set_viewport_size({"width": width, "height": 1000})
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, width
    # Scrolled to the end, the stamp is still on screen; on paper it is on every page.
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    box = page.locator(".stamp").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 5
    page.emulate_media(media="print")
    mark = page.locator(".mark")
    assert mark.evaluate("node => getComputedStyle(node).position") == "fixed"
    assert mark.is_visible()
    page.close()


def test_it_prints(html):
    if chromium_path() is None:
        pytest.skip("no chromium on this machine; install Debian's chromium or set CHROMIUM")
    paper = report_pdf(html)
    assert paper.startswith(b"%PDF-")
    assert paper.count(b"/Type /Page\n") >= 5


def test_no_page_ends_with_a_heading_and_no_row_stands_alone(tmp_path: Path):
    """A table after fillers of every height, so that the page's end falls on each of its parts."""
    if chromium_path() is None or shutil.which("pdftotext") is None:
        pytest.skip("needs chromium and pdftotext (poppler-utils) on this machine")
    css = (TEMPLATES / "paper.css").read_text("utf-8")
    tables = {"short": 5, "long": 40}
    parts = [
        f'<section style="break-before:page"><div style="height:{high}mm">filler</div>'
        f"<h3>heading-{kind}</h3><table><caption>caption</caption><thead><tr><th>thead</th>"
        "<th>of</th></tr></thead><tbody>"
        + "".join(f"<tr><th>row-{i}-of-{rows}</th><td>a<br>cut-{i}</td></tr>" for i in range(rows))
        + "</tbody></table><p>above-1<br>above-2<br>above-3<br>above-4</p></section>"
        for kind, rows in tables.items()
        for high in range(150, 245, 6)
    ]
    source = tmp_path / "report.pdf"
    source.write_bytes(report_pdf(f"<!doctype html><style>{css}</style>{''.join(parts)}"))
    text = subprocess.run(
        ["pdftotext", "-layout", str(source), "-"], capture_output=True, text=True, check=True
    ).stdout
    pages = [page.split() for page in text.split("\f") if page.strip()]
    assert len(pages) > 40
    for words in pages:
        body = [w for w in words if "-" in w or w == "filler"]  # the rest is the margin
        assert body[-1].split("-")[0] in {"filler", "cut", "above"}, body[-6:]
        rows = [word for word in body if word.startswith("row-")]
        assert len(rows) != 1, body
        assert sum(word.startswith("cut-") for word in body) == len(rows)
        short = [word for word in rows if word.endswith("-of-5")]
        assert len(short) in (0, 5)
        assert sum(word.startswith("above-") for word in body) in (0, 4)
