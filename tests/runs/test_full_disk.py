"""A full disk at each write of each command: nothing paid is lost, nothing half is left."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress

import pytest

from dashboard.jobs import child, folders
from dashboard.jobs.folders import OUTCOME
from prism_core.cli import main
from prism_core.data.encoding import encode
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import LedgerError
from prism_core.evaluation.inside_epsilon import holdout_state
from prism_core.planning.wishes import config
from prism_core.privacy.ledger import Ledger
from prism_core.rehearsal import Rehearsal, stand_in_rows
from prism_core.runs import recovery_file
from tests.support.disks import FullDisk, fill, small_disk

pytestmark = pytest.mark.privacy

OUTLINE = (
    "one_row_per_person: true\ncolumns:\n"
    "  - {name: age, kind: numeric, learn: true, lower: 0, upper: 120}\n"
    "  - {name: readmitted, kind: boolean}\n"
)
MOST = 60
"""More writes than any command makes."""


@pytest.fixture
def disk(tmp_path):
    """What is on the full disk: the workspace, and where results go."""
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


@pytest.fixture
def place(disk):
    return ["--workspace", str(disk / "ws")]


@pytest.fixture
def released(make_run, disk, place):
    """A charged release and the configuration that it was made with."""
    configuration = make_run(public=False, asset=200.0)
    assert main.main(["release", str(configuration), "--out", str(disk / "run"), *place]) == 0
    return configuration, disk / "run"


def sweep(command, out, disk, monkeypatch, capsys, *, half, after):
    """Run a command with the disk full from its first write on, from its second, and so on.

    Args:
        command: gives the arguments for the place of a result.
        out: where the result goes; it may be there.
        half: whether a file that is opened takes half of what is written.
        after: what is asked of the state after a refusal: gets the words that were said.
    """
    for first in range(1, MOST):
        before = _content(out)
        with monkeypatch.context() as patched:
            full = FullDisk(disk, first, half=half)
            full.install(patched)
            status = main.main(list(command))
        said = capsys.readouterr()
        if full.writes < first:
            assert status == 0, said.err
            return
        if status == 0:  # what it could not write was of no consequence: a note, a cache
            assert out is None or _content(out) is not None
        else:
            assert status == 2, said.err
            assert "unexpected" not in said.err
            assert _content(out) == before
            after(said.err)
        assert _leftovers(disk) == []
    raise AssertionError("the command never came to its end")


def _content(out):
    if out is None:
        return None
    if out.is_dir():
        return {path.name: path.read_bytes() for path in out.iterdir()}
    return out.read_bytes() if out.exists() else None


def _leftovers(disk):
    return [path for path in disk.rglob(".*") if path.is_file() or path.is_dir()]


def nothing(_):
    """A command that is not charged has nothing to lose."""


@pytest.fixture
def recovered(disk, place):
    """After a refusal: not charged, or what was paid for can be written elsewhere."""
    seen = {"charges": len(Ledger(disk / "ws").charges())} if (disk / "ws").is_dir() else {}

    def check(said):
        charges = Ledger(disk / "ws").charges()
        new = [one for one in charges[seen.get("charges", 0) :] if one.counts]
        seen["charges"] = len(charges)
        for charge in new:
            seen["kept"] = True
            assert charge.id in recovery_file.unwritten_charges(disk / "ws"), said
            assert f"prism recover {charge.id}" in said
            elsewhere = disk / f"recovered-{charge.id}.json"
            assert main.main(["recover", str(charge.id), "--out", str(elsewhere), *place]) == 0

    check.seen = seen
    return check


HALF = pytest.mark.parametrize("half", [False, True], ids=["not opened", "half written"])


@HALF
@pytest.mark.parametrize("step", ["learn-domain", "learn-dag", "comparator"])
def test_learning_and_comparators(
    make_run, disk, place, monkeypatch, capsys, half, step, recovered
):
    configuration, out = make_run(public=False, asset=200.0), disk / "out.json"
    command = [step, str(configuration), *place, "--out", str(out)]
    if step == "learn-domain":
        (configuration.parent / "schema.yaml").write_text(OUTLINE)
    if step == "comparator":
        command += ["--method", "independent"]
    Ledger(disk / "ws")
    sweep(command, out, disk, monkeypatch, capsys, half=half, after=recovered)
    assert recovered.seen["kept"]


@HALF
def test_private_numbers(released, disk, place, monkeypatch, capsys, half, recovered):
    """Bought before: the earlier document stays until the new one stands whole."""
    configuration, run = released
    out = disk / "numbers.json"
    out.write_text("bought before")
    command = [
        "evaluate",
        str(run),
        "--holdout",
        str(configuration.parent / "holdout.csv"),
        "--private",
        "0.5",
        "--out",
        str(out),
        *place,
    ]
    sweep(command, out, disk, monkeypatch, capsys, half=half, after=recovered)
    assert recovered.seen.get("kept", False) == half  # opened before the charge
    assert json.loads(out.read_text())["charge"]


@HALF
def test_a_session_of_questions(released, disk, place, monkeypatch, capsys, half):
    """Opened or not charged; a question is answered, or not asked: no answer is spent unseen."""
    configuration, run = released
    holdout = str(configuration.parent / "holdout.csv")

    def opened(said):
        counted = [one for one in Ledger(disk / "ws").charges() if one.counts]
        assert len(counted) == 1 + len(holdout_state.places(disk / "ws")), said

    command = ["holdout", "open", str(run), "--holdout", holdout, "--epsilon", "1", *place]
    sweep(command, None, disk, monkeypatch, capsys, half=half, after=opened)
    session = holdout_state.places(disk / "ws")[0]

    def asked(said):
        known = holdout_state.read(session)
        assert all(entry.source != holdout_state.LOST for entry in known.entries), said
        assert known.pending is None

    command = ["holdout", "ask", session.name, *place]
    sweep(command, None, disk, monkeypatch, capsys, half=half, after=asked)
    assert len(holdout_state.read(session).entries) == 1


@HALF
def test_what_a_committee_reads(released, disk, place, monkeypatch, capsys, half):
    """Protocol, approval, report, the ledger's export: whole, or as they were before."""
    configuration, run = released
    protocol, record = disk / "p.json", disk / "a.json"
    given = ["--by", "A. B.", "--role", "chair", "--date", "2025-01-31"]
    for command, out in (
        (["protocol", str(configuration), "--out", str(protocol), *place], protocol),
        (["approve", str(protocol), *given, "--out", str(record)], record),
        (["report", str(run), "--out", str(disk / "r.html")], disk / "r.html"),
        (["ledger", "export", "--out", str(disk / "l.json"), *place], disk / "l.json"),
        (
            ["dag", "convert", str(configuration.parent / "dag.csv"), str(disk / "g.dot")],
            disk / "g.dot",
        ),
        (["sample-data", "scm_spurious", "--out", str(disk / "sample")], disk / "sample"),
    ):
        sweep(command, out, disk, monkeypatch, capsys, half=half, after=nothing)


@HALF
def test_a_rehearsal_goes_on_without_a_place_for_its_points(
    make_run, disk, place, monkeypatch, capsys, half
):
    """What is kept spares a later rehearsal its runs; this one loses nothing."""
    configuration = make_run(public=True)
    command = [
        "rehearse",
        str(configuration),
        "--epsilon",
        "1",
        "--seeds",
        "2",
        "--jobs",
        "1",
        "--rows",
        "200",
        *place,
    ]
    with monkeypatch.context() as patched:
        full = FullDisk(disk, 1, half=half)
        full.install(patched)
        status = main.main(command)
    said = capsys.readouterr()
    assert status == 0, said.err
    assert full.writes > 0


# --- the page's run ---------------------------------------------------------------------------


@HALF
def test_the_run_of_the_page(make_run, disk, monkeypatch, half):
    """The job says what happened, and what was paid for can be recovered."""
    from numpy import save

    monkeypatch.setenv("PRISM_WORKSPACE", str(disk / "ws"))
    configuration = make_run(public=False, asset=200.0)
    loaded = config.load(configuration)
    table = encode(schema_file.load(loaded.table.schema), read_table(loaded.table.train))
    Ledger(disk / "ws")
    kept = False
    for first in range(1, MOST):
        folder = disk / f"job{first}"
        folder.mkdir()
        for name in ("config.toml", "schema.yaml", "dag.csv"):
            shutil.copy(configuration.parent / name, folder / name)
        save(folder / folders.CODES, table.codes)
        folders.describe(folder, "release", plan_sha256=_plan(loaded, table))
        before = len(Ledger(disk / "ws").charges())
        with monkeypatch.context() as patched:
            full = FullDisk(disk, first, half=half)
            full.install(patched)
            with suppress(OSError):  # even the outcome found no room: the page says that it ended
                child.main(folder)
        path = folder / OUTCOME
        outcome = json.loads(path.read_text()) if path.is_file() else {}
        new = [one for one in Ledger(disk / "ws").charges()[before:] if one.counts]
        if full.writes < first:
            assert outcome["state"] == "done", outcome
            assert kept
            return
        if outcome.get("state") != "done" and new:
            kept = True
            assert (
                not (folder / folders.RESULT).exists()
                or (folder / folders.RESULT / "manifest.json").exists()
            )
            assert {one.id for one in new} <= set(recovery_file.unwritten_charges(disk / "ws"))
            assert not outcome or f"prism recover {new[0].id}" in outcome["message"]
        assert not (folder / folders.CODES).exists()
    raise AssertionError("the job never came to its end")


def _plan(loaded, table):
    from prism_core.planning.brief import Brief
    from prism_core.planning.design import design
    from prism_core.structure import formats

    return design(
        Brief(
            table.schema,
            loaded.task,
            loaded.budget,
            table.n,
            dag=formats.read(loaded.table.dag),
            synthesis=loaded.synthesis,
        )
    ).hash


# --- a disk that is really full ---------------------------------------------------------------


def test_a_file_system_that_is_full(make_run, tmp_path, capsys):
    """The whole program on a file system of a few megabytes, with less and less room."""
    configuration = make_run(public=False, asset=200.0)
    with small_disk(tmp_path / "small", 24 * 2**20) as disk:
        if disk is None:
            pytest.skip("no file system can be mounted here; the tests above pretend")
        place = ["--workspace", str(disk / "ws")]
        ledger = Ledger(disk / "ws")
        states = set()
        for left in (0, 4_000, 12_000, 40_000, 200_000, 700_000, 2_000_000, 16_000_000):
            filling = fill(disk, left)
            before = len([one for one in ledger.charges() if one.counts])
            out = disk / f"out{left}"
            status = main.main(["release", str(configuration), "--out", str(out), *place])
            said = capsys.readouterr().err
            filling.unlink()
            assert status in (0, 2), said
            assert "unexpected" not in said
            after = [one for one in ledger.charges() if one.counts]
            assert ledger.verify().ok
            if status == 0:
                states.add("written")
            elif len(after) > before:
                states.add("kept")
                number = str(after[-1].id)
                assert main.main(["recover", number, "--out", str(out), *place]) == 0
            else:
                states.add("not charged")
            shutil.rmtree(out, ignore_errors=True)
        assert {"not charged", "written"} <= states


def test_a_ledger_on_a_full_file_system_says_so(tmp_path):
    with small_disk(tmp_path / "small", 2**20) as disk:
        if disk is None:
            pytest.skip("no file system can be mounted here")
        ledger = Ledger(disk / "ws")
        filling = fill(disk, 0)
        with pytest.raises(LedgerError, match="full"):
            _many_assets(ledger)
        filling.unlink()
        assert ledger.verify().ok


def _many_assets(ledger):
    for number in range(200):
        ledger.register(f"asset {number}", epsilon=1.0, delta=1e-6)


def test_a_stand_in_and_a_rehearsal_that_a_full_disk_cut_are_refused(tmp_path, schema):
    from prism_core.errors import ConfigError

    rows = stand_in_rows.from_graph(schema, "readmitted", 60, holdout=20)
    stand_in_rows.save(rows, tmp_path)
    for path in sorted(tmp_path.iterdir()):
        whole = path.read_bytes()
        for cut in (0, 10, len(whole) // 2, len(whole) - 5):
            path.write_bytes(whole[:cut])
            with pytest.raises(ConfigError, match="cannot be read"):
                stand_in_rows.load(tmp_path)
        path.write_bytes(whole)
    assert stand_in_rows.load(tmp_path).hash == rows.hash
    with pytest.raises(ConfigError, match="has the entries"):
        Rehearsal.from_dict({"variants": []})
