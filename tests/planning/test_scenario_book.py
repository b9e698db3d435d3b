"""Scenarios on disk: by workspace and project, private, whole, whatever they are called."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from prism_core.errors import ConfigError
from prism_core.planning.wishes import scenario_files
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.scenario_files import ScenarioBook
from prism_core.planning.wishes.task import Budget, Synthesis, Task

A = Scenario(
    name="A",
    task=Task(target="y", weights={"a": 2.0}),
    budget=Budget(epsilon=0.5, locks=(Lock(columns=("a", "y"), share=0.1),)),
    synthesis=Synthesis(rows=300),
)
B = replace(A, name="B", budget=Budget(epsilon=2.0))


def test_saved_replaced_and_deleted(tmp_path):
    book = ScenarioBook(tmp_path)
    assert book.load("ward 7") == ()
    assert list(tmp_path.iterdir()) == []  # looking writes nothing
    book.save("ward 7", A)
    book.save("ward 7", B)
    assert book.load("ward 7") == (A, B)
    changed = replace(A, budget=Budget(epsilon=0.7))
    book.save("ward 7", changed)
    assert ScenarioBook(tmp_path).load("ward 7") == (changed, B)
    book.delete("ward 7", "A")
    book.delete("ward 7", "nobody")
    book.delete("nowhere", "A")
    assert book.load("ward 7") == (B,)
    ScenarioBook(tmp_path / "none").delete("ward 7", "A")
    assert not (tmp_path / "none").exists()


@pytest.mark.privacy
def test_two_workspaces_and_two_projects_never_see_each_others(tmp_path):
    ann, ben = ScenarioBook(tmp_path / "ann"), ScenarioBook(tmp_path / "ben")
    ann.save("ward 7", A)
    ben.save("ward 7", B)
    ann.save("ward 8", B)
    assert ann.load("ward 7") == (A,)
    assert ben.load("ward 7") == (B,)
    assert ben.load("ward 8") == ()
    ben.delete("ward 7", "A")
    ben.delete("ward 8", "B")
    assert ann.load("ward 7") == (A,)
    assert ann.load("ward 8") == (B,)
    # There is no workspace but the one that is named.
    with pytest.raises(TypeError):
        ScenarioBook()  # type: ignore[call-arg]


@pytest.mark.privacy
def test_files_are_for_this_user_only(tmp_path):
    book = ScenarioBook(tmp_path / "new" / "workspace")
    old = os.umask(0)
    try:
        book.save("ward 7", A)
    finally:
        os.umask(old)
    for path in (book.folder, book.folder.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    (path,) = book.folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "../../etc/passwd",
        "/etc/passwd",
        "C:\\x",
        "a/b",
        ".",
        "-rf",
        "CON",
        "é" * 80,
        "'; DROP TABLE",
        "${HOME}",
        "<script>",
        "[[scenario]]",
        '"',
        "😀",
    ],
)
def test_hostile_names_are_names(tmp_path, name):
    book = ScenarioBook(tmp_path / "w")
    for project in (name, "plain"):
        book.save(project, replace(A, name=name))
        assert book.load(project) == (replace(A, name=name),)
    assert [path.name for path in tmp_path.iterdir()] == ["w"]
    files = list(book.folder.iterdir())
    assert len(files) == 2
    assert all(path.stem.isalnum() and len(path.stem) == 64 for path in files)


@pytest.mark.parametrize("project", ["", "a\nb", "x" * 81, None])
def test_unusable_projects(tmp_path, project):
    with pytest.raises(ConfigError, match="name of a project"):
        ScenarioBook(tmp_path).load(project)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"scenarios": 3}',
        '{"scenarios": [3]}',
        '{"scenarios": [{}]}',
        "[" * 100_000,
        '{"scenarios": [{"name": "x", "task": {"target": "y"}, "extra": 1}]}',
    ],
    ids=lambda text: text[:20],
)
def test_a_file_changed_by_hand_is_said_and_kept(tmp_path, content):
    book = ScenarioBook(tmp_path)
    book.save("ward 7", A)
    (path,) = book.folder.iterdir()
    path.write_text(content)
    for act in (lambda: book.load("ward 7"), lambda: book.save("ward 7", B)):
        with pytest.raises(ConfigError, match="Move it away") as caught:
            act()
        assert caught.value.field == "workspace"
    assert path.read_text() == content
    assert book.load("ward 8") == ()


@pytest.mark.privacy
def test_links_are_not_followed(tmp_path):
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"scenarios": []}))
    book = ScenarioBook(tmp_path / "w")
    book.save("ward 7", A)
    (path,) = book.folder.iterdir()
    path.unlink()
    path.symlink_to(secret)
    with pytest.raises(ConfigError, match="cannot be read"):
        book.load("ward 7")
    other = ScenarioBook(tmp_path / "v")
    (tmp_path / "v").mkdir()
    other.folder.symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="cannot be written"):
        other.save("ward 7", A)


def test_a_workspace_that_is_a_file(tmp_path):
    (tmp_path / "w").write_text("")
    with pytest.raises(ConfigError) as caught:
        ScenarioBook(tmp_path / "w").save("ward 7", A)
    assert caught.value.field == "workspace"


def test_a_write_that_breaks_leaves_the_old_file(tmp_path, monkeypatch):
    book = ScenarioBook(tmp_path)
    book.save("ward 7", A)

    def broken(self, target):
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(ConfigError, match="cannot be written"):
        book.save("ward 7", B)
    monkeypatch.undo()
    assert book.load("ward 7") == (A,)
    assert len(list(book.folder.iterdir())) == 1


def test_there_are_not_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(scenario_files, "MOST_SCENARIOS", 2)
    book = ScenarioBook(tmp_path)
    book.save("p", A)
    book.save("p", B)
    with pytest.raises(ConfigError, match="Delete one first"):
        book.save("p", replace(A, name="C"))
    book.save("p", B)
    assert book.load("p") == (A, B)


SAVE = """
import sys
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Task
from prism_core.planning.wishes.scenario_files import ScenarioBook
for i in range(12):
    ScenarioBook(sys.argv[1]).save("p", Scenario(name=f"{sys.argv[2]}{i}", task=Task(target="y")))
"""


def test_two_processes_lose_nothing(tmp_path):
    running = [subprocess.Popen([sys.executable, "-c", SAVE, str(tmp_path), who]) for who in "xy"]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    names = {scenario.name for scenario in ScenarioBook(tmp_path).load("p")}
    assert names == {f"{who}{i}" for who in "xy" for i in range(12)}
