"""Copies of a bundle's report: with what its curator adds, and on paper (PDF by Chromium).

Nothing is asked of the network: the report holds no address to load, its content policy forbids
loading, and the browser is started without a way out. Its profile is a folder that is deleted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from prism_core import child_processes
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.report.report_html import report
from prism_core.errors import BundleError

if TYPE_CHECKING:
    from prism_core.bundle.report.report_extras import Extras


def copy_report(folder: str | Path, extras: Extras | None = None) -> str:
    """The report of a bundle, written anew from its plan, not read from its file.

    Reads the bundle alone; spends nothing. Without extras it is the bundle's own report.

    Raises:
        PrismError: when the folder is no bundle.
    """
    bundle = read_bundle(folder)
    return report(bundle.stages(), bundle.facts, bundle.considered(), extras=extras)


def check_place(out: Path, folder: Path) -> None:
    """Refuse a place inside the bundle: its files are listed, and an added one breaks the seal.

    Raises:
        BundleError: when `out` lies in the folder, or is one.
    """
    if out.is_dir():
        raise BundleError(f"{out.name!r} is a folder. Name a file.", field="out")
    if folder.resolve() in out.resolve().parents:
        raise BundleError(
            "The folder of a bundle holds the files of its manifest and no other. Name a place "
            "outside it.",
            field="out",
        )


BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MOST_SECONDS = 120.0
MISSING = (
    "There is no Chromium on this machine, which prints the report. Install chromium, name it in "
    "the variable CHROMIUM, or open report.html in any browser and print it."
)
_ARGUMENTS = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    # Containers give /dev/shm 64 MB by default, too little for Chromium.
    "--disable-dev-shm-usage",
    # No name resolves, so neither the page nor the browser itself reaches a host.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-pdf-header-footer",
)


def chromium() -> str | None:
    """The browser that prints: the one named in CHROMIUM, else one on the path, else None."""
    named = os.environ.get("CHROMIUM")
    # A browser that was named is not silently replaced by another one.
    found = (shutil.which(name) for name in ([named] if named else BROWSER_NAMES))
    return next((path for path in found if path), None)


def report_pdf(html: str) -> bytes:
    """The report as a PDF file, with numbered pages.

    Args:
        html: as `report` writes it.

    Raises:
        BundleError: when there is no Chromium, or it does not print.
    """
    content = _drawn_by_chromium(html, "report.pdf", "--print-to-pdf={target}")
    # Judged by what was written, not by the exit status: the file is what is handed over.
    if not content.startswith(b"%PDF-"):
        raise BundleError(
            "Chromium did not print the report. Open report.html in a browser and print it there.",
            field="pdf",
        )
    return content


def page_png(html: str, width: int, height: int) -> bytes:
    """A page as a PNG image, two pixels a pixel of CSS.

    Args:
        html: the page, without scripts and hosts.
        width: of the window, in pixels of CSS.
        height: of the window.

    Raises:
        BundleError: when there is no Chromium, or it does not draw.
    """
    content = _drawn_by_chromium(
        html,
        "page.png",
        "--screenshot={target}",
        f"--window-size={width},{height}",
        "--force-device-scale-factor=2",
        "--hide-scrollbars",
    )
    if not content.startswith(b"\x89PNG"):
        raise BundleError("Chromium did not draw the page.", field="png")
    return content


def _drawn_by_chromium(html: str, name: str, *asked: str) -> bytes:
    """What Chromium makes of a page, under a name; nothing where it fails.

    Raises:
        BundleError: when there is no Chromium.
    """
    browser = chromium()
    if browser is None:
        raise BundleError(MISSING, field="pdf")
    with tempfile.TemporaryDirectory(prefix="prism-pdf-") as place:
        source, target = Path(place) / "report.html", Path(place) / name
        source.write_text(html, encoding="utf-8")
        # Chromium refuses to run as root with its sandbox. The page has no script and no host.
        rights = ("--no-sandbox",) if _root() else ()
        command = [
            browser,
            *_ARGUMENTS,
            *rights,
            f"--user-data-dir={place}/profile",
            *(word.replace("{target}", str(target)) for word in asked),
            source.as_uri(),
        ]
        try:
            subprocess.run(
                command,
                capture_output=True,
                timeout=MOST_SECONDS,
                check=False,
                env=child_processes.environment(),
            )
            return target.read_bytes()
        except (OSError, subprocess.TimeoutExpired):
            return b""


def _root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
