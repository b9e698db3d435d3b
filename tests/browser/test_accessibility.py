"""No page breaks a rule of WCAG 2.1 A or AA that axe-core can check, in both themes; and keys reach
what a mouse reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dashboard.budget.overview import TABS
from dashboard.data.tabs import LEARN, PEOPLE
from tests.browser.driver import PATIENCE, idle

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
RUN = 240_000  # milliseconds a run may take on a busy machine
RULES = {
    "resultTypes": ["violations"],
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
}


def violations(page: Page, inside: Frame | None = None) -> list[str]:
    """What axe-core finds, in the light and in the dark theme; or what it finds in a frame."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = []
    for theme in ("light", "dark") if inside is None else ("light",):  # a paper has no dark theme
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(400)
        for rule in axe.run(inside or page, options=RULES).response["violations"]:
            found += [f"{theme}: {rule['id']}: {node['html'][:160]}" for node in rule["nodes"]]
    return found


def go(page: Page, title: str) -> None:
    page.get_by_role("link", name=title, exact=True).first.click()
    page.get_by_role("heading", name=title, exact=True).first.wait_for()
    idle(page)


def test_no_page_breaks_a_rule(page: Page):
    found = {}
    go(page, "Start")
    found["Start"] = violations(page)
    page.locator(".st-key-sample_readmission button").first.click()
    page.get_by_test_id("dag-canvas").wait_for()
    for title in ("Data", "Structure", "Rehearse", "Release", "Gallery", "Budget"):
        go(page, title)
        found[title] = violations(page)
        if title == "Data":
            assert height(page) <= 1_100
    go(page, "Data")
    for tab in (PEOPLE, LEARN):
        page.get_by_role("tab", name=tab, exact=True).click()
        idle(page)
        found[f"Data, {tab}"] = violations(page)
    go(page, "Budget")
    for tab in TABS[1:]:
        page.get_by_role("tab", name=tab, exact=True).click()
        idle(page)
        found[f"Budget, {tab}"] = violations(page)
    assert {name: rules for name, rules in found.items() if rules} == {}


TALLEST = {"Inspect": 1_600, "Report": 1_100}
"""Most pixels of a page: its question is answered with little scrolling."""


def test_pages_of_a_finished_run_break_no_rule_and_are_short(page: Page):
    page.locator(".st-key-sample_readmission button").first.click()
    page.get_by_text("20,000 training rows").first.wait_for()
    go(page, "Release")
    page.locator(".st-key-release_run button").click()
    page.locator(".st-key-release_again").wait_for(timeout=RUN)
    go(page, "Inspect")
    page.locator(".st-key-inspect_run button").click()
    page.locator(".main-svg").first.wait_for(timeout=RUN)
    page.locator("[data-testid=stProgress]").first.wait_for(state="detached", timeout=RUN)
    idle(page)
    found = {"Inspect": violations(page)}
    heights = {"Inspect": height(page)}
    go(page, "Report")
    paper = page.locator("iframe").element_handle().content_frame()
    assert paper is not None
    paper.get_by_role("heading", name="May these synthetic rows be handed over?").wait_for()
    found["Report"] = violations(page)
    heights["Report"] = height(page)
    found["the report itself"] = violations(page, paper)
    assert {name: rules for name, rules in found.items() if rules} == {}
    assert {name: tall for name, tall in heights.items() if tall > TALLEST[name]} == {}


def height(page: Page) -> int:
    return page.locator("[data-testid=stMainBlockContainer]").evaluate("one => one.scrollHeight")


def focused(page: Page) -> str:
    """What has the focus, within shadow roots too: its name for a screen reader, else its role."""
    return page.evaluate("""() => {
        let at = document.activeElement;
        while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
        return at?.getAttribute("aria-label") ?? at?.getAttribute("role") ?? at?.tagName ?? "";
    }""")


@pytest.mark.parametrize(
    ("title", "name"),
    [("Structure", "Causal graph:"), ("Budget", "Between The prediction")],
)
def test_the_tab_key_reaches_the_drawing_and_the_bar_by_name(page: Page, title, name):
    page.locator(".st-key-sample_readmission button").first.click()
    page.get_by_text("20,000 training rows").first.wait_for(timeout=PATIENCE * 1_000)
    go(page, title)
    page.locator("h1").click()
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.append(focused(page))
        if seen[-1].startswith(name):
            return
    raise AssertionError(f"never reached; seen {seen}")
