"""The command `prism-dashboard`: the app on this machine, reachable from this machine only."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dashboard.machine_key import VARIABLE, fresh
from dashboard.steps import DEMO
from prism_core.synthesis.engine.cache import warm

if TYPE_CHECKING:
    from collections.abc import Sequence

_HERE = Path(__file__).parent
_UPLOAD_MEGABYTES = 2_000


def options(port: int, *, headless: bool) -> list[str]:
    """Streamlit's options: loopback only, nothing sent out, no tracebacks on screen."""
    chosen = {
        "server.address": "127.0.0.1",
        "server.port": port,
        "server.headless": str(headless).lower(),
        "server.showEmailPrompt": "false",  # asked on the first start, and waited for
        "server.maxUploadSize": _UPLOAD_MEGABYTES,
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        "browser.serverAddress": "localhost",
        "client.showErrorDetails": "none",
        "client.toolbarMode": "viewer",
        "theme.base": str(_HERE / "assets" / "theme.toml"),
    }
    return [f"--{name}={value}" for name, value in chosen.items()]


def main(argv: Sequence[str] | None = None) -> None:
    """Start the app; never returns."""
    parser = argparse.ArgumentParser(
        prog="prism-dashboard", description="Open PRISM Studio in the browser (this machine only)."
    )
    parser.add_argument("--port", type=int, default=8501, help="port on 127.0.0.1 (default 8501)")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    parser.add_argument(DEMO, action="store_true", help="open the gallery: four stories, no data")
    arguments = parser.parse_args(argv)
    warm()  # in the background: the first fit must not wait for a compiler
    command = [sys.executable, "-m", "streamlit", "run", str(_HERE / "app.py")]
    command += options(arguments.port, headless=arguments.no_browser)
    command += ["--", DEMO] if arguments.demo else []
    os.environ[VARIABLE] = fresh()
    sys.stdout.write(
        f"Key for opening paths and databases in the app: {os.environ[VARIABLE]}\n"
        "Keep it to yourself: whoever has it reads files with your rights.\n"
    )
    sys.stdout.flush()  # before the process is replaced
    os.execv(sys.executable, command)


if __name__ == "__main__":
    main()
