"""The head of the ledger's chain: its newest entry, noted in the workspace.

The chain itself shows edits, and nothing of what was cut off at its end: an emptied ledger, or an
older copy, is a whole chain. So every write notes afterwards how many entries there are and the
digest of the last one, in a file of its own. A ledger whose chain does not hold that entry is not
the one that was used last, and nothing is charged to it. Whoever can write the workspace can
rewrite the note, too; against that, note the digest that `prism ledger verify` prints elsewhere.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core import files
from prism_core.errors import LedgerError, PrismError
from prism_core.text import untrusted

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.privacy.ledger.store import Connection

FILE = "ledger.head"

DIFFERENT = (
    "The ledger is not the one that was used last in this workspace: entry {rows} is missing or "
    "another one. It was emptied or rewritten, or is an older copy. Nothing was charged. Put the "
    "right one back. If an older copy was put there on purpose, say so with `prism ledger "
    "accept --why TEXT`."
)


@dataclass(frozen=True, kw_only=True)
class Head:
    """An entry of the chain.

    Attributes:
        rows: its number, which is how many entries there were; 0 for an empty ledger.
        digest: of it.
        accepted: what was said of older copies that were put there on purpose, oldest first.
    """

    rows: int
    digest: str
    accepted: tuple[str, ...] = ()

    @classmethod
    def of(cls, db: Connection) -> Head | None:
        """The newest entry of a ledger, None while it has none."""
        last = db.execute("SELECT id, digest FROM chain ORDER BY id DESC LIMIT 1").fetchone()
        return None if last is None else cls(rows=last[0], digest=last[1])

    def missing(self, db: Connection) -> str:
        """Why a ledger is not the one that was used last, "" where it is."""
        # An empty ledger that was accepted (`accept`) has no entry to find; any ledger begins so.
        if not self.rows:
            return ""
        row = db.execute("SELECT digest FROM chain WHERE id = ?", (self.rows,)).fetchone()
        return "" if row is not None and row[0] == self.digest else DIFFERENT.format(rows=self.rows)


def noted(folder: Path) -> Head | None:
    """The entry that was noted last, None where none was.

    Raises:
        LedgerError: when the note cannot be read.
    """
    try:
        text = untrusted.text_of(folder / FILE, untrusted.LEDGER)
        document = untrusted.from_json(text, untrusted.LEDGER)
        found = Head(
            rows=int(document["rows"]),
            digest=str(document["digest"]),
            accepted=tuple(map(str, document.get("accepted", ()))),
        )
    except FileNotFoundError:
        return None
    # OverflowError: JSON's 1e999 is infinite, and no int.
    except (OSError, PrismError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise LedgerError(
            f"The workspace's {FILE} cannot be read, so that nobody can tell whether the ledger is "
            "whole. Nothing was charged. Put the file back, or look at the ledger with `prism "
            "ledger verify` and then say so with `prism ledger accept --why TEXT`.",
            field="workspace",
        ) from None
    return found


def note(folder: Path, head: Head | None) -> None:
    """Note the newest entry. One that another process noted meanwhile may be newer: it stays.

    A note that cannot be written is not an error: an older one still holds, as its entry is in
    the chain.
    """
    if head is None:
        return
    try:
        before = noted(folder)
    except LedgerError:
        return  # it says so wherever something is to be charged
    if before is not None and before.rows >= head.rows:
        return
    accepted = () if before is None else before.accepted
    with suppress(OSError):
        _put(folder, Head(rows=head.rows, digest=head.digest, accepted=accepted))


def accept(folder: Path, head: Head | None, why: str) -> None:
    """Note that the ledger as it is was put there on purpose; what was said before stays.

    Raises:
        LedgerError: when nothing is said, or the note cannot be written.
    """
    if not why.strip():
        raise LedgerError("Say why, in a few words.", field="why")
    try:
        before = noted(folder)
        said = () if before is None else before.accepted
    except LedgerError:
        said = ("an unreadable note was replaced",)
    head = head or Head(rows=0, digest="")
    _put(folder, Head(rows=head.rows, digest=head.digest, accepted=(*said, why.strip())))


def _put(folder: Path, head: Head) -> None:
    document = {"rows": head.rows, "digest": head.digest, "accepted": list(head.accepted)}
    files.replace(folder / FILE, f"{json.dumps(document, ensure_ascii=False)}\n".encode())
