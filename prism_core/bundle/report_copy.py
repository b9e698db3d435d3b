"""A copy of a bundle's report, with what its curator wants to say beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.bundle.reader import read_bundle
from prism_core.bundle.report import report
from prism_core.errors import BundleError

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.bundle.report_extras import Extras


def copy(folder: str | Path, extras: Extras | None = None) -> str:
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
