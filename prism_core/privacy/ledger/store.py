"""The file of the ledger: SQLite in WAL mode, synced at every commit, append-only by triggers.

Every row is also entered in `chain` with the SHA-256 of its content and of the entry before it,
so that an edit, a deletion or an insertion behind the program's back breaks the chain. Cutting
the newest entries off leaves a shorter chain that is whole; the last digest, noted elsewhere,
tells (see `audit`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import access, head
from prism_core.privacy.ledger.head import Head

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VERSION = 3
SILENT = 2.0
"""Seconds to wait for another process before it is said; charges take milliseconds."""
PATIENCE = 15.0
"""Seconds until waiting ends with an error."""

_LOG = logging.getLogger(__name__)

COLUMNS: dict[str, tuple[str, ...]] = {
    "assets": ("id", "name", "epsilon", "delta", "created"),
    "charges": ("id", "asset", "plan", "accountant", "epsilon", "delta", "rho", "events", "who",
                "why", "created"),
    "states": ("id", "charge", "state", "created"),
    "corrections": ("id", "charge", "note", "who", "created"),
    "receipts": ("id", "charge", "receipt"),
}  # fmt: skip
"""The tables whose rows are chained, and the columns a digest covers."""

_VERSION_1 = (
    "CREATE TABLE IF NOT EXISTS meta (version INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS assets (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE "
    "NOCASE, epsilon REAL NOT NULL, delta REAL NOT NULL, created TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS charges (id INTEGER PRIMARY KEY, asset INTEGER NOT NULL "
    "REFERENCES assets (id), plan TEXT NOT NULL, accountant TEXT NOT NULL, epsilon REAL NOT NULL, "
    "delta REAL NOT NULL, rho REAL NOT NULL, events TEXT NOT NULL, who TEXT NOT NULL, "
    "why TEXT NOT NULL, created TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS states (id INTEGER PRIMARY KEY, charge INTEGER NOT NULL "
    "REFERENCES charges (id), state TEXT NOT NULL, created TEXT NOT NULL)",
)
_VERSION_2 = (
    "CREATE TABLE corrections (id INTEGER PRIMARY KEY, charge INTEGER NOT NULL REFERENCES "
    "charges (id), note TEXT NOT NULL, who TEXT NOT NULL, created TEXT NOT NULL)",
    "CREATE TABLE chain (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, row INTEGER NOT NULL, "
    "digest TEXT NOT NULL, UNIQUE (kind, row))",
)
_VERSION_3 = (
    "CREATE TABLE receipts (id INTEGER PRIMARY KEY, charge INTEGER NOT NULL REFERENCES "
    "charges (id), receipt TEXT NOT NULL)",
)


def triggers() -> dict[str, str]:
    """Name and text of every trigger. Numbers have no gaps, so a row cannot be replaced either."""
    found = {}
    for table in (*COLUMNS, "chain"):
        for verb in ("UPDATE", "DELETE"):
            name = f"{table}_no_{verb.lower()}"
            found[name] = (
                f"CREATE TRIGGER {name} BEFORE {verb} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            )
        name = f"{table}_in_order"
        found[name] = (
            f"CREATE TRIGGER {name} BEFORE INSERT ON {table} "
            f"WHEN NEW.id IS NOT (SELECT COALESCE(MAX(id), 0) + 1 FROM {table}) "
            "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
        )
    found["states_follow"] = (
        "CREATE TRIGGER states_follow BEFORE INSERT ON states WHEN COALESCE((SELECT state FROM "
        "states WHERE charge = NEW.charge ORDER BY id DESC LIMIT 1), 'new') || '>' || NEW.state "
        "NOT IN ('new>reserved', 'reserved>done', 'reserved>failed', 'reserved>void') "
        "BEGIN SELECT RAISE(ABORT, 'a closed charge stands'); END"
    )
    return found


def digest(before: str, kind: str, row: tuple[Any, ...]) -> str:
    """SHA-256 over the entry before it and the row's content, as JSON."""
    text = json.dumps([before, kind, *row], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def append(db: sqlite3.Connection, table: str, *values: object) -> int:
    """Add a row and its entry in the chain; returns the row's number."""
    columns = COLUMNS[table]
    number = int(db.execute(f"SELECT COALESCE(MAX(id), 0) + 1 FROM {table}").fetchone()[0])
    marks = ", ".join("?" * len(columns))
    db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", (number, *values))
    _enter(db, table, number)
    return number


def row_of(db: sqlite3.Connection, table: str, number: int) -> tuple[Any, ...] | None:
    """A row as it stands in the file."""
    query = f"SELECT {', '.join(COLUMNS[table])} FROM {table} WHERE id = ?"
    return db.execute(query, (number,)).fetchone()


def _enter(db: sqlite3.Connection, table: str, number: int) -> None:
    last = db.execute("SELECT id, digest FROM chain ORDER BY id DESC LIMIT 1").fetchone()
    place, before = last or (0, "")
    row = row_of(db, table, number)  # as stored: SQLite turns whole numbers into floats
    assert row is not None
    db.execute(
        "INSERT INTO chain (id, kind, row, digest) VALUES (?, ?, ?, ?)",
        (place + 1, table, number, digest(before, table, row)),
    )


class Store:
    """Connections and transactions on the file. Every call opens and closes its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not access.read_only(path):
            files.database(path)
        with self._connection() as db:
            access.check_cells(db)

    @contextmanager
    def _connection(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The file, or for reading a private copy where SQLite finds no room beside it."""
        with ExitStack() as held:
            try:
                if access.read_only(self.path) and not write:
                    path = held.enter_context(access.copied(self.path))
                else:
                    path = self.path
                db = held.enter_context(_connected(path))
            except sqlite3.OperationalError as error:
                if write or not access.no_room_beside(error):
                    raise
                db = held.enter_context(_connected(held.enter_context(access.copied(self.path))))
            yield db

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction; writers take turns from its first line on.

        Raises:
            LedgerError: when the file cannot be read or written or is damaged, or a write would
                go to another file than the one that was used last.
        """
        if write and access.read_only(self.path):  # the copy would be written, and forgotten
            raise LedgerError(access.READ_ONLY, field="workspace")
        try:
            with self._connection(write=write) as db:
                _turn("BEGIN IMMEDIATE" if write else "BEGIN", db)
                try:
                    access.check_cells(db)
                    if write:
                        self.check_head(db, head.noted(self.path.parent))
                    yield db
                    newest = Head.of(db) if write else None
                except BaseException:
                    with suppress(sqlite3.Error):  # SQLite ends some by itself; the first one tells
                        db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
            head.note(self.path.parent, newest)  # after the act: what is noted is in the file
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise access.refusal(error) or LedgerError(
                "The ledger cannot be read or written just now. Check that its file is writable "
                "and that no other program holds it.",
                field="workspace",
            ) from None

    def check_head(self, db: sqlite3.Connection, noted: Head | None) -> None:
        """Refuse a file that does not hold the entry that was noted last.

        Raises:
            LedgerError: saying what to do.
        """
        why = "" if noted is None else noted.missing(db)
        if why:
            raise LedgerError(why, field="workspace")


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, timeout=SILENT, isolation_level=None)) as db:
        _write_ahead(db)
        db.execute("PRAGMA synchronous=FULL")  # a commit returns when the disk has it
        db.execute("PRAGMA foreign_keys=ON")
        _migrate(db)
        yield db


def _turn(begin: str, db: sqlite3.Connection) -> None:
    """Wait for other writers: silently at first, then aloud, then no longer."""
    ends = time.monotonic() + PATIENCE
    told = False
    while True:
        try:
            db.execute(begin)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > ends:
                raise
            if not told:
                _LOG.warning("Another program holds the ledger; waiting for it.")
                told = True
        else:
            return


def _write_ahead(db: sqlite3.Connection) -> None:
    """WAL mode. The switch of a new file does not wait for others by itself."""
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            if db.execute("PRAGMA journal_mode=WAL").fetchone()[0] != "wal":
                raise sqlite3.OperationalError("WAL is not available here")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > ends:
                raise
            time.sleep(0.01)
        else:
            return


def _version(db: sqlite3.Connection) -> int:
    known = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
    row = db.execute("SELECT MAX(version) FROM meta").fetchone() if known else (None,)
    if not isinstance(row[0] or 0, int):
        raise LedgerError(access.DAMAGED, field="workspace")
    return row[0] or 0


def _migrate(db: sqlite3.Connection) -> None:
    """Bring the file to this version, all at once or not at all.

    Raises:
        LedgerError: when a newer program wrote it.
    """
    if _version(db) < VERSION:
        db.execute("BEGIN IMMEDIATE")
        try:
            if (version := _version(db)) < VERSION:  # another process may have been first
                _upgrade(db, version)
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
    if _version(db) > VERSION:
        raise LedgerError(
            "The ledger was written by a newer version of this program. Update it.",
            field="workspace",
        )


def _upgrade(db: sqlite3.Connection, version: int) -> None:
    """From nothing or an earlier version; its rows stay as they are.

    Those of version 1 are chained here; since version 2 every row is as it is written.
    """
    older = (*_VERSION_1, *_VERSION_2) if version < 2 else ()
    for statement in (*older, *_VERSION_3):
        db.execute(statement)
    if version < 2:
        for table in COLUMNS:
            for (number,) in db.execute(f"SELECT id FROM {table} ORDER BY id").fetchall():
                _enter(db, table, number)
    present = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    for name, statement in triggers().items():
        if name not in present:
            db.execute(statement)
    db.execute("DELETE FROM meta")
    db.execute("INSERT INTO meta (version) VALUES (?)", (VERSION,))
