"""Whole ledgers carried from one store to another: backup, restore, migration.

Every row and every digest is carried as it is, so the chain is the same on both sides; it is
checked before and afterwards. A backup is a file of SQLite, whatever store it is made from.
"""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from prism_core import files
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import audit, chain_head, store_choice
from prism_core.privacy.ledger.chain_head import Head
from prism_core.privacy.ledger.sqlite_store import FILE, NEWEST, SqliteStore
from prism_core.privacy.ledger.store import (
    CHAIN,
    COLUMNS,
    SEALED,
    Connection,
    Store,
    add,
    chain_of,
    rows_of,
    seal,
    version_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.privacy.ledger.audit import Verification

FROM_FILE = "file"
"""The workspace's own file, as the origin of a migration."""


@dataclass(frozen=True, kw_only=True)
class Carried:
    """A ledger that was carried over.

    Attributes:
        target: where it is now, in words.
        check: of it there.
        left: what stays behind and is no longer charged, in words; "" for nothing.
    """

    target: str
    check: Verification
    left: str = ""


def backup(folder: Path, out: Path) -> Carried:
    """Write the ledger of a workspace to a file, whichever store keeps it.

    Raises:
        LedgerError: when there is none, it is not whole, or the file is there already or cannot
            be written.
    """
    store_choice.check_present(folder)
    if out.exists():
        raise LedgerError(f"{str(out)!r} is there already. Name a new file.", field="out")
    noted = chain_head.noted(folder)  # before the ledger is looked at: it may go on
    with store_choice.open_store(folder).transaction() as db:
        content, check = _image(db, noted)
    try:
        files.replace(out, content)  # mode 0600: it holds names and purposes
    except OSError:
        raise LedgerError(f"{str(out)!r} cannot be written.", field="out") from None
    return Carried(target=f"the file {out}", check=check)


def restore(folder: Path, origin: Path, why: str = "") -> Carried:
    """Put a backup where the workspace's ledger belongs, which must be empty.

    Args:
        folder: the workspace; its setting says which store is filled.
        origin: the backup.
        why: in a few words, where the backup is older than what the workspace used last. What was
            charged since is forgotten.

    Raises:
        LedgerError: when the backup is not whole, a ledger is there already, or `why` is missing.
    """
    if not origin.is_file():
        raise LedgerError(f"There is no file {str(origin)!r}.", field="backup")
    with _copy_of(origin) as store, store.transaction() as db:
        check = _whole(db, None)
        noted = chain_head.noted(folder)
        older = noted is not None and bool(noted.missing(db))
        if older and not why.strip():
            raise LedgerError(
                "The backup is older than the ledger that this workspace used last, or another "
                "one. What was charged since would be forgotten. Say why with --why TEXT.",
                field="why",
            )
        target = _fill(folder, db)
        if older:
            chain_head.accept(folder, Head.of(db), why)
    return Carried(target=target, check=_same(folder, check))


def migrate(folder: Path, origin: str) -> Carried:
    """Carry a ledger into the store that the workspace's setting names, which must be empty.

    Args:
        folder: the workspace.
        origin: `FROM_FILE` for its own file, or the address of a database.

    Raises:
        LedgerError: when origin and target are one, the ledger is not whole, or the target holds
            one.
    """
    wanted = store_choice.address(folder)
    place = "" if origin == FROM_FILE else store_choice.checked(origin)
    if place == wanted:
        raise LedgerError(
            "The ledger is kept there already. Set PRISM_LEDGER to where it is to go (or unset it, "
            "for the workspace's file), and name with --from where it comes from.",
            field="from",
        )
    if not place and not (folder / FILE).is_file():
        raise LedgerError(f"There is no ledger in {str(folder)!r}.", field="workspace")
    source = store_choice.store_at(place, folder)
    # A writer's turn: nobody charges the old ledger while it is carried over.
    with source.transaction(write=True) as db:
        check = _whole(db, chain_head.noted(folder))
        target = _fill(folder, db)
        seal(db)  # kept once the copy is: a crash in between leaves both, and can be begun again
    left = source.place if place else f"the file {_retire(folder)}"
    return Carried(target=target, check=_same(folder, check), left=left)


def _fill(folder: Path, source: Connection) -> str:
    """Carry a ledger into the empty store of a workspace; where that is, in words.

    Of a crash after the copy nothing is missing: what holds this ledger already is left as it is.
    """
    wanted = store_choice.address(folder)
    if not wanted:
        path = folder / FILE
        if path.exists():
            store = SqliteStore(path)
            with store.transaction() as db:
                if not _to_fill(db, source, store.place):
                    return store.place
        content, _ = _image(source, None)
        files.folder(folder)
        for ending in (NEWEST, "-shm"):  # of an empty ledger that is replaced
            path.with_name(path.name + ending).unlink(missing_ok=True)
        files.replace(path, content)
        return f"the file {path}"
    with tempfile.TemporaryDirectory(prefix="prism-ledger-") as elsewhere:
        # Without the workspace's note, which the target does not hold before it is filled.
        store = store_choice.store_at(wanted, Path(elsewhere))
        with store.transaction(write=True) as db:
            if _to_fill(db, source, store.place):
                _copy(source, db)
        return store.place


def _to_fill(target: Connection, source: Connection, place: str) -> bool:
    """Whether a target is empty; where it is not, it holds the very ledger that is carried."""
    if not chain_of(target) and not any(rows_of(target, table) for table in COLUMNS):
        return True
    if chain_of(target) == chain_of(source) and version_of(target) != SEALED:
        return False
    raise LedgerError(
        f"There is a ledger in {place} already; nothing was carried over. Two ledgers cannot be "
        "joined. Move it away, or name another place.",
        field="ledger",
    )


def _image(source: Connection, noted: Head | None) -> tuple[bytes, Verification]:
    """A ledger as a file of SQLite, and its check; both are checked and are the same."""
    check = _whole(source, noted)
    with tempfile.TemporaryDirectory(prefix="prism-ledger-") as folder:  # mode 0700
        path = Path(folder) / FILE
        store = SqliteStore(path)
        with store.transaction(write=True) as db:
            _copy(source, db)
        with store.transaction() as db:
            _agree(_whole(db, None), check)
        # The last connection that closes brings the newest entries into the file.
        return path.read_bytes(), check


def _copy(source: Connection, target: Connection) -> None:
    for table, columns in COLUMNS.items():
        for row in rows_of(source, table):
            add(target, table, columns, row)
    for entry in chain_of(source):
        add(target, "chain", CHAIN, entry)


@contextmanager
def _copy_of(origin: Path) -> Iterator[Store]:
    """A private copy of a backup: it is read, and never written, where it stands."""
    with tempfile.TemporaryDirectory(prefix="prism-ledger-") as folder:
        copy = Path(folder) / FILE
        try:
            shutil.copyfile(origin, copy)
        except OSError:
            raise LedgerError(f"{str(origin)!r} cannot be read.", field="backup") from None
        yield SqliteStore(copy)


def _whole(db: Connection, noted: Head | None) -> Verification:
    found = audit.verify_ledger(db, noted=noted)
    if not found.ok:
        raise LedgerError(
            f"The ledger is not as this program wrote it. {found.findings[0]} Nothing was carried "
            "over.",
            field="ledger",
        )
    return found


def _same(folder: Path, check: Verification) -> Verification:
    """The check of the workspace's ledger as it is now, which must be the one carried over.

    It is noted as the one that was used last: a process that looks elsewhere charges nothing.
    """
    noted = chain_head.noted(folder)
    with store_choice.open_store(folder).transaction() as db:
        found, newest = _whole(db, noted), Head.of(db)
    _agree(found, check)
    chain_head.note(folder, newest)
    return found


def _agree(found: Verification, check: Verification) -> None:
    if (found.rows, found.head) != (check.rows, check.head):
        raise LedgerError(
            "What was written is not what was read. Use neither before somebody has looked.",
            field="ledger",
        )


def _retire(folder: Path) -> Path:
    """Give the workspace's file another name, so that nothing charges it; the new path."""
    path = folder / FILE
    day = dt.datetime.now(dt.UTC).strftime("%Y%m%d-%H%M%S")
    there = path.with_name(f"{FILE}.moved-{day}")
    # While another program reads the file, its newest entries, the seal too, stand beside it.
    for ending in ("", NEWEST):
        source = path.with_name(path.name + ending)
        if source.exists():
            source.rename(there.with_name(there.name + ending))
    files.sync_folder(folder)
    return there
