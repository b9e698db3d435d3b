"""The ledger in PostgreSQL: what is refused, what the check sees, and no crash that costs."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from prism_core.cli import main
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import (
    Ledger,
    postgres_schema,
    postgres_store,
    store_choice,
    transfer,
)
from prism_core.privacy.ledger.postgres_schema import SCHEMA, TABLES
from prism_core.privacy.ledger.store import append, seal
from tests.support.ledgers import charge, filled, kept
from tests.support.postgres import NEEDED, WRITER, crash, fresh_ledger, recovered

pytestmark = [pytest.mark.privacy, *NEEDED]


@pytest.fixture
def ledger(tmp_path, ledger_database):
    found = Ledger(tmp_path / "work")
    found.register("ward", epsilon=1e4, delta=1e-6)
    charge(found)
    found.mark(1, "done")
    found.correct(1, "for the oncology team")
    return found


def run(address: str, *statements: str) -> None:
    """Something behind the program's back."""
    with postgres_store.connected(address) as db:
        for statement in statements:
            db.execute(statement)


# --- nothing is edited or deleted -------------------------------------------------------------


@pytest.mark.parametrize(
    "statement", ["UPDATE {} SET id = id + 10", "DELETE FROM {}", "TRUNCATE {}"]
)
def test_neither_the_program_nor_the_owner_changes_a_row(
    ledger, ledger_database, postgres_server, statement
):
    import psycopg

    before = ledger.export()
    for table in TABLES:
        text = statement.format(f"{SCHEMA}.{table}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run(ledger_database, text)
        cascade = " CASCADE" if text.startswith("TRUNCATE") else ""
        rows = (
            "receipts" not in table
        )  # the fixture has none of them, and a row is asked row by row
        if rows or cascade:
            with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
                run(postgres_server, text + cascade)
    after = ledger.export()
    assert (after["charges"], after["chain"]) == (before["charges"], before["chain"])
    assert after["verification"]["ok"]


def test_the_login_has_no_way_round_the_guards(ledger, ledger_database, postgres_server):
    import psycopg

    for statement in (
        f"ALTER TABLE {SCHEMA}.charges DISABLE TRIGGER ALL",
        f"DROP TRIGGER no_edit ON {SCHEMA}.charges",
        f"DROP TABLE {SCHEMA}.charges",
        f"CREATE OR REPLACE FUNCTION {SCHEMA}.refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$BEGIN RETURN NEW; END$$",
        f"CREATE TABLE {SCHEMA}.other (id int)",
        f"DELETE FROM {SCHEMA}.meta",
        "SET session_replication_role = replica",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run(ledger_database, statement)
    for statement, words in (
        (
            f"INSERT INTO {SCHEMA}.states SELECT MAX(id) + 2, 1, 'void', 't' FROM {SCHEMA}.states",
            "only",
        ),
        (
            f"INSERT INTO {SCHEMA}.states SELECT MAX(id) + 1, 1, 'void', 't' FROM {SCHEMA}.states",
            "stands",
        ),
    ):
        with pytest.raises(psycopg.errors.RaiseException, match=words):
            run(ledger_database, statement)
    assert ledger._store.excess_rights() == ()
    run(postgres_server, f"GRANT DELETE ON {SCHEMA}.meta TO {WRITER}")  # it could be unsealed
    assert ledger._store.excess_rights() == ("DELETE",)


def test_a_row_added_behind_the_programs_back_is_seen(ledger, ledger_database):
    number = charge(ledger)
    run(
        ledger_database,
        f"INSERT INTO {SCHEMA}.states SELECT MAX(id) + 1, {number}, 'void', 't' "
        f"FROM {SCHEMA}.states",
    )
    assert "was added behind the program's back" in ledger.verify().findings[0]
    with pytest.raises(LedgerError, match="not as this program wrote it"):
        charge(ledger)


TAMPERED = {
    "a guard switched off": (
        ["ALTER TABLE {0}.charges DISABLE TRIGGER no_edit"],
        "The guard no_edit of charges",
    ),
    "a guard that does nothing": (
        [
            "CREATE OR REPLACE FUNCTION {0}.refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN RETURN NEW; END$$"
        ],
        "The guard no_edit of assets",
    ),
    "rows that hide": (["ALTER TABLE {0}.charges ENABLE ROW LEVEL SECURITY"], "may hide"),
    "a trigger that makes every charge cheaper": (
        [
            "CREATE FUNCTION {0}.cheap() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN NEW.rho = NEW.rho / 9; RETURN NEW; END$$",
            "CREATE TRIGGER cheap BEFORE INSERT ON {0}.charges FOR EACH ROW "
            "EXECUTE FUNCTION {0}.cheap()",
        ],
        "The trigger cheap of charges",
    ),
    "a charge made cheaper": (
        ["ALTER TABLE {0}.charges DISABLE TRIGGER USER", "UPDATE {0}.charges SET rho = rho / 9"],
        "Row 1 of charges is not as it was written",
    ),
}


@pytest.mark.parametrize("case", sorted(TAMPERED))
def test_what_an_owner_did_is_seen(ledger, postgres_server, case):
    statements, words = TAMPERED[case]
    assert ledger.verify().ok
    run(postgres_server, *(text.format(SCHEMA) for text in statements))
    if case == "rows that hide":  # from the program's login, and not from the owner
        assert "is missing" in " ".join(ledger.verify().findings)
    assert words in " ".join(ledger.verify().findings)
    with pytest.raises(LedgerError, match="not as this program wrote it"):
        charge(ledger)


def test_an_older_state_of_the_database_is_not_charged(ledger, postgres_server, ledger_database):
    fresh_ledger(postgres_server)
    for act in (lambda: charge(ledger), lambda: ledger.register("b", epsilon=1.0, delta=1e-6)):
        with pytest.raises(LedgerError, match="not the one that was used last"):
            act()


def test_the_statements_can_be_run_again_and_change_nothing(ledger, postgres_server):
    before = ledger.export()["chain"]
    postgres_store.initialise(postgres_server, WRITER)
    assert ledger.verify().ok
    assert ledger.export()["chain"] == before
    with pytest.raises(LedgerError, match="small letters"):
        postgres_schema.statements("x; DROP TABLE y")


# --- which ledger, and who is told what -------------------------------------------------------


def test_no_message_holds_the_password(ledger_database, tmp_path, monkeypatch, capsys, caplog):
    """Whatever is wrong with the address, the login or the database."""
    wrong = ledger_database.replace("canary%40secret", "canary-wrong")
    nobody = ledger_database.replace(WRITER, "nobody_canary")
    port = ledger_database.replace("@127.0.0.1:", "@127.0.0.1:1")
    for address in (wrong, nobody, port, "postgresql://a:canary@[::1", "mysql://a:canary@b/c"):
        monkeypatch.setenv(store_choice.VARIABLE, address)
        with pytest.raises(LedgerError) as caught:
            Ledger(tmp_path)
        assert "canary" not in str(caught.value).replace("nobody_canary", "")
        assert caught.value.__cause__ is None
        assert main.main(["ledger", "list", "--workspace", str(tmp_path)]) == 2
        told = "".join(capsys.readouterr()) + caplog.text
        assert "canary" not in told.replace("nobody_canary", "")
    monkeypatch.setenv(store_choice.VARIABLE, ledger_database)
    assert "canary" not in store_choice.open_store(tmp_path).place


def test_the_password_may_stand_in_a_variable_of_its_own(ledger_database, tmp_path, monkeypatch):
    monkeypatch.setenv(store_choice.VARIABLE, ledger_database.replace(":canary%40secret", ""))
    with pytest.raises(LedgerError, match="cannot be reached"):
        Ledger(tmp_path)
    monkeypatch.setenv(postgres_store.PASSWORD_VARIABLE, "canary@secret")
    assert Ledger(tmp_path).assets() == ()


def test_the_workspace_may_name_its_ledger_and_two_names_are_refused(
    ledger_database, tmp_path, monkeypatch
):
    bare = ledger_database.replace(":canary%40secret", "")
    monkeypatch.setenv(postgres_store.PASSWORD_VARIABLE, "canary@secret")
    monkeypatch.delenv(store_choice.VARIABLE)
    settings = tmp_path / "settings.toml"
    settings.write_text(f'[ledger]\naddress = "{bare}"\n')
    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=1.0, delta=1e-6)
    assert not (tmp_path / "ledger.sqlite").exists()
    monkeypatch.setenv(store_choice.VARIABLE, ledger_database + "?application_name=other")
    with pytest.raises(LedgerError, match="two ledgers"):
        Ledger(tmp_path)
    monkeypatch.delenv(store_choice.VARIABLE)
    settings.write_text(f'[ledger]\naddress = "{ledger_database}"\n')
    with pytest.raises(LedgerError, match="holds a password"):
        Ledger(tmp_path)
    for written, words in (
        (f"{bare}?sslpassword=canary", "holds a password"),
        (f"{bare}?p%61ssword=canary", "holds a password"),
        ("postgresql://a:canary@[::1/b", "cannot be read"),
    ):
        settings.write_text(f'[ledger]\naddress = "{written}"\n')
        with pytest.raises(LedgerError, match=words) as caught:
            Ledger(tmp_path)
        assert "canary" not in str(caught.value)
    settings.write_text("[ledger")  # a rule that cannot be read leads to no other ledger
    with pytest.raises(LedgerError, match="not the one that was used last"):
        Ledger(tmp_path).register("ward", epsilon=1.0, delta=1e-6)


def test_a_process_that_misses_the_setting_charges_no_file(ledger, monkeypatch):
    monkeypatch.delenv(store_choice.VARIABLE)
    lost = Ledger(ledger.folder)
    with pytest.raises(LedgerError, match="not the one that was used last"):
        lost.register("ward", epsilon=1e4, delta=1e-6)


def test_a_database_without_a_ledger_says_what_to_do(postgres_server, ledger_database, tmp_path):
    run(postgres_server, f"DROP SCHEMA {SCHEMA} CASCADE")
    with pytest.raises(LedgerError, match="prism ledger init"):
        Ledger(tmp_path)


# --- many at once, and crashes ----------------------------------------------------------------


def test_assets_have_locks_of_their_own(ledger):
    """While one asset is looked at, another one is charged; the same one waits."""
    ledger.register("clinic", epsilon=9.0, delta=1e-6)
    turn = ledger._store.transaction
    with turn(write=True, asset="ward"), turn(write=True, asset="clinic") as other:
        other.take_turn()
    with (
        pytest.MonkeyPatch.context() as patch,
        turn(write=True, asset="ward"),
    ):
        patch.setitem(postgres_store._SETTINGS, "lock_timeout", "100ms")
        with pytest.raises(LedgerError, match="holds the ledger for too long"):
            charge(ledger)
    assert charge(ledger) == 2


_CHARGES = """
import os, sys
from pathlib import Path
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import Ledger
from tests.support.ledgers import charge, filled, kept
folder, diary = Path(sys.argv[1]), os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
note = lambda word, number: os.write(diary, f"{word} {number}\\n".encode())
ledger = Ledger(folder)
while True:
    try:
        number = charge(ledger)
        note("charged", number)
        ledger.mark(number, "done")
        note("done", number)
    except LedgerError:
        note("failed", 0)
"""


def test_a_database_that_is_killed_loses_nothing_and_charges_nothing_twice(
    ledger, postgres_server, tmp_path
):
    """Its processes are ended by SIGKILL again and again, while three programs charge one asset."""
    diaries = [tmp_path / f"diary {number}" for number in range(3)]
    folders = [tmp_path / f"work {number}" for number in range(3)]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    children = [
        subprocess.Popen([sys.executable, "-c", _CHARGES, str(folder), str(diary)], env=env)
        for folder, diary in zip(folders, diaries, strict=True)
    ]
    try:
        _until(lambda: all(map(_count, diaries)))
        for _ in range(3):
            before = list(map(_count, diaries))
            crash(postgres_server)
            _until(lambda b=before: all(_count(d) > n for d, n in zip(diaries, b, strict=True)))
    finally:
        for child in children:
            child.kill()
            child.wait()
        recovered(postgres_server)
    told = [line.split() for diary in diaries for line in diary.read_text().splitlines()]
    charged = [int(number) for word, number in told if word == "charged"]
    charges = {one.id: one for one in ledger.charges()}
    assert len(charged) == len(set(charged)) > 0
    assert set(charged) <= set(charges)
    assert all(charges[int(number)].state == "done" for word, number in told if word == "done")
    # What stands and was never told was cut off between commit and answer; at most one a failure
    # or a killed child.
    untold = set(charges) - set(charged) - {1}
    assert len(untold) <= sum(word == "failed" for word, _ in told) + len(children)
    assert ledger.verify().ok
    assert ledger.balance("ward").spent_rho <= ledger.balance("ward").total_rho


def _count(diary) -> int:
    return diary.read_text().count("charged") if diary.exists() else 0


def _until(true) -> None:
    ends = time.monotonic() + 60.0
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.05)


# --- carried to the database, and back -----------------------------------------------------------


@pytest.mark.parametrize("wait", [False, True], ids=["later", "while it was carried"])
def test_there_and_back_again(tmp_path, postgres_server, monkeypatch, prism, wait):
    ledger = filled(tmp_path / "work")
    before, where = kept(ledger), ["--workspace", ledger.folder]
    address = fresh_ledger(postgres_server)
    assert "kept there already" in prism("ledger", "migrate", *where).err
    monkeypatch.setenv("PRISM_LEDGER", address)
    if wait:  # it opened the file before, and comes to its turn afterwards
        monkeypatch.setattr(transfer, "_retire", lambda folder: folder)
    done = prism("ledger", "migrate", *where)
    assert done.status == 0, done.err
    assert "canary" not in done.both
    assert kept(Ledger(ledger.folder)) == before
    assert charge(Ledger(ledger.folder)) == 5
    if wait:
        with pytest.raises(LedgerError, match="was carried into another store"):
            charge(ledger)
        return
    assert not ledger.path.exists()
    monkeypatch.delenv("PRISM_LEDGER")
    assert "Others on this machine" in prism("ledger", "migrate", "--from", address, *where).err
    monkeypatch.setenv("PRISM_LEDGER_PASSWORD", "canary@secret")
    bare = address.replace(":canary%40secret", "")
    done = prism("ledger", "migrate", "--from", bare, *where)
    assert done.status == 0, done.err
    back = Ledger(ledger.folder)
    assert charge(back) == 6
    assert back.verify().ok
    monkeypatch.setenv("PRISM_LEDGER", address)
    with pytest.raises(LedgerError, match="was carried into another store"):
        charge(Ledger(tmp_path / "other server"))


def test_what_began_before_a_migration_and_writes_after_it_is_refused(ledger):
    """It looked at the database before it was sealed, and waited for its turn meanwhile."""
    before = ledger.export()["chain"]
    turn = ledger._store.transaction
    with turn(write=True, asset="ward") as late:
        with turn(write=True) as migration:
            seal(migration)
        with pytest.raises(LedgerError, match="was carried into another store"):
            append(late, "corrections", 1, "late", "me", "t")
    assert ledger.export()["chain"] == before


def test_a_migration_that_was_killed_can_be_begun_again(tmp_path, postgres_server, monkeypatch):
    ledger = filled(tmp_path / "work")
    address = fresh_ledger(postgres_server)
    monkeypatch.setenv("PRISM_LEDGER", address)

    def killed(db):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(transfer, "seal", killed)  # the copy stands, and the file is not sealed
        with pytest.raises(KeyboardInterrupt):
            transfer.migrate(ledger.folder, "file")
    assert transfer.migrate(ledger.folder, "file").check.ok
    assert charge(Ledger(ledger.folder)) == 5
    monkeypatch.delenv("PRISM_LEDGER")
    with monkeypatch.context() as patch:
        patch.setattr(transfer, "seal", killed)  # likewise on the way back into the file
        with pytest.raises(KeyboardInterrupt):
            transfer.migrate(ledger.folder, address)
    assert transfer.migrate(ledger.folder, address).check.ok
    assert charge(Ledger(ledger.folder)) == 6
