"""`prism doctor`: every check sees what it is for, says what to do, and changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
from collections import namedtuple
from contextlib import closing
from importlib import metadata

import pytest

from prism_core.cli import main
from prism_core.data.engines import duckdb_engine, scratch
from prism_core.errors import TableError
from prism_core.privacy.ledger import Ledger, fingerprint
from prism_core.runs import doctor, recovery_file
from tests.support.disks import run_obeying
from tests.support.ledgers import charge, drop, run


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path / "work")
    found.register("ward", epsilon=9.0, delta=1e-6)
    charge(found)
    found.mark(1, "done")
    return found


def of(workspace, name, **others):
    (found,) = [check for check in doctor.examine(workspace, **others) if check.name == name]
    return found


def contents(folder):
    return {
        str(path): (
            path.stat().st_mode,
            path.stat().st_mtime_ns,
            path.is_dir() or path.read_bytes(),
        )
        for path in [folder, *folder.rglob("*")]
    }


def test_a_workspace_in_order_is_one_page_and_exit_status_0(ledger, capsys):
    folder = ledger.path.parent
    before = contents(folder)
    assert main.main(["doctor", "--workspace", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 120
    assert "problems: 0" in lines[-1]
    assert contents(folder) == before


def test_a_workspace_that_is_not_there_is_not_made(tmp_path):
    assert main.main(["doctor", "--workspace", str(tmp_path / "none")]) == 0
    assert not (tmp_path / "none").exists()


def test_json_holds_every_check(ledger, capsys):
    assert main.main(["doctor", "--workspace", str(ledger.path.parent), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is True
    assert [check["name"] for check in document["checks"]] == [
        "workspace",
        "rights",
        "settings",
        "ledger",
        "signing key",
        "fingerprint key",
        "kept results",
        "leftovers",
        "free space",
        "Python",
        "packages",
        "extras",
        "DuckDB",
        "browser",
        "printing",
        "port",
        "ledger's place",
        "clock",
        "provider",
    ]
    assert all(check["state"] in ("ok", "warning", "problem") for check in document["checks"])


def test_a_problem_is_exit_status_2_and_says_what_to_do(ledger, capsys):
    files = ledger.path.parent / recovery_file.FOLDER
    files.mkdir(mode=0o700)
    (files / "charge-1.zip").write_bytes(b"")
    assert main.main(["doctor", "--workspace", str(ledger.path.parent)]) == 2
    said = " ".join(capsys.readouterr().out.split())
    assert "paid for and not written: charge 1" in said
    assert "prism recover 1 --out PATH" in said


# --- the workspace ----------------------------------------------------------------------------


def test_a_file_in_the_place_of_the_workspace(tmp_path):
    (tmp_path / "file").write_text("")
    assert of(tmp_path / "file", "workspace").state == "problem"


def test_a_workspace_that_may_not_be_written(ledger):
    folder = ledger.path.parent
    folder.chmod(0o500)
    done = run_obeying(
        ["-m", "prism_core.cli.main", "doctor", "--workspace", str(folder), "--json"]
    )
    folder.chmod(0o700)
    states = {check["name"]: check["state"] for check in json.loads(done.stdout)["checks"]}
    assert (states["workspace"], states["ledger"]) == ("problem", "ok")
    assert done.returncode == 2


def test_files_that_others_may_read(ledger):
    folder = ledger.path.parent
    assert of(folder, "rights").state == "ok"
    ledger.path.chmod(0o644)
    assert of(folder, "rights").state == "ok"  # nobody else comes into the folder
    folder.chmod(0o755)
    found = of(folder, "rights")
    assert found.state == "warning"
    assert "ledger.sqlite" in found.found
    ledger.path.chmod(0o600)
    assert of(folder, "rights").state == "ok"


@pytest.mark.parametrize(
    ("text", "state"), [("[release]\napproval_required = true\n", "ok"), ("[release\n", "problem")]
)
def test_settings(ledger, text, state):
    (ledger.path.parent / "settings.toml").write_text(text)
    (ledger.path.parent / "settings.toml").chmod(0o600)
    assert of(ledger.path.parent, "settings").state == state


def test_a_ledger_that_is_not_whole(ledger):
    run(ledger, *drop("charges"), "UPDATE charges SET rho = rho / 9")
    found = of(ledger.path.parent, "ledger")
    assert found.state == "problem"
    assert "Row 1 of charges" in found.found


def test_a_damaged_ledger_an_older_copy_and_a_newer_version(ledger):
    folder = ledger.path.parent
    with closing(sqlite3.connect(ledger.path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = ledger.path.read_bytes()
    charge(ledger)
    with closing(sqlite3.connect(ledger.path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for name in ("ledger.sqlite-wal", "ledger.sqlite-shm"):
        (folder / name).unlink(missing_ok=True)
    for what, words in ((content, "not the one that was used last"), (b"none", "is no ledger")):
        ledger.path.write_bytes(what)
        found = of(folder, "ledger")
        assert found.state == "problem"
        assert words in found.found
    ledger.path.write_bytes(content)
    with closing(sqlite3.connect(ledger.path)) as db:
        db.execute("UPDATE meta SET version = 99")
        db.commit()
    assert "newer version" in of(folder, "ledger").found


def test_a_charge_that_was_begun(ledger):
    charge(ledger)
    found = of(ledger.path.parent, "ledger")
    assert (found.state, "charge 2" in found.found) == ("warning", True)


def test_keys(ledger):
    folder = ledger.path.parent
    assert of(folder, "signing key").found == "no key yet"
    for name, key in (("signing key", "signing.key"), ("fingerprint key", fingerprint.KEY)):
        (folder / key).write_bytes(b"x" * 32)
        assert of(folder, name).state == "ok"
        (folder / key).write_bytes(b"x" * 7)
        assert of(folder, name).state == "problem"


def test_private_rows_of_a_crash(ledger):
    folder = ledger.path.parent
    held = scratch.make(folder)
    assert of(folder, "leftovers").state == "ok"  # its process lives
    shutil.copytree(held.path, held.path.with_name("run-crashed"))
    found = of(folder, "leftovers")
    assert (found.state, "run-crashed" in found.found) == ("warning", True)
    assert held.path.is_dir()
    shutil.rmtree(held.path.with_name("run-crashed"))
    run_ = folder / scratch.RUNS / "step-1"
    run_.mkdir(parents=True)
    (run_ / "in-use").touch()
    assert of(folder, "leftovers").state == "ok"
    (run_ / scratch.PRIVATE[0]).touch()
    assert of(folder, "leftovers").state == "warning"
    held.close()


@pytest.mark.parametrize(
    ("free", "state"), [(10**6, "problem"), (10**9, "warning"), (10**11, "ok")]
)
def test_space(tmp_path, monkeypatch, free, state):
    usage = namedtuple("usage", "total used free")(10**12, 0, free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert of(tmp_path / "not" / "there", "free space").state == state


# --- the machine ------------------------------------------------------------------------------


def test_packages_that_are_too_old_or_missing(tmp_path, monkeypatch):
    assert of(tmp_path, "packages").state == "ok"
    real = metadata.version

    def version(name):
        if name == "pandas":
            return "1.0"
        if name == "duckdb":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    found = of(tmp_path, "packages")
    assert found.state == "problem"
    assert "pandas 1.0 (>=2.2 is needed)" in found.found
    assert "duckdb is missing" in found.found


def test_another_python(tmp_path, monkeypatch):
    assert of(tmp_path, "Python").state == "ok"
    monkeypatch.setattr(doctor.platform, "python_version", lambda: "3.9.1")
    assert of(tmp_path, "Python").state == "problem"


def test_an_extra_that_is_not_there_is_named(tmp_path, monkeypatch):
    real = metadata.version

    def version(name):
        if name == "pgmpy":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    found = of(tmp_path, "extras")
    assert found.state == "ok"
    assert "networks" in found.advice


def test_an_optimizer_that_stays_on(tmp_path, monkeypatch):
    def refuse(_):
        raise TableError("This version of DuckDB does not let its optimizer be switched off.")

    assert of(tmp_path, "DuckDB").state == "ok"
    monkeypatch.setattr(duckdb_engine, "_row_by_row", refuse)
    found = of(tmp_path, "DuckDB")
    assert (found.state, "optimizer" in found.found) == ("problem", True)


def test_browsers(tmp_path, monkeypatch):
    def none():
        raise doctor.webbrowser.Error

    monkeypatch.setattr(doctor.webbrowser, "get", none)
    monkeypatch.setenv("CHROMIUM", os.devnull + "-none")
    for name in ("browser", "printing"):
        found = of(tmp_path, name)
        assert found.state == "warning"
        assert found.advice


def test_a_port_that_is_taken(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        found = of(tmp_path, "port", port=port)
        assert (found.state, str(port) in found.found) == ("warning", True)
    assert of(tmp_path, "port", port=port).state == "ok"


def test_a_check_that_cannot_be_made_leaves_the_others(ledger, monkeypatch):
    def broken(_):
        raise PermissionError("/home/somebody/secret")

    monkeypatch.setattr(doctor, "_settings", broken)
    found = of(ledger.path.parent, "settings")
    assert found.state == "problem"
    assert "secret" not in found.found
    assert of(ledger.path.parent, "ledger").state == "ok"
