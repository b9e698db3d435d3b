"""Writes what was paid for and could not be written: `prism recover CHARGE`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core import files
from prism_core.errors import ConfigError
from prism_core.runs import paid
from prism_core.runs.release import recovered

if TYPE_CHECKING:
    from pathlib import Path


def recover(workspace: Path, charge: int, out: Path) -> None:
    """Write the kept result of a charge. Spends nothing.

    Args:
        workspace: folder of the ledger.
        charge: its number.
        out: of a release and of a comparator a new folder, else a new file.

    Raises:
        ConfigError: when nothing is kept for the charge, or `out` cannot be written.
        PrismError: when the result cannot be made from what is kept.
    """
    kind, texts = paid.contents(workspace, charge)
    if kind == "release":
        recovered(workspace, charge, texts, out)
    else:
        _copy(texts, out, folder=kind == "comparator")
    paid.written(workspace, charge)


def _copy(texts: dict[str, bytes], out: Path, *, folder: bool) -> None:
    if out.exists():
        raise ConfigError(f"--out {out.name!r} is there already. Name a new one.", field="out")
    try:
        if folder:
            files.give_all(out, texts)
        else:
            (text,) = texts.values()
            out.parent.mkdir(parents=True, exist_ok=True)
            files.give(out, text)
    except OSError:
        raise ConfigError(f"{out.name!r} cannot be written.", field="out") from None
