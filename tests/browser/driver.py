"""Servers, Chromium and the DAG editor, as browser tests use them."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from playwright.sync_api import Browser, BrowserContext, Locator, Page

ROOT = Path(__file__).parents[2]
PATIENCE = 90.0  # seconds; a test that fails takes longer, one that passes does not
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium_path() -> str | None:
    named = os.environ.get("CHROMIUM")
    found = [named] if named else ["chromium", "chromium-browser", "google-chrome"]
    return next((path for name in found if (path := shutil.which(name))), None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(
    command: Sequence[str],
    port: int,
    environment: dict[str, str] | None = None,
    terminal: Path | None = None,
    prefix: str = "",
) -> Iterator[str]:
    """Run a Streamlit server until the block ends; gives its address, with the prefix of its pages.

    What it writes for the person in front of it goes into the file `terminal`.
    """
    output = None if terminal is None else terminal.open("w", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | (environment or {}),
        stdout=output or subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}{prefix}"
    try:
        wait_until(lambda: answers(f"{address}/_stcore/health"))
        yield address
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)
        if output is not None:
            output.close()


def address_shown(terminal: Path) -> str:
    """The address with the key, as the terminal shows it."""
    found = re.search(r"http://\S+\?key=\S+", terminal.read_text(encoding="utf-8"))
    assert found is not None
    return found[0]


def opened(browser: Browser, **options: Any) -> BrowserContext:
    """A new profile whose pages are as patient as the tests: a busy machine is no failure."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE * 1_000)
    return context


def wait_until(
    condition: Callable[[], bool], report: Callable[[], object] = str, seconds: float = PATIENCE
) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited in vain; last seen: {report()}"
        time.sleep(0.05)


def idle(page: Page) -> None:
    """Wait for the run of the page that the last entry began; a click within it may be lost."""
    page.wait_for_timeout(500)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def continue_to(page: Page, step: str) -> None:
    """Press a page's last button; while the page is drawn anew it stands there twice."""
    found = button(page, f"Continue to {step}")
    found.first.wait_for()
    idle(page)
    wait_until(lambda: found.count() == 1)
    found.click()


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


class Watch:
    """Everything a page asks for, and every error it raises."""

    def __init__(self) -> None:
        self.requested: list[str] = []
        self.errors: list[str] = []

    def on(self, page: Page) -> None:
        page.on("request", lambda request: self.requested.append(request.url))
        page.on("websocket", lambda websocket: self.requested.append(websocket.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: self.errors.append(f"dialog: {dialog.message}"))

    def check(self) -> None:
        """Nothing was asked of another host, and nothing broke."""
        urls = [url for url in self.requested if not url.startswith(("data:", "blob:"))]
        assert urls
        strangers = [u for u in urls if urlparse(u).hostname not in ("127.0.0.1", "localhost")]
        assert strangers == []
        assert self.errors == []


class Editor:
    """The DAG editor as a person with a mouse sees it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.canvas = page.get_by_test_id("dag-canvas")
        self.message = page.get_by_test_id("dag-message")
        self.legend = page.get_by_test_id("dag-legend")
        self.settle()

    def settle(self) -> None:
        self.page.wait_for_selector(
            "[data-testid=dag-canvas][data-nodes]", timeout=PATIENCE * 1_000
        )
        self.canvas.scroll_into_view_if_needed()
        # The first drawing may still be fitted to the final width of the page, and the page above
        # may still move the canvas.
        wait_until(lambda: self._place() == (self.page.wait_for_timeout(400), self._place())[1])

    def _place(self) -> tuple[object, object]:
        return self.nodes(), self.canvas.bounding_box()

    def nodes(self) -> dict[str, list[int]]:
        return json.loads(self.canvas.get_attribute("data-nodes") or "{}")

    def drawn(self) -> list[list[str]]:
        return json.loads(self.canvas.get_attribute("data-edges") or "[]")

    def browser_has(self, *edges: list[str]) -> None:
        wanted = sorted(edges)
        wait_until(lambda: sorted(self.drawn()) == wanted, lambda: self.drawn())

    def at(self, name: str) -> tuple[float, float]:
        """Where a column stands on the page, once neither the drawing nor the page moves."""
        found: list[tuple[float, float] | None] = [None, None]

        def still() -> bool:
            found[:] = [
                self._column_at(name),
                (self.page.wait_for_timeout(50), self._column_at(name))[1],
            ]
            return found[0] is not None and found[0] == found[1]

        wait_until(still)
        assert found[1] is not None
        return found[1]

    def _column_at(self, name: str) -> tuple[float, float] | None:
        box = self.canvas.bounding_box()
        if box is None:  # drawn anew just now
            return None
        x, y = self.nodes()[name]
        return box["x"] + x, box["y"] + y

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=6)
        mouse.move(*end, steps=6)
        mouse.up()

    def press(self, words: str) -> None:
        # force: Playwright would wait for ever for a button with aria-disabled.
        self.page.locator(".dag-tools").get_by_text(words, exact=True).click(force=True)

    def draw(self, cause: str, effect: str) -> None:
        self.drag(self.at(cause), self.at(effect))

    def middle(self, cause: str, effect: str) -> list[int]:
        """Where the middle of an edge is, in the drawing, once it runs round the boxes.

        Before that it is straight for a moment, and may lie under a box that takes the click.
        """
        wait_until(lambda: (cause, effect) in self.middles(), self.middles)
        return self.middles()[cause, effect]

    def middles(self) -> dict[tuple[str, str], list[int]]:
        found = json.loads(self.canvas.get_attribute("data-middles") or "[]")
        return {(cause, effect): place for (cause, effect), place in found}

    def middle_on_page(self, cause: str, effect: str) -> tuple[float, float]:
        box = self.canvas.bounding_box()
        assert box is not None
        x, y = self.middle(cause, effect)
        return box["x"] + x, box["y"] + y

    def select(self, cause: str, effect: str) -> None:
        self.page.mouse.click(*self.middle_on_page(cause, effect))
        self.says(f"Selected: {cause} → {effect}")

    def says(self, words: str) -> None:
        wait_until(lambda: words in self.message.inner_text(), lambda: self.message.inner_text())

    def colour(self, name: str) -> list[int]:
        """Colour inside a node, beside its label."""
        x, y = self.nodes()[name]
        return self.canvas.locator("canvas").evaluate(
            """(canvas, [x, y]) => {
                const ratio = canvas.width / canvas.clientWidth;
                const context = canvas.getContext("2d");
                return [...context.getImageData((x - 24) * ratio, (y - 8) * ratio, 1, 1).data];
            }""",
            [x, y],
        )
