"""Memory of the app after tables were uploaded and their tabs closed.

python tests/benchmarks/memory.py [--megabytes 250] [--times 3] [--kept 10]

Starts the app, and with Chromium uploads a made CSV of so many megabytes, loads it and closes the
tab, several times; prints the resident memory of the app's process at rest, after each load, and
once the rows were let go. `--kept` shortens the minutes that rows stay.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

START = """
import sys
from dashboard import held
held.KEPT, held._EVERY = float(sys.argv.pop(1)), 2.0
from streamlit.web import cli
sys.argv = ["streamlit", *sys.argv[1:]]
cli.main()
"""


def made(path: Path, megabytes: int) -> None:
    """A CSV of 12 columns of numbers and words."""
    rng = np.random.default_rng(0)
    rows = 100_000
    numbers = rng.integers(0, 10**6, (rows, 8)).astype(str)
    words = np.array(["alpha", "beta", "gamma", "delta"])[rng.integers(0, 4, (rows, 4))]
    lines = [",".join(row) for row in np.concatenate([numbers, words], axis=1).tolist()]
    block = ("\n".join(lines) + "\n").encode()
    with path.open("wb") as file:
        file.write((",".join(f"x{i}" for i in range(12)) + "\n").encode())
        while file.tell() + len(block) < megabytes * 2**20:
            file.write(block)


def resident(process: int) -> float:
    """MiB of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def visit(browser: object, address: str, table: Path) -> None:
    """One tab: open, upload, load, close."""
    from tests.browser.driver import opened

    with opened(browser) as context:  # pyright: ignore[reportArgumentType]
        context.set_default_timeout(400_000)
        page = context.new_page()
        page.goto(address)
        page.get_by_role("tab", name="Your own file").click()
        page.locator(".st-key-upload_table input[type=file]").set_input_files(table)
        page.get_by_role("button", name="Load this file", exact=True).click()
        page.get_by_text(f"Loaded: {table.name}").wait_for()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=250)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--kept", type=float, default=10.0)
    wanted = parser.parse_args()
    from playwright.sync_api import sync_playwright

    from dashboard.key import machine_key
    from tests.browser.driver import CHROMIUM_ARGS, answers, chromium_path, free_port, wait_until

    with tempfile.TemporaryDirectory(prefix="prism-memory-") as name, sync_playwright() as driver:
        table, port, key = Path(name) / "stays.csv", free_port(), machine_key.fresh()
        made(table, wanted.megabytes)
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                START,
                str(wanted.kept),
                "run",
                "dashboard/app.py",
                "--server.port",
                str(port),
                "--server.headless",
                "true",
            ],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            env=os.environ | {machine_key.VARIABLE: key, "PRISM_WORKSPACE": name},
        )
        try:
            wait_until(lambda: answers(f"http://127.0.0.1:{port}/_stcore/health"))
            browser = driver.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)
            address = f"http://127.0.0.1:{port}/?key={key}"
            print(f"started: {resident(process.pid):,.0f} MiB", flush=True)
            for time_ in range(wanted.times):
                visit(browser, address, table)
                print(
                    f"after load {time_ + 1}, tab closed: {resident(process.pid):,.0f} MiB",
                    flush=True,
                )
            browser.close()
            for _ in range(3):
                time.sleep(wanted.kept + 4.0)
                print(f"later: {resident(process.pid):,.0f} MiB", flush=True)
        finally:
            process.terminate()
            process.wait(timeout=60)


if __name__ == "__main__":
    main()
