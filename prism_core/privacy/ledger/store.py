"""The tables of a ledger, their chain of digests, and what has to be true of whatever keeps them.

Two stores keep them alike: a file of SQLite (`sqlite_store`) and a database of PostgreSQL
(`postgres_store`). Everything above them is written once, in the part of SQL that both read.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Protocol

from prism_core.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from prism_core.privacy.ledger.chain_head import Head

VERSION = 3
SEALED = 1000
"""Stands in place of the version of a ledger that was carried elsewhere: it may be read only."""
PATIENCE = 15.0
"""Seconds until waiting for another program, or for a server, ends with an error."""

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

CHAIN = ("id", "kind", "row", "digest")
"""The columns of the chain, which has an entry for each of their rows."""

KNOWN_STATES = "('reserved', 'done', 'failed', 'void')"
MOVES = "('new>reserved', 'reserved>done', 'reserved>failed', 'reserved>void')"
"""In SQL, for the guards: the states of a charge, and which follows on which."""

READ_ONLY = (
    "The workspace may only be read here, so nothing was charged or written. Its ledger can be "
    "listed, shown, verified and exported. To write, check the permissions of the folder and of "
    "its files, or name another workspace."
)
FULL = (
    "The disk is full, or cannot be written: the ledger needs some room. Nothing was charged. Free "
    "some space."
)


class Rows(Protocol):
    """The answer to a query."""

    def fetchone(self) -> Any:  # noqa: ANN401  (a row, whose cells are of many types)
        """The next row, None behind the last one."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection in a transaction. Queries mark values by a question mark."""

    def execute(self, query: str, values: Sequence[Any] = ..., /) -> Rows:
        """Run one statement."""
        ...

    def take_turn(self) -> None:
        """Wait until nobody else appends, until the end of the transaction."""
        ...

    def damage(self) -> Iterator[str]:
        """What the store itself finds wrong with its rows, one sentence each."""
        ...

    def missing_guards(self) -> Iterator[str]:
        """The guards against edits that are not as the program made them, one sentence each."""
        ...


class Store(Protocol):
    """Whatever keeps a ledger: transactions, one after the other for whoever writes.

    Attributes:
        folder: the workspace, which holds the note of the newest entry.
        place: where the ledger is, in words; holds no password.
    """

    folder: Path
    place: str

    def transaction(
        self, *, write: bool = False, asset: str = "", check: Callable[[Connection], None] = ...
    ) -> AbstractContextManager[Connection]:
        """One transaction, kept at the end of the block and undone where the block fails.

        Args:
            write: whether rows may be appended.
            asset: the canonical name of the one asset whose figures are read and added to: nobody
                else adds to it until the end. "" holds off every writer.
            check: run before the block, on rows of one moment.

        Raises:
            LedgerError: when the ledger cannot be read or written or is damaged, or a write would
                go to another one than was used last.
        """
        ...


def nothing(db: Connection) -> None:
    """The check of a transaction that needs none."""


def digest(before: str, kind: str, row: tuple[Any, ...]) -> str:
    """SHA-256 over the entry before it and the row's content, as JSON."""
    # ASCII without spaces: the same bytes in every place, store and version.
    text = json.dumps([before, kind, *row], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def append(db: Connection, table: str, *values: object) -> int:
    """Add a row and its entry in the chain; returns the row's number."""
    db.take_turn()
    columns = COLUMNS[table]
    # The triggers let no other number in, so that a missing row shows.
    number = int(db.execute(f"SELECT COALESCE(MAX(id), 0) + 1 FROM {table}").fetchone()[0])
    add(db, table, columns, (number, *values))
    enter(db, table, number)
    return number


def add(db: Connection, table: str, columns: Sequence[str], row: Sequence[Any]) -> None:
    """Add a row as it is, without an entry in the chain."""
    marks = ", ".join("?" * len(columns))
    db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", row)


def enter(db: Connection, table: str, number: int) -> None:
    """Add the entry of a row to the chain."""
    last = db.execute("SELECT id, digest FROM chain ORDER BY id DESC LIMIT 1").fetchone()
    place, before = last or (0, "")
    row = row_of(db, table, number)  # as stored: both turn whole numbers into floats
    assert row is not None
    add(db, "chain", CHAIN, (place + 1, table, number, digest(before, table, row)))


def row_of(db: Connection, table: str, number: int) -> tuple[Any, ...] | None:
    """A row as it stands in the store."""
    query = f"SELECT {', '.join(COLUMNS[table])} FROM {table} WHERE id = ?"
    return db.execute(query, (number,)).fetchone()


def rows_of(db: Connection, table: str) -> list[tuple[Any, ...]]:
    """All rows of a table as they stand in the store, in order."""
    return db.execute(f"SELECT {', '.join(COLUMNS[table])} FROM {table} ORDER BY id").fetchall()


def chain_of(db: Connection) -> list[tuple[Any, ...]]:
    """All entries of the chain, in order."""
    return db.execute(f"SELECT {', '.join(CHAIN)} FROM chain ORDER BY id").fetchall()


def version_of(db: Connection) -> int:
    """The version of a ledger, `SEALED` where it was carried elsewhere; 0 where none is noted."""
    # The largest, as no row is ever changed: `seal` adds one.
    return db.execute("SELECT MAX(version) FROM meta").fetchone()[0] or 0


def seal(db: Connection) -> None:
    """Say in a ledger that it was carried elsewhere, so that nothing is charged to it any more."""
    db.take_turn()
    add(db, "meta", ("version",), (SEALED,))


def check_version(version: int, *, write: bool) -> None:
    """Refuse a ledger that this program cannot use.

    Args:
        version: of the ledger, or `SEALED`.
        write: whether it is to be charged.

    Raises:
        LedgerError: saying what to do.
    """
    if version == SEALED and write:
        raise LedgerError(
            "This ledger was carried into another store, and is charged there. Nothing was "
            "charged. Set PRISM_LEDGER as `prism ledger migrate` said, and start the program anew.",
            field="workspace",
        )
    # A sealed ledger may be read, though its number is the largest.
    if VERSION < version != SEALED:
        raise LedgerError(
            "The ledger was written by a newer version of this program. Update it.",
            field="workspace",
        )


def check_head(db: Connection, noted: Head | None) -> None:
    """Refuse a ledger that does not hold the entry that was noted last.

    Raises:
        LedgerError: saying what to do.
    """
    why = "" if noted is None else noted.missing(db)
    if why:
        raise LedgerError(why, field="workspace")
