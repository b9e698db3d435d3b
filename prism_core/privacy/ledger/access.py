"""How the ledger's file is come by where it may only be read, and what is said when it fails.

SQLite in WAL mode writes beside its file even for reading. An auditor may hold a folder that she
may not write, so there a private copy is read. It is taken anew at every call and compared with the
original, so that what it tells is what the file said at one moment.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from prism_core.errors import LedgerError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

_NEWEST = "-wal"
"""SQLite's name for the file of what was written last; the file proper comes to hold it later."""
_TRIES = 20
"""Copies until one is whole; a writer takes milliseconds."""

READ_ONLY = (
    "The workspace may only be read here, so nothing was charged or written. Its ledger can be "
    "listed, shown, verified and exported. To write, check the permissions of the folder and of "
    "its files, or name another workspace."
)
DAMAGED = (
    "The ledger's file is damaged, or is no ledger. Nothing was charged. Keep the file as it is, "
    "put a copy of it from a backup in its place, and say so with `prism ledger accept --why TEXT`."
)


_FULL = (
    "The disk is full, or cannot be written: the ledger needs some room. Nothing was charged. Free "
    "some space."
)


def no_room_beside(error: sqlite3.Error) -> bool:
    """Whether SQLite failed at the files that it makes beside the ledger, even for reading."""
    name = getattr(error, "sqlite_errorname", None) or ""
    return name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_READONLY"))


def read_only(path: Path) -> bool:
    """Whether the file is there and either it or its folder may not be written."""
    return path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


@contextmanager
def copied(path: Path) -> Iterator[Path]:
    """A private copy of the file with its newest entries, as they were at one moment.

    Raises:
        LedgerError: when it cannot be read or copied, or changes all the time.
    """
    with tempfile.TemporaryDirectory(prefix="prism-ledger-") as folder:  # mode 0700
        copy = Path(folder) / path.name
        if not any(_copied_whole(path, copy) for _ in range(_TRIES)):
            raise LedgerError(
                "The ledger cannot be read just now: its file may not be read, there is no room "
                "for a copy of it, or it is being written all the time.",
                field="workspace",
            )
        yield copy


def _copied_whole(path: Path, copy: Path) -> bool:
    """Copy the file and its newest entries; whether nobody wrote meanwhile."""
    try:
        before = _state(path)
        for ending in ("", _NEWEST):
            source, target = (each.with_name(path.name + ending) for each in (path, copy))
            target.unlink(missing_ok=True)
            if source.exists():
                shutil.copyfile(source, target)
        return _state(path) == before
    except OSError:
        return False


def _state(path: Path) -> list[tuple[int, int, int] | None]:
    found: list[tuple[int, int, int] | None] = []
    for ending in ("", _NEWEST):
        try:
            stat = path.with_name(path.name + ending).stat()
            found.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        except FileNotFoundError:
            found.append(None)
    return found


_CELLS: dict[str, dict[str, tuple[str, ...]]] = {
    "meta": {"integer": ("version",)},
    "assets": {"integer": ("id",), "text": ("name", "created"), "real": ("epsilon", "delta")},
    "charges": {
        "integer": ("id", "asset"), "real": ("epsilon", "delta", "rho"),
        "text": ("plan", "accountant", "events", "who", "why", "created"),
    },
    "states": {"integer": ("id", "charge"), "text": ("state", "created")},
    "corrections": {"integer": ("id", "charge"), "text": ("note", "who", "created")},
    "receipts": {"integer": ("id", "charge"), "text": ("receipt",)},
    "chain": {"integer": ("id", "row"), "text": ("kind", "digest")},
}  # fmt: skip
"""By table and type its columns. SQLite takes any value in any column."""

_STATES = "SELECT 1 FROM states WHERE state NOT IN ('reserved', 'done', 'failed', 'void') LIMIT 1"


def check_cells(db: sqlite3.Connection) -> None:
    """Refuse a file whose cells are of other types than this program writes.

    SQLite looks at the heads of rows alone for it, not into long texts.

    Raises:
        LedgerError: when there is one.
    """
    present = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    for table, kinds in _CELLS.items():
        if table not in present:
            continue  # whoever asks it for rows says so
        wrong = " OR ".join(
            f"typeof({column}) <> '{kind}'" for kind, columns in kinds.items() for column in columns
        )
        if db.execute(f"SELECT 1 FROM {table} WHERE {wrong} LIMIT 1").fetchone() is not None:
            raise LedgerError(DAMAGED, field="workspace")
    if db.execute(_STATES).fetchone() is not None:
        raise LedgerError(DAMAGED, field="workspace")


def refusal(error: Exception) -> LedgerError | None:
    """What an error of SQLite means, None where it says no more than itself."""
    name = getattr(error, "sqlite_errorname", None) or ""
    if not name and "decode" in str(error):  # a text that is none, or a name in SQLite's words
        name = "SQLITE_CORRUPT"
    said = {
        "SQLITE_NOTADB": DAMAGED, "SQLITE_CORRUPT": DAMAGED, "SQLITE_READONLY": READ_ONLY,
        "SQLITE_FULL": _FULL, "SQLITE_IOERR": _FULL,
    }  # fmt: skip
    text = next((text for code, text in said.items() if name.startswith(code)), None)
    return None if text is None else LedgerError(text, field="workspace")
