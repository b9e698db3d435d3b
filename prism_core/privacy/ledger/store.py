"""The ledger's file: SQLite in WAL mode, synced at every commit, append-only by triggers.

Also how it is reached where it may only be read, and what is said when it fails.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import chain_head
from prism_core.privacy.ledger.chain_head import Head

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 3
SILENT = 2.0
"""Seconds to wait for another process before it is said; charges take milliseconds."""
PATIENCE = 15.0
"""Seconds until waiting ends with an error."""

_LOG = logging.getLogger(__name__)

COLUMNS: dict[str, tuple[str, ...]] = {
    "assets": ("id", "name", "epsilon", "delta", "created"),
    "charges": (
        "id",
        "asset",
        "plan",
        "accountant",
        "epsilon",
        "delta",
        "rho",
        "events",
        "who",
        "why",
        "created",
    ),
    "states": ("id", "charge", "state", "created"),
    "corrections": ("id", "charge", "note", "who", "created"),
    "receipts": ("id", "charge", "receipt"),
}
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
    # ASCII without spaces: the same bytes in every place and version.
    text = json.dumps([before, kind, *row], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def append(db: sqlite3.Connection, table: str, *values: object) -> int:
    """Add a row and its entry in the chain; returns the row's number."""
    columns = COLUMNS[table]
    # The triggers let no other number in, so that a missing row shows.
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
        if not read_only(path):
            files.database(path)
        with self._connection() as db:
            check_cells(db)

    @contextmanager
    def _connection(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The file, or for reading a private copy where SQLite finds no room beside it."""
        with ExitStack() as held:
            try:
                # In WAL mode even a reader needs files beside the ledger, which cannot be made
                # here.
                if read_only(self.path) and not write:
                    path = held.enter_context(copied(self.path))
                else:
                    path = self.path
                db = held.enter_context(_connected(path))
            except sqlite3.OperationalError as error:
                if write or not no_room_beside(error):
                    raise
                db = held.enter_context(_connected(held.enter_context(copied(self.path))))
            yield db

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction; writers take turns from its first line on.

        Raises:
            LedgerError: when the file cannot be read or written or is damaged, or a write would
                go to another file than the one that was used last.
        """
        if write and read_only(self.path):  # the copy would be written, and forgotten
            raise LedgerError(READ_ONLY, field="workspace")
        try:
            with self._connection(write=write) as db:
                # A plain BEGIN takes the lock at its first write, when what was read may be out of
                # date.
                _turn("BEGIN IMMEDIATE" if write else "BEGIN", db)
                try:
                    check_cells(db)
                    if write:
                        self.check_head(db, chain_head.noted(self.path.parent))
                    yield db
                    newest = Head.of(db) if write else None
                except BaseException:
                    with suppress(sqlite3.Error):  # SQLite ends some by itself; the first one tells
                        db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
            chain_head.note(self.path.parent, newest)  # after the act: what is noted is in the file
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise refusal(error) or LedgerError(
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
    # isolation_level=None: Python's module would begin and end transactions by itself.
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
            # Only a lock goes away by waiting.
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
        raise LedgerError(DAMAGED, field="workspace")
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
        before = _file_state(path)
        for ending in ("", _NEWEST):
            source, target = (each.with_name(path.name + ending) for each in (path, copy))
            # An earlier try may have copied one that is gone by now.
            target.unlink(missing_ok=True)
            if source.exists():
                shutil.copyfile(source, target)
        return _file_state(path) == before
    except OSError:
        return False


def _file_state(path: Path) -> list[tuple[int, int, int] | None]:
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
        "integer": ("id", "asset"),
        "real": ("epsilon", "delta", "rho"),
        "text": ("plan", "accountant", "events", "who", "why", "created"),
    },
    "states": {"integer": ("id", "charge"), "text": ("state", "created")},
    "corrections": {"integer": ("id", "charge"), "text": ("note", "who", "created")},
    "receipts": {"integer": ("id", "charge"), "text": ("receipt",)},
    "chain": {"integer": ("id", "row"), "text": ("kind", "digest")},
}
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
        # The names are those above and never the file's, so they may stand in the query.
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
        "SQLITE_NOTADB": DAMAGED,
        "SQLITE_CORRUPT": DAMAGED,
        "SQLITE_READONLY": READ_ONLY,
        "SQLITE_FULL": _FULL,
        "SQLITE_IOERR": _FULL,
    }
    text = next((text for code, text in said.items() if name.startswith(code)), None)
    return None if text is None else LedgerError(text, field="workspace")
