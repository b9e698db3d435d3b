"""The ledger: which data asset was charged for what. One SQLite file per workspace.

A charge is written and synced to disk before the first mechanism runs. Rows are only ever
appended: a change of state is a new row, and nothing is edited or deleted. A charge counts as
spent in every state except `void`, which says that no mechanism ran.
"""

from __future__ import annotations

import datetime as dt
import getpass
import json
import math
import os
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from prism_core.errors import LedgerError, OverspentError
from prism_core.privacy.checks import delta_value, epsilon_value, positive
from prism_core.privacy.conversions import epsilon_to_rho, rho_to_epsilon
from prism_core.privacy.events import STABLE_HISTOGRAM, approximation_delta, event_dict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prism_core.privacy.accountants import Spent
    from prism_core.privacy.events import Event

State: TypeAlias = Literal["reserved", "done", "failed", "void"]

WORKSPACE_VARIABLE = "PRISM_WORKSPACE"
_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS meta (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS assets (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    epsilon REAL NOT NULL,
    delta REAL NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS charges (
    id INTEGER PRIMARY KEY,
    asset INTEGER NOT NULL REFERENCES assets (id),
    plan TEXT NOT NULL,
    accountant TEXT NOT NULL,
    epsilon REAL NOT NULL,
    delta REAL NOT NULL,
    rho REAL NOT NULL,
    events TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS states (
    id INTEGER PRIMARY KEY,
    charge INTEGER NOT NULL REFERENCES charges (id),
    state TEXT NOT NULL,
    created TEXT NOT NULL
);
"""


@dataclass(frozen=True, kw_only=True)
class Asset:
    """A data asset and its lifetime budget."""

    name: str
    epsilon: float
    delta: float


@dataclass(frozen=True, kw_only=True)
class Charge:
    """One charge with its newest state."""

    id: int
    asset: str
    plan: str
    accountant: str
    epsilon: float
    delta: float
    rho: float
    who: str
    why: str
    created: str
    state: State


@dataclass(frozen=True, kw_only=True)
class Balance:
    """What an asset has spent and has left, composed under zCDP at the asset's delta."""

    asset: Asset
    spent_epsilon: float
    spent_rho: float
    total_rho: float

    @property
    def left_rho(self) -> float:
        """What is left, as rho."""
        return max(0.0, self.total_rho - self.spent_rho)

    @property
    def left_epsilon(self) -> float:
        """The epsilon of one more release that would use up what is left."""
        return rho_to_epsilon(self.left_rho, self.asset.delta) if self.left_rho > 0 else 0.0


def default_workspace() -> Path:
    """Where the ledger lives: $PRISM_WORKSPACE, else ~/.prism."""
    named = os.environ.get(WORKSPACE_VARIABLE)
    return Path(named) if named else Path.home() / ".prism"


class Ledger:
    """The ledger of a workspace. Opening it creates the file; every call is one transaction."""

    def __init__(self, workspace: str | Path | None = None) -> None:
        folder = Path(workspace) if workspace is not None else default_workspace()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path = folder / "ledger.sqlite"
            with self._connection() as db:
                db.executescript(_TABLES)
                row = db.execute("SELECT version FROM meta").fetchone()
                if row is None:
                    db.execute("INSERT INTO meta (version) VALUES (?)", (_VERSION,))
        except (OSError, sqlite3.Error):
            raise LedgerError(
                f"The ledger in the workspace {str(folder)!r} cannot be opened. Check that the "
                "folder exists and is writable; nothing was run.",
                field="workspace",
            ) from None
        if row is not None and row[0] > _VERSION:
            raise LedgerError(
                "The ledger was written by a newer version of this program. Update it.",
                field="workspace",
            )

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self.path, timeout=30.0, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            yield db
        finally:
            db.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._connection() as db:
                db.execute("BEGIN IMMEDIATE")  # two processes take turns from here on
                try:
                    yield db
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except sqlite3.Error:
            raise LedgerError(
                "The ledger cannot be read or written just now. Check that its file is writable "
                "and that no other program holds it.",
                field="workspace",
            ) from None

    def register(self, name: str, *, epsilon: float, delta: float) -> Asset:
        """Name an asset and fix its lifetime budget; naming it again changes nothing.

        The first delta stays in force; another one given later is not an error (the default
        delta follows n) and has no effect.

        Raises:
            LedgerError: when it is registered with another lifetime epsilon.
        """
        if not name.strip():
            raise LedgerError("A data asset needs a name.", field="asset")
        asset = Asset(
            name=name.strip(),
            epsilon=epsilon_value(epsilon, "lifetime_epsilon"),
            delta=delta_value(delta, "lifetime_delta"),
        )
        with self._transaction() as db:
            db.execute(
                "INSERT OR IGNORE INTO assets (name, epsilon, delta, created) VALUES (?, ?, ?, ?)",
                (asset.name, asset.epsilon, asset.delta, _now()),
            )
            known = _asset(db, asset.name)
        if known[1].epsilon != asset.epsilon:
            raise LedgerError(
                f"The asset {asset.name!r} is registered with a lifetime epsilon of "
                f"{known[1].epsilon:g}; it cannot be changed to {asset.epsilon:g}.",
                field="lifetime_epsilon",
            )
        return known[1]

    def charge(
        self,
        asset: str,
        *,
        spent: Spent,
        events: Sequence[Event],
        plan: str,
        accountant: str,
        why: str = "",
    ) -> int:
        """Write a charge in the state `reserved` and sync it; returns its number.

        Call this before the first mechanism. Charges of one asset compose under zCDP.

        Raises:
            OverspentError: when the lifetime budget does not cover it; nothing is written.
        """
        positive(spent.rho, "rho")
        with self._transaction() as db:
            key, known = _asset(db, asset)
            failing = [*_spent_deltas(db, key), approximation_delta(events)]
            total = _total_rho(known, math.fsum(failing))
            used = _spent_rho(db, key)
            if not math.fsum([*used, spent.rho]) <= total:
                left = max(0.0, total - math.fsum(used))
                raise OverspentError(
                    f"The asset {asset!r} has a lifetime epsilon of {known.epsilon:g}; "
                    f"{rho_to_epsilon(left, known.delta):.3g} is left and this release needs "
                    f"{rho_to_epsilon(spent.rho, known.delta):.3g}. Lower epsilon or stop here.",
                    field="epsilon",
                )
            cursor = db.execute(
                "INSERT INTO charges (asset, plan, accountant, epsilon, delta, rho, events, who, "
                "why, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    key, plan, accountant, spent.epsilon, spent.delta, spent.rho,
                    json.dumps([event_dict(event) for event in events]), _who(), why, _now(),
                ),
            )  # fmt: skip
            number = int(cursor.lastrowid or 0)
            _append_state(db, number, "reserved")
        return number

    def mark(self, charge: int, state: State) -> None:
        """Append a state to a reserved charge. `void` only where no mechanism ran.

        Raises:
            LedgerError: when the charge is unknown or already closed; a closed charge stands.
        """
        with self._transaction() as db:
            row = db.execute(
                "SELECT state FROM states WHERE charge = ? ORDER BY id DESC LIMIT 1", (charge,)
            ).fetchone()
            if row is None or row[0] != "reserved":
                raise LedgerError("This charge is closed; its state stands.", field="charge")
            _append_state(db, charge, state)

    def balance(self, asset: str) -> Balance:
        """What an asset has spent and has left."""
        with self._transaction() as db:
            key, known = _asset(db, asset)
            rho = math.fsum(_spent_rho(db, key))
            failing = math.fsum(_spent_deltas(db, key))
        return Balance(
            asset=known,
            spent_epsilon=rho_to_epsilon(rho, known.delta - failing),
            spent_rho=rho,
            total_rho=_total_rho(known, failing),
        )

    def assets(self) -> tuple[Asset, ...]:
        """All registered assets."""
        with self._transaction() as db:
            rows = db.execute("SELECT name, epsilon, delta FROM assets ORDER BY id").fetchall()
        return tuple(Asset(name=name, epsilon=eps, delta=delta) for name, eps, delta in rows)

    def charges(self, asset: str | None = None) -> tuple[Charge, ...]:
        """Charges in order, with their newest state."""
        query = (
            "SELECT c.id, a.name, c.plan, c.accountant, c.epsilon, c.delta, c.rho, c.who, c.why, "
            "c.created, (SELECT state FROM states s WHERE s.charge = c.id ORDER BY s.id DESC "
            "LIMIT 1) FROM charges c JOIN assets a ON a.id = c.asset ORDER BY c.id"
        )
        with self._transaction() as db:
            rows = db.execute(query).fetchall()
        keys = ("id", "asset", "plan", "accountant", "epsilon", "delta", "rho", "who", "why",
                "created", "state")  # fmt: skip
        found = [Charge(**dict(zip(keys, row, strict=True))) for row in rows]
        return tuple(c for c in found if asset is None or c.asset == asset)


def _asset(db: sqlite3.Connection, name: str) -> tuple[int, Asset]:
    row = db.execute(
        "SELECT id, name, epsilon, delta FROM assets WHERE name = ?", (name.strip(),)
    ).fetchone()
    if row is None:
        raise LedgerError(
            f"There is no asset {name!r} in the ledger. Register it with a lifetime budget first.",
            field="asset",
        )
    return row[0], Asset(name=row[1], epsilon=row[2], delta=row[3])


def _spent_rho(db: sqlite3.Connection, asset: int) -> list[float]:
    rows: list[Any] = db.execute(
        "SELECT c.rho FROM charges c WHERE c.asset = ? AND (SELECT state FROM states s WHERE "
        "s.charge = c.id ORDER BY s.id DESC LIMIT 1) IS NOT 'void'",
        (asset,),
    ).fetchall()
    return [row[0] for row in rows]


def _spent_deltas(db: sqlite3.Connection, asset: int) -> list[float]:
    """What stable histograms took of the asset's delta; it is gone before rho is converted."""
    rows: list[Any] = db.execute(
        "SELECT c.events FROM charges c WHERE c.asset = ? AND (SELECT state FROM states s WHERE "
        "s.charge = c.id ORDER BY s.id DESC LIMIT 1) IS NOT 'void'",
        (asset,),
    ).fetchall()
    events = [event for row in rows for event in json.loads(row[0])]
    return [event["delta"] for event in events if event["event"] == STABLE_HISTOGRAM]


def _total_rho(asset: Asset, failing: float) -> float:
    """What the lifetime budget buys once `failing` of its delta is gone."""
    return epsilon_to_rho(asset.epsilon, asset.delta - failing) if failing < asset.delta else 0.0


def _append_state(db: sqlite3.Connection, charge: int, state: State) -> None:
    db.execute(
        "INSERT INTO states (charge, state, created) VALUES (?, ?, ?)", (charge, state, _now())
    )


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
