"""A ledger in a file: SQLite in WAL mode, synced at every commit, append-only by triggers.

Also how it is reached where it may only be read, and what is said when it fails.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from prism_core import files
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import chain_head, network_drive
from prism_core.privacy.ledger.chain_head import Head
from prism_core.privacy.ledger.store import (
    COLUMNS,
    FULL,
    KNOWN_STATES,
    MOVES,
    PATIENCE,
    READ_ONLY,
    VERSION,
    Connection,
    check_head,
    check_version,
    enter,
    nothing,
    version_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILE = "ledger.sqlite"
SILENT = 2.0
"""Seconds to wait for another process before it is said; charges take milliseconds."""

_LOG = logging.getLogger(__name__)

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
        f"NOT IN {MOVES} "
        "BEGIN SELECT RAISE(ABORT, 'a closed charge stands'); END"
    )
    return found


class SqliteConnection(sqlite3.Connection):
    """A connection to the file."""

    def take_turn(self) -> None:
        """Nothing: a transaction that writes holds the file from its first line on."""

    def damage(self) -> Iterator[str]:
        """What SQLite finds wrong with its file."""
        if self.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            yield "The file is damaged (SQLite's integrity check)."
        if self.execute("PRAGMA foreign_key_check").fetchall():
            yield "A row refers to another that is not there."

    def missing_guards(self) -> Iterator[str]:
        """The triggers that are missing or of another text."""
        found = dict(self.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
        # The text is compared: a trigger of the right name could do nothing.
        for name, text in triggers().items():
            if found.get(name) != text:
                yield f"The guard {name} against edits is missing or changed."


class SqliteStore:
    """A workspace's file. Every transaction opens and closes a connection of its own.

    Attributes:
        path: the file.
        folder: the workspace.
        place: the file in words.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, making or migrating it.

        Raises:
            LedgerError: when that is not possible.
        """
        self.path, self.folder = path, path.parent
        self.place = f"the file {path}"
        self._drive = network_drive.kind(self.folder)
        if self._drive and not path.exists():
            raise self._refused_drive()
        try:
            files.folder(self.folder)
            new = not path.exists()
            if not self._only_read:
                files.database(path)
            with self._connection() as db:
                check_cells(db)
            if new:  # SQLite syncs its files; their place in the folders is synced here
                files.sync_folder(self.folder)
                files.sync_folder(self.folder.parent)
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
            raise refusal(error) or LedgerError(
                f"The ledger in the workspace {str(self.folder)!r} cannot be opened. Check that "
                "the folder exists and is writable; nothing was run.",
                field="workspace",
            ) from None

    @property
    def _only_read(self) -> bool:
        return bool(self._drive) or read_only(self.path)

    def _refused_drive(self) -> LedgerError:
        return LedgerError(
            f"The workspace {str(self.folder)!r} is on a network drive ({self._drive}). Locks of a "
            "file do not hold there, so two runs could spend the same budget. Nothing was charged. "
            "Name a workspace on a disk of this machine, or keep the ledger in PostgreSQL "
            "(PRISM_LEDGER).",
            field="workspace",
        )

    @contextmanager
    def _connection(self, *, write: bool = False) -> Iterator[SqliteConnection]:
        """The file, or for reading a private copy where SQLite finds no room beside it."""
        with ExitStack() as held:
            try:
                # In WAL mode even a reader needs files beside the ledger, which cannot be made
                # here.
                if self._only_read and not write:
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
    def transaction(
        self,
        *,
        write: bool = False,
        asset: str = "",  # noqa: ARG002  (whoever writes holds off every other writer)
        check: Callable[[Connection], None] = nothing,
    ) -> Iterator[Connection]:
        """One transaction; writers take turns from its first line on. See `Store.transaction`."""
        if write and self._drive:
            raise self._refused_drive()
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
                        check_version(_version(db), write=True)  # sealed while we waited, perhaps
                        check_head(db, chain_head.noted(self.folder))
                    check(db)
                    yield db
                    newest = Head.of(db) if write else None
                except BaseException:
                    with suppress(sqlite3.Error):  # SQLite ends some by itself; the first one tells
                        db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
            chain_head.note(self.folder, newest)  # after the act: what is noted is in the file
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise refusal(error) or LedgerError(
                "The ledger cannot be read or written just now. Check that its file is writable "
                "and that no other program holds it.",
                field="workspace",
            ) from None


@contextmanager
def _connected(path: Path) -> Iterator[SqliteConnection]:
    # isolation_level=None: Python's module would begin and end transactions by itself.
    opened = sqlite3.connect(path, timeout=SILENT, isolation_level=None, factory=SqliteConnection)
    with closing(opened) as db:
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


def _version(db: SqliteConnection) -> int:
    known = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
    found = version_of(db) if known else 0
    if not isinstance(found, int):
        raise LedgerError(DAMAGED, field="workspace")
    return found


def _migrate(db: SqliteConnection) -> None:
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
    check_version(_version(db), write=False)


def _upgrade(db: SqliteConnection, version: int) -> None:
    """From nothing or an earlier version; its rows stay as they are.

    Those of version 1 are chained here; since version 2 every row is as it is written.
    """
    older = (*_VERSION_1, *_VERSION_2) if version < 2 else ()
    for statement in (*older, *_VERSION_3):
        db.execute(statement)
    if version < 2:
        for table in COLUMNS:
            for (number,) in db.execute(f"SELECT id FROM {table} ORDER BY id").fetchall():
                enter(db, table, number)
    present = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    for name, statement in triggers().items():
        if name not in present:
            db.execute(statement)
    db.execute("DELETE FROM meta")
    db.execute("INSERT INTO meta (version) VALUES (?)", (VERSION,))


NEWEST = "-wal"
"""SQLite's name for the file of what was written last; the file proper comes to hold it later."""
_TRIES = 20
"""Copies until one is whole; a writer takes milliseconds."""

DAMAGED = (
    "The ledger's file is damaged, or is no ledger. Nothing was charged. Keep the file as it is, "
    "put a copy of it from a backup in its place, and say so with `prism ledger accept --why TEXT`."
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
        for ending in ("", NEWEST):
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
    for ending in ("", NEWEST):
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

_STATES = f"SELECT 1 FROM states WHERE state NOT IN {KNOWN_STATES} LIMIT 1"


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
        "SQLITE_FULL": FULL,
        "SQLITE_IOERR": FULL,
    }
    text = next((text for code, text in said.items() if name.startswith(code)), None)
    return None if text is None else LedgerError(text, field="workspace")
