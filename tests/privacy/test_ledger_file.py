"""The ledger's file: migrations, nothing edited or deleted, and what `verify` can tell."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
import sys
from contextlib import closing
from types import ModuleType

import pytest

from prism_core.errors import LedgerError, OverspentError
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.sqlite_store import triggers
from prism_core.privacy.ledger.store import VERSION, digest, row_of
from tests.support.ledgers import RHO, charge, drop, run, version_1

pytestmark = pytest.mark.privacy

# --- migration --------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path / "work")
    found.register("ward", epsilon=1.0, delta=1e-6)
    for _ in range(2):
        charge(found)
    found.mark(1, "done")
    found.correct(1, "for the oncology team")
    return found


def test_a_file_of_version_1_is_migrated_with_every_row(tmp_path):
    ledger = Ledger(version_1(tmp_path / "old"))
    with closing(sqlite3.connect(ledger.path)) as db:
        assert db.execute("SELECT version FROM meta").fetchall() == [(VERSION,)]
    assert [c.state for c in ledger.charges()] == ["done", "void", "reserved"]
    assert [c.asset for c in ledger.charges()] == ["ward", "ward", "clinic"]
    assert ledger.charges()[0].history[1].created == "t"
    # Version 1 wrote no reserve: the charge counts as written, above its events.
    assert ledger.balance("ward").spent_rho == RHO
    assert ledger.verify().ok, ledger.verify().findings
    with pytest.raises(OverspentError):
        charge(ledger, 0.95)
    charge(ledger, 0.2)
    ledger.mark(3, "failed")
    assert ledger.verify().ok
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        run(ledger, "DELETE FROM charges WHERE id = 1")


def test_a_migration_that_breaks_off_leaves_version_1(tmp_path, monkeypatch):
    from prism_core.privacy.ledger import sqlite_store

    folder = version_1(tmp_path / "old")
    good = sqlite_store.triggers()
    monkeypatch.setattr(sqlite_store, "triggers", lambda: good | {"last": "CREATE NONSENSE"})
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger(folder)
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as db:
        assert db.execute("SELECT version FROM meta").fetchall() == [(1,)]
        names = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
    assert "chain" not in names
    monkeypatch.undo()
    assert Ledger(folder).verify().ok


def _open(folder, barrier, results):
    barrier.wait()
    results.put(len(Ledger(folder).charges()))


@pytest.mark.slow
def test_two_processes_may_migrate_at_once(tmp_path, monkeypatch):
    # A page test before this one may have left a page as the main module; processes import it.
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    folder = version_1(tmp_path / "old")
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(2), context.Queue()
    both = [context.Process(target=_open, args=(folder, barrier, results)) for _ in range(2)]
    for process in both:
        process.start()
    assert [results.get(timeout=120) for _ in both] == [3, 3]
    for process in both:
        process.join(timeout=60)
    assert Ledger(folder).verify().ok


# --- nothing is edited or deleted -------------------------------------------------------------


@pytest.mark.parametrize("table", ["assets", "charges", "states", "corrections", "chain"])
def test_no_row_is_edited_deleted_or_replaced(ledger, table):
    before = ledger.export()
    for statement in (
        f"DELETE FROM {table}",
        f"UPDATE {table} SET id = id + 10",
        f"INSERT OR REPLACE INTO {table} SELECT * FROM {table} WHERE id = 1",
        f"REPLACE INTO {table} SELECT * FROM {table} WHERE id = 1",
    ):
        with pytest.raises(sqlite3.IntegrityError, match=r"append-only|closed charge"):
            run(ledger, statement)
    after = ledger.export()
    assert (after["charges"], after["chain"]) == (before["charges"], before["chain"])


def test_a_closed_charge_cannot_be_opened_in_the_file_either(ledger):
    with pytest.raises(sqlite3.IntegrityError, match="a closed charge stands"):
        run(ledger, "INSERT INTO states SELECT MAX(id) + 1, 1, 'void', 't' FROM states")


def test_a_commit_is_synced(ledger):
    with ledger._store.transaction(write=True) as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


# --- verify -----------------------------------------------------------------------------------


def test_an_honest_file_verifies(ledger):
    found = ledger.verify()
    assert found.ok, found.findings
    assert found.rows == 1 + 2 + 3 + 1
    assert ledger.verify(head=found.head).ok
    assert ledger.verify(head=found.head[:12]).ok
    charge(ledger, 0.1)
    assert ledger.verify(head=found.head).ok  # an older head stays in the chain


TAMPERED = {
    "a charge made cheaper": (
        "charges",
        "UPDATE charges SET rho = rho / 9 WHERE id = 2",
        "Row 2 of charges is not as it was written",
    ),
    "a purpose edited": (
        "charges",
        "UPDATE charges SET why = 'x' WHERE id = 1",
        "Row 1 of charges is not as it was written",
    ),
    "a lifetime raised": (
        "assets",
        "UPDATE assets SET epsilon = 9",
        "Row 1 of assets is not as it was written",
    ),
    "a state edited": (
        "states",
        "UPDATE states SET state = 'void' WHERE id = 2",
        "Row 2 of states is not as it was written",
    ),
    "a charge deleted": (
        "charges",
        "DELETE FROM charges WHERE id = 2",
        "Row 2 of charges is missing",
    ),
    "an entry deleted": ("chain", "DELETE FROM chain WHERE id = 3", "Entry 3 of the chain"),
    "a row added": (
        "x",
        "INSERT INTO states SELECT MAX(id) + 1, 2, 'void', 't' FROM states",
        "was added behind the program's back",
    ),
    "a correction edited": (
        "corrections",
        "UPDATE corrections SET note = 'x'",
        "Row 1 of corrections is not as it was written",
    ),
}


@pytest.mark.parametrize("case", sorted(TAMPERED))
@pytest.mark.parametrize("guards", ["left off", "put back"])
def test_verify_tells_of_a_change(ledger, case, guards):
    table, statement, words = TAMPERED[case]
    put_back = [text for name, text in triggers().items() if name.startswith(table)]
    run(ledger, *drop(table), statement, *(put_back if guards == "put back" else []))
    findings = " ".join(ledger.verify().findings)
    assert words in findings
    if table != "x":
        assert ("guard" in findings) == (guards == "left off")


def test_a_tail_cut_off_is_seen_with_a_noted_digest(ledger):
    head = ledger.verify().head
    run(
        ledger,
        *drop("chain", "corrections"),
        "DELETE FROM corrections",
        "DELETE FROM chain WHERE id = (SELECT MAX(id) FROM chain)",
        *(text for name, text in triggers().items() if name.startswith(("chain", "corrections"))),
    )
    assert "entry 7, which the workspace noted, is missing" in ledger.verify().findings[0]
    (ledger.path.parent / "ledger.head").unlink()
    assert ledger.verify().ok  # the rest is whole; nothing in the file can tell
    assert "The noted digest is not in the chain" in ledger.verify(head=head).findings[0]
    assert not ledger.verify(head="").findings
    assert ledger.verify(head=head[:3]).findings  # too short to mean anything


def test_a_charge_below_its_events_is_found_and_counts_in_full(ledger):
    events = json.dumps([{"event": "gaussian", "sigma": 5.0, "sensitivity": 2**0.5}])
    run(ledger, *drop("charges"), f"UPDATE charges SET events = '{events}' WHERE id = 1")
    assert "Charge 1 is smaller than what its events cost." in ledger.verify().findings
    assert ledger.balance("ward").spent_rho > 0.04
    run(ledger, 'UPDATE charges SET events = \'[{"event": "new"}]\' WHERE id = 1')
    assert "The events of charge 1 cannot be read." in ledger.verify().findings
    with pytest.raises(LedgerError, match="cannot account for"):
        ledger.balance("ward")
    with pytest.raises(LedgerError, match="not as this program wrote it"):
        charge(ledger, 0.1)


def test_mending_the_digest_of_an_edited_row_breaks_the_next(ledger):
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as db:
        for statement in [*drop("charges", "chain"), "UPDATE charges SET why = 'x' WHERE id = 1"]:
            db.execute(statement)
        (place,) = db.execute("SELECT id FROM chain WHERE kind = 'charges' AND row = 1").fetchone()
        (before,) = db.execute("SELECT digest FROM chain WHERE id = ?", (place - 1,)).fetchone()
        mended = digest(before, "charges", row_of(db, "charges", 1) or ())
        db.execute("UPDATE chain SET digest = ? WHERE id = ?", (mended, place))
    findings = " ".join(ledger.verify().findings)
    assert "Row 1 of charges" not in findings
    assert f"Row 1 of states is not as it was written (entry {place + 1} of the chain)" in findings
