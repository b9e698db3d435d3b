"""Several curators at once on one server: how long a change takes, memory, and no cross-talk.

    python tests/benchmarks/ten_sessions.py [--sessions 10] [--changes 6] [--pause 5] [--uploads 3]

Each session is a browser profile of its own with the sample readmission on the page Budget. All of
them change epsilon again and again, each after a pause of its own, as people do; a change is timed
in the browser, from the key press to the end of the page's run. Every session has an epsilon that
nobody else uses, and looks for it afterwards: another's would be cross-talk. Then one session
uploads a large file several times and reads it, each time in place of the one before. Browsers and
server share the machine, so the times are upper bounds; the server's own processor time is printed
beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from playwright.async_api import async_playwright

from tests.browser.driver import CHROMIUM_ARGS, address_shown, chromium_path, free_port, serving

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

PATIENCE = 180_000  # milliseconds
MEGABYTE = 2**20

# Resolves with the milliseconds from now until the page has run and is at rest again.
CHANGED = """() => new Promise((resolve) => {
  const app = document.querySelector('[data-testid=stApp]');
  const began = performance.now();
  let ran = false;
  const look = () => {
    const state = app.getAttribute('data-test-script-state');
    if (state === 'running') ran = true;
    if (ran && state === 'notRunning') { watch.disconnect(); resolve(performance.now() - began); }
  };
  const watch = new MutationObserver(look);
  watch.observe(app, {attributes: true, attributeFilter: ['data-test-script-state']});
  window.timedChange = true;
})"""


async def idle(page: Page) -> None:
    await page.wait_for_timeout(600)
    rest = page.locator("[data-testid=stApp][data-test-script-state=notRunning]")
    await rest.wait_for(timeout=PATIENCE)


async def opened(browser: Browser, address: str) -> Page:
    """A session of its own with the sample on the page Budget."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = await context.new_page()
    await page.goto(address)
    button = page.locator(".st-key-sample_readmission button").first
    await button.wait_for()
    await idle(page)
    await button.click()
    await page.get_by_test_id("dag-canvas").wait_for()
    await page.get_by_role("link", name="Budget", exact=True).first.click()
    await page.locator(".st-key-epsilon input").wait_for()
    await idle(page)
    return page


async def change(page: Page, epsilon: str) -> float:
    """Seconds that one change of epsilon takes."""
    field = page.locator(".st-key-epsilon input")
    await field.fill(epsilon)
    timed = asyncio.ensure_future(page.evaluate(CHANGED))
    await page.wait_for_function("window.timedChange === true")
    await field.press("Enter")
    taken = await asyncio.wait_for(timed, PATIENCE / 1000)
    await page.evaluate("window.timedChange = false")
    return taken / 1000


async def works(page: Page, number: int, changes: int, pause: float) -> tuple[list[float], bool]:
    """The times of a session's changes, and whether it saw its own epsilon at the end."""
    rng, taken, last = random.Random(number), [], ""
    for turn in range(changes):
        await asyncio.sleep(rng.uniform(0.5, 1.5) * pause)
        last = f"1.{number:02d}{turn:02d}7"
        taken.append(await change(page, last))
    await idle(page)
    return taken, await page.locator(".st-key-epsilon input").input_value() == last


async def uploads(page: Page, path: Path, times: int, server: psutil.Process) -> list[int]:
    """Memory of the server in MB, each time that the file was uploaded and read."""
    found = []
    for _ in range(times):
        await page.get_by_role("link", name="Data", exact=True).first.click()
        await idle(page)
        own = page.get_by_role("tab", name="Your own file")
        if not await own.is_visible():
            await page.get_by_text("Another table", exact=True).first.click()
        await own.click()
        await idle(page)
        field = page.locator("[class*=st-key-upload_table] input[type=file]").first
        await field.set_input_files(path)
        button = page.get_by_role("button", name="Load this file", exact=True)
        await button.wait_for()
        await idle(page)
        await button.click()
        await page.wait_for_timeout(2_000)
        await idle(page)
        found.append(round(_memory(server)))
        await page.get_by_role("link", name="Start", exact=True).first.click()
        await idle(page)
    return found


def _memory(server: psutil.Process) -> float:
    return server.memory_info().rss / MEGABYTE


async def load(arguments: argparse.Namespace, address: str, server: psutil.Process) -> dict:
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)
        began = round(_memory(server))
        pages = [await opened(browser, address) for _ in range(arguments.sessions)]
        alone = [await change(pages[0], f"2.{turn}7") for turn in range(5)]
        before, wall = sum(server.cpu_times()[:2]), time.monotonic()
        ended = await asyncio.gather(
            *(works(p, n, arguments.changes, arguments.pause) for n, p in enumerate(pages))
        )
        spent, wall = sum(server.cpu_times()[:2]) - before, time.monotonic() - wall
        taken = sorted(one for times, _ in ended for one in times)
        after = round(_memory(server))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.csv"
            names = ",".join(f"measure_{number:02d}" for number in range(20))
            lines = (",".join([f"{number:07d}"] * 20) + "\n" for number in range(1000))
            block = "".join(lines)
            with path.open("w", encoding="ascii") as file:
                file.write(f"{names}\n")
                for _ in range(int(arguments.megabytes * MEGABYTE / len(block))):
                    file.write(block)
            large = await uploads(pages[0], path, arguments.uploads, server)
        await browser.close()
    return {
        "sessions": arguments.sessions,
        "changes": len(taken),
        "seconds a change, alone (median)": round(statistics.median(alone), 2),
        "seconds a change (median)": round(statistics.median(taken), 2),
        "seconds a change (p95)": round(taken[int(0.95 * (len(taken) - 1))], 2),
        "server's processor seconds a change": round(spent / len(taken), 2),
        "server's cores in use": round(spent / wall, 2),
        "sessions that saw another's epsilon": sum(not own for _, own in ended),
        "server MB at the start, with all sessions": [began, after],
        f"server MB with {arguments.megabytes:g} MB uploaded and read, each time": large,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--changes", type=int, default=6, help="of each session")
    parser.add_argument("--pause", type=float, default=5.0, help="seconds between two, on average")
    parser.add_argument("--uploads", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=200.0, help="of the uploaded file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port, terminal = free_port(), Path(folder) / "terminal"
        command = ["-m", "dashboard.launch", "--port", str(port), "--no-browser"]
        environment = {"PRISM_WORKSPACE": f"{folder}/workspace"}
        with serving(command, port, environment, terminal):
            (server,) = [
                one
                for one in psutil.Process().children()
                if one.status() != psutil.STATUS_ZOMBIE and f"--server.port={port}" in one.cmdline()
            ]
            found = asyncio.run(load(arguments, address_shown(terminal), server))
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
