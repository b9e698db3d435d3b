"""A keyed memory of rows: have these rows been charged under another name?

Fingerprints depend on private rows. They never leave the workspace, are not part of the ledger
or of anything exported, and no run looks at them: a match becomes a sentence on the curator's
screen, nothing else. The key keeps a copied fingerprint from being tried against guessed tables;
whoever has the workspace has the key, too.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING

import numpy as np

from prism_core import files
from prism_core.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from prism_core.data.encoding import EncodedTable

KEY = "fingerprint.key"
MEMORY = "fingerprints.jsonl"


def fingerprint(table: EncodedTable, key: bytes) -> str:
    """HMAC-SHA-256 of the rows, whatever their order and the order of the columns.

    Spends nothing as long as it stays in the workspace: it is as private as the rows, and not
    a release. Rows are digested one by one with the key and the sorted digests together, so
    every row counts as often as it is there.

    Args:
        table: the encoded rows; another declaration of the columns gives another fingerprint.
        key: the workspace's key.
    """
    names = sorted(table.schema.names)
    order = [table.schema.index(name) for name in names]
    codes = np.ascontiguousarray(table.codes[:, order], dtype="<i4")
    rows = sorted(hashlib.blake2b(row, key=key, digest_size=16).digest() for row in codes)
    domain = [[name, *map(repr, table.schema[name].labels())] for name in names]
    whole = hmac.new(key, json.dumps(domain).encode(), hashlib.sha256)
    whole.update(b"".join(rows))
    return whole.hexdigest()


def recognise(folder: Path, asset: str, table: EncodedTable) -> tuple[str, ...]:
    """Remember the rows of `asset`; returns the other assets they were seen under before.

    Spends nothing; see `fingerprint`. The same is written whatever the rows are.

    Raises:
        LedgerError: when the workspace cannot be written.
    """
    try:
        mark = fingerprint(table, secret(folder))
        seen = [
            (entry["asset"], entry["fingerprint"])
            for entry in _lines(folder / MEMORY, "fingerprint")
        ]
        _append(folder / MEMORY, {"asset": asset, "fingerprint": mark})
    except OSError:
        raise _failed() from None
    others = {name for name, known in seen if hmac.compare_digest(known, mark)} - {asset}
    return tuple(sorted(others))


def remember(folder: Path, asset: str, marks: Iterable[str]) -> None:
    """Remember the marks of a table that is charged to `asset`; see `data.marks`.

    Raises:
        LedgerError: when the workspace cannot be written.
    """
    try:
        key = secret(folder)
        for mark in sorted(marks):
            _append(folder / MEMORY, {"asset": asset, "mark": _keyed(mark, key)})
    except OSError:
        raise _failed() from None


def assets_of(folder: Path, marks: Iterable[str]) -> tuple[str, ...]:
    """The assets that a table with one of these marks was charged to. Makes nothing.

    Spends nothing; the answer depends on the rows: it is for the curator's screen.

    Raises:
        LedgerError: when the workspace cannot be read.
    """
    if not (folder / KEY).exists():
        return ()
    try:
        key = secret(folder)
        wanted = {_keyed(mark, key) for mark in marks}
        known = [(entry["asset"], entry["mark"]) for entry in _lines(folder / MEMORY, "mark")]
    except OSError:
        raise _failed() from None
    return tuple(sorted({asset for asset, mark in known if mark in wanted}))


def _keyed(mark: str, key: bytes) -> str:
    return hmac.new(key, f"mark {mark}".encode(), hashlib.sha256).hexdigest()


def warning(asset: str, others: Iterable[str]) -> str:
    """The sentence for the curator's screen, "" when there is nothing to say."""
    names = ", ".join(f"“{name}”" for name in others)
    if not names:
        return ""
    return (
        f"The same rows were already charged under {names}. Charges to “{asset}” do not count "
        "there: if these are the same people, use one name, so that their lifetime budget holds. "
        "This notice depends on the private rows; it is for you only."
    )


def secret(folder: Path) -> bytes:
    """The key of a workspace's memory; made on first use.

    Raises:
        OSError: when it cannot be read or made.
    """
    return files.secret(folder / KEY)


def _failed() -> LedgerError:
    return LedgerError(
        "The workspace's fingerprints cannot be read or written. Check that its folder is "
        "writable; nothing was run.",
        field="workspace",
    )


def _lines(path: Path, kind: str) -> Iterable[dict[str, str]]:
    """The entries of one kind."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
            yield {"asset": str(entry["asset"]), kind: str(entry[kind])}
        except (ValueError, KeyError, TypeError):
            continue  # another kind, or a line that a crash cut short


def _append(path: Path, entry: dict[str, str]) -> None:
    files.append(path, f"\n{json.dumps(entry)}\n".encode())  # after a line that was cut short
