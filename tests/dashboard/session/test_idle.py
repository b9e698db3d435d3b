"""A tab left open for hours: what happened is said, nothing typed is lost, and work goes on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from dashboard.common.steps import STEPS, url_path
from dashboard.session import memory
from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import Designs, Entries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from prism_core.data.tables.raw_table import read_table
from prism_core.planning.wishes.task import Synthesis
from prism_core.privacy.ledger import Ledger
from tests.support.pages import session, texts, turned

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app
EDGES = (("age", "readmitted"), ("smoker", "readmitted"))
PAGES = tuple(url_path(step.page) for step in STEPS)


class Clock:
    """Stands where the app reads the seconds."""

    now = 5_000.0

    sleep = staticmethod(time.sleep)  # the app's own look goes on beside the test

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(memory, "time", found)
    monkeypatch.setattr(memory, "_known", type(memory._known)())
    return found


@pytest.fixture
def content(frame) -> bytes:
    return frame.to_csv(index=False).encode()


@pytest.fixture
def project(schema, content, clock) -> Project:
    """A private table, all but released, with an entry on each page that is nowhere else."""
    raw = read_table(content, name="stays.csv")
    found = Project(
        data=DataEntries(
            name="stays.csv", raw=raw, schema=schema, file_sha256=raw.sha256, holdout_share=0.25
        ),
        structure=StructureEntries(target="readmitted", graph=EditedGraph(edges=EDGES)),
        account=AccountEntries(asset="stays 2024", lifetime=9.0, why="for the course"),
        designs=Designs(plan=Entries(synthesis=Synthesis(model="naive_bayes", rows=150))),
    )
    found.designs.plan.budget.epsilon = 2.5
    return found


def typed(state: Project) -> tuple[object, ...]:
    """What a person entered; not one of it is a row."""
    return (
        state.data.schema,
        state.structure.target,
        state.structure.graph.edges,
        state.designs.plan.budget.epsilon,
        state.account.asset,
        state.account.lifetime,
        state.account.why,
        state.data.holdout_share,
        state.designs.plan.synthesis,
        state.data.rows_of_form,
        state.data.people,
        state.data.public,
        state.data.name,
    )


def opened(project: Project) -> AppTest:
    return session(project)


def turn(test: AppTest, page: str) -> AppTest:
    turned(test, page).run()
    assert not test.exception, (page, test.exception[0].value)
    return test


def idle(clock: Clock, project: Project, *, tab: bool) -> None:
    """Hours pass; with the tab open there is no room for the rows, else nobody has them open."""
    for _ in range(2):
        clock.now += 4 * 3_600.0
        memory.sweep(opened=lambda _session: tab, most=0 if tab else memory.MOST)
    assert project.data.raw is None


def load_again(test: AppTest, content: bytes) -> None:
    turn(test, "data")
    uploader = next(one for one in test.file_uploader if one.key.startswith("upload_table"))
    uploader.upload("stays.csv", content, "text/csv").run()
    test.button(key="upload_load").click().run()
    assert not test.exception


@pytest.mark.parametrize("tab", [True, False], ids=["tab open", "laptop closed"])
def test_every_page_says_what_happened_and_what_to_do(project, clock, content, tab):
    test = opened(project)
    for page in PAGES:
        turn(test, page)
    project.data.form_edited = [
        row | {"description": "not applied"} for row in project.data.form_edited
    ]
    before = typed(project)
    if tab:
        project.presence.sessions.add("this tab")
    idle(clock, project, tab=tab)
    for page in PAGES:
        shown = texts(turn(test, page))
        assert "stays.csv" in shown, page
        assert "removed from memory" in shown, page
    assert typed(project) == before
    load_again(test, content)
    assert project.data.raw is not None
    assert typed(project) == before
    assert test.session_state["project"] is project
    turn(test, "release")
    assert "release_run" in {button.key for button in test.button}


def test_no_run_is_offered_without_the_rows(project, clock):
    test = turn(opened(project), "release")
    assert "release_run" in {button.key for button in test.button}
    idle(clock, project, tab=False)
    turn(test, "release")
    assert "release_run" not in {button.key for button in test.button}


def test_rows_stay_while_the_tab_is_used_though_there_is_no_room(project, clock):
    test = turn(opened(project), "budget")
    for _ in range(5):
        clock.now += memory.IDLE - 1.0
        turn(test, "budget")
        memory.sweep(opened=lambda _session: True, most=0)
    assert project.data.raw is not None


@pytest.mark.slow
def test_a_click_on_what_the_screen_still_shows_is_answered_and_the_run_comes_after_the_file(
    project, clock, content
):
    test = turn(turn(opened(project), "data"), "release")
    test.text_input(key="release_confirm_0").set_value("stays 2024").run()
    test.text_input(key="asset_why").set_value("for the thesis")
    before = typed(project)
    project.presence.sessions.add("this tab")
    idle(clock, project, tab=True)
    test.button(key="release_run").click().run()  # the browser still shows the button
    assert not test.exception
    assert "stays.csv" in texts(test)
    assert "removed from memory" in texts(test)
    assert Ledger().charges() == ()
    assert project.account.why == "for the thesis"  # what was on its way with the click
    project.account.why = "for the course"
    assert typed(project) == before
    load_again(test, content)
    assert project.data.raw is not None
    assert typed(project) == before
    turn(test, "release")
    test.text_input(key="release_confirm_0").set_value("stays 2024").run()
    test.button(key="release_run").click().run()
    assert not test.exception
    assert project.release.job is not None
    assert project.release.job.process.wait(timeout=120) == 0
    (charge,) = Ledger().charges()
    assert (charge.state, charge.asset) == ("done", "stays 2024")
    # The rows of the run were parted; they come back as they were after another long night.
    turn(test, "release")
    kept = project.release.holdout.codes.copy()
    idle(clock, project, tab=True)
    assert project.release.holdout is None
    assert "Load “stays.csv” again" in texts(turn(test, "inspect"))
    load_again(test, content)
    assert (project.release.holdout.codes == kept).all()


def test_a_cell_that_was_typed_while_the_rows_went_is_kept(project, clock, content):
    test = turn(opened(project), "data")
    idle(clock, project, tab=False)
    key = f"columns_grid_{project.data.form_rev}"
    test.session_state[key] = {
        "edited_rows": {0: {"description": "years"}},
        "added_rows": [],
        "deleted_rows": [],
    }
    test.run()
    assert not test.exception
    assert project.data.rows_of_form[0]["description"] == "years"
    load_again(test, content)
    assert project.data.rows_of_form[0]["description"] == "years"
    assert (
        project.data.schema[project.data.schema.names[0]].description == ""
    )  # nobody pressed Apply
