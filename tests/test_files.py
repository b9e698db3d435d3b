"""What the product writes into a workspace is for this user only, whatever the folder's mode."""

from __future__ import annotations

import ast
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from dashboard.jobs import folders, progress
from prism_core import files
from prism_core.bundle import signing
from prism_core.data.encoding import encode
from prism_core.data.engines import scratch
from prism_core.data.engines.out_of_core import open_table
from prism_core.data.tables.address import Address
from prism_core.data.tables.raw_table import RawTable
from prism_core.evaluation.inside_epsilon import holdout_state
from prism_core.planning.wishes import scenario_files
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.scenario_files import ScenarioBook
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger, fingerprint
from prism_core.rehearsal import PointStore, stand_in_rows
from tests.support.product import nodes_by_function

ROOT = Path(__file__).parents[1]


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """A workspace that others may list and enter, under an umask that lets them read new files."""
    before = os.umask(0o022)
    folder = tmp_path / "workspace"
    folder.mkdir(mode=0o755)
    monkeypatch.setenv("PRISM_WORKSPACE", str(folder))
    yield folder
    os.umask(before)


def wide(folder: Path) -> list[str]:
    """Files that others may do something with."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_mode & 0o077]
    return [str(path.relative_to(folder)) for path in found]


@pytest.mark.privacy
def test_the_ledger_and_what_sqlite_puts_beside_it(shared):
    ledger = Ledger(shared)
    ledger.register("ward 7", epsilon=1.0, delta=1e-6)
    with ledger._store.transaction(write=True) as db:
        db.execute("SELECT 1 FROM assets").fetchall()
        assert {path.name for path in shared.iterdir()} >= {
            "ledger.sqlite",
            "ledger.sqlite-wal",
            "ledger.sqlite-shm",
        }
        assert wide(shared) == []
    assert wide(shared) == []
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755  # hers, and it may hold other things


@pytest.mark.privacy
def test_a_ledger_that_an_earlier_version_left_readable_is_narrowed(shared):
    Ledger(shared)
    (shared / "ledger.sqlite").chmod(0o644)
    (shared / "ledger.sqlite-wal").write_bytes(b"")
    Ledger(shared)
    assert wide(shared) == []


@pytest.mark.privacy
def test_every_part_of_a_workspace(shared, schema, frame):
    """One of each: secrets, fingerprints, scenarios, rehearsals, runs, kept results, scratch."""
    signing.sign(b"content", shared)
    fingerprint.recognise(shared, "ward 7", encode(schema, RawTable(frame)))
    chosen = Scenario(
        name="one", task=Task(target="readmitted"), budget=Budget(), synthesis=Synthesis()
    )
    ScenarioBook(shared).save("stays", chosen)
    files.replace(holdout_state.make(shared) / "session.json", b"{}")
    with folders.claimed("key") as (folder, _):
        teller = progress.RunProgress(folder)
        teller.log("a line")
        progress.write_json(folder / "outcome.json", {"state": "done"})
        files.put(folder / "config.toml", "")
        made = stand_in_rows.from_rows(schema, "readmitted", RawTable(frame))
        stand_in_rows.save(made, folder)
    result = shared.parent / "result"
    result.mkdir()
    (result / "synthetic.csv").write_text("a\n1\n")
    folders.keep_result(result, "charge-1")
    PointStore(shared / "rehearsals").add("key", [])
    csv = shared.parent / "rows.csv"
    frame.to_csv(csv, index=False)
    opened = open_table(Address("file", str(csv)), shared)
    stored = opened.store(schema, public=False)
    stored.set_aside(5, np.random.default_rng(1))
    with scratch.make(shared).write_new("codes"):
        assert wide(shared) == []
    made_files = {path.name for path in shared.rglob("*") if path.is_file()}
    assert made_files >= {
        "signing.key",
        "fingerprint.key",
        "fingerprints.jsonl",
        "session.json",
        "outcome.json",
        "config.toml",
        "stand_in.npz",
        "synthetic.csv",
        "key.jsonl",
    }
    assert scenario_files.dumps([chosen])


@pytest.mark.privacy
def test_a_file_that_was_wide_is_narrowed_when_it_is_added_to(shared):
    path = shared / "fingerprints.jsonl"
    path.write_text("\n")
    path.chmod(0o664)
    files.append(path, b"more")
    assert wide(shared) == []
    assert path.read_bytes() == b"\nmore"


def test_a_file_is_replaced_as_a_whole(shared, monkeypatch):
    path = shared / "one.json"
    files.replace(path, b"first")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        files.replace(path, b"second")
    assert path.read_bytes() == b"first"
    assert [entry.name for entry in shared.iterdir()] == ["one.json"]  # no draft is left


def test_a_link_that_stands_where_a_new_file_is_to_be_made_is_not_followed(shared):
    target = shared.parent / "elsewhere"
    (shared / "codes.npy").symlink_to(target)
    with pytest.raises(FileExistsError):
        files.put(shared / "codes.npy", "rows")
    assert not target.exists()


WHO_WRITES = {
    # The one place for files of a workspace.
    "prism_core/files.py:give_all",
    "prism_core/files.py:whole",
    # Packages that write a folder's files, or a script beside them; `files` puts in place whatever
    # else a command is told to write.
    "prism_core/bundle/manifest.py:write_manifest",
    "prism_core/bundle/write/bundle_folder.py:write",
    "prism_core/bundle/write/refit_script.py:main",
    # Temporary folders and files of mode 0700 or 0600, outside of any workspace.
    "dashboard/key/open_browser.py:page",
    "prism_core/bundle/report/report_copy.py:_drawn_by_chromium",
    "prism_core/comparators/external/interpreter.py:synthetic",
    "prism_core/comparators/external/runner.py:privbayes",
    # Into a file that `files` has opened.
    "dashboard/jobs/worker.py:learn",
    "prism_core/rehearsal/stand_in_rows.py:save",
    # Parquet in memory, or on the standard output of a child.
    "prism_core/bundle/verify/counts_check.py:_parquet_findings",
    "prism_core/comparators/folder.py:contents",
    "prism_core/data/tables/reader_child.py:main",
}
"""The functions that write otherwise than by `files`; none of them into a workspace itself."""


@pytest.mark.privacy
def test_whatever_writes_into_a_workspace_goes_through_one_place():
    writing = {"write_text", "write_bytes", "to_parquet", "savez", "savetxt", "mkstemp"}
    found = set()
    for place, node in nodes_by_function():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            mode = [
                each.value
                for each in [*node.args, *(key.value for key in node.keywords)]
                if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
            opened = node.func.attr == "open" and any(
                set(text) <= set("wxab+t") and set(text) & set("wxa") for text in mode
            )
            if node.func.attr in writing or opened:
                found.add(place)
    assert found == WHO_WRITES
