"""Opening a sample or a story where a project is open: nothing goes without a word."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dashboard.common import open_project
from dashboard.session import shelf as states
from dashboard.session import stored
from dashboard.session.data_entries import DataEntries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from dashboard.session.shelf import unsaved_parts
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table
from tests.support.pages import open_page, session, turned

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app


@pytest.fixture(autouse=True)
def _samples(monkeypatch, spurious):
    """Every sample is this one: what is opened is not what these tests are about."""
    monkeypatch.setattr(open_project, "sample_of", lambda name: replace(spurious, name=name))


def private() -> Project:
    rows = "".join(f"{i % 3},{i % 2}\n" for i in range(40))
    return Project(
        data=DataEntries(
            name="stays.csv",
            raw=read_table(f"a,y\n{rows}".encode(), name="stays.csv"),
            schema=Schema(
                columns=tuple(Column(name=name, kind="boolean") for name in ("a", "y")),
                one_row_per_person=True,
            ),
            private_marks=frozenset(["digest"]),
        ),
        structure=StructureEntries(graph=EditedGraph(edges=(("a", "y"),)), target="y"),
    )


def press(test: AppTest, key: str) -> AppTest:
    test.button(key=key).click().run()
    assert not test.exception
    return test


def texts(test: AppTest) -> str:
    return "\n".join(part.value for part in test.warning).replace("\\", "")


def link(test: AppTest) -> str:
    (found,) = test.get("link_button")
    return found.proto.url


@pytest.mark.parametrize(
    ("name", "key"), [("data", "sample_scm_spurious"), ("gallery", "gallery_scm-spurious_open")]
)
def test_the_first_click_replaces_no_private_project(name, key):
    project = private()
    before = (
        project.key,
        project.data.raw,
        project.data.schema,
        project.structure.graph.edges,
        project.structure.target,
    )
    test = press(open_page(name, project), key)
    now = test.session_state["project"]
    assert now is project
    assert before == (
        now.key,
        now.data.raw,
        now.data.schema,
        now.structure.graph.edges,
        now.structure.target,
    )
    assert "stays.csv is open here" in texts(test)
    assert "the table and everything declared, drawn and planned for it" in texts(test)
    press(test, f"{key}_leave")
    assert texts(test) == ""
    press(test, key)
    press(test, f"{key}_replace")
    now = test.session_state["project"]
    assert (now.data.public, now.structure.target) == (True, "Y")
    # What was replaced stands in the list under its own id.
    assert now.key != project.key
    assert [record.id for record in stored.records()] == [project.key]
    assert now.data.private_marks == {"digest"}
    assert texts(test) == ""


def test_a_project_beside_has_an_address_and_the_first_keeps_its_own():
    project = private()
    test = press(open_page("data", project), "sample_scm_spurious")
    address = link(test)
    assert address.startswith("/?project=")
    key = address.removeprefix("/?project=")
    assert key != project.key
    beside = session(address=key).run()
    assert not beside.exception
    opened = beside.session_state["project"]
    assert (opened.data.sample, opened.key) == ("scm_spurious", key)
    assert opened.data.private_marks == {"digest"}
    again = session(address=project.key)
    assert again.run().session_state["project"] is project
    # Replacing after all does not touch what the other tab shows.
    press(test, "sample_scm_spurious_replace")
    assert test.session_state["project"] is not opened


def test_an_untouched_sample_gives_way_without_a_question_and_a_changed_one_does_not():
    test = press(open_page("data"), "sample_scm_spurious")
    project = test.session_state["project"]
    for name in ("structure", "budget", "rehearse", "release", "gallery", "data"):
        turned(test, name).run()
        assert not test.exception
    assert unsaved_parts(project) == ()
    press(test, "sample_readmission")
    project = test.session_state["project"]
    assert project.data.sample == "readmission"
    project.designs.plan.budget.epsilon = 0.3
    press(test, "sample_scm_spurious")
    assert test.session_state["project"] is project
    assert "what you changed in it" in texts(test)


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.structure.graph.replace(()),
        lambda p: setattr(p.structure, "target", "A"),
        lambda p: p.designs.keep(p.designs.plan),
        lambda p: p.designs.plan.weights.update(A=2.0),
        lambda p: p.data.rows_of_form[0].update(levels="half | typed | row"),
    ],
)
def test_every_change_of_a_sample_is_noticed(change):
    project = press(open_page("data"), "sample_scm_spurious").session_state["project"]
    assert unsaved_parts(project) == ()
    change(project)
    assert unsaved_parts(project) == ("what you changed in it",)


def test_a_finished_run_is_not_replaced_without_a_word(tmp_path):
    test = press(open_page("data"), "sample_scm_spurious")
    project = test.session_state["project"]
    project.release.folder = tmp_path
    press(test, "sample_readmission")
    assert test.session_state["project"] is project
    assert "clear from this page the run that it shows" in texts(test)


def test_empty_pages_push_no_project_out_of_reach():
    shelf, project = states._shelf(), private()
    shelf.clear()
    states._shelve(project)
    for _ in range(states._SHELF + 1):
        states._shelve(Project())
    assert project.key in shelf
    assert len(shelf) == states._SHELF
    for _ in range(states._SHELF):
        states._shelve(private())
    assert project.key not in shelf
    shelf.clear()
