"""Which store keeps the ledger of a workspace: its own file, or a database of PostgreSQL.

One setting says so: the variable PRISM_LEDGER, or `address` under [ledger] in the workspace's
settings.toml. Without it the file does. A process that misses the setting cannot spend beside the
database: the workspace's note of the newest entry (`chain_head`) refuses the wrong store.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prism_core.errors import ConfigError, LedgerError
from prism_core.privacy.ledger import postgres_store, rules
from prism_core.privacy.ledger.sqlite_store import FILE, SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.privacy.ledger.store import Store

VARIABLE = "PRISM_LEDGER"
SCHEMES = ("postgresql://", "postgres://")


def address(folder: Path) -> str:
    """The address of the database that keeps a workspace's ledger, "" where its file does.

    Raises:
        LedgerError: when it is none, or two are named. The message never holds it: it may have a
            password in it.
    """
    try:
        written = rules.ledger_address(folder)
    except ConfigError:
        # Nothing is charged while the rules cannot be read (`rules.check_rules`), and the note of
        # the newest entry refuses a file in a database's place. What is there can be looked at.
        written = ""
    named = os.environ.get(VARIABLE, "").strip()
    if named and written and named != written:
        raise LedgerError(
            f"{VARIABLE} and [ledger] in the workspace's {rules.SETTINGS} name two ledgers. "
            "Nothing was charged. Take one of them out: all that is spent stands in one ledger.",
            field="ledger",
        )
    if checked(written) and not postgres_store.without_password(written):
        raise LedgerError(
            f"The workspace's {rules.SETTINGS} holds a password. Take it out of the address, and "
            "put it in PRISM_LEDGER_PASSWORD, a service file or ~/.pgpass.",
            field="ledger",
        )
    return checked(named or written)


def checked(found: str) -> str:
    """An address as it is, where it is one.

    Raises:
        LedgerError: where it is none.
    """
    if found and not found.startswith(SCHEMES):
        raise LedgerError(
            "The address of the ledger must begin with postgresql://, for example "
            f"postgresql://prism_writer@db.example.org/prism. Without {VARIABLE} the ledger is a "
            "file in the workspace.",
            field="ledger",
        )
    return found


def present(folder: Path) -> bool:
    """Whether a workspace has a ledger that can be read; looking makes none."""
    return bool(address(folder)) or (folder / FILE).is_file()


def check_present(folder: Path) -> None:
    """Refuse a workspace without a ledger, before opening one makes its file.

    Raises:
        LedgerError: when there is none.
    """
    if not present(folder):
        raise LedgerError(
            f"There is no ledger in {str(folder)!r}. Name its folder with --workspace; the first "
            "release of a private table creates it.",
            field="workspace",
        )


def open_store(folder: Path) -> Store:
    """The store of a workspace's ledger; its file is made where it is to be one.

    Raises:
        LedgerError: when it cannot be opened.
    """
    return store_at(address(folder), folder)


def store_at(place: str, folder: Path) -> Store:
    """The store at an address, "" for the workspace's file.

    Raises:
        LedgerError: when it cannot be opened.
    """
    if not place:
        return SqliteStore(folder / FILE)
    return postgres_store.PostgresStore(place, folder)
