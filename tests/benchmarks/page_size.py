"""Height and words of every page as a browser shows it, and pictures of them.

    python tests/benchmarks/page_size.py [--width 1280] [--theme light] [--pictures FOLDER]

The sample readmission is opened, rehearsed with few runs, released and inspected. Then every page
is measured: its height in pixels, and the words a person sees first. Not counted are words in
folded parts and tabs, in tables and in drawings, and what a person has typed. The page Release is
measured before its run, too. A picture is of the whole page.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import TimeoutError, sync_playwright

from dashboard.common.steps import STEPS
from tests.browser.driver import (
    CHROMIUM_ARGS,
    address_shown,
    chromium_path,
    free_port,
    idle,
    opened,
    serving,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

HEIGHT = 800
RUN = 600_000  # milliseconds
PATIENCE = 60_000  # with a rehearsal
SETTLE = 1_500  # milliseconds until figures are drawn

MEASURE = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  const skip = 'svg, canvas, script, style, [data-testid=stIconMaterial], .dag-list, '
    + '[data-testid=stDataFrame], [data-testid=stTable] td, .js-plotly-plot';
  let text = [];
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) { text.push(node.data); return; }
    if (node.nodeType === Node.ELEMENT_NODE) {
      if (node.matches(skip)) return;
      if (!node.checkVisibility({visibilityProperty: true, opacityProperty: true})) return;
      const box = node.getBoundingClientRect();
      const style = getComputedStyle(node);
      if (style.display !== 'contents' && box.width <= 1 && style.overflow === 'hidden') return;
      if (node.shadowRoot) walk(node.shadowRoot);
    }
    node.childNodes.forEach(walk);
  };
  walk(main);
  const words = text.join(' ').split(/\\s+/).filter((one) => /[\\p{L}\\p{N}]/u.test(one));
  const block = document.querySelector('[data-testid=stMainBlockContainer]');
  return {height: Math.round(block.getBoundingClientRect().height), words: words.length};
}"""
"""The block that holds the page is measured: the part that scrolls is never lower than the
window."""


def go(page: Page, title: str) -> None:
    """Open a page by its link."""
    page.get_by_role("link", name=title, exact=True).first.click()
    page.wait_for_timeout(700)
    idle(page)
    page.wait_for_timeout(SETTLE)


def press(page: Page, key: str) -> None:
    page.locator(f".st-key-{key} button").first.click()
    idle(page)


def rehearse(page: Page) -> None:
    """Two runs of each regime at one epsilon, or as many as a slow machine makes meanwhile."""
    for key, typed in (("epsilons", "1"), ("seeds", "2")):
        field = page.locator(f"[class*=st-key-rehearse_{key}] input").first
        field.fill(typed)
        field.press("Enter")
        idle(page)
    press(page, "rehearse_run")
    stop = page.locator(".st-key-rehearse_cancel")
    stop.wait_for(timeout=RUN)
    with suppress(TimeoutError):
        stop.wait_for(state="detached", timeout=PATIENCE)
        return
    stop.locator("button").click()
    stop.wait_for(state="detached", timeout=RUN)


def visited(page: Page) -> Iterator[str]:
    """Every page of the sample, one after the other, ready to be measured."""
    page.locator(".st-key-sample_readmission button").first.wait_for(timeout=RUN)
    idle(page)
    titles = ["Start", *(step.title for step in STEPS)]
    yield "Start, empty"
    press(page, "sample_readmission")
    page.get_by_test_id("dag-canvas").wait_for(timeout=RUN)
    go(page, "Release")
    yield "Release, before its run"
    press(page, "release_run")
    page.locator(".st-key-release_again").wait_for(timeout=RUN)
    go(page, "Rehearse")
    rehearse(page)
    go(page, "Inspect")
    press(page, "inspect_run")
    page.locator(".main-svg").first.wait_for(timeout=RUN)
    for title in [*titles, "Gallery"]:
        go(page, title)
        if title == "Inspect":
            page.locator("[data-testid=stProgress]").first.wait_for(state="detached", timeout=RUN)
        yield title


def measured(width: int, theme: str, pictures: Path | None) -> dict[str, dict[str, int]]:
    """Height and words by page."""
    path = chromium_path()
    if path is None:
        raise SystemExit("no chromium on this machine; set CHROMIUM")
    found: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        port, terminal = free_port(), Path(folder) / "terminal"
        command = ["-m", "dashboard.launch", "--port", str(port), "--no-browser"]
        with serving(command, port, {"PRISM_WORKSPACE": f"{folder}/workspace"}, terminal):
            browser = driver.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
            size = {"width": width, "height": HEIGHT}
            page = opened(browser, viewport=size, color_scheme=theme).new_page()
            page.goto(address_shown(terminal))
            for name in visited(page):
                found[name] = page.evaluate(MEASURE)
                print(f"{name:26}{found[name]['height']:>8}{found[name]['words']:>8}", flush=True)
                if pictures is not None:
                    picture(page, pictures / f"{width}-{theme}-{name.replace(', ', '-')}.png")
            browser.close()
    return found


def picture(page: Page, path: Path) -> None:
    """The whole page, in a window as high as the page is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = page.viewport_size
    assert size is not None
    whole = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": max(HEIGHT, whole)})
    page.wait_for_timeout(SETTLE)
    page.screenshot(path=path)
    page.set_viewport_size(size)


def main() -> None:
    parser = argparse.ArgumentParser(description="Height and words of every page.")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    arguments = parser.parse_args()
    print(f"{'page':26}{'pixels':>8}{'words':>8}")
    found = measured(arguments.width, arguments.theme, arguments.pictures)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
