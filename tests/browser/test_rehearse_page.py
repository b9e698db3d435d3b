"""The paper's story from the page, in Chromium: children stop following, and causal stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import continue_to

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
RUN = 240_000  # milliseconds a rehearsal may take on a busy machine


def fill(page: Page, key: str, text: str) -> None:
    box = page.locator(f".st-key-{key} input")
    box.fill(text)
    box.press("Enter")


def numbers(page: Page, design: str, world: str) -> list[float]:
    """Means of a design in a world, as the page says them in words."""
    shown = page.locator("p").filter(has_text=f"{world}.").filter(has_text="without noise")
    said = shown.inner_text()
    part = re.search(rf"{design}: AUC (.*?); without noise ([01]\.[0-9]+)", said)
    assert part is not None, said
    means = [float(mean) for mean in re.findall(r"([0-9.]+)(?: ± [0-9.]+)? at epsilon", part[1])]
    return [*means, float(part[2])]


def test_causal_is_flat_at_its_ceiling_and_graphical_at_chance(page: Page):
    page.locator(".st-key-sample_scm_spurious button").click()
    page.get_by_text("5,000 training rows").first.wait_for()
    page.get_by_role("link", name="Budget").click()
    page.get_by_role("button", name="Rehearse first").click()
    page.get_by_text("Stand-in rows only.").wait_for()

    page.locator(".st-key-rehearse_source").get_by_text("A sample", exact=True).click()
    sample = page.locator(".st-key-rehearse_sample input")
    sample.click()
    sample.fill("stop predicting")
    page.get_by_role("option", name="stop predicting").click()
    fill(page, "rehearse_epsilons", "0.2, 4")
    fill(page, "rehearse_seeds", "3")
    page.get_by_text("6 runs of every design").wait_for()
    page.get_by_role("button", name="Run the rehearsal").click()
    page.get_by_role("button", name="Stop", exact=True).wait_for()
    page.get_by_text("Make it the plan:").wait_for(timeout=RUN)

    for shift in ("none", "children"):
        page.locator(f".st-key-rehearse_chart_{shift} .main-svg").first.wait_for()
    page.get_by_text("The figures in words and numbers").click()
    cut = "Consequences stop following the target"
    *causal, ceiling = numbers(page, "causal", cut)
    assert len(causal) == 2
    assert all(abs(mean - ceiling) < 0.03 for mean in causal)
    assert 0.70 < ceiling < 0.76
    *graphical, _ = numbers(page, "graphical", cut)
    assert all(mean < 0.56 for mean in graphical)
    *before, _ = numbers(page, "graphical", "The world stays as it is")
    assert all(mean > 0.97 for mean in before)
    page.get_by_text("at epsilon 0.2 to 4 “causal” is ahead of the next by").wait_for()

    # A second run is there at once: nothing is started.
    page.get_by_role("button", name="Run the rehearsal").click()
    page.get_by_text("Make it the plan:").wait_for()
    page.get_by_role("button", name="Adopt “graphical”").click()
    page.get_by_text("The plan is now as in “graphical”").wait_for()
    continue_to(page, "Release")
    page.get_by_text("graphical regime").first.wait_for()
