"""The report on paper: a PDF by the Chromium that the machine has, none by any other way.

Nothing is asked of the network: the report holds no address to load, its content policy forbids
loading, and the browser is started without a way out. Its profile is a folder that is deleted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from prism_core import foreign
from prism_core.errors import BundleError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MOST_SECONDS = 120.0
MISSING = (
    "There is no Chromium on this machine, which prints the report. Install chromium, name it in "
    "the variable CHROMIUM, or open report.html in any browser and print it."
)
_ARGUMENTS = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--no-pdf-header-footer",
)  # fmt: skip


def chromium() -> str | None:
    """The browser that prints: the one named in CHROMIUM, else one on the path, else None."""
    named = os.environ.get("CHROMIUM")
    found = (shutil.which(name) for name in ([named] if named else NAMES))
    return next((path for path in found if path), None)


def pdf(html: str) -> bytes:
    """The report as a PDF file, with numbered pages.

    Args:
        html: as `report` writes it.

    Raises:
        BundleError: when there is no Chromium, or it does not print.
    """
    browser = chromium()
    if browser is None:
        raise BundleError(MISSING, field="pdf")
    with tempfile.TemporaryDirectory(prefix="prism-pdf-") as place:
        source, target = Path(place) / "report.html", Path(place) / "report.pdf"
        source.write_text(html, encoding="utf-8")
        # Chromium refuses to run as root with its sandbox. The page has no script and no host.
        rights = ("--no-sandbox",) if _root() else ()
        command = [
            browser, *_ARGUMENTS, *rights, f"--user-data-dir={place}/profile",
            f"--print-to-pdf={target}", source.as_uri(),
        ]  # fmt: skip
        try:
            subprocess.run(
                command, capture_output=True, timeout=MOST_SECONDS, check=False,
                env=foreign.environment(),
            )  # fmt: skip
            content = target.read_bytes()
        except (OSError, subprocess.TimeoutExpired):
            content = b""
    if not content.startswith(b"%PDF-"):
        raise BundleError(
            "Chromium did not print the report. Open report.html in a browser and print it there.",
            field="pdf",
        )
    return content


def _root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
