"""A keyed memory of rows: have these rows been charged under another name?

Fingerprints depend on private rows. They never leave the workspace, are not part of the ledger
or of anything exported, and no run looks at them: a match becomes a sentence on the curator's
screen, nothing else. They are written before the charge, with what tells the run they belong to
(`Run`), and count once the ledger holds that run's charge: of a run that was refused or that
measured nothing, nothing is said. The key keeps a copied fingerprint from being tried against
guessed tables; whoever has the workspace has the key, too.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core import files
from prism_core.errors import LedgerError
from prism_core.privacy.ledger.records import Charge, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from prism_core.privacy.private_rows import CodedRows

KEY = "fingerprint.key"
MEMORY = "fingerprints.jsonl"


@dataclass(frozen=True, kw_only=True)
class FingerprintedRun:
    """The run that rows are remembered for; holds nothing of them.

    A run of the same plan under the same name that follows confirms it, too, whatever its rows: of
    two runs that cannot be told apart a notice too many is better than one too few.

    Attributes:
        plan: SHA-256 of its plan.
        after: number of the ledger's newest charge before it, 0 where there is none.
    """

    plan: str
    after: int

    def charged(self, asset: str, charges: Iterable[Charge]) -> bool:
        """Whether a charge that counts stands for it."""
        return any(
            charge.counts
            and charge.plan == self.plan
            and charge.id > self.after
            and canonical(charge.asset) == canonical(asset)
            for charge in charges
        )


def fingerprint(table: CodedRows, key: bytes) -> str:
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
    # Of one width and byte order, so that another machine gets the same mark.
    codes = np.ascontiguousarray(table.codes[:, order], dtype="<i4")
    # 128 bits a row: of any number of rows no two meet by chance.
    rows = sorted(hashlib.blake2b(row, key=key, digest_size=16).digest() for row in codes)
    # With the domain, as the same codes stand for other values under another declaration.
    domain = [[name, *map(repr, table.schema[name].code_names())] for name in names]
    whole = hmac.new(key, json.dumps(domain).encode(), hashlib.sha256)
    whole.update(b"".join(rows))
    return whole.hexdigest()


def recognise(
    folder: Path,
    asset: str,
    table: CodedRows,
    charges: Sequence[Charge] = (),
    run: FingerprintedRun | None = None,
) -> tuple[str, ...]:
    """Remember the rows of `asset`; returns the other assets they were charged under before.

    Spends nothing; see `fingerprint`. The same is written whatever the rows are.

    Args:
        folder: the workspace.
        asset: the name they are to be charged under.
        table: the encoded rows.
        charges: of the workspace's ledger.
        run: that is to be charged; None counts at once.

    Raises:
        LedgerError: when the workspace cannot be written.
    """
    try:
        mark = fingerprint(table, secret(folder))
        seen = _charged(folder, "fingerprint", charges)
        _append(folder / MEMORY, {"asset": asset, "fingerprint": mark}, run)
    except OSError:
        raise _failed() from None
    others = {name for name, known in seen if _same(known, mark)} - {asset}
    return tuple(sorted(others))


def remember(
    folder: Path, asset: str, marks: Iterable[str], run: FingerprintedRun | None = None
) -> None:
    """Remember the marks of a table that is charged to `asset`; see `data.table_identity`.

    Args:
        folder: the workspace.
        asset: the name it is to be charged under.
        marks: of the table.
        run: that is to be charged; None counts at once.

    Raises:
        LedgerError: when the workspace cannot be written.
    """
    try:
        key = secret(folder)
        for mark in sorted(marks):
            _append(folder / MEMORY, {"asset": asset, "mark": _keyed(mark, key)}, run)
    except OSError:
        raise _failed() from None


def assets_of(
    folder: Path, marks: Iterable[str], charges: Sequence[Charge] | None
) -> tuple[str, ...]:
    """The assets that a table with one of these marks was charged to. Makes nothing.

    Spends nothing; the answer depends on the rows: it is for the curator's screen.

    Args:
        folder: the workspace.
        marks: of the table.
        charges: of its ledger; None where that is gone: then all that is remembered counts.

    Raises:
        LedgerError: when the workspace cannot be read.
    """
    # Asking for the key would make one; without it nothing was remembered.
    if not (folder / KEY).exists():
        return ()
    try:
        key = secret(folder)
        wanted = {_keyed(mark, key) for mark in marks}
        known = _charged(folder, "mark", charges)
    except OSError:
        raise _failed() from None
    return tuple(sorted({asset for asset, mark in known if mark in wanted}))


def _same(known: str, mark: str) -> bool:
    # The file may hold any text, and compare_digest takes no letters beyond ASCII.
    return hmac.compare_digest(known.encode("utf-8", "replace"), mark.encode())


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


def _charged(folder: Path, kind: str, charges: Sequence[Charge] | None) -> list[tuple[str, str]]:
    """Assets and what is remembered of one kind, of runs whose charge stands."""
    found: list[tuple[str, str]] = []
    for entry in _lines(folder / MEMORY):
        try:
            asset, mark, run = str(entry["asset"]), str(entry[kind]), _run(entry)
        except (KeyError, TypeError, ValueError):
            continue  # another kind
        if run is None or charges is None or run.charged(asset, charges):
            found.append((asset, mark))
    return found


def _run(entry: dict[str, Any]) -> FingerprintedRun | None:
    """The run of an entry; None for those from before runs were noted, which count."""
    return (
        FingerprintedRun(plan=str(entry["plan"]), after=int(entry["after"]))
        if "plan" in entry
        else None
    )


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    """Its entries."""
    if not path.exists():
        return
    # A crash may cut a letter in two; one bad line must not hide the others.
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a crash cut it short
        if isinstance(entry, dict):
            yield entry


def _append(path: Path, entry: dict[str, Any], run: FingerprintedRun | None) -> None:
    """After a line that was cut short."""
    whole = entry if run is None else entry | {"plan": run.plan, "after": run.after}
    files.append(path, f"\n{json.dumps(whole)}\n".encode())
