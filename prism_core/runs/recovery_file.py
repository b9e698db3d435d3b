"""The recovery file of a charge: what was spent on and does not stand where it belongs.

A run that is killed, or finds the disk full, after its last mechanism has spent its budget. So its
noisy counts (or what it learned, or its noisy numbers) are put into one private file of the
workspace as soon as they are there, and the space for that file is taken before the charge. Once
everything is written the file goes; until then `prism recover N` makes the result from it.

Nothing in it depends on the rows but what was paid for.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from prism_core import files
from prism_core.errors import BundleError, ConfigError, LedgerError
from prism_core.privacy.ledger import Ledger
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FOLDER = "paid"

_KIND, _ENTRY = "kind", "entry"
_NAME = re.compile(r"charge-(\d+)\.zip")
SMALL = 4 * 2**20
"""Bytes of a learned schema or graph, or of a few numbers, with a margin."""

_LEAST = 64 * 1024
"""Bytes beside the counts: schema, plan, certificate, graph."""


ResultKind = Literal["release", "domain", "graph", "evaluation", "comparator"]


@dataclass
class ReservedSpace:
    """Room for one result, taken on the disk before anything is charged.

    Attributes:
        draft: the file that holds the room, None where nothing is charged or kept.
        ledger: that is charged, None where nothing is.
        charge: what was kept in it, None before.
    """

    draft: Path | None
    ledger: Ledger | None = None
    charge: int | None = None

    def keep(
        self, kind: ResultKind, charge: int | None, contents: Mapping[str, str | bytes]
    ) -> None:
        """Put a result into the room, under the number of its charge; synced.

        A disk that is full in spite of the room is no error here: the result may still be
        written where it belongs.
        """
        if self.draft is None or self.ledger is None or charge is None:
            return
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_KIND, kind)
            # The number alone is not enough: an older ledger put back gives it again.
            archive.writestr(_ENTRY, self.ledger.own_entry(charge))
            for name, text in contents.items():
                archive.writestr(name, text)
        with suppress(OSError):
            path = self.draft.with_name(f"charge-{charge}.zip")
            files.fill(self.draft, path, content.getvalue())
            self.charge = charge


@contextmanager
def reserved_space(ledger: Ledger | None, size: int) -> Iterator[ReservedSpace]:
    """Take room for a result, for as long as it is made and written where it belongs.

    At the end of the block what was kept goes; where the block fails it stays, and the message of
    an error of the disk says how to get it.

    Args:
        ledger: that will be charged; None where nothing is, and nothing is kept.
        size: bytes that the result may need; data-free.

    Raises:
        ConfigError: when the disk has no room, or the workspace cannot be written.
        BundleError: for an error of the disk or the ledger after something was kept.
    """
    if ledger is None:
        yield ReservedSpace(None)
        return
    found = ReservedSpace(_reserved(ledger.folder, size), ledger)
    assert found.draft is not None
    try:
        yield found
    # Any other error keeps its own words. What was kept stays in either case.
    except (OSError, MemoryError):
        if found.charge is None:
            raise
        raise BundleError(
            f"The result could not be written; the disk may be full. It is paid for (charge "
            f"{found.charge}) and kept: `prism recover {found.charge} --out PATH` writes it and "
            "spends nothing.",
            field="out",
        ) from None
    except LedgerError as error:
        if found.charge is None:
            raise
        raise BundleError(
            f"{error} The result is paid for (charge {found.charge}) and kept: once the ledger "
            f"answers, `prism recover {found.charge} --out PATH` writes it and spends nothing.",
            field="out",
        ) from None
    else:
        # Only here: the block has written the result where it belongs.
        if found.charge is not None:
            written(ledger.folder, found.charge)
    finally:
        # It is missing where `keep` has renamed it.
        found.draft.unlink(missing_ok=True)


def _reserved(workspace: Path, size: int) -> Path:
    try:
        folder = files.folder(files.folder(workspace) / FOLDER)
        # Real bytes and not a count of free ones, which others may use meanwhile.
        return files.reserve(folder, size + _LEAST)
    except OSError:
        raise ConfigError(
            f"The workspace has no room for the result of this run ({max(1, size // 10**6):,} MB), "
            "or cannot be written. Free some space, or check your permissions; nothing was "
            "charged.",
            field="workspace",
        ) from None


def unwritten_charges(workspace: Path) -> tuple[int, ...]:
    """Charges whose results are kept: paid for, and not written where they belong."""
    folder = workspace / FOLDER
    # Drafts of runs that are under way have other names.
    found = [_NAME.fullmatch(path.name) for path in folder.iterdir()] if folder.is_dir() else []
    return tuple(sorted(int(match[1]) for match in found if match))


def contents(workspace: Path, charge: int) -> tuple[str, dict[str, bytes]]:
    """What was kept under a charge: its kind, and its files by their names.

    Raises:
        ConfigError: when nothing was, or the file is damaged, or it was kept under another entry
            of the ledger: after an older copy was put back, numbers are given again.
        LedgerError: when the ledger has no charge of that number.
    """
    path = workspace / FOLDER / f"charge-{charge}.zip"
    if not path.is_file():
        known = ", ".join(map(str, unwritten_charges(workspace))) or "none"
        raise ConfigError(
            f"Nothing is kept for charge {charge}: it is written already, or measured nothing. "
            f"Charges with a kept result: {known}.",
            field="charge",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(untrusted.content_of(path, untrusted.BUNDLE))) as archive:
            # A few bytes of zip can unpack to gigabytes.
            if sum(entry.file_size for entry in archive.infolist()) > untrusted.BUNDLE.size:
                raise ValueError("more than was ever kept")
            found = {name: archive.read(name) for name in archive.namelist()}
        kind, entry = found.pop(_KIND).decode(), found.pop(_ENTRY).decode()
    except (
        OSError,
        # All that zipfile raises for damaged bytes, wherever they are hit.
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        ValueError,
        KeyError,
        BundleError,
    ):
        raise ConfigError(
            f"What was kept for charge {charge} is damaged.", field="charge"
        ) from None
    if Ledger(workspace).entry(charge) != entry:
        raise ConfigError(
            f"What was kept for charge {charge} is not what this ledger charged under that number: "
            "it may be an older copy of the ledger. No charge of it covers this result; nothing "
            "was written.",
            field="charge",
        )
    return kind, found


def written(workspace: Path, charge: int) -> None:
    """What was kept under a charge stands where it belongs: the file goes."""
    (workspace / FOLDER / f"charge-{charge}.zip").unlink(missing_ok=True)
