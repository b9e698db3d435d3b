"""A table that stays where it is: from its address on the page Data to a finished run."""

from __future__ import annotations

import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dashboard import launch
from dashboard.jobs import worker
from dashboard.key import access, machine_key, open_browser
from dashboard.key.place import Place
from prism_core.data.engines import out_of_core
from prism_core.data.engines.stored_table import StoredTable
from prism_core.data.tables import address
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.config import AssetConfig
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.runs.inputs import in_memory
from tests.support.pages import session, turned

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = [pytest.mark.app, pytest.mark.slow]


@pytest.fixture
def parts(tmp_path, frame):
    for number in range(2):
        frame[number::2].to_csv(tmp_path / f"part{number}.csv", index=False)
    return str(tmp_path / "part*.csv")


def opened() -> AppTest:
    return turned(session(), "data").run()


def has_path_field(test: AppTest) -> bool:
    return "place_text" in [field.key for field in test.text_input]


@pytest.mark.privacy
def test_only_a_session_with_the_key_may_name_a_path(studio_key, stranger):
    """Others on the machine reach 127.0.0.1, too; the app reads with its starter's rights."""
    test = turned(stranger(session()), "data").run()
    assert not has_path_field(test)
    test.text_input(key="key_typed").set_value(studio_key[:-1]).run()
    assert not has_path_field(test)
    assert any("not the key" in error.value for error in test.error)
    test.text_input(key="key_typed").set_value(f" {studio_key} ").run()
    test.session_state[access._SETTLED] = ""  # the browser keeps it now
    assert has_path_field(test.run())
    assert not test.exception


@pytest.mark.privacy
def test_the_launcher_hands_a_new_key_to_the_app_and_shows_it(monkeypatch, capsys):
    monkeypatch.setattr(launch, "warm", lambda: None)
    keys = []

    def started(_, command):
        keys.append(launch.os.environ[machine_key.VARIABLE])
        assert keys[-1] not in " ".join(command)  # others see the command of a process

    monkeypatch.setattr(launch.os, "execv", started)
    for _ in range(2):
        launch.main(["--no-browser"])
    assert len(set(keys)) == 2
    told = capsys.readouterr().out
    assert all(key in told and machine_key.matches(key) == (key == keys[-1]) for key in keys)


@pytest.mark.privacy
def test_the_browser_is_started_with_a_private_file_and_not_with_the_key(
    monkeypatch, tmp_path, studio_key
):
    """Every user of the machine may read the command line of a process."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(open_browser, "_READS", 0.0)
    monkeypatch.setattr(open_browser, "_answers", lambda _: True)
    asked = []

    def start(address):
        path = Path(address.removeprefix("file://"))
        asked.append((address, path.read_text(), stat.S_IMODE(path.stat().st_mode)))

    monkeypatch.setattr(open_browser.webbrowser, "open", start)
    open_browser.main(Place())
    ((address, content, mode),) = asked
    assert address.startswith(f"file://{tmp_path}/")
    assert studio_key not in address
    assert f"http://127.0.0.1:8501/?key={studio_key}" in content
    assert mode == 0o600
    assert not list(tmp_path.glob("*.html"))  # it is gone once it was read
    monkeypatch.setattr(
        open_browser.subprocess, "Popen", lambda command, **_: asked.append(command)
    )
    open_browser.begin(Place())
    assert studio_key not in " ".join(asked[-1])


@pytest.mark.privacy
def test_the_app_is_started_for_this_machine_only(monkeypatch):
    """A user's own settings must not open it wider; options on the command line come last."""
    flags = launch.options(Place())
    for flag in (
        "--server.address=127.0.0.1",
        "--server.allowedHosts=127.0.0.1",
        "--server.port=8501",
        "--server.allowedHosts=localhost",
        "--server.enableCORS=true",
        "--server.enableXsrfProtection=true",
        "--server.enableAgentApi=false",
        "--server.enableStaticServing=false",
        "--browser.serverAddress=127.0.0.1",
        "--browser.gatherUsageStats=false",
        "--client.showErrorDetails=none",
    ):
        assert flag in flags


def test_a_pattern_of_files_is_opened_and_its_rows_are_not_read(parts):
    test = opened()
    test.text_input(key="place_text").set_value(parts)
    test.button(key="place_open").click().run()
    assert not test.exception
    found = test.session_state["project"]
    assert isinstance(found.data.raw, out_of_core.BigTable)
    assert found.data.n + found.data.holdout_rows == 300
    assert "readmitted" in found.data.raw.header
    test.radio(key="schema_way").set_value("header").run()
    test.button(key="draft_header").click().run()
    assert not test.exception
    found.data.raw.close()


def test_a_table_replaces_no_project_of_ones_own_without_a_question(parts):
    test = opened()
    test.text_input(key="place_text").set_value(parts)
    test.button(key="place_open").click().run()
    first = test.session_state["project"]
    test.text_input(key="place_text").set_value(parts)
    test.button(key="place_open").click().run()
    assert not test.exception
    assert test.session_state["project"] is first
    assert "is open here" in test.warning[0].value
    (replace,) = [part for part in test.button if str(part.key).endswith("_replace")]
    kept = replace.key
    # Another address is not what was asked about.
    test.text_input(key="place_text").set_value(f"{parts} ".replace("*", "?")).run()
    assert not [part for part in test.button if str(part.key).endswith("_replace")]
    test.text_input(key="place_text").set_value(parts).run()
    test.button(key=kept).click().run()
    assert not test.exception
    second = test.session_state["project"]
    assert second is not first
    assert second.data.raw.rows == first.data.raw.rows
    for one in (first, second):
        one.data.raw.close()


@pytest.mark.privacy
def test_a_wrong_address_is_a_sentence_without_its_password():
    test = opened()
    test.text_input(key="place_text").set_value("mysql://me:s3cr3t@host/db?table=t")
    test.button(key="place_open").click().run()
    assert not test.exception
    shown = "".join(part.value for part in [*test.error, *test.markdown, *test.caption])
    assert "The address must be a path" in shown
    assert "s3cr3t" not in shown


@pytest.mark.privacy
def test_a_run_measures_stored_rows_and_leaves_them_to_the_dashboard(parts, schema):
    table = out_of_core.open_table(address.parse(parts), Ledger().path.parent)
    train, holdout = table.store(schema, public=False).set_aside(60, np.random.default_rng(1))
    plan = design(
        Brief(
            schema,
            Task(target="readmitted", regime="predictive", k=1),
            Budget(),
            train.n,
            synthesis=Synthesis(model="naive_bayes"),
        )
    )
    run = worker.start(plan, train, AssetConfig(name="ward 7", lifetime_epsilon=3.0), seed=5)
    end = time.monotonic() + 120
    while run.outcome().state == "running" and time.monotonic() < end:
        time.sleep(0.1)
    run.process.wait()
    assert run.outcome().state == "done", run.outcome().message
    assert [charge.state for charge in Ledger().charges()] == ["done"]
    assert not list(run.folder.glob("*.npy"))
    assert in_memory(holdout, np.random.default_rng(2)).n == 60
    assert isinstance(train, StoredTable)
    train.folder.close()
    table.close()
