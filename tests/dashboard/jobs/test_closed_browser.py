"""The browser is closed while a run is under way: the run goes on, and the page finds it again."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from dashboard.jobs import folders, worker
from dashboard.jobs.progress import TITLES, WRITING
from prism_core.bundle.verify import verification
from prism_core.data.encoding import encode
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.config import AssetConfig
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.ledger import default_workspace
from prism_core.structure import formats

pytestmark = [pytest.mark.app, pytest.mark.slow]

KEY = "the project's key"
STAGES = ("charge", "task", "background", "fit", "sample", WRITING)
"""Of a plan whose features are known and whose model has no third columns."""
WAITING = """
import sys, time
from pathlib import Path
from dashboard.jobs import child, progress
folder, stage = Path(sys.argv[1]), sys.argv[2]
enter = progress.RunProgress.enter
def entered(self, name):
    enter(self, name)
    if name == stage:
        (folder / "there").touch()
        while not (folder / "go").exists():
            time.sleep(0.02)
progress.RunProgress.enter = entered
child.main(folder)
"""


def waited_for(happened) -> None:
    end = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < end, "the run did not come so far"
        time.sleep(0.05)


assert set(STAGES) <= set(TITLES)


@pytest.mark.parametrize("stage", STAGES)
def test_a_run_goes_on_and_is_found_again(spurious, monkeypatch, stage):
    """Nothing of the page is left: neither its state nor the handle of the process."""
    real = subprocess.Popen

    def waiting(command, **others):
        return real([sys.executable, "-c", WAITING, command[-1], stage], **others)

    table = encode(spurious.schema, spurious.train)
    plan = design(
        Brief(
            spurious.schema,
            Task(target="Y"),
            Budget(),
            table.n,
            dag=formats.read(spurious.dag_json),
            synthesis=Synthesis(model="naive_bayes"),
        )
    )
    with monkeypatch.context() as patched:
        patched.setattr(worker.subprocess, "Popen", waiting)
        asset = AssetConfig(name="stays", lifetime_epsilon=3.0, why="a test")
        begun = worker.start(plan, table, asset, 5, key=KEY, name="stays.csv")
    folder, process = begun.folder, begun.process
    assert process is not None
    try:
        waited_for((folder / "there").exists)
        found = worker.find(KEY)  # as a page that is opened anew asks
        assert found is not None
        assert found.job.process is None
        assert found.job.folder == folder
        assert found.job.plan.hash == plan.hash
        where = found.job.outcome()
        assert (where.state, where.stage) == ("running", stage)
        (folder / "go").touch()
        waited_for(lambda: found.job.outcome().state != "running")
        assert found.job.outcome().state == "done", found.job.outcome().message
    finally:
        process.kill()
        process.wait()
    (charge,) = Ledger(default_workspace()).charges()
    assert charge.state == "done"
    assert verification.verify(found.job.result, workspace=default_workspace()).ok
    assert not (folder / folders.CODES).exists()
    assert worker.find("another key") is None
