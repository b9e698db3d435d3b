"""The page Gallery in Streamlit's own test runner, the process of its runs, and `--demo`."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from dashboard import launch
from dashboard.jobs import child, folders, worker
from dashboard.key import machine_key
from dashboard.session.data_entries import DataEntries
from dashboard.session.project import Project
from prism_core.data.tables.raw_table import from_frame
from prism_core.privacy.ledger.ledger import FILE, default_workspace
from prism_core.reproduction import STORIES, story
from tests.support.pages import open_page, session, texts

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.app


class Stands:
    """A run at a moment, as the page sees it."""

    def __init__(self, folder: Path, state: str, message: str = "") -> None:
        self.folder, self.plan, self.seconds = folder, story("allocation-wins"), 3.0
        self.state, self.message, self.removed = state, message, False

    def outcome(self) -> SimpleNamespace:
        return SimpleNamespace(state=self.state, message=self.message)

    def cancel(self) -> None:
        self.state = "cancelled"

    def remove(self) -> None:
        self.removed = True


def told(folder: Path) -> Path:
    """A line for every run of a story, without the runs."""
    scores = {"auc": 0.9, "accuracy": 0.8, "ceiling": 0.95, "ceiling_all": 0.95}
    folder.mkdir(exist_ok=True)
    lines = [
        json.dumps(
            {
                "benchmark": one.benchmark.name,
                "method": one.method.name,
                "seed": one.seed,
                "setting": one.setting.name,
                "epsilon": one.epsilon,
                "rows": 5_000,
                "l1": 0.1,
                "seconds": 0.2,
                "onehot": scores,
                "standardised": scores,
            }
        )
        for one in story("allocation-wins").asked()
    ]
    (folder / folders.TOLD).write_text("\n".join(lines) + '\n{"half')
    return folder


def at(name: str, project: Project | None = None, **entries: object) -> Project:
    """A project whose gallery shows a story."""
    project = project or Project()
    project.gallery.place = [one.name for one in STORIES].index(name)
    for entry, value in entries.items():
        setattr(project.gallery, entry, value)
    return project


@pytest.mark.parametrize("presenting", [False, True])
@pytest.mark.parametrize("one", STORIES, ids=lambda one: one.name)
def test_a_story_shows_its_number_and_its_figure_before_anybody_presses(one, presenting):
    test = open_page("gallery", at(one.name, presenting=presenting))
    headline = one.headline(one.stored().rows)
    assert any(headline.number in block.proto.body for block in test.get("html"))
    assert headline.sentence in texts(test)
    assert one.sentence in texts(test)
    (drawn,) = test.get("plotly_chart")
    assert all(label.removeprefix("that ") in drawn.proto.alt for label in one.labels.values())


def test_the_stories_are_turned_one_by_one_and_by_name():
    project = at(STORIES[0].name)
    test = open_page("gallery", project)
    test.button(key="gallery_present").click().run()
    assert project.gallery.presenting
    assert test.button(key="gallery_back").disabled
    for place in range(1, len(STORIES)):
        test.button(key="gallery_next").click().run()
        assert not test.exception
        assert [title.value for title in test.title] == [STORIES[place].title]
    assert test.button(key="gallery_next").disabled
    test.button(key="gallery_back").click().run()
    before = len(STORIES) - 2
    assert project.gallery.place == before
    test.toggle(key="gallery_notes").set_value(True).run()
    assert STORIES[before].notes[0] in texts(test)
    test.button(key="gallery_end").click().run()
    assert [title.value for title in test.title] == ["Gallery"]
    test.segmented_control(key=f"gallery_story_{before}").set_value(0).run()
    assert project.gallery.place == 0


@pytest.mark.parametrize("presenting", [False, True])
def test_a_room_sees_nothing_of_the_open_project(presenting):
    """The heading of other pages names the table and that its rows are private."""
    rows = from_frame(pd.DataFrame({"age": [1, 2]}))
    data = DataEntries(name="CANARY-stays", raw=rows)
    project = at(STORIES[0].name, Project(data=data), presenting=presenting)
    test = open_page("gallery", project)
    assert "CANARY" not in texts(test)
    assert "-badge[" not in texts(test)


@pytest.mark.parametrize(
    ("name", "regime", "s"),
    [
        ("scm-spurious", "causal", 2),
        ("scm-marginal", "graphical", 12),
        ("allocation-wins", "graphical", 20),
        ("readmission", "predictive", 0),
        ("readmission-stays", "graphical", 6),
    ],
)
def test_a_story_opens_as_a_project(name, regime, s):
    before = Project(
        data=DataEntries(private_marks=frozenset(["a"])),
    )
    before.gallery.messages["other"] = "kept"
    test = open_page("gallery", at(name, before))
    test.button(key=f"gallery_{name}_open").click().run()
    assert not test.exception
    found = test.session_state["project"]
    assert found.data.public
    assert found.designs.plan.regime == regime
    assert len(found.protected) == s
    assert found.plan().n == (found.data.schema.persons or found.data.raw.rows)
    assert found.data.test is not None
    assert found.data.private_marks == {"a"}
    assert found.gallery.messages == {"other": "kept"}
    assert [title.value for title in test.title] == ["Data"]
    if name == "allocation-wins":
        weights = found.plan().task.weights
        assert weights["X1"] == pytest.approx(0.64)
        assert weights["X20"] == pytest.approx(0.01)


def test_a_run_is_started_watched_and_taken(tmp_path, monkeypatch):
    stands = Stands(told(tmp_path / "run"), "running")
    monkeypatch.setattr(worker, "start_story", lambda one: stands)
    project = at("allocation-wins")
    test = open_page("gallery", project)
    test.button(key="gallery_allocation-wins_run").click().run()
    assert not test.exception
    assert project.gallery.job is stands
    other = open_page("gallery", at("scm-spurious", job=stands))
    assert other.button(key="gallery_scm-spurious_run").disabled  # one at a time
    assert test.button(key="gallery_allocation-wins_cancel")
    live = [c for c in test.get("plotly_chart") if ": 90.0 of 100 pairs" in c.proto.alt]
    assert len(live) == 1
    stands.state = "done"
    test.run()
    assert not test.exception
    assert stands.removed
    assert project.gallery.job is None
    found = project.gallery.found["allocation-wins"]
    assert len(found) == 5
    assert {row.seeds for row in found} == {(0, 1)}
    assert any("run here" in set(frame.value["where"]) for frame in test.dataframe)


@pytest.mark.parametrize(
    ("state", "said"), [("cancelled", "Stopped."), ("failed", "The disk is full.")]
)
def test_a_run_that_ended_early_says_why(tmp_path, state, said):
    project = at("allocation-wins")
    project.gallery.job = Stands(told(tmp_path / "run"), state, "The disk is full.")
    test = open_page("gallery", project)
    assert said in texts(test)
    assert project.gallery.found == {}
    assert not test.button(key="gallery_allocation-wins_run").disabled


def test_the_process_writes_its_runs_and_charges_nobody(tmp_path, monkeypatch):
    """The job itself, on one run, in this process; what it wrote is what the page reads."""
    one = story("allocation-wins")
    first = [run for run in one.asked() if run.setting.name == "paper"][:1]
    monkeypatch.setattr(type(one), "asked", lambda _: first)
    monkeypatch.setattr(child.os, "umask", lambda _: 0)
    monkeypatch.setattr(child.signal, "signal", lambda *_: None)
    folder = tmp_path / "run"
    folder.mkdir()
    folders.describe(folder, "story", story=one.name)
    child.main(folder)
    assert json.loads((folder / folders.OUTCOME).read_text()) == {"state": "done", "runs": 1}
    (found,) = worker.story_outcomes(worker.Job(folder=folder, plan=one, started=0.0))
    assert (found.benchmark, found.method, found.seed) == ("allocation-wins", "graphical-opt", 0)
    assert 0.5 < found.onehot.auc < found.onehot.ceiling
    assert not (default_workspace() / FILE).exists()


def test_stop_ends_the_process():
    begun = worker.start_story(story("allocation-wins"))
    try:
        assert begun.outcome().state == "running"
        begun.cancel()
        assert begun.outcome().state == "cancelled"
        assert not begun.alive
    finally:
        begun.remove()
    assert not begun.folder.exists()


def test_what_was_not_run_is_not_told(tmp_path):
    assert worker.story_outcomes(worker.Job(folder=tmp_path, plan=STORIES[0], started=0.0)) == ()


@pytest.mark.parametrize("demo", [False, True])
def test_demo_opens_with_the_gallery(demo, monkeypatch):
    monkeypatch.setattr(launch, "warm", lambda: None)
    monkeypatch.setenv(machine_key.VARIABLE, "")  # launching sets another; this takes it back
    commands = []
    monkeypatch.setattr(launch.os, "execv", lambda _, command: commands.append(command))
    launch.main(["--no-browser", *(["--demo"] if demo else [])])
    (command,) = commands
    assert (command[-2:] == ["--", "--demo"]) is demo
    monkeypatch.setattr(sys, "argv", [command[4], *(["--demo"] if demo else [])])
    test = session().run()
    assert not test.exception
    assert (test.title[0].value == "Gallery") is demo
    assert (test.title[0].value == "Start") is not demo
