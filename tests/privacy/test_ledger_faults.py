"""Days on which something else goes wrong: rights, clocks, bits, other programs."""

from __future__ import annotations

import datetime as dt
import json
import random
import shutil
import sqlite3
import stat
from contextlib import closing

import pytest

from prism_core.cli import main
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import Ledger, sqlite_store
from prism_core.privacy.ledger import ledger as ledgers
from prism_core.privacy.ledger.store import FULL, append
from tests.support.disks import forbid_writing, run_obeying
from tests.support.ledgers import charge, version_1

pytestmark = pytest.mark.privacy


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path / "work")
    found.register("ward", epsilon=9.0, delta=1e-6)
    for _ in range(3):
        charge(found)
    found.mark(1, "done")
    found.mark(2, "void")
    found.correct(1, "for the oncology team")
    return found


# --- a workspace that may only be read --------------------------------------------------------


WAYS = (["list"], ["show", "1"], ["verify"], ["export"])


def prism(folder, *arguments):
    command = ["-m", "prism_core.cli.main", *arguments, "--workspace", str(folder), "--json"]
    return run_obeying(command)


def exported(ledger):
    return json.loads(json.dumps(ledger.export()))["charges"]


def contents(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


@pytest.mark.parametrize("held", [False, True], ids=["at rest", "with its newest entries apart"])
def test_an_auditor_reads_a_workspace_that_may_not_be_written(ledger, tmp_path, held):
    """Copied to a read-only place, perhaps while its owner had it open."""
    expected = exported(ledger)
    with closing(sqlite3.connect(ledger.path)) as owner:
        owner.execute("SELECT * FROM charges").fetchall()  # the last one to leave moves the entries
        if held:
            ledger.correct(3, "written while somebody looks")
            expected = exported(ledger)
        shutil.copytree(ledger.path.parent, tmp_path / "read")
    for path in (tmp_path / "read").glob("*-shm"):
        path.unlink()  # belongs to the machine that it was made on
    assert ((tmp_path / "read" / "ledger.sqlite-wal").exists()) == held or not held
    forbid_writing(tmp_path / "read")
    before = contents(tmp_path / "read")
    for way in WAYS:
        done = prism(tmp_path / "read", "ledger", *way)
        assert done.returncode == 0, done.stderr
        if way == ["export"]:
            assert json.loads(done.stdout)["charges"] == expected
    assert contents(tmp_path / "read") == before


def test_an_auditor_reads_beside_the_owner_who_writes(ledger):
    """The folder of another user, in use: what was written last is there, and nothing is made."""
    forbid_writing(ledger.path.parent)
    with closing(sqlite3.connect(ledger.path)) as owner:
        assert owner.execute("SELECT COUNT(*) FROM charges").fetchone() == (3,)
        ledger.correct(3, "just now")  # root is not bound by the modes
        done = prism(ledger.path.parent, "ledger", "show", "3")
    assert done.returncode == 0, done.stderr
    assert "just now" in done.stdout


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_may_only_be_read_is_not_charged(ledger, what):
    folder = ledger.path.parent
    (folder if what == "folder" else ledger.path).chmod(0o500 if what == "folder" else 0o400)
    script = (
        "import sys\nfrom pathlib import Path\nfrom prism_core.errors import LedgerError\n"
        "from prism_core.privacy.ledger import Ledger\n"
        "ledger = Ledger(Path(sys.argv[1]))\n"
        "try:\n    ledger.correct(1, 'x')\nexcept LedgerError as error:\n    print(error)\n"
        "print(ledger.balance('ward').charges)\n"
    )
    done = run_obeying(["-c", script, str(folder)])
    folder.chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [sqlite_store.READ_ONLY, "2"]


def test_a_ledger_of_an_earlier_version_is_read_where_it_cannot_be_brought_up_to_date(tmp_path):
    folder = version_1(tmp_path / "old")
    forbid_writing(folder)
    before = contents(folder)
    done = prism(folder, "ledger", "list")
    assert done.returncode == 0, done.stderr
    assert [one["asset"] for one in json.loads(done.stdout)["charges"]] == [
        "ward",
        "ward",
        "clinic",
    ]
    assert contents(folder) == before


def test_a_full_disk_is_said(ledger):
    """SQLite's own error of one: it has no page left for what is to be written."""

    def fill(db):  # a bound below what there is means no page more
        db.execute("PRAGMA max_page_count = 1")

    with (
        pytest.raises(LedgerError) as caught,
        ledger._store.transaction(write=True, check=fill) as db,
    ):
        append(db, "corrections", 1, "x" * 100_000, "me", "t")
    assert str(caught.value) == FULL
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError) as full:
            db.execute("CREATE TABLE x (y)")
    assert sqlite_store.no_room_beside(full.value)


def test_a_copy_is_private_and_goes(ledger, monkeypatch):
    seen = []
    monkeypatch.setattr(sqlite_store, "read_only", lambda path: True)
    real = sqlite_store._copied_whole

    def looking(path, copy):
        seen.append((copy, stat.S_IMODE(copy.parent.stat().st_mode)))
        return real(path, copy)

    monkeypatch.setattr(sqlite_store, "_copied_whole", looking)
    assert len(Ledger(ledger.path.parent).charges()) == 3
    assert {mode for _, mode in seen} == {0o700}
    assert not any(copy.parent.exists() for copy, _ in seen)


def test_a_file_that_changes_while_it_is_copied_is_copied_again(ledger, monkeypatch):
    monkeypatch.setattr(sqlite_store, "read_only", lambda path: True)
    real, writes = shutil.copyfile, iter([True, True, False])

    def copyfile(source, target):
        real(source, target)
        if next(writes, False):
            with ledger.path.open("ab") as file:
                file.write(b"\0")
            source.touch()

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    with sqlite_store.copied(ledger.path) as copy:
        assert copy.read_bytes() == ledger.path.read_bytes()
    writes = iter([True] * 1000)
    with pytest.raises(LedgerError, match="all the time"), sqlite_store.copied(ledger.path):
        pass


# --- a clock that was set back ----------------------------------------------------------------


def test_a_clock_that_was_set_back_stops_nothing_and_accuses_nobody(ledger, monkeypatch):
    class Earlier(dt.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(1999, 12, 31, 23, 59, 59, tzinfo=tz)

    monkeypatch.setattr(ledgers.dt, "datetime", Earlier)
    number = charge(ledger)
    ledger.mark(number, "done")
    ledger.correct(1, "dated before the charge")
    found = ledger.get(number)
    assert found.created.startswith("1999")
    assert found.created < ledger.get(1).created
    assert [one.id for one in ledger.charges()] == [1, 2, 3, 4]  # by number, not by time
    assert ledger.get(1).history[-1].state == "done"
    assert ledger.verify().ok
    assert main.main(["ledger", "verify", "--workspace", str(ledger.path.parent)]) == 0
    assert ledger.balance("ward").charges == 3


def test_a_change_after_a_look_stays_after_it_though_the_clock_was_set_back():
    from prism_core.data.schema.looks import Changed, Look, check_looks, merged

    look = Look(did="previewed rows", file="a.csv", when="2025-01-02 10:00")
    change = Changed(columns=("age",), declared_from="codebook", when="2025-01-01 09:00")
    other = Look(did="checked rows", file="a.csv", when="2025-01-01 10:00")
    for found in (merged((look, change), (other,)), merged((other,), (look, change))):
        assert found == (other, look, change)
        check_looks(found, "declared", ("age",))
    assert merged((look, change), ()) == (look, change)


# --- a file whose bits have changed -----------------------------------------------------------


def whole(ledger) -> bytes:
    with closing(sqlite3.connect(ledger.path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return ledger.path.read_bytes()


def damaged(content: bytes, how: str, rng: random.Random) -> bytes:
    found = bytearray(content)
    if how == "a bit":
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    elif how == "the header":
        found[rng.randrange(100)] ^= 1 << rng.randrange(8)
    elif how == "a page":
        start = 4096 * rng.randrange(len(found) // 4096)
        found[start : start + 4096] = bytes(4096)
    elif how == "cut":
        del found[rng.randrange(len(found)) :]
    else:
        for _ in range(200):
            found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


@pytest.mark.parametrize("how", ["a bit", "the header", "a page", "cut", "many bits"])
def test_a_damaged_file_is_refused_in_our_words_or_is_as_it_was(ledger, tmp_path, how):
    """No change of the file lets a charge pass that the whole file would not have let pass."""
    content, rng = whole(ledger), random.Random(how)
    shown = ledger.charges()
    said: list[str] = []
    for number in range(60):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        for name in ("ledger.head",):
            shutil.copy(ledger.path.parent / name, folder / name)
        (folder / "ledger.sqlite").write_bytes(damaged(content, how, rng))
        try:
            found = Ledger(folder)
            told = found.verify()
            same = found.charges() == shown
            charge(found)
        except LedgerError as error:
            said.append(str(error))
            continue
        # A bit that nothing depends on (a free page, a version of SQLite), or one that verify saw.
        assert told.ok
        assert same
        assert len(found.charges()) == len(shown) + 1
    assert said
    assert all(said)


def test_a_ledger_that_is_none_is_said_to_be_damaged(tmp_path):
    (tmp_path / "ledger.sqlite").write_bytes(b"PK\x03\x04 not a database at all" * 100)
    with pytest.raises(LedgerError, match="damaged, or is no ledger"):
        Ledger(tmp_path)
    assert main.main(["ledger", "list", "--workspace", str(tmp_path)]) == 2


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("charges", "rho", "x'00'"),
        ("charges", "events", "NULL"),
        ("states", "state", "'lost'"),
        ("assets", "epsilon", "'much'"),
        ("meta", "version", "'three'"),
        ("chain", "digest", "x'00'"),
    ],
)
def test_a_cell_of_another_type_is_refused(ledger, table, column, value):
    """Behind the program's back SQLite takes any value in any column."""
    columns = {"meta": "version"}.get(table, "*")
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as db:
        db.execute(f"CREATE TABLE other AS SELECT {columns} FROM {table}")
        db.execute(f"DROP TABLE {table}")
        db.execute(f"UPDATE other SET {column} = {value}")
        db.execute(f"ALTER TABLE other RENAME TO {table}")
    for act in (
        ledger.charges,
        ledger.verify,
        lambda: ledger.balance("ward"),
        ledger.export,
        lambda: charge(ledger),
        lambda: Ledger(ledger.path.parent),
    ):
        with pytest.raises(LedgerError, match="damaged"):
            act()
