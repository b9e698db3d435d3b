"""A protocol from the curator's Release to the committee's page and back, and the run's gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dashboard.release import protocol_panel
from dashboard.session import committee_room, shelf, stored
from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import Designs, Entries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.bundle.reader import read_said
from prism_core.data.tables.raw_table import from_frame
from prism_core.errors import AccessError
from prism_core.hosting import audit_log
from prism_core.planning.wishes.curator_statement import CuratorStatement
from prism_core.planning.wishes.task import Synthesis
from prism_core.privacy.ledger import Ledger
from tests.support.approvals import SAID
from tests.support.pages import frames, session, texts, turned

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

pytestmark = [pytest.mark.app, pytest.mark.privacy]
EDGES = (("age", "readmitted"), ("smoker", "readmitted"))
ASSET = "stays of ward 7"


@pytest.fixture
def project(schema, frame, workspace, door) -> Project:
    """Ada's project, whose releases need an approval."""
    shelf._shelf().clear()
    (workspace / "settings.toml").parent.mkdir(exist_ok=True)
    (workspace / "settings.toml").write_text("[release]\napproval_required = true\n")
    found = Project(
        data=DataEntries(name="stays.csv", raw=from_frame(frame), schema=schema),
        structure=StructureEntries(target="readmitted", graph=EditedGraph(edges=EDGES)),
        account=AccountEntries(asset=ASSET, lifetime=9.0, why="a course"),
        designs=Designs(plan=Entries(synthesis=Synthesis(model="naive_bayes", rows=150))),
        owner="u-ada",
    )
    found.release.said.update(SAID)
    return found


def at(door, subject: str, page: str, project: Project | None = None, **query: str) -> AppTest:
    door.let_in(subject)
    test = session(project)
    for name, value in query.items():
        test.query_params[name] = value
    turned(test, page).run()
    assert not test.exception, test.exception[0].value
    return test


def keys(test: AppTest) -> set[str]:
    return {str(element.key) for element in test.main if getattr(element, "key", None)}


def press(test: AppTest, label: str) -> AppTest:
    next(button for button in test.button if button.label == label).click().run()
    assert not test.exception, test.exception[0].value
    return test


def submitted(door, project: Project) -> str:
    """The number of the protocol that Ada submits on Release."""
    test = at(door, "u-ada", "release", project)
    test.button(key="protocol_submit").click().run()
    assert not test.exception
    (found,) = committee_room.submitted(project)
    return found.number


def test_a_curator_cannot_type_or_upload_an_approval(door, project):
    test = at(door, "u-ada", "release", project)
    assert {"approval_by", "approval_upload", "approval_use", "approval_forget"} & keys(test) == (
        set()
    )
    assert "protocol_submit" in keys(test)
    assert test.button(key="release_run").disabled
    # Nor does one that came with a project's file count.
    project.release.approved = approval_file.approve(
        _json(project),
        by="u-rita (Rita Reviewer)",
        role="privacy committee",
        date="2026-01-02",
    )
    test.run()
    assert project.release.approved is None
    assert test.button(key="release_run").disabled


def _json(project: Project) -> str:
    return Protocol(plan=project.plan(), asset=ASSET, statement=CuratorStatement(**SAID)).to_json()


def _reviewed(door, number: str) -> None:
    """The reviewer reads, tries another epsilon for nothing, asks, and approves."""
    room = at(door, "u-rita", "committee")
    assert [title.value for title in room.title] == ["Committee"]
    room.button(key=f"read_{number}").click().run()
    assert not room.exception
    before = [metric.value for metric in room.metric]
    room.slider(key=f"what_if_{number}").set_value(0.5).run()
    assert [metric.value for metric in room.metric] == before
    assert all(metric.delta.startswith("what if: ") for metric in room.metric)
    room.text_area(key=f"comment_{number}_0").set_value("Who gets the rows?")
    press(room, "Comment")
    assert room.text_area(key=f"comment_{number}_1").value == ""
    press(room, "Approve")
    assert committee_room.committee().get(number).state == "approved"
    assert Ledger().charges() == ()


def _certified(folder: Path, number: str) -> None:
    """Certificate and report name who approved."""
    certificate = (folder / "certificate.json").read_text()
    assert "u-rita (Rita Reviewer)" in certificate
    assert number in certificate
    assert read_said(folder).purpose == SAID["purpose"]
    report = (folder / "report.html").read_text()
    assert "each with a login of their own" in report
    assert "The curator typed the names" not in report


def _audited(door, number: str, workspace: Path) -> None:
    """An auditor reads it all, and can change nothing."""
    told = at(door, "u-aud", "committee")
    assert "u-ada (Ada Curator)" in frames(told)
    assert "protocol approved" in frames(told)
    deeds = [entry.did for entry in audit_log.entries(workspace)]
    assert {"login", "project made", "protocol submitted", "release started"} <= set(deeds)
    told = at(door, "u-aud", "committee", protocol=number)
    assert {"Approve", "Send back", "Comment"} & {button.label for button in told.button} == set()


@pytest.mark.slow
def test_from_the_protocol_to_the_release(door, project, workspace):
    number = submitted(door, project)
    test = at(door, "u-ada", "release", project)
    assert f"Protocol {number} waits for the committee: 0 of 1 approved" in texts(test)
    assert "protocol_submit" not in keys(test)
    assert test.button(key="release_run").disabled
    _reviewed(door, number)
    # The release takes the approval by itself.
    test = at(door, "u-ada", "release", project)
    assert "Who gets the rows?" in texts(test)
    assert "Approved by u-rita (Rita Reviewer)" in texts(test)
    test.text_input(key="release_confirm_0").set_value(ASSET).run()
    test.button(key="release_run").click().run()
    assert not test.exception
    job = project.release.job
    assert job is not None
    assert job.process.wait(timeout=120) == 0
    assert job.outcome().state == "done", job.outcome().message
    (charge,) = Ledger().charges()
    assert charge.who == "u-ada (Ada Curator)"
    assert "u-rita (Rita Reviewer)" in charge.corrections[0].note
    _certified(job.result, number)
    # It is used up: the same plan needs another decision.
    project.forget_results()
    project.release.finished = None
    test = at(door, "u-ada", "release", project)
    assert "This approval was used for charge 1" in texts(test)
    assert test.button(key="release_run").disabled
    assert "protocol_submit" in keys(test)
    _audited(door, number, workspace)


def test_what_is_sent_back_is_seen_with_its_reason(door, project):
    number = submitted(door, project)
    room = at(door, "u-rita", "committee", protocol=number)
    press(room, "Send back")
    assert "the others read why" in texts(room)
    room.text_area(key=f"comment_{number}_0").set_value("Too little is said of the recipients.")
    press(room, "Send back")
    test = at(door, "u-ada", "release", project)
    assert "Too little is said of the recipients." in texts(test)
    assert "sent back" in texts(test)
    assert test.button(key="release_run").disabled


def test_another_plan_than_the_approved_one_is_not_run(door, project):
    number = submitted(door, project)
    press(at(door, "u-rita", "committee", protocol=number), "Approve")
    project.designs.plan.budget.epsilon = 0.9
    test = at(door, "u-ada", "release", project)
    assert "The plan changed since it was approved" in texts(test)
    assert test.button(key="release_run").disabled


def test_of_two_approved_plans_each_has_its_own_approval(door, project):
    first = submitted(door, project)
    press(at(door, "u-rita", "committee", protocol=first), "Approve")
    project.designs.plan.budget.epsilon = 0.9
    test = at(door, "u-ada", "release", project)
    test.button(key="protocol_submit").click().run()
    second = committee_room.submitted(project)[0].number
    press(at(door, "u-rita", "committee", protocol=second), "Approve")
    for epsilon, number in ((1.0, first), (0.9, second)):
        project.designs.plan.budget.epsilon = epsilon
        test = at(door, "u-ada", "release", project)
        assert project.release.approved.approval.protocol == number
        assert "The plan changed" not in texts(test)


def test_a_plan_whose_approval_counts_no_more_is_submitted_again(door, project):
    """For another asset, or because who approved it works in the project now."""
    number = submitted(door, project)
    press(at(door, "u-rolf", "committee", protocol=number), "Approve")
    test = at(door, "u-ada", "release", project)
    assert "protocol_submit" not in keys(test)
    project.account.asset = "stays of ward 8"
    assert "protocol_submit" in keys(at(door, "u-ada", "release", project))
    project.account.asset = ASSET
    stored.store().share(project.key, "u-rolf", "Rolf", "editor")
    test = at(door, "u-ada", "release", project)
    assert "nobody approves their own" in texts(test)
    assert "protocol_submit" in keys(test)


def test_nobody_decides_on_their_own_though_they_review(door, project):
    project.owner = "u-rolf"
    test = at(door, "u-rolf", "release", project)
    test.button(key="protocol_submit").click().run()
    (found,) = committee_room.submitted(project)
    room = at(door, "u-rolf", "committee", protocol=found.number)
    assert "Nobody decides on their own" in texts(room)
    disabled = {button.label: button.disabled for button in room.button}
    assert disabled["Approve"]
    assert disabled["Send back"]
    # A click of a screen that showed the button before changes nothing either.
    with pytest.raises(AccessError, match="Nobody decides on their own"):
        committee_room.committee().approve(found.number)
    assert committee_room.committee().get(found.number).state == "waiting"


def test_a_curator_does_not_see_the_committee(door, project):
    number = submitted(door, project)
    test = at(door, "u-ben", "committee", protocol=number)
    assert "This page needs the role" in texts(test)
    assert "stays.csv" not in texts(test)


def test_the_gate_of_a_run_refuses_what_the_room_did_not_give(door, project, monkeypatch):
    """Whatever a page would hand to the process."""
    number = submitted(door, project)
    press(at(door, "u-rita", "committee", protocol=number), "Approve")
    door.let_in("u-ada")
    typed = approval_file.approve(
        _json(project), by="u-rita", role="privacy committee", date="2026-01-02"
    )
    monkeypatch.setattr(protocol_panel, "given", lambda plan: typed)
    test = at(door, "u-ada", "release", project)
    test.text_input(key="release_confirm_0").set_value(ASSET).run()
    test.button(key="release_run").click().run()
    assert not test.exception
    job = project.release.job
    assert job.process.wait(timeout=120) == 0
    assert "needs the committee's own approval" in job.outcome().message
    assert Ledger().charges() == ()


def test_a_project_on_disk_keeps_what_it_was_submitted_for(door, project):
    number = submitted(door, project)
    shelf._shelf().clear()
    door.let_in("u-ada")
    again = stored.restored(project.key)
    assert [one.number for one in committee_room.submitted(again)] == [number]
