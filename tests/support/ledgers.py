"""Ledgers of tests: charges, lost tables, and a file of the first version."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

from prism_core.privacy.accountants.accountant import Spent
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.sqlite_store import triggers

# The tables of version 1, as the first program wrote them.
VERSION_1 = """
CREATE TABLE meta (version INTEGER NOT NULL);
CREATE TABLE assets (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, epsilon REAL NOT NULL,
    delta REAL NOT NULL, created TEXT NOT NULL
);
CREATE TABLE charges (
    id INTEGER PRIMARY KEY, asset INTEGER NOT NULL REFERENCES assets (id), plan TEXT NOT NULL,
    accountant TEXT NOT NULL, epsilon REAL NOT NULL, delta REAL NOT NULL, rho REAL NOT NULL,
    events TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL, created TEXT NOT NULL
);
CREATE TABLE states (
    id INTEGER PRIMARY KEY, charge INTEGER NOT NULL REFERENCES charges (id),
    state TEXT NOT NULL, created TEXT NOT NULL
);
INSERT INTO meta (version) VALUES (1);
"""


RHO = epsilon_to_rho(0.4, 1e-6)


def version_1(folder):
    """A file as version 1 left it: two assets, three charges, one of them void."""
    folder.mkdir()
    sigma = (1.0 / (0.9 * RHO)) ** 0.5
    events = json.dumps(
        [
            {
                "event": "gaussian",
                "sigma": sigma,
                "sensitivity": 2**0.5,
                "delta": 0.0,
                "epsilon": 0.0,
                "label": "a × y",
            }
        ]
    )
    with closing(sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(VERSION_1)
        for name in ("ward", "clinic"):
            db.execute(
                "INSERT INTO assets (name, epsilon, delta, created) VALUES (?, 1.0, 1e-6, 't')",
                (name,),
            )
        for number, (asset, state) in enumerate([(1, "done"), (1, "void"), (2, None)], start=1):
            db.execute(
                "INSERT INTO charges (asset, plan, accountant, epsilon, delta, rho, events, who, "
                "why, created) VALUES (?, 'h', 'zcdp', 0.4, 1e-6, ?, ?, 'me', 'test', 't')",
                (asset, RHO, events),
            )
            for word in ("reserved", state):
                if word is not None:
                    db.execute(
                        "INSERT INTO states (charge, state, created) VALUES (?, ?, 't')",
                        (number, word),
                    )
    return folder


def charge(ledger, epsilon=0.3):
    spent = Spent(epsilon=epsilon, delta=1e-6, rho=epsilon_to_rho(epsilon, 1e-6))
    events = (GaussianEvent(sigma=100.0),)
    return ledger.charge(
        "ward", step="release", spent=spent, events=events, plan="h", accountant="zcdp"
    )


def run(ledger, *statements):
    """Something behind the program's back."""
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def drop(*tables):
    """Statements that take the guards away, as somebody with the file can."""
    return [f"DROP TRIGGER {name}" for name in triggers() if name.startswith(tables)]


def filled(folder):
    """Four charges, three of them ended in different ways, and a correction."""
    found = Ledger(folder)
    found.register("ward", epsilon=9.0, delta=1e-6)
    for state in ("done", "void", "failed"):
        found.mark(charge(found), state)
    charge(found)
    found.correct(1, "für das Team ✓")
    return found


def kept(ledger):
    """What a copy of the ledger has to hold, too."""
    document = ledger.export()
    return {name: document[name] for name in ("assets", "charges", "chain")}
