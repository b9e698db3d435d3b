"""Projects on disk: nothing that was entered is lost with the server, and whose it is counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dashboard.session import shelf, stored
from dashboard.session.data_entries import DataEntries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from prism_core import files
from prism_core.data.tables.raw_table import from_frame
from prism_core.errors import AccessError, ConfigError
from prism_core.hosting import audit_log
from tests.support.pages import open_page, session, texts, turned

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = [pytest.mark.app, pytest.mark.privacy]
EDGES = (("age", "readmitted"), ("smoker", "readmitted"))


@pytest.fixture(autouse=True)
def _empty_shelf() -> None:
    shelf._shelf().clear()


@pytest.fixture
def project(schema, frame) -> Project:
    """A private table with entries on several pages."""
    found = Project(
        data=DataEntries(
            name="stays.csv", raw=from_frame(frame), schema=schema, holdout_share=0.25
        ),
        structure=StructureEntries(target="readmitted", graph=EditedGraph(edges=EDGES)),
        account=AccountEntries(asset="stays 2024", lifetime=9.0, why="for the course"),
    )
    found.designs.plan.budget.epsilon = 2.5
    found.release.said["purpose"] = "a course"
    return found


def typed(state: Project) -> tuple[object, ...]:
    return (
        state.data.name,
        state.data.schema,
        state.data.holdout_share,
        state.data.whole,
        state.structure.target,
        set(state.structure.graph.edges),
        state.designs.plan.budget.epsilon,
        state.account.asset,
        state.account.lifetime,
        state.account.why,
        state.release.said["purpose"],
    )


def restarted() -> None:
    """What a new process has in memory."""
    shelf._shelf().clear()


def test_a_new_server_finds_every_entry_and_no_row(project, workspace):
    open_page("budget", project)
    restarted()
    test = session(address=project.key).run()
    assert not test.exception
    again = test.session_state["project"]
    assert again is not project
    assert typed(again) == typed(project)
    assert again.data.raw is None
    assert again.data.awaits_table


def test_no_row_is_stored(project, workspace, frame):
    frame.iloc[0, 0] = "73.125"
    project.data.raw = from_frame(frame)
    open_page("budget", project)
    stored_files = [path for path in (workspace / "projects").rglob("*") if path.is_file()]
    assert len(stored_files) == 2
    for path in stored_files:
        assert b"73.125" not in path.read_bytes()


def test_a_change_is_stored_in_the_run_that_makes_it(project):
    test = open_page("release", project)
    test.text_input(key="asset_why").set_value("for the thesis").run()
    restarted()
    assert stored.restored(project.key).account.why == "for the thesis"


def test_what_does_not_change_is_not_written_again(project, monkeypatch):
    test = open_page("budget", project)
    written = []
    monkeypatch.setattr(files, "replace", lambda path, *_, **__: written.append(path.name))
    for _ in range(3):
        test.run()
    assert written == []
    project.account.why = "another"
    test.run()
    assert sorted(written) == ["about.json", "project.json"]


def test_a_mistake_is_said_and_what_was_stored_before_stays(project):
    test = open_page("structure", project)
    project.release.said["purpose"] = "x" * 100_000
    test.run()
    assert "not saved" in texts(test)
    restarted()
    assert stored.restored(project.key).release.said["purpose"] == "a course"
    project.release.said["purpose"] = "short"
    test.run().run()
    assert "not saved" not in texts(test)
    assert stored.restored(project.key).release.said["purpose"] == "short"


def test_an_untouched_sample_and_an_empty_page_are_not_stored():
    open_page("start")
    test = open_page("data")
    test.button(key="sample_scm_spurious").click().run()
    assert stored.records() == ()
    state = test.session_state["project"]
    state.designs.plan.budget.epsilon = 0.3
    test.run()
    assert [record.id for record in stored.records()] == [state.key]
    restarted()
    again = stored.restored(state.key)
    assert again.designs.plan.budget.epsilon == 0.3
    assert again.data.raw is not None  # the sample's rows are public, and come with it


def test_many_projects_are_listed_on_start_opened_and_deleted(project):
    for number in range(8):  # more than stay in memory
        one = Project(data=DataEntries(name=f"design {number}", announced=500))
        open_page("data", one)
    open_page("data", project)
    test = open_page("start", Project())
    opens = [button for button in test.button if str(button.key).endswith("_open")]
    assert len(opens) == 9
    test.button(key=f"project_{project.key}_open").click().run()
    assert not test.exception
    assert test.session_state["project"] is project  # it is in memory still, with its rows
    first = next(r for r in stored.records() if r.name == "design 0")
    turned(test, "start").run()
    test.button(key=f"project_{first.id}_delete_now").click().run()
    assert not test.exception
    assert first.id not in {record.id for record in stored.records()}


# --- the hosted form ---------------------------------------------------------------------------


def at(door, subject: str, page: str = "start", address: str = "") -> AppTest:
    door.let_in(subject)
    test = turned(session(address=address), page).run()
    assert not test.exception, test.exception[0].value
    return test


@pytest.fixture
def of_ada(door, project) -> Project:
    door.let_in("u-ada")
    project.owner = "u-ada"
    open_page("data", project)
    return project


def test_the_address_of_a_project_is_of_no_use_to_another(of_ada, door, workspace):
    """In the memory of the server, and on its disk."""
    for forget in (lambda: None, restarted):
        forget()
        test = at(door, "u-ben", address=of_ada.key)
        assert "stays.csv" not in texts(test)
        assert "belongs to somebody else" in texts(test)
        assert test.session_state["project"].key != of_ada.key
    assert ("u-ben", "refused") in {(e.who, e.did) for e in audit_log.entries(workspace)}
    # The address is its owner's as before.
    assert "stays.csv" in texts(at(door, "u-ada", address=of_ada.key))


def test_a_project_that_is_not_stored_yet_is_nobody_elses(door):
    door.let_in("u-ada")
    test = open_page("start")
    state = test.session_state["project"]
    assert state.key in shelf._shelf()
    other = at(door, "u-ben", address=state.key)
    assert other.session_state["project"] is not state
    assert "belongs to somebody else" in texts(other)


def test_a_run_of_a_project_without_a_record_is_shown_to_nobody(door, monkeypatch):
    monkeypatch.setattr(shelf, "_resumed", lambda key: pytest.fail("a run was opened"))
    at(door, "u-ben", address="a-key-of-some-run")


def test_an_editor_works_in_it_until_it_is_taken_away(of_ada, door):
    door.let_in("u-ada")
    stored.store().share(of_ada.key, "u-ben", "Ben Curator", "editor")
    test = at(door, "u-ben")
    assert "of Ada Curator" in texts(test)
    test.button(key=f"project_{of_ada.key}_open").click().run()
    assert test.session_state["project"] is of_ada
    door.let_in("u-ada")
    stored.store().unshare(of_ada.key, "u-ben")
    door.let_in("u-ben")
    turned(test, "data").run()
    assert test.session_state["project"] is not of_ada
    assert "stays.csv" not in texts(test)


def test_why_it_cannot_be_taken_away_is_said(of_ada, door, monkeypatch):
    door.let_in("u-ada")
    stored.store().share(of_ada.key, "u-ben", "Ben Curator", "editor")
    test = at(door, "u-ada")

    def fails(*_: object) -> None:
        raise ConfigError("The audit log cannot be written.", field="audit")

    monkeypatch.setattr(audit_log, "note", fails)
    test.button(key=f"project_{of_ada.key}_share_u-ben_away").click().run()
    assert not test.exception
    assert "The audit log cannot be written" in texts(test, "error")


@pytest.fixture
def with_ben(of_ada, door) -> AppTest:
    """Ben's session, in which he works in Ada's project."""
    door.let_in("u-ada")
    stored.store().share(of_ada.key, "u-ben", "Ben Curator", "editor")
    return at(door, "u-ben", "data", address=of_ada.key)


def test_what_an_editor_opens_next_is_their_own(with_ben, of_ada):
    for key in ("sample_scm_spurious", "sample_scm_spurious_replace"):
        with_ben.button(key=key).click().run()
        assert not with_ben.exception
    with_ben.run()
    state = with_ben.session_state["project"]
    assert state.data.sample == "scm_spurious"
    assert state.owner == "u-ben"


@pytest.mark.parametrize("forget", [lambda: None, restarted], ids=["in memory", "from disk"])
def test_a_project_that_its_owner_deleted_is_not_the_editors(of_ada, with_ben, door, forget):
    if forget is restarted:
        restarted()
        with_ben = at(door, "u-ben", "data", address=of_ada.key)
    state = with_ben.session_state["project"]
    door.let_in("u-ada")
    stored.store().delete(of_ada.key)
    door.let_in("u-ben")
    state.account.why = "another"
    with_ben.run()
    assert not with_ben.exception
    assert with_ben.session_state["project"] is not state
    assert stored.records() == ()


def test_the_audit_log_tells_who_opened_what_is_in_memory(with_ben, of_ada, door, workspace):
    at(door, "u-rolf", address=of_ada.key)
    told = {(e.who, e.did, e.what) for e in audit_log.entries(workspace)}
    assert ("u-ben", "project opened", of_ada.key) in told
    assert ("u-rolf", "refused", of_ada.key) in told


def test_a_project_that_was_taken_away_meanwhile_is_not_opened_from_the_list(of_ada, door):
    door.let_in("u-ada")
    stored.store().share(of_ada.key, "u-ben", "Ben Curator", "editor")
    test = at(door, "u-ben")
    door.let_in("u-ada")
    stored.store().unshare(of_ada.key, "u-ben")
    door.let_in("u-ben")
    with pytest.raises(AccessError, match="belongs to somebody else"):
        shelf.open_stored(of_ada.key)
    assert test.session_state["project"] is not of_ada


def test_a_reader_opens_a_copy_of_their_own(of_ada, door):
    door.let_in("u-ada")
    stored.store().share(of_ada.key, "u-ben", "Ben Curator", "reader")
    test = at(door, "u-ben", address=of_ada.key)
    copy = test.session_state["project"]
    assert copy is not of_ada
    assert copy.data.raw is None
    assert (copy.data.name, copy.account.why) == ("stays.csv (copy)", "for the course")
    copy.account.why = "mine"
    test.run()
    assert {r.owner for r in stored.records() if r.id == copy.key} == {"u-ben"}
    door.let_in("u-ada")
    assert stored.store().load(of_ada.key).purpose == "for the course"


def test_it_is_shared_on_start_with_somebody_who_has_logged_in(of_ada, door):
    at(door, "u-ben")
    test = at(door, "u-ada")
    key = f"project_{of_ada.key}_share"
    test.selectbox(key=f"{key}_with").set_value("u-ben")
    test.button(key=f"{key}_now").click().run()
    assert not test.exception
    assert "shared with Ben Curator" in texts(test)
    assert stored.store().record(of_ada.key).shared == {"u-ben": ("Ben Curator", "editor")}
