"""Folders of runs: who holds them, who finds them again, what a crash leaves."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from dashboard.jobs import folders, worker
from prism_core.data.encoding import encode
from prism_core.data.engines import scratch
from prism_core.errors import ConfigError, PrismError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.config import AssetConfig
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger.ledger import default_workspace
from prism_core.samples import catalogue
from prism_core.structure import formats
from tests.support.pages import session, texts, turned

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app
ASSET = AssetConfig(name="stays 2024", lifetime_epsilon=3.0, why="a test")


@pytest.fixture
def sleeper(monkeypatch):
    """A run's process that holds its lock and does nothing else; gives those that were started."""
    real, started = subprocess.Popen, []

    def sleeping(command, *, pass_fds, **_):
        assert command[1:4] == ["-P", "-m", "dashboard.jobs.child"]
        started.append(
            real([sys.executable, "-c", "import time; time.sleep(120)"], pass_fds=pass_fds)
        )
        return started[-1]

    monkeypatch.setattr(worker.subprocess, "Popen", sleeping)
    yield started
    for process in started:
        process.kill()
        process.wait()


def start(key: str = "a key") -> worker.Job:
    sample = catalogue.load("scm_spurious")
    table = encode(sample.schema, sample.train)
    plan = design(
        Brief(
            sample.schema,
            Task(target="Y"),
            Budget(),
            table.n,
            dag=formats.read(sample.dag_json),
            synthesis=Synthesis(model="naive_bayes"),
        )
    )
    return worker.start(plan, table, ASSET, 5, key=key, name="stays.csv")


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@pytest.mark.privacy
def test_a_folder_is_private_and_its_name_gives_no_key_away(sleeper):
    run = start()
    assert run.alive
    for folder in (run.folder, run.folder.parent, run.folder.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert "a key" not in folder.name
    assert modes(run.folder) == {0o600}
    assert (run.folder / folders.CODES).exists()


def test_one_run_at_a_time_and_another_project_is_free(sleeper):
    first = start()
    with pytest.raises(PrismError, match="under way already"):
        start()
    assert len(sleeper) == 1
    assert folders.newest("a key") == first.folder
    other = start("another key")
    assert other.folder.parent != first.folder.parent
    sleeper[0].kill()
    sleeper[0].wait()
    assert not folders.alive(first.folder)
    second = start()
    assert second.folder.name == "0002"
    assert folders.newest("a key") == second.folder


def test_a_run_that_told_its_outcome_is_no_obstacle_though_its_process_still_ends(sleeper):
    first = start()
    (first.folder / folders.OUTCOME).write_text('{"state": "cancelled"}')
    assert folders.alive(first.folder)
    assert not folders.under_way(first.folder)
    assert start().folder.name == "0002"


@pytest.mark.privacy
def test_a_killed_run_is_over_at_once_and_its_codes_are_deleted(sleeper):
    run = start()
    os.kill(sleeper[0].pid, signal.SIGKILL)
    sleeper[0].wait()
    outcome = run.outcome()
    assert (outcome.state, outcome.document) == ("failed", {})
    assert not (run.folder / folders.CODES).exists()
    assert run.charge() is None


@pytest.mark.privacy
def test_what_a_crash_left_is_swept_and_what_lives_or_was_paid_for_is_not(sleeper):
    living, dead, done = start("a"), start("b"), start("c")
    for process in sleeper[1:]:
        process.kill()
        process.wait()
    done.result.mkdir()
    (done.folder / folders.OUTCOME).write_text("{}")
    with folders.claimed() as (step, _):
        (step / folders.ROWS).write_text("private")
        with folders.claimed() as (finished, _):
            (finished / folders.OUTCOME).write_text("{}")
        folders.sweep()
        assert (step / folders.ROWS).exists()  # it is held
    left = scratch.make(default_workspace())
    folders.sweep()
    assert left.path.exists()
    left.close()
    assert (living.folder / folders.CODES).exists()
    assert not (dead.folder / folders.CODES).exists()
    assert dead.folder.exists()
    assert done.result.exists()
    assert not (step / folders.ROWS).exists()
    assert step.exists()  # nobody has looked at these yet
    assert finished.exists()
    old = time.time() - 8 * 24 * 3600
    for path in (finished / folders.OUTCOME, step / "in-use"):
        os.utime(path, (old, old))
    folders.sweep()
    assert not step.exists()
    assert not finished.exists()
    assert done.result.exists()


@pytest.mark.privacy
def test_nothing_is_left_of_a_run_that_could_not_be_started(monkeypatch):
    monkeypatch.setattr(worker, "_process", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        start()
    assert folders.newest("a key") is None


def test_a_workspace_that_cannot_be_written_is_a_sentence(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PRISM_WORKSPACE", str(tmp_path / "file"))
    with pytest.raises(ConfigError, match="workspace cannot be written"), folders.claimed():
        pass


def opened(key: str) -> AppTest:
    test = turned(session(address=key).run(), "release").run()
    assert not test.exception
    return test


def test_another_dashboard_finds_the_run_by_the_projects_key_and_can_end_it(sleeper):
    run = start()
    test = opened("a key")
    state = test.session_state["project"]
    assert state.release.job.process is None  # known from the folder alone
    assert state.release.job.plan.hash == run.plan.hash
    assert (state.data.name, state.account.asset, state.structure.target) == (
        "stays.csv",
        "stays 2024",
        "Y",
    )
    assert "cancelled now, nothing is spent" in texts(test)
    assert "the one in the browser's address bar now, with `?project=`" in texts(test)
    test.button(key="release_cancel").click().run()
    assert sleeper[0].wait() == -signal.SIGTERM
    assert "The run was cancelled" in texts(test)
    assert "Nothing is spent:" in texts(test)
    assert not (run.folder / folders.CODES).exists()
    # Nobody else gets there.
    stranger = opened("no key")
    assert stranger.session_state["project"].release.job is None


def aged(run: worker.Job) -> None:
    """The folder as version 0.1 wrote it: the kind of the work stood nowhere."""
    about = json.loads((run.folder / folders.JOB).read_text())
    assert about.pop("kind") == "release"
    (run.folder / "about.json").write_text(json.dumps(about))
    (run.folder / folders.JOB).unlink()


def test_a_run_of_version_0_1_is_found_again(sleeper):
    run = start("an old key")
    aged(run)
    state = opened("an old key").session_state["project"]
    assert state.release.job.plan.hash == run.plan.hash
    assert state.data.name == "stays.csv"


def test_a_run_that_this_version_cannot_read_is_a_sentence_and_stays(sleeper):
    run = start("a lost key")
    aged(run)
    (run.folder / folders.CONFIG).write_text("[of_another_time]\nx = 1\n")
    test = opened("a lost key")
    assert test.session_state["project"].release.job is None
    said = [each.value for each in test.warning if "cannot be shown" in each.value]
    assert len(said) == 1
    assert run.folder.name in said[0]
    assert run.folder.is_dir()


def test_a_run_of_the_project_is_shown_whatever_was_loaded_meanwhile(sleeper):
    test = opened("")
    run = start(test.session_state["project"].key)
    test.run()
    assert not test.exception
    assert test.session_state["project"].release.job.folder == run.folder
    assert "release_cancel" in [button.key for button in test.button]


def test_half_made_folders_are_passed_over():
    with folders.claimed("a key") as (folder, _):
        assert worker.find("a key") is None
    for text in ("", "{", "[]", '{"n": 3}'):
        (folder / folders.JOB).write_text(text)
        assert worker.find("a key") is None
