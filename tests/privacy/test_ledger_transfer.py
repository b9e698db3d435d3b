"""Whole ledgers carried: the chain is the same on both sides, and only one of them is charged."""

from __future__ import annotations

import json
import sqlite3
import stat
from contextlib import closing

import pytest

from prism_core.errors import LedgerError
from prism_core.privacy.ledger import Ledger, network_drive, store_choice, transfer
from prism_core.privacy.ledger.sqlite_store import SqliteStore
from prism_core.privacy.ledger.store import SEALED, rows_of, seal, version_of
from tests.support.ledgers import charge, drop, filled, kept, run

pytestmark = pytest.mark.privacy


def test_a_backup_put_back_is_the_same_ledger(tmp_path, either_store, prism, monkeypatch):
    ledger = filled(tmp_path / "work")
    before, out = kept(ledger), tmp_path / "backup"
    done = prism("ledger", "backup", "--out", out, "--workspace", ledger.folder, "--json")
    assert json.loads(done.out)["head"] == ledger.verify().head
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert prism("ledger", "backup", "--out", out, "--workspace", ledger.folder).status == 2
    if either_store == "file":
        ledger.path.unlink()  # lost with its disk, and the note stayed
    else:  # the database is there: a backup of it becomes the file of another workspace
        monkeypatch.delenv("PRISM_LEDGER")
    folder = ledger.folder if either_store == "file" else tmp_path / "other"
    assert prism("ledger", "restore", out, "--workspace", folder).status == 0
    again = Ledger(folder)
    assert kept(again) == before
    assert again.path.is_file()
    assert charge(again) == 5
    assert again.verify().ok


def test_what_was_restored_is_what_the_workspace_used_last(tmp_path, prism):
    ledger, out, new = filled(tmp_path / "work"), tmp_path / "backup", tmp_path / "new"
    assert prism("ledger", "backup", "--out", out, "--workspace", ledger.folder).status == 0
    assert prism("ledger", "restore", out, "--workspace", new).status == 0
    (new / "ledger.sqlite").unlink()  # before anything was charged here
    with pytest.raises(LedgerError, match="not the one that was used last"):
        Ledger(new).register("ward", epsilon=9.0, delta=1e-6)


def test_a_file_that_is_left_behind_is_sealed_though_somebody_reads_it(tmp_path):
    ledger = filled(tmp_path / "work")
    with closing(sqlite3.connect(ledger.path)) as reader:
        reader.execute("SELECT * FROM charges").fetchall()
        charge(ledger)
        with ledger._store.transaction(write=True) as db:
            seal(db)
        there = transfer._retire(ledger.folder)
    with SqliteStore(there).transaction() as db:
        assert version_of(db) == SEALED
        assert len(rows_of(db, "charges")) == 5


def test_a_backup_of_nothing_makes_no_ledger(tmp_path):
    with pytest.raises(LedgerError, match="There is no ledger"):
        transfer.backup(tmp_path, tmp_path / "backup")
    assert list(tmp_path.iterdir()) == []


def test_a_sealed_file_is_not_taken_for_the_ledger_that_is_put_back(tmp_path, prism):
    ledger, out = filled(tmp_path / "work"), tmp_path / "backup"
    where = ["--workspace", ledger.folder]
    assert prism("ledger", "backup", "--out", out, *where).status == 0
    assert prism("ledger", "restore", out, *where).status == 0  # it is there: nothing is done
    with ledger._store.transaction(write=True) as db:
        seal(db)
    assert "There is a ledger in" in prism("ledger", "restore", out, *where).err


def test_an_older_backup_asks_why_and_says_so_later(tmp_path, either_store, prism, request):
    ledger = filled(tmp_path / "work")
    assert (
        prism("ledger", "backup", "--out", tmp_path / "b", "--workspace", ledger.folder).status == 0
    )
    charge(ledger)
    occupied = prism(
        "ledger", "restore", tmp_path / "b", "--workspace", ledger.folder, "--why", "x"
    )
    assert "already" in occupied.err
    if either_store == "file":
        ledger.path.unlink()
    else:
        from tests.support import postgres

        postgres.fresh_ledger(request.getfixturevalue("postgres_server"))
    refused = prism("ledger", "restore", tmp_path / "b", "--workspace", ledger.folder)
    assert "Say why" in refused.err
    done = prism(
        "ledger", "restore", tmp_path / "b", "--workspace", ledger.folder, "--why", "disk died"
    )
    assert done.status == 0, done.err
    assert Ledger(ledger.folder).verify().accepted == ("disk died",)
    assert charge(Ledger(ledger.folder)) == 5


def test_a_ledger_that_was_edited_is_not_carried(tmp_path, prism):
    ledger = filled(tmp_path / "work")
    run(ledger, *drop("charges"), "UPDATE charges SET rho = rho / 9 WHERE id = 2")
    done = prism("ledger", "backup", "--out", tmp_path / "b", "--workspace", ledger.folder)
    assert (done.status, (tmp_path / "b").exists()) == (2, False)
    assert "Row 2 of charges is not as it was written" in done.err
    with closing(sqlite3.connect(ledger.path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for content in (ledger.path.read_bytes(), b"no ledger at all" * 300):
        (tmp_path / "c").write_bytes(content)
        with pytest.raises(LedgerError):
            transfer.restore(tmp_path / "new", tmp_path / "c")
        assert not (tmp_path / "new" / "ledger.sqlite").exists()


def test_the_head_is_one_line_that_verify_knows_again(tmp_path, prism):
    ledger = filled(tmp_path / "work")
    line = prism("ledger", "head", "--workspace", ledger.folder).out
    digest = line.split()[-1]
    assert line.count("\n") == 1
    assert f"{ledger.verify().rows} entries" in line
    charge(ledger)
    known = prism("ledger", "verify", "--head", digest, "--workspace", ledger.folder)
    assert known.status == 0
    run(ledger, *drop("charges"), "UPDATE charges SET why = 'x'")
    assert prism("ledger", "head", "--workspace", ledger.folder).status == 2


def test_the_statements_of_init_are_printed_and_name_the_role(tmp_path, prism):
    text = prism("ledger", "init", "--role", "studio", "--workspace", tmp_path).out
    assert text.startswith("BEGIN;")
    assert "TO studio;" in text
    assert "GRANT INSERT" in text
    assert "UPDATE ON" not in text.replace("OR UPDATE", "")
    assert "Name the database" in prism("ledger", "init", "--apply", "--workspace", tmp_path).err


# --- network drives ---------------------------------------------------------------------------


MOUNTS = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:40 / {home} rw,relatime shared:9 - nfs4 server:/home rw,vers=4.2
41 40 0:41 / {home}/a\040local\040disk rw - xfs /dev/sdb1 rw
42 40 0:42 / {home}/work rw - tmpfs tmpfs rw
43 42 0:43 / {home}/work rw shared:3 - cifs //server/share rw
half a line
"""


@pytest.mark.parametrize(
    ("place", "kind"),
    [("ledger", "nfs4"), ("a local disk/x", ""), ("work", "cifs"), ("work/x", "cifs"), ("..", "")],
)
def test_the_innermost_mount_tells(tmp_path, place, kind):
    home = tmp_path / "home"
    (tmp_path / "mounts").write_text(MOUNTS.replace("{home}", str(home)))
    assert network_drive.kind(home / place, tmp_path / "mounts") == kind
    assert network_drive.kind(home / place, tmp_path / "none") == ""


def test_a_file_on_a_network_drive_is_read_and_not_charged(tmp_path, monkeypatch):
    ledger = filled(tmp_path / "work")
    (tmp_path / "mounts").write_text(MOUNTS.replace("{home}", str(tmp_path)))
    monkeypatch.setattr(network_drive, "MOUNTS", tmp_path / "mounts")
    there = Ledger(ledger.folder)
    assert kept(there) == kept(ledger)
    for act in (lambda: charge(there), lambda: Ledger(tmp_path / "new")):
        with pytest.raises(LedgerError, match=r"network drive \((cifs|nfs4)\)") as caught:
            act()
        assert store_choice.VARIABLE in str(caught.value)
    assert not (tmp_path / "new").exists()
