"""The queue of runs on a server: so many at once, and no place outlives its process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dashboard.jobs import folders, worker
from dashboard.key import identity
from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import ConfigError
from prism_core.hosting import configuration
from prism_core.hosting.configuration import RunLimits, hosted_limits
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.rules import HOSTING_VARIABLE
from tests.support.hosting import claims, hosting_file
from tests.support.wards import planned

pytestmark = [pytest.mark.app, pytest.mark.slow]

_HOLD = """
import sys, time
from pathlib import Path
from dashboard.jobs import queue
queue.take(Path(sys.argv[1]), int(sys.argv[2]))
print("taken", flush=True)
time.sleep(600)
"""


class Holder:
    """A process that waits for a place and keeps it until it is killed."""

    def __init__(self, root: Path, workers: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _HOLD, str(root), str(workers)],
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        os.set_blocking(self.process.stdout.fileno(), False)

    def has_a_place(self) -> bool:
        self.told = getattr(self, "told", b"") + (self.process.stdout.read() or b"")
        return b"taken" in self.told

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def hold(workspace):
    made: list[Holder] = []

    def start(workers: int = 1) -> Holder:
        made.append(Holder(workspace / folders.FOLDER, workers))
        return made[-1]

    (workspace / folders.FOLDER).mkdir(parents=True)
    yield start
    for one in made:
        one.kill()


def until(true, seconds: float = 60.0) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_no_more_work_at_once_than_there_are_workers_and_a_killed_one_makes_room(hold):
    first, second = hold(2), hold(2)
    until(lambda: first.has_a_place() and second.has_a_place())
    third = hold(2)
    time.sleep(1.0)
    assert not third.has_a_place()
    first.kill()
    until(third.has_a_place)


def test_memory_beyond_the_bound_is_an_error_of_that_process():
    script = (
        "import numpy\nfrom dashboard.jobs import queue\nqueue.bound_memory(1)\n"
        "numpy.ones(2**20)\n"
        "try:\n    numpy.ones(2**28)\nexcept MemoryError:\n    print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.stdout == "refused\n", done.stderr


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The hosted form with one worker."""
    path = hosting_file(
        tmp_path / "hosting.toml", "https://studio.example", "https://login.example"
    )
    with path.open("a") as file:
        file.write("\n[runs]\nworkers = 1\nmemory_gb = 8\n")
    monkeypatch.setenv(HOSTING_VARIABLE, str(path))
    # No browser is there to be logged in.
    monkeypatch.setattr(identity, "claims", lambda: claims("u-ada", time.time()))
    return path


def test_a_run_waits_for_a_worker_and_can_be_cancelled_meanwhile(server, hold, schema, frame):
    busy = hold()
    until(busy.has_a_place)
    plan, table = planned(schema), encode(schema, RawTable(frame), public=True)
    waits, follows = (worker.start(plan, table, None, seed=1, key=key) for key in "ab")
    try:
        until(lambda: "jobs.queue" in _command(waits))
        time.sleep(0.5)
        assert waits.waiting
        assert follows.waiting
        assert waits.outcome().state == "running"
        waits.cancel()
        assert waits.outcome().state == "cancelled"
        assert not (waits.folder / folders.CODES).exists()
        assert (follows.folder / folders.CODES).exists()
        busy.kill()
        until(lambda: follows.outcome().state != "running", 120.0)
        assert follows.outcome().state == "done", follows.outcome().message
        assert not follows.waiting
        assert not (follows.folder / folders.CODES).exists()
    finally:
        waits.cancel()
        follows.cancel()


def _command(job: worker.Job) -> str:
    return Path(f"/proc/{job.process.pid}/cmdline").read_text()


def test_a_run_that_is_too_large_says_so_and_what_to_do(workspace, tmp_path, monkeypatch):
    from dashboard.jobs import child

    folder = tmp_path / "job"
    folder.mkdir()
    folders.describe(folder, "story", story="x")

    def large(_):
        raise MemoryError

    monkeypatch.setitem(child._KINDS, "story", large)
    monkeypatch.setattr(child.signal, "signal", lambda *_: None)
    child.main(folder)
    assert "memory_gb under [runs]" in (folder / folders.OUTCOME).read_text()


def test_a_laptop_has_no_queue(monkeypatch):
    monkeypatch.delenv(HOSTING_VARIABLE, raising=False)
    assert configuration.limits() == RunLimits()
    assert configuration.limits().workers is None


def test_the_hosting_file_bounds_runs(server, monkeypatch):
    assert configuration.limits() == RunLimits(workers=1, memory_gb=8)
    assert hosted_limits({}).workers == os.cpu_count()
    with monkeypatch.context() as large:
        large.setattr(os, "cpu_count", lambda: 128)  # more than a hosting file may say
        assert hosted_limits({"memory_gb": 8}) == RunLimits(workers=64, memory_gb=8)
    from dashboard import launch

    text = server.read_text().replace("workers = 1", "upload_mb = 20")
    server.write_text(text)
    assert "--server.maxUploadSize=20" in launch.hosted_options(server)


@pytest.mark.parametrize(
    "wrong",
    [
        {"workers": 0},
        {"workers": 1.5},
        {"workers": True},
        {"memory_gb": "much"},
        {"memory_gb": 0.1},
        {"kept_days": 0},
        {"upload_mb": 257},
    ],
)
def test_limits_that_are_none_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(ConfigError, match=f"{name} in the hosting file must be") as caught:
        hosted_limits(wrong)
    assert caught.value.field == name


def test_folders_are_kept_as_long_as_the_hosting_file_says(server, workspace):
    with folders.claimed() as (folder, _):
        (folder / folders.OUTCOME).write_text("{}")
    days = 3 * 24 * 3600
    then = time.time() - days
    for path in (folder / folders.OUTCOME, folder / folders._LOCK):
        os.utime(path, (then, then))
    folders.sweep()
    assert folder.exists()
    server.write_text(f"{server.read_text()}kept_days = 2\n")
    folders.sweep()
    assert not folder.exists()
    assert not Ledger().charges()
