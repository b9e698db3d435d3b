"""What the file alone cannot show: emptied, older or rewritten ledgers are not charged."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from contextlib import closing

import pytest

from prism_core.cli import main
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import Ledger, sqlite_store
from tests.support.ledgers import charge, drop, run

pytestmark = pytest.mark.privacy


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path / "work")
    found.register("ward", epsilon=9.0, delta=1e-6)
    charge(found)
    found.mark(1, "done")
    return found


def put(ledger, content: bytes) -> Ledger:
    """Another file in the ledger's place."""
    for name in ("ledger.sqlite-wal", "ledger.sqlite-shm"):
        (ledger.path.parent / name).unlink(missing_ok=True)
    ledger.path.write_bytes(content)
    return Ledger(ledger.path.parent)


def whole(ledger) -> bytes:
    with closing(sqlite3.connect(ledger.path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return ledger.path.read_bytes()


def refused(ledger, match: str) -> None:
    """No way to charge it, and the check says no, by the command's exit code, too."""
    before = ledger.charges() if match != "cannot be read" else ()
    for act in (
        lambda: charge(ledger, 0.1),
        lambda: ledger.register("clinic", epsilon=1.0, delta=1e-6),
    ):
        with pytest.raises(LedgerError, match=match):
            act()
    if before:
        assert ledger.charges() == before
    assert main.main(["ledger", "verify", "--workspace", str(ledger.path.parent)]) != 0


@pytest.mark.parametrize("how", ["emptied", "older copy", "another ledger", "deleted"])
def test_a_file_that_is_not_the_last_one_is_not_charged(ledger, tmp_path, how):
    older = whole(ledger)
    charge(ledger)
    if how == "another ledger":
        other = Ledger(tmp_path / "other")
        other.register("ward", epsilon=9.0, delta=1e-6)
        for _ in range(3):
            charge(other)
        older = whole(other)
    found = put(ledger, b"" if how in ("emptied", "deleted") else older)
    if how == "deleted":
        found.path.unlink()
        found = Ledger(ledger.path.parent)
    refused(found, "not the one that was used last")
    assert "which the workspace noted, is missing" in found.verify().findings[0]
    with pytest.raises(LedgerError):
        found.balance("ward")


def test_an_older_copy_can_be_accepted_with_a_reason_that_stays(ledger, capsys):
    older = whole(ledger)
    charge(ledger)
    found = put(ledger, older)
    place = ["--workspace", str(ledger.path.parent)]
    assert main.main(["ledger", "accept", "--why", " ", *place]) != 0
    refused(found, "not the one that was used last")
    assert main.main(["ledger", "accept", "--why", "the disk was replaced", *place]) == 0
    charge(found)
    assert main.main(["ledger", "verify", *place]) == 0
    assert "an older copy was accepted: the disk was replaced" in capsys.readouterr().out
    assert found.export()["verification"]["accepted"] == ["the disk was replaced"]


def test_an_empty_ledger_can_be_accepted_too(ledger):
    found = put(ledger, b"")
    refused(found, "not the one that was used last")
    assert found.accept("the workspace begins anew").ok
    found.register("ward", epsilon=9.0, delta=1e-6)
    charge(found)
    assert found.verify().accepted == ("the workspace begins anew",)
    refused(put(found, b""), "not the one that was used last")


def test_a_file_that_was_rewritten_cannot_be_accepted(ledger):
    run(ledger, *drop("charges"), "UPDATE charges SET why = 'x'")
    with pytest.raises(LedgerError, match="cannot be accepted"):
        ledger.accept("it looks fine")


def test_a_note_that_lags_is_no_alarm_and_one_that_is_broken_is(ledger):
    note = ledger.path.parent / "ledger.head"
    behind = note.read_bytes()
    charge(ledger)
    note.write_bytes(behind)  # killed between the commit and the note
    assert ledger.verify().ok
    charge(ledger)
    assert json.loads(note.read_text())["rows"] > json.loads(behind)["rows"]
    assert note.stat().st_mode & 0o077 == 0
    for spoiled in (b"", b"[]", b"{", b'{"rows": "x", "digest": 1}', b"\xff"):
        note.write_bytes(spoiled)
        with pytest.raises(LedgerError, match=r"ledger\.head cannot be read"):
            charge(ledger)
    ledger.accept("the note was lost")
    charge(ledger)
    note.unlink()  # a ledger of an earlier version has none
    charge(ledger)
    assert note.is_file()


@pytest.mark.parametrize(
    "edit",
    [
        ("charges", "UPDATE charges SET rho = 0"),
        ("charges", "UPDATE charges SET events = '[]', rho = 0"),
        ("states", "UPDATE states SET state = 'void' WHERE id = 2"),
        ("charges", "UPDATE charges SET events = 'not json'"),
        ("charges", "UPDATE charges SET events = '3'"),
        ("charges", "UPDATE charges SET events = '[3]'"),
        ("charges", f"UPDATE charges SET events = '{'[' * 100_000}'"),
        ("assets", "UPDATE assets SET epsilon = 900"),
    ],
)
def test_an_edited_file_is_not_charged(ledger, edit):
    table, statement = edit
    run(ledger, *drop(table), statement)
    with pytest.raises(LedgerError):
        charge(ledger, 0.1)
    with closing(sqlite3.connect(ledger.path)) as db:
        assert db.execute("SELECT COUNT(*) FROM charges").fetchone() == (1,)
    for command in ("list", "verify", "export"):
        status = main.main(["ledger", command, "--workspace", str(ledger.path.parent)])
        assert status == 2 if command == "verify" else status in (0, 2)


def test_guards_that_were_dropped_are_noticed_before_a_charge(ledger):
    run(ledger, *drop("charges"))
    with pytest.raises(LedgerError, match="guard charges_no_update"):
        charge(ledger, 0.1)


def test_waiting_for_another_program_is_said(ledger, monkeypatch, caplog):
    monkeypatch.setattr(sqlite_store, "SILENT", 0.05)
    monkeypatch.setattr(sqlite_store, "PATIENCE", 0.3)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with caplog.at_level(logging.WARNING), pytest.raises(LedgerError, match="no other program"):
            charge(ledger, 0.1)
        assert caplog.text.count("Another program holds the ledger") == 1
        assert ledger.balance("ward").charges == 1  # whoever reads does not wait
        db.execute("ROLLBACK")
    charge(ledger, 0.1)


def test_a_workspace_that_was_copied_whole_goes_on(ledger, tmp_path):
    shutil.copytree(ledger.path.parent, tmp_path / "moved")
    assert charge(Ledger(tmp_path / "moved")) == 2
