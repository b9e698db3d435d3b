"""Nothing that was paid for is lost: full disks, kills, folders of others, and `prism recover`."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from prism_core import files
from prism_core.bundle import bundle_files, manifest
from prism_core.bundle.verify import verification
from prism_core.bundle.write import bundle_folder
from prism_core.cli import main
from prism_core.data.encoding import encode
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import BundleError, ConfigError, LedgerError, PrismError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.runs import charged_release, recovery_file
from prism_core.runs.charged_release import recover, run_release
from prism_core.runs.step_account import StepAccount
from prism_core.structure import formats
from prism_core.synthesis import release
from tests.support import bundles, postgres
from tests.support.disks import FullDisk

pytestmark = pytest.mark.privacy

TASK = Task(target="readmitted", regime="predictive", k=2)


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path / "ws")
    found.register("ward", epsilon=50.0, delta=1e-5)
    return found


@pytest.fixture
def run(schema, frame, ledger):
    """A charged release into a folder."""
    table = encode(schema, RawTable(frame))
    plan = design(Brief(schema, TASK, Budget(), table.n, synthesis=Synthesis(rows=50)))

    def make(out: Path, why: str = "", **others):
        return run_release(
            plan,
            table,
            out,
            StepAccount(ledger=ledger, asset="ward", why=why),
            **others,
        )

    return make


def test_a_disk_that_is_full_at_any_write_loses_nothing_paid(run, ledger, tmp_path, monkeypatch):
    """At each of the writes in turn: not charged, or written, or kept and recovered."""
    seen = set()
    for first in range(1, 60):
        out = tmp_path / f"out{first}"
        before = len(ledger.charges())
        with monkeypatch.context() as patched:
            disk = FullDisk(tmp_path, first)
            disk.install(patched)
            try:
                run(out)
                failed = None
            except (PrismError, OSError) as error:
                failed = error
        charged = len(ledger.charges()) > before
        if failed is None:
            seen.add("written")
            assert manifest.file_findings(out) == []
            break
        assert not out.exists()
        assert not list(tmp_path.glob(".out*"))
        if not charged or not ledger.charges()[-1].counts:
            seen.add("not charged")
            continue
        seen.add("kept")
        number = ledger.charges()[-1].id
        assert number in recovery_file.unwritten_charges(ledger.path.parent), (
            f"write {first}: {failed}"
        )
        assert f"prism recover {number}" in str(failed)
        recover(ledger.path.parent, number, out)
        report = verification.verify(out, workspace=ledger.path.parent)
        assert report.ok, report
    assert seen == {"not charged", "kept", "written"}
    assert recovery_file.unwritten_charges(ledger.path.parent) == ()
    assert list((ledger.path.parent / recovery_file.FOLDER).iterdir()) == []


def test_no_room_is_seen_before_the_charge(run, ledger, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(ConfigError, match="no room for the result"):
        run(tmp_path / "out")
    assert ledger.charges() == ()
    assert list((ledger.path.parent / recovery_file.FOLDER).iterdir()) == []


def test_a_damaged_key_is_seen_before_the_charge(run, ledger, tmp_path):
    (ledger.path.parent / "signing.key").write_bytes(b"short")
    with pytest.raises(BundleError, match="signing key"):
        run(tmp_path / "out")
    assert ledger.charges() == ()


@pytest.mark.parametrize("stage", ["fit", "sample"])
def test_a_run_that_breaks_after_its_last_mechanism_is_recovered(
    run, ledger, tmp_path, monkeypatch, stage
):
    """The rows are those that the run would have drawn, and the bundle verifies."""

    def progress(at, share):
        if at == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "out", progress=progress)
    (charge,) = ledger.charges()
    assert charge.state == "failed"
    assert recovery_file.unwritten_charges(ledger.path.parent) == (1,)
    command = ["recover", "1", "--workspace", str(ledger.path.parent), "--out"]
    assert main.main([*command, str(tmp_path / "out")]) == 0
    assert verification.verify(tmp_path / "out", workspace=ledger.path.parent).ok
    assert len(pd.read_parquet(tmp_path / "out" / bundle_files.PARQUET)) == 50
    assert "made from its kept noisy counts" in ledger.charges()[0].corrections[0].note
    assert ledger.verify().ok
    assert main.main([*command, str(tmp_path / "again")]) == 2
    assert not (tmp_path / "again").exists()


_KILLED = """
import os, signal, sys
from prism_core.bundle.write import bundle_folder
from prism_core.cli.main import main
from prism_core.runs import charged_release

where, own = sys.argv.pop(1), charged_release.release

def dies(at, share):
    if at == where:
        os.kill(os.getpid(), signal.SIGKILL)

if where == "write":
    bundle_folder.write = lambda *args, **named: dies("write", 0.0)
charged_release.release = lambda *args, **named: own(*args, **named | {"progress": dies})
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def killed(make_run, tmp_path):
    """Makes a private release that dies by SIGKILL in a stage; gives its ledger and its command."""
    config = make_run(public=False, asset=50.0)
    place = ["--workspace", str(tmp_path / "ws")]
    command = ["release", str(config), "--out", str(tmp_path / "out"), *place]

    def kill(where: str) -> tuple[Ledger, list[str]]:
        done = subprocess.run(
            [sys.executable, "-c", _KILLED, where, *command],
            check=False,
            timeout=120,
            capture_output=True,
        )
        assert done.returncode == -signal.SIGKILL
        return Ledger(tmp_path / "ws"), command

    return kill


@pytest.mark.parametrize(
    ("where", "left", "ends"),
    [("fit", "reserved", "failed"), ("sample", "reserved", "failed"), ("write", "done", "done")],
)
def test_a_run_that_is_killed_after_its_last_mechanism_is_recovered(
    killed, where, left, ends, tmp_path
):
    """The charge is left as it was when the process died, and counts once."""
    ledger, command = killed(where)
    assert [charge.state for charge in ledger.charges()] == [left]
    assert main.main(["recover", "1", *command[2:]]) == 0
    assert [charge.state for charge in ledger.charges()] == [ends]
    assert verification.verify(tmp_path / "out", workspace=tmp_path / "ws").ok


def test_a_run_that_is_killed_before_its_charge_costs_nothing(killed, tmp_path):
    ledger, command = killed("charge")
    assert ledger.charges() == ()
    assert main.main(command) == 0
    assert [charge.state for charge in ledger.charges()] == ["done"]


def test_a_run_that_is_killed_while_it_measures_stays_charged(killed, tmp_path, capsys):
    """What was counted is not known to anybody, and may have been seen: it counts as spent."""
    ledger, command = killed("task")
    spent = ledger.balance("ward 7").spent_epsilon
    assert [charge.state for charge in ledger.charges()] == ["reserved"]
    assert spent > 0.0
    assert main.main(["recover", "1", *command[2:]]) == 2
    assert not (tmp_path / "out").exists()
    assert ledger.balance("ward 7").spent_epsilon == spent


@pytest.mark.parametrize("where", ["charge", "task", "fit", "sample", "write"])
@postgres.needing
def test_a_database_of_the_ledger_that_is_killed_in_a_stage_charges_once(
    make_run, ledger_database, postgres_server, monkeypatch, tmp_path, where
):
    """The run ends well or is made good by `prism recover`; what it cost stands there once."""
    config = make_run(public=False, asset=50.0)
    command = ["release", str(config), "--out", str(tmp_path / "out"), "--workspace"]
    command, own = [*command, str(tmp_path / "ws")], charged_release.release
    wrote, crashed = bundle_folder.write, []

    def crash(at: str, share: float = 0.0) -> None:
        if at == where and not crashed:
            crashed.append(at)
            postgres.crash(postgres_server)

    def write(*args, **named):
        crash("write")
        return wrote(*args, **named)

    monkeypatch.setattr(bundle_folder, "write", write)
    monkeypatch.setattr(
        charged_release, "release", lambda *args, **named: own(*args, **named | {"progress": crash})
    )
    ended = main.main(command)
    assert crashed == [where]
    postgres.recovered(postgres_server)
    ledger = Ledger(tmp_path / "ws")
    if ended != 0:
        # Before the charge: the command again. Afterwards: what was paid for is there.
        again = ["recover", "1", *command[2:]] if ledger.charges() else command
        assert main.main(again) == 0
    assert len(ledger.charges()) == 1
    assert verification.verify(tmp_path / "out", workspace=tmp_path / "ws").ok
    assert ledger.verify().ok


def _interrupted(run, out: Path) -> None:
    def progress(at, share):
        if at == "fit":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(out, progress=progress)


def test_nothing_is_recovered_that_the_ledger_does_not_hold(run, ledger, tmp_path):
    """An older copy of the ledger is put back on purpose: the charge is forgotten, not its result.

    Neither a number that is free again nor one that is given again to another charge covers it.
    """
    ledger.verify()
    older = ledger.path.read_bytes()
    _interrupted(run, tmp_path / "out")
    kept = ledger.path.parent / recovery_file.FOLDER / "charge-1.zip"
    content = kept.read_bytes()
    for name in ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "ledger.head"):
        (ledger.path.parent / name).unlink(missing_ok=True)
    ledger.path.write_bytes(older)
    with pytest.raises(PrismError, match="no charge 1"):
        recover(ledger.path.parent, 1, tmp_path / "out")
    run(tmp_path / "other", why="another purpose")
    kept.write_bytes(content)
    with pytest.raises(ConfigError, match="not what this ledger charged under that number"):
        recover(ledger.path.parent, 1, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert ledger.charges()[0].corrections == ()
    assert kept.is_file()


def test_what_was_kept_is_private_and_goes_with_the_folder(run, ledger, tmp_path, monkeypatch):
    seen = []
    real = release.fit_model

    def looking(*arguments, **others):
        (path,) = (ledger.path.parent / recovery_file.FOLDER).glob("charge-*.zip")
        seen.append(path.stat().st_mode & 0o077)
        return real(*arguments, **others)

    monkeypatch.setattr(release, "fit_model", looking)
    run(tmp_path / "out")
    assert seen == [0]
    assert list((ledger.path.parent / recovery_file.FOLDER).iterdir()) == []


def test_a_release_that_is_not_charged_keeps_nothing(schema, frame, tmp_path):
    made = bundles.rehearsed(schema, frame)
    assert made.charge is None
    with recovery_file.reserved_space(None, 10) as room:
        room.keep("release", None, {})
    assert recovery_file.unwritten_charges(tmp_path) == ()


# --- folders ---------------------------------------------------------------------------------


def test_a_folder_with_other_files_is_never_written(run, ledger, tmp_path):
    out = tmp_path / "project"
    out.mkdir()
    (out / "schema.yaml").write_text("mine")
    (out / "README.md").write_text("mine")
    for again in (False, True):
        with pytest.raises(ConfigError, match="files that are not of a run"):
            run(out, again=again)
    (out / "certificate.json").write_text("{}")
    (out / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="files that are not of a run"):
        run(out, again=True)
    assert (out / "schema.yaml").read_text() == "mine"
    assert ledger.charges() == ()


def test_the_same_folder_twice_keeps_the_first_release(make_run, tmp_path, monkeypatch, capsys):
    config = make_run(public=False, asset=50.0)
    command = ["release", str(config), "--workspace", str(tmp_path / "ws"), "--out"]
    assert main.main([*command, str(tmp_path / "run1")]) == 0
    first = (tmp_path / "run1" / bundle_files.CERTIFICATE).read_bytes()
    assert main.main([*command, str(tmp_path / "run1")]) == 2
    assert "holds an earlier run" in capsys.readouterr().err
    assert (tmp_path / "run1" / bundle_files.CERTIFICATE).read_bytes() == first
    assert len(Ledger(tmp_path / "ws").charges()) == 1
    assert main.main([*command, str(tmp_path / "run1"), "--replace"]) == 0
    assert (tmp_path / "run1" / bundle_files.CERTIFICATE).read_bytes() != first
    monkeypatch.chdir(config.parent)
    assert main.main([*command, "."]) == 2
    assert "not of a run" in capsys.readouterr().err
    assert (config.parent / "dag.csv").is_file()
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    assert main.main([*command, "."]) == 0
    assert (empty / bundle_files.CERTIFICATE).is_file()
    assert Path.cwd() == empty


def test_a_failed_replacement_leaves_the_former_run(run, ledger, tmp_path, monkeypatch):
    out = tmp_path / "out"
    run(out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(manifest, "write_manifest", full)
        with pytest.raises(BundleError, match="prism recover 2"):
            run(out, again=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_half_a_folder_is_no_run(run, tmp_path):
    run(tmp_path / "out")
    (tmp_path / "out" / bundle_files.MANIFEST).unlink()
    with pytest.raises(PrismError, match=r"manifest\.json is missing"):
        bundle_folder.read(tmp_path / "out")


# --- the other charged steps -----------------------------------------------------------------


def broken(monkeypatch, module, name):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, name, full)


OUTLINE = (
    "one_row_per_person: true\ncolumns:\n"
    "  - {name: age, kind: numeric, learn: true, lower: 0, upper: 120}\n"
    "  - {name: readmitted, kind: boolean}\n"
)


def test_a_learned_schema_is_recovered(make_run, tmp_path, monkeypatch, capsys):
    config = make_run(public=False, asset=50.0)
    (config.parent / "schema.yaml").write_text(OUTLINE)
    place = ["--workspace", str(tmp_path / "ws")]
    command = ["learn-domain", str(config), "--out", str(tmp_path / "s.yaml"), *place]
    with monkeypatch.context() as patched:
        broken(patched, schema_file, "save")
        assert main.main(command) == 2
    assert "prism recover 1" in capsys.readouterr().err
    assert main.main(["recover", "1", "--out", str(tmp_path / "s.yaml"), *place]) == 0
    assert schema_file.load(tmp_path / "s.yaml").prior.charge == 1


def test_a_learned_graph_and_a_comparator_are_recovered(make_run, tmp_path, monkeypatch, capsys):
    from prism_core.comparators import folder
    from prism_core.runs import charged_learning

    config, place = make_run(public=False, asset=50.0), ["--workspace", str(tmp_path / "ws")]
    with monkeypatch.context() as patched:
        broken(patched, charged_learning, "write_graph")
        command = ["learn-dag", str(config), "--out", str(tmp_path / "g.json"), *place]
        assert main.main(command) == 2
    assert main.main(["recover", "1", "--out", str(tmp_path / "g.json"), *place]) == 0
    assert formats.read(tmp_path / "g.json").prior.charge == 1
    with monkeypatch.context() as patched:
        broken(patched, folder, "write")
        command = ["comparator", str(config), "--method", "mst", "--out", str(tmp_path / "c")]
        assert main.main([*command, *place]) == 2
    assert "prism recover 2" in capsys.readouterr().err
    assert main.main(["recover", "2", "--out", str(tmp_path / "c"), *place]) == 0
    assert folder.read(tmp_path / "c").document["charge"] == 2
    assert main.main(["recover", "2", "--out", str(tmp_path / "d"), *place]) == 2
    assert "Nothing is kept for charge 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("step", "out"),
    [("release", "r"), ("learn-domain", "s.yaml"), ("learn-dag", "g.json"), ("comparator", "c")],
)
def test_a_ledger_that_is_gone_when_a_charge_is_closed_loses_nothing(
    make_run, tmp_path, monkeypatch, capsys, step, out
):
    config, place = make_run(public=False, asset=50.0), ["--workspace", str(tmp_path / "ws")]
    if step == "learn-domain":
        (config.parent / "schema.yaml").write_text(OUTLINE)
    command = [step, str(config), "--out", str(tmp_path / out), *place]
    command += ["--method", "mst"] if step == "comparator" else []

    def gone(ledger: Ledger, number: int, state: str) -> None:
        raise LedgerError(f"No answer to {state}.", field="workspace")

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "mark", gone)
        assert main.main(command) == 2
    said = capsys.readouterr().err
    assert "No answer to done." in said
    assert "prism recover 1" in said
    assert main.main(["recover", "1", "--out", str(tmp_path / out), *place]) == 0
    (charge,) = Ledger(tmp_path / "ws").charges()
    assert charge.state == "failed"
    assert (tmp_path / out).exists()


def test_a_damaged_file_of_what_was_kept_is_a_sentence(run, ledger, tmp_path):
    files.folder(ledger.path.parent / recovery_file.FOLDER)
    for content in (b"", b"PK", b"PK\x05\x06" + b"\0" * 18):
        (ledger.path.parent / recovery_file.FOLDER / "charge-7.zip").write_bytes(content)
        with pytest.raises(ConfigError, match="kept for charge 7 is damaged"):
            recover(ledger.path.parent, 7, tmp_path / "x")
