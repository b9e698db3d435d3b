"""A ledger in a database of PostgreSQL, for several servers and for many who charge at once.

One lock for each asset holds off others who charge it, from before its budget is read until the
charge is committed; one lock for the chain holds off others who append, from the first new row on.
So charges of two assets check the whole ledger side by side and write one after the other. Both are
advisory locks, which go with their connection. What the server says in an error is never passed on:
it may quote an address.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import chain_head, postgres_schema
from prism_core.privacy.ledger.chain_head import Head
from prism_core.privacy.ledger.postgres_schema import SCHEMA
from prism_core.privacy.ledger.store import (
    FULL,
    PATIENCE,
    VERSION,
    Connection,
    Rows,
    check_head,
    check_version,
    nothing,
    version_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path


PASSWORD_VARIABLE = "PRISM_LEDGER_PASSWORD"

_CHAIN = 5_716_213_204_998_313_007
"""The advisory lock of the chain: any number that no other program takes."""

_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Each statement sees what was committed before it, so what is read under a lock is not out of date.
_APPENDING = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

_SETTINGS = {
    "search_path": f"{SCHEMA},pg_temp",
    "synchronous_commit": "on",  # a commit returns when the disk has it, whatever the server's own
    "lock_timeout": f"{PATIENCE:g}s",
    # A client whose machine is gone must not hold the ledger for hours.
    "idle_in_transaction_session_timeout": "60s",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}

_NO_PSYCOPG = (
    "A ledger in PostgreSQL needs the package psycopg: pip install 'prism-dashboard[postgres]'."
)
_SAID = {
    "42501": "The ledger's login may not do this in the database. Run the statements of `prism "
    "ledger init` as the owner, with this login as --role. Nothing was charged.",
    "42P01": "The database holds no ledger. Run `prism ledger init` as its owner. Nothing was "
    "charged.",
    "3F000": "The database holds no ledger. Run `prism ledger init` as its owner. Nothing was "
    "charged.",
    "55P03": "Another program holds the ledger for too long. Try again. Nothing was added to it.",
    "25006": "The database may only be read (a standby, perhaps), so nothing was charged or "
    "written. Name the server that may be written in PRISM_LEDGER.",
    "53100": FULL,
}


class PostgresConnection:
    """A connection to the database, in a transaction."""

    def __init__(self, db: Any) -> None:  # noqa: ANN401  (psycopg is an extra)
        self._db = db
        self._has_turn = False

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Rows:
        """Run one statement. Our queries hold no question mark but those of values."""
        return self._db.execute(query.replace("?", "%s"), tuple(values) or None)

    def take_turn(self) -> None:
        """Wait for the chain's lock, which goes with the transaction.

        Raises:
            LedgerError: when the ledger was carried elsewhere meanwhile.
        """
        if self._has_turn:
            return
        self.execute("SELECT pg_advisory_xact_lock(?)", (_CHAIN,))
        _check_version(self, write=True)  # sealed while we waited, perhaps
        self._has_turn = True

    def damage(self) -> Iterator[str]:
        """Nothing: a server looks after its pages, and checks references as rows come in."""
        return iter(())

    def missing_guards(self) -> Iterator[str]:
        """Triggers and functions that are not as `postgres_schema` makes them, and what hides.

        Also a trigger of somebody else that may change a row before it is written: the chain would
        hold the changed one.
        """
        rows = self.execute(
            "SELECT c.relname, t.tgname, t.tgtype::int, p.proname, t.tgenabled = 'A' AND t.tgqual "
            "IS NULL, p.prosrc FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            "JOIN pg_proc p ON p.oid = t.tgfoid WHERE c.relnamespace = ?::regnamespace "
            "AND NOT t.tgisinternal",
            (SCHEMA,),
        ).fetchall()
        found = {(table, name): tuple(rest) for table, name, *rest in rows}
        guards = postgres_schema.guards()
        for (table, name), (kind, function) in guards.items():
            # The text is compared: a function of the right name could do nothing.
            wanted = (kind, function, True, postgres_schema.BODIES[function])
            if found.get((table, name)) != wanted:
                yield f"The guard {name} of {table} against edits is missing or changed."
        for table, name in sorted(found.keys() - guards.keys()):
            if found[table, name][0] & postgres_schema.INSERT == postgres_schema.INSERT:
                yield f"The trigger {name} of {table} is none of the ledger's and may change rows."
        hidden = self.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = ?::regnamespace AND relkind = 'r' "
            "AND (relrowsecurity OR relhasrules)",
            (SCHEMA,),
        ).fetchall()
        for (table,) in hidden:
            yield f"A rule or policy of {table} may hide or change rows."


class PostgresStore:
    """A ledger in a database. Every transaction opens and closes a connection of its own.

    Attributes:
        folder: the workspace, for the note of the newest entry.
        place: the database in words, without a password.
    """

    def __init__(self, address: str, folder: Path) -> None:
        """Look whether the database holds a ledger of this version; makes nothing.

        Raises:
            LedgerError: when it cannot be reached or does not.
        """
        self.folder = folder
        self._address = address
        self.place = described(address)
        try:
            files.folder(folder)  # for the note: without it an older database would be charged
        except OSError:
            raise LedgerError(
                f"The workspace {str(folder)!r} cannot be made. Check that it is writable; nothing "
                "was run.",
                field="workspace",
            ) from None
        with self.transaction():
            pass

    @contextmanager
    def transaction(
        self,
        *,
        write: bool = False,
        asset: str = "",
        check: Callable[[Connection], None] = nothing,
    ) -> Iterator[Connection]:
        """One transaction; see `Store.transaction`."""
        newest = None
        with connected(self._address, patience=PATIENCE if write else 0.0) as raw, _in_our_words():
            db = PostgresConnection(raw)
            if write and asset:
                # Before anything is read: a transaction sees what was there when it began.
                db.execute("SELECT pg_advisory_lock(?)", (_lock_of(asset),))
            if check is not nothing:
                with _begun(raw, _SNAPSHOT):
                    check(db)
            with _begun(raw, _APPENDING if write else _SNAPSHOT):
                if write and not asset:
                    db.take_turn()
                else:
                    _check_version(db, write=write)
                if write:
                    check_head(db, chain_head.noted(self.folder))
                yield db
                newest = Head.of(db) if write else None
        chain_head.note(self.folder, newest)  # after the act: what is noted is in the database

    def excess_rights(self) -> tuple[str, ...]:
        """What the login may do to the ledger's rows beyond adding them, for `prism doctor`."""
        query = (
            "SELECT v FROM unnest(ARRAY['UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) v "
            "WHERE EXISTS (SELECT 1 FROM unnest(?::text[]) t "
            "WHERE has_table_privilege(current_user, t, v))"
        )
        tables = [f"{SCHEMA}.{name}" for name in (*postgres_schema.TABLES, "meta")]
        with self.transaction() as db:
            return tuple(v for (v,) in db.execute(query, (tables,)).fetchall())

    def unsynced(self) -> bool:
        """Whether the server says that it does not sync its commits to disk."""
        with self.transaction() as db:
            return db.execute("SHOW fsync").fetchone()[0] != "on"


def _check_version(db: Connection, *, write: bool) -> None:
    version = version_of(db)
    check_version(version, write=write)
    if version < VERSION:
        raise LedgerError(
            "The database's ledger is of an earlier version. Run `prism ledger init` as its owner.",
            field="workspace",
        )


def initialise(address: str, role: str = postgres_schema.ROLE) -> None:
    """Make tables, guards and role in a database, as its owner; run again it changes nothing.

    Raises:
        LedgerError: when that is not possible.
    """
    with connected(address) as db, _in_our_words(), _begun(db, _APPENDING):
        for statement in postgres_schema.statements(role):
            db.execute(statement)


def described(address: str) -> str:
    """The server, database and login of an address, in words; never a password.

    Raises:
        LedgerError: when it cannot be read as one.
    """
    facts = _facts(address)
    server = facts.get("host") or ("a service" if facts.get("service") else "this machine")
    port = f":{facts['port']}" if facts.get("port") else ""
    login = f" as {facts['user']}" if facts.get("user") else ""
    return f"the database {facts.get('dbname') or 'of the login'} at {server}{port}{login}"


def without_password(address: str) -> bool:
    """Whether an address holds no password, neither of the login nor of its key.

    Raises:
        LedgerError: when it cannot be read as one.
    """
    facts = _facts(address)
    return not (facts.get("password") or facts.get("sslpassword"))


def _facts(address: str) -> dict[str, Any]:
    psycopg = _psycopg()
    try:
        return psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.Error:  # its words quote the address
        raise LedgerError(
            "The address of the ledger cannot be read. It looks like "
            "postgresql://LOGIN@HOST:5432/DATABASE; other marks in it are written as %40 for @.",
            field="ledger",
        ) from None


@contextmanager
def connected(address: str, *, patience: float = 0.0) -> Iterator[Any]:
    """A connection of psycopg, closed at the end of the block.

    Args:
        address: of the database.
        patience: seconds for which a server that does not answer is asked again, because it may be
            starting anew.

    Raises:
        LedgerError: when the server cannot be reached or refuses the login.
    """
    psycopg, facts = _psycopg(), _facts(address)
    given = os.environ.get(PASSWORD_VARIABLE)
    if given and not facts.get("password"):
        facts["password"] = given
    facts["options"] = " ".join(
        [facts.get("options", ""), *(f"-c {name}={value}" for name, value in _SETTINGS.items())]
    ).strip()
    facts = {"connect_timeout": 5, "application_name": "prism"} | facts
    ends = time.monotonic() + patience
    while True:
        try:
            db = psycopg.connect(autocommit=True, **facts)
        except psycopg.Error:
            if time.monotonic() > ends:
                raise LedgerError(
                    f"The ledger cannot be reached: {described(address)} does not answer, or "
                    "refuses the login. Check that the server runs, and the password in "
                    f"{PASSWORD_VARIABLE}, a service file or ~/.pgpass. Nothing was added to it.",
                    field="workspace",
                ) from None
            time.sleep(0.25)
        else:
            break
    try:
        yield db
    finally:
        db.close()  # its locks go with it


@contextmanager
def _begun(db: Any, begin: str) -> Iterator[None]:  # noqa: ANN401
    db.execute(begin)
    try:
        yield
    except BaseException:
        with suppress(_psycopg().Error):  # the connection may be gone, and the transaction with it
            db.rollback()
        raise
    if db.execute("COMMIT").statusmessage != "COMMIT":  # of a failed one the server undoes all
        raise LedgerError("The charge was not kept by the database.", field="workspace")


@contextmanager
def _in_our_words() -> Iterator[None]:
    psycopg = _psycopg()
    try:
        yield
    except psycopg.Error as error:
        text = _SAID.get(error.sqlstate or "")
        raise LedgerError(
            text
            or "The ledger cannot be read or written just now: its database broke off or refused "
            "it. Check the server; `prism ledger list` shows what was charged.",
            field="workspace",
        ) from None


def _lock_of(asset: str) -> int:
    """The advisory lock of an asset: 64 bits of a digest of its name."""
    found = hashlib.sha256(f"asset {asset}".encode("utf-8", "replace")).digest()[:8]
    return int.from_bytes(found, "big", signed=True)


def _psycopg() -> Any:  # noqa: ANN401
    try:
        import psycopg
    except ImportError:
        raise LedgerError(_NO_PSYCOPG, field="ledger") from None
    return psycopg
