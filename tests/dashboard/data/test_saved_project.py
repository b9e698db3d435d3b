"""A project saved as one file and opened again: nothing typed is lost, and no row is in it."""

from __future__ import annotations

import json

import pytest

from dashboard.session.data_entries import DataEntries, People
from dashboard.session.graph import EditedGraph
from dashboard.session.project import Project
from dashboard.session.project_files import from_file, to_file
from dashboard.session.release_entries import AccountEntries
from prism_core.bundle import project_file
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.data.schema import column_form
from prism_core.data.schema.column_form import blank_rows
from prism_core.data.tables.raw_table import read_table
from tests.support.approvals import STATED
from tests.support.pages import open_page, texts

pytestmark = [pytest.mark.app, pytest.mark.privacy]


@pytest.fixture
def entered(schema, frame, canary) -> Project:
    """A project with a table, a graph, a design beside the plan and an approval."""
    rows = frame.copy()
    rows.loc[3, "ward"] = canary
    raw = read_table(rows.to_csv(index=False).encode(), name="stays.csv")
    state = Project(
        data=DataEntries(name="stays.csv", raw=raw, file_sha256=raw.sha256),
        account=AccountEntries(asset="stays"),
    )
    state.use_schema(schema)
    state.structure.target = "readmitted"
    state.structure.graph = EditedGraph(edges=(("age", "readmitted"), ("grief", "readmitted")))
    state.structure.graph.unmeasured = frozenset({"grief"})
    state.structure.graph.positions = {"age": (10.0, -4.0)}
    state.designs.plan.budget.epsilon = 0.7
    state.designs.keep(state.designs.plan)
    state.designs.others["B"].budget.epsilon = 2.5
    state.release.said["contact"] = "Data office "
    state.release.approved = Protocol(plan=state.plan(), asset="stays", statement=STATED).approve(
        by="A. B.", role="chair", date="2026-01-31"
    )
    return state


def saved(state: Project) -> str:
    return project_file.dumps(to_file(state)[0])


def test_the_plan_is_the_same_to_the_hash_and_its_approval_holds(entered):
    back = from_file(project_file.loads(saved(entered)))
    assert back.plan().hash == entered.plan().hash
    assert back.release.approved.covers(back.plan(), back.account.asset)
    assert back.plan(back.designs.others["B"]).hash == (
        entered.plan(entered.designs.others["B"]).hash
    )
    assert back.structure.graph.positions == entered.structure.graph.positions
    assert back.dag.unmeasured == ("grief",)
    assert back.release.said["contact"] == "Data office"
    assert back.data.awaits_table
    assert not back.data.public
    assert saved(back) == saved(entered)


def test_nothing_of_the_rows_is_in_it(entered, canary, schema, frame):
    """Two tables that differ in every cell, and have as many rows, make the same file."""
    text = saved(entered)
    assert canary not in text
    assert entered.data.file_sha256 not in text
    other = frame.iloc[::-1].to_csv(index=False).encode()
    entered.data.raw = read_table(other, name="stays.csv")
    entered.data.file_sha256 = entered.data.raw.sha256
    assert saved(entered) == text


def test_a_look_at_the_rows_is_not_forgotten(entered):
    entered.data.schema, entered.structure.target, entered.release.approved = None, None, None
    entered.look("drafted from rows")
    entered.data.show_form(blank_rows(["age"]))
    back = from_file(project_file.loads(saved(entered)))
    assert back.data.checked
    assert [row["name"] for row in back.data.rows_of_form] == ["age"]


def test_what_is_half_typed_comes_back(entered):
    rows = [dict(row) for row in blank_rows(["age", "ward"])]
    rows[0]["lower"] = "eigh"
    entered.data.show_form(rows)
    back = from_file(project_file.loads(saved(entered)))
    assert back.data.rows_of_form[0]["lower"] == "eigh"
    assert back.data.schema == entered.data.schema


def test_a_mistake_in_a_design_leaves_it_out_and_one_in_the_plan_is_said(entered):
    entered.designs.others["B"].budget.epsilon = float("nan")
    assert to_file(entered)[1] == ("B",)
    assert "Left out" in texts(open_page("data", entered))
    entered.designs.plan.budget.epsilon = float("nan")
    assert "cannot be saved yet" in texts(open_page("data", entered))


def upload(test, text: str):
    file = text.encode()
    test.file_uploader(key="upload_project").upload("p.json", file, "application/json").run()
    test.button(key="open_saved").click().run()


def test_it_opens_in_another_session(entered):
    test = open_page("data")
    upload(test, saved(entered))
    state = test.session_state["project"]
    assert state.plan().hash == entered.plan().hash
    assert state.data.awaits_table
    assert "a design without its table" in texts(test)


def test_nothing_of_the_project_before_is_entered_in_one_opened_in_its_place(entered):
    """The page goes on with its widgets: each has to show the project that is open now."""
    other = from_file(project_file.loads(saved(entered)))
    other.declare_people(People(person_id="patient", persons=other.data.announced))
    other.data.holdout_share = 0.1
    wanted = saved(other)
    entered.data.show_form(column_form.to_rows(entered.data.schema.columns))
    test = open_page("data", entered)
    test.slider(key="holdout_share").set_value(30).run()
    grid = f"columns_grid_{entered.data.form_rev}"
    test.session_state[grid] = {"edited_rows": {0: {"name": "age typed"}}}
    test.run()
    assert entered.data.rows_of_form[0]["name"] == "age typed"
    upload(test, wanted)
    replace = next(one for one in test.button if one.label == "Replace what is open")
    replace.click().run()
    assert not test.exception
    state = test.session_state["project"]
    assert state.data.people == other.data.people
    assert state.data.holdout_share == 0.1
    assert state.data.rows_of_form[0]["name"] == "age"
    assert saved(state) == wanted


def test_a_project_of_a_sample_comes_with_its_rows():
    test = open_page("data")
    test.button(key="sample_scm_spurious").click().run()
    before = test.session_state["project"]
    before.designs.plan.budget.epsilon = 0.7
    other = open_page("data")
    upload(other, saved(before))
    state = other.session_state["project"]
    assert (state.data.sample, state.data.public, state.data.n) == (
        "scm_spurious",
        True,
        before.data.n,
    )
    assert state.plan().hash == before.plan().hash


@pytest.mark.parametrize("text", ["{}", "rows", "\x00"])
def test_another_file_is_refused_in_a_sentence(text):
    test = open_page("data")
    upload(test, text)
    assert "This is not a project" in texts(test, "error")


def test_a_sample_that_is_none_is_refused(entered):
    document = json.loads(saved(entered)) | {"sample": "/etc/passwd"}
    test = open_page("data")
    upload(test, json.dumps(document))
    assert "sample must be one of" in texts(test, "error")
