"""Every network that pgmpy ships, opened in the editor in Chromium: one table.

    python tests/benchmarks/networks_in_editor.py

Columns and edges, how many columns are shown (those far from the target are hidden until asked
for), seconds from the address to the drawn graph, and whether every edge of the file arrived.
"""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))

from playwright.sync_api import sync_playwright

from prism_core.structure import formats
from tests.browser.driver import CHROMIUM_ARGS, Editor, Watch, chromium_path, free_port, serving

OPTIONS = (
    "--server.headless=true",
    "--server.address=127.0.0.1",
    "--browser.gatherUsageStats=false",
    "--server.fileWatcherType=none",
)


def main() -> None:
    spec = find_spec("pgmpy")
    if spec is None or spec.origin is None:
        sys.exit("needs the extra networks (pgmpy)")
    files = sorted((Path(spec.origin).parent / "utils" / "example_models").glob("*.bif.gz"))
    dags = {file.name.removesuffix(".bif.gz"): formats.read(file) for file in files}
    port, watch = free_port(), Watch()
    app = str(Path(__file__).parents[1] / "browser" / "dag_editor_app.py")
    print(f"{'network':12} {'columns':>7} {'edges':>6} {'shown':>6} {'seconds':>8} whole")
    whole = 0
    with (
        serving(
            ["-m", "streamlit", "run", app, f"--server.port={port}", *OPTIONS], port
        ) as address,
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)
        for name, dag in sorted(dags.items(), key=lambda pair: len(pair[1].nodes)):
            page = browser.new_page(viewport={"width": 1280, "height": 1000})
            watch.on(page)
            begun = time.monotonic()
            page.goto(f"{address}/?case=network:{name}")
            page.wait_for_selector("[data-testid=dag-canvas][data-nodes]", timeout=120_000)
            seconds = time.monotonic() - begun
            editor = Editor(page)
            drawn = sorted(tuple(edge) for edge in editor.drawn())
            same = drawn == sorted(dag.edges)
            whole += same
            print(
                f"{name:12} {len(dag.nodes):7} {len(dag.edges):6} {len(editor.nodes()):6} "
                f"{seconds:8.2f} {'yes' if same else 'NO'}",
                flush=True,
            )
            page.close()
        browser.close()
    watch.check()
    print(f"{whole} of {len(dags)} opened with every edge; no request to another host, no error")


if __name__ == "__main__":
    main()
