"""The page Release: checklist, summary, protocol and approval."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.jobs import child, folders
from dashboard.jobs.job import Job
from dashboard.session.data_entries import DataEntries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries, ReleaseEntries
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.protocol.protocol import LEAKAGE, Protocol
from prism_core.errors import PrismError
from prism_core.planning.plan_warnings import LARGE_ERROR
from prism_core.planning.search.comparison import figures
from prism_core.privacy.accountants.accountant import Spent
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.charging import owed
from prism_core.privacy.ledger.ledger import default_workspace
from prism_core.structure import formats
from prism_core.text.numbers import eps_text, left_text
from tests.support.approvals import SAID, STATED
from tests.support.pages import open_page, texts

pytestmark = pytest.mark.app


@pytest.fixture
def project(spurious) -> Project:
    return Project(
        data=DataEntries(
            name="stays.csv", raw=spurious.train, test=spurious.test, schema=spurious.schema
        ),
        structure=StructureEntries(
            target="Y", graph=EditedGraph(edges=formats.read(spurious.dag_json).edges)
        ),
        account=AccountEntries(asset="stays 2024"),
        release=ReleaseEntries(said=dict(SAID)),
    )


def missing(test: AppTest) -> list[str]:
    """Lines of the checklist that are not green."""
    mark = ":orange[:material/pending:] "
    lines = [part.value.replace("\\", "") for part in test.markdown]
    return [line.removeprefix(mark) for line in lines if line.startswith(mark)]


def test_all_green_and_in_words(project):
    test = open_page("release", project)
    assert missing(test) == []
    shown = texts(test)
    after = Ledger.prospect("stays 2024", epsilon=3.0, delta=project.plan().delta).after(
        project.plan().total
    )
    assert f"{eps_text(after.spent_epsilon)} is then spent" in shown
    assert f"room for one more release of {left_text(after.left_epsilon)}" in shown
    assert "A folder to hand over" in shown
    assert not test.button(key="release_run").disabled


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("people", "Say how rows and people relate"),
        ("graph", "Draw"),
        ("epsilon", "epsilon must be a number above 0"),
        ("holdout", "Keep rows aside"),
        ("asset", "Name the asset below"),
        ("learn", "Learn the columns that are ticked"),
    ],
)
def test_what_is_missing_says_what_to_do_and_nothing_can_be_run(project, what, line):
    if what == "people":
        project.data.schema = replace(project.data.schema, one_row_per_person=False)
    elif what == "graph":
        project.structure.graph = EditedGraph()
    elif what == "epsilon":
        project.designs.plan.budget.epsilon = float("nan")
    elif what == "holdout":
        project.data.test, project.data.holdout_share = None, 0.0
    elif what == "asset":
        project.account.asset = ""
    else:
        project.data.form = [{"name": "A", "learn": True}]
    test = open_page("release", project)
    assert any(line in found for found in missing(test)), missing(test)
    assert [b.key for b in test.button if b.key == "release_run" and not b.disabled] == []


def test_a_schema_from_private_rows_is_said_and_not_hidden(project):
    project.data.schema = replace(project.data.schema, provenance="private rows")
    assert "may give away single people" in texts(open_page("release", project))


def test_a_large_task_error_is_a_yellow_line_before_anything_is_charged(project):
    yellow = ":orange[:material/warning:] The task error is large"
    assert not any(part.value.startswith(yellow) for part in open_page("release", project).markdown)
    project.designs.plan.budget.epsilon = 0.005
    assert figures(project.plan()).mean_error > LARGE_ERROR
    test = open_page("release", project)
    assert any(part.value.startswith(yellow) for part in test.markdown)
    assert missing(test) == []  # it is looked at, not forbidden
    assert not test.button(key="release_run").disabled


def test_an_approval_holds_for_exactly_this_plan(project):
    test = open_page("release", project)
    test.checkbox(key="approval_needed").check().run()
    assert any("Have the plan approved" in line for line in missing(test))
    assert test.button(key="release_run").disabled
    test.text_input(key="approval_by").set_value("A. Meyer")
    next(b for b in test.button if b.label.startswith("Record the approval")).click().run()
    assert not test.exception
    assert missing(test) == []
    assert "Approved by A. Meyer (privacy committee) on" in texts(test)
    assert release_protocol_given(project) is project.release.approved
    # The plan changes: what, is said; nothing runs; going back is enough.
    project.designs.plan.budget.epsilon = 2.0
    test.run()
    assert any("plan changed since it was approved" in line for line in missing(test))
    (table,) = (f.value for f in test.dataframe if "what changed" in f.value.columns)
    assert table.to_dict("list") == {
        "what changed": ["Epsilon"],
        "approved": ["1.0"],
        "now": ["2.0"],
    }
    assert test.button(key="release_run").disabled
    with pytest.raises(PrismError):
        release_protocol_given(project)
    project.designs.plan.budget.epsilon = 1.0
    project.account.asset = "other stays"
    test.run()
    assert any("asset is another one" in line for line in missing(test))
    project.account.asset = "Stays  2024"
    test.run()
    assert missing(test) == []
    test.button(key="approval_forget").click().run()
    assert project.release.approved is None
    with pytest.raises(PrismError, match="needs an approval"):
        release_protocol_given(project)


@pytest.mark.privacy
def test_an_approval_that_was_used_is_named_with_its_charge(project):
    plan = project.plan()
    record = Protocol(plan=plan, asset="stays 2024", statement=STATED).approve(
        by="A", role="b", date="2025-01-01"
    )
    project.release.approved = record
    ledger = Ledger()
    ledger.register("stays 2024", epsilon=3.0, delta=plan.delta)
    assert missing(open_page("release", project)) == []
    ledger.charge(
        "stays 2024",
        step="release",
        spent=plan.spent,
        events=plan.events,
        plan=plan.hash,
        accountant="zcdp",
        approval=record.approval,
    )
    test = open_page("release", project)
    assert any("This approval was used for charge 1" in line for line in missing(test))
    assert test.button(key="release_run").disabled


@pytest.mark.privacy
def test_finished_releases_are_listed_also_without_a_project(project):
    plan = project.plan()
    ledger = Ledger()
    ledger.register("stays 2024", epsilon=9.0, delta=plan.delta)
    asked = {"plan": plan.hash, "accountant": "zcdp"}
    for state in ("done", "void", "failed", "reserved"):
        number = ledger.charge(
            "stays 2024", step="release", spent=plan.spent, events=plan.events, **asked
        )
        if state != "reserved":
            ledger.mark(number, state)
    learned = GaussianEvent(sigma=40.0, label="learning age")
    spent = Spent(epsilon=1.0, delta=1e-6, rho=learned.rho)
    ledger.mark(
        ledger.charge("stays 2024", step="release", spent=spent, events=(learned,), **asked), "done"
    )
    for shown in (open_page("release", project), open_page("release", Project())):
        (found,) = (f.value for f in shown.dataframe if "plan" in f.value.columns)
        assert found[["charge", "data asset", "plan"]].values.tolist() == [
            [1, "stays 2024", plan.hash[:12]]
        ]
        assert found["epsilon"].tolist() == [eps_text(plan.spent.epsilon)]
    assert "Not yet:" in texts(shown)


def test_the_protocol_can_be_read_before_it_is_approved(project):
    test = open_page("release", project)
    (window,) = test.get("iframe")
    assert (
        window.proto.srcdoc
        == Protocol(
            plan=project.plan(),
            asset="stays 2024",
            statement=STATED,
            balance=Ledger.prospect("stays 2024", epsilon=3.0, delta=project.plan().delta),
            holdout=project.data.test.rows if project.data.test else project.data.holdout_rows,
        ).to_html()
    )
    # Another test file is another protocol, though the plan is the same.
    project.data.test = project.data.raw
    test.run()
    (window,) = test.get("iframe")
    assert f"{project.data.raw.rows:,} rows, no part of the release" in window.proto.srcdoc


@pytest.mark.privacy
def test_the_protocol_does_not_tell_how_many_rows_people_have(project):
    """Where a column names the person, the number of persons is public and that of rows is not."""
    data = project.data
    data.test = replace(data.test, frame=data.test.frame.assign(mrn="p"))
    data.schema = replace(
        data.schema, one_row_per_person=False, person_id="mrn", persons=data.raw.rows
    )
    (window,) = open_page("release", project).get("iframe")
    assert "rows, no part of the release" not in window.proto.srcdoc
    assert "further rows" not in window.proto.srcdoc


@pytest.mark.privacy
def test_an_approval_whose_settings_contradict_its_hash_is_refused(project, tmp_path):
    record = Protocol(plan=project.plan(), asset="stays 2024", statement=STATED).approve(
        by="A", role="b", date="2025-01-01"
    )
    project.release.approved = replace(record, settings=record.settings | {"budget.epsilon": 0.1})
    assert project.release.approved.approval.covers(project.plan(), "stays 2024")
    test = open_page("release", project)
    assert any("plan changed since it was approved" in line for line in missing(test))
    assert test.button(key="release_run").disabled
    with pytest.raises(PrismError, match=r"budget\.epsilon differs"):
        release_protocol_given(project)
    (tmp_path / folders.APPROVAL).write_text(project.release.approved.dumps(), encoding="utf-8")
    with pytest.raises(PrismError, match=r"budget\.epsilon differs"):
        child._approval(tmp_path, project.plan(), "stays 2024")
    (tmp_path / folders.APPROVAL).write_text(record.dumps(), encoding="utf-8")
    assert child._approval(tmp_path, project.plan(), "stays 2024") == record.approval


def release_protocol_given(project: Project):
    """What would go with the run, asked as the page does."""
    found = []

    def app():
        from dashboard.release import protocol_panel as part
        from dashboard.session.shelf import project as current
        from prism_core.errors import PrismError

        current().outcome = None
        try:
            current().outcome = part.given(current().plan())
        except PrismError as error:
            current().outcome = error

    test = AppTest.from_function(app)
    test.session_state["project"] = project
    test.run()
    found = project.outcome
    if isinstance(found, Exception):
        raise found
    return found


def test_names_are_needed(project):
    test = open_page("release", project)
    next(b for b in test.button if b.label.startswith("Record the approval")).click().run()
    assert "by must be the names of those who approved" in texts(test)
    assert project.release.approved is None


def test_the_workspace_may_ask_for_an_approval(project):
    workspace = default_workspace()
    workspace.mkdir()
    (workspace / "settings.toml").write_text("[release]\napproval_required = true\n")
    test = open_page("release", project)
    assert any("Have the plan approved" in line for line in missing(test))
    assert test.checkbox(key="approval_needed").disabled
    (workspace / "settings.toml").write_text("[release")
    test.run()
    assert any("settings.toml is not usable" in line for line in missing(test))
    assert test.button(key="release_run").disabled


def test_the_files_of_the_page_and_of_the_command_are_one_kind(project):
    record = Protocol(plan=project.plan(), asset="stays 2024", statement=STATED).approve(
        by="A", role="b", date="2025-01-01"
    )
    project.release.approved = approval_file.loads(record.dumps())
    assert "for exactly this plan" in texts(open_page("release", project))


def test_earlier_releases_for_the_same_target_are_named(project):
    plan = project.plan()
    ledger = Ledger()
    ledger.register("stays 2024", epsilon=3.0, delta=plan.delta)
    assert LEAKAGE not in texts(open_page("release", project))
    number = ledger.charge(
        "stays 2024",
        step="release",
        spent=plan.spent,
        events=plan.events,
        plan="p",
        accountant="zcdp",
    )
    test = open_page("release", project)
    assert f"charge {number}). {LEAKAGE}" in texts(test)
    ledger.mark(number, "void")
    test.run()
    assert LEAKAGE not in texts(test)


def test_a_rehearsal_is_started_without_a_confirmation(project):
    project.data.public = True
    test = open_page("release", project)
    assert missing(test) == []
    assert "release_confirm_0" not in [entry.key for entry in test.text_input]
    assert not test.button(key="release_run").disabled


def test_a_finished_release_that_was_put_away_is_shown_again(project, tmp_path):
    job = Job(folder=tmp_path, plan=project.plan(), started=0.0)
    project.release.job, project.release.folder, project.release.approved = job, job.result, None
    project.forget_results()
    assert (project.release.job, project.release.folder) == (None, None)
    test = open_page("release", project)
    assert "prepares **another** one" in texts(test)
    for name in ("inspect", "report"):
        test = open_page(name, project)
        assert "Your finished release is kept" in texts(test)
    found, told = object(), project.report
    project.release.put_away = (found, told)
    test.button(key="release_back").click().run()
    assert (project.release.job, project.release.folder, project.release.finished) == (
        job,
        job.result,
        None,
    )
    assert project.inspection.shown is found  # numbers that were paid for are among it
    assert project.report is told


def test_enter_in_the_names_records_no_approval(project):
    form = next(block for block in open_page("release", project).main if block.type == "form")
    assert not form.proto.form.enter_to_submit


@pytest.mark.privacy
def test_learning_that_this_ledger_was_not_charged_for_is_said_and_counted(project):
    """A schema that was learned elsewhere: warned of, in the amount, in the protocol; then not."""
    events = (GaussianEvent(sigma=4_000.0, label="learning A"),)
    prior = LearningCharge(
        events=events, delta=project.plan().delta, plan="a" * 64, receipts=("ab" * 16,)
    )
    project.data.schema = replace(project.data.schema, provenance="dp", prior=prior)
    plan = project.plan()
    test = open_page("release", project)
    shown = texts(test)
    assert "this ledger holds no charge for that under this asset" in shown
    said = test.text_input(key="release_confirm_0").label
    whole = eps_text(plan.guarantee.epsilon)
    assert f"spends epsilon {whole} of “stays 2024”, the cost of learning included. It" in said
    assert f"Epsilon {eps_text(plan.guarantee.epsilon)} of “stays 2024”" in shown
    protocol = Protocol(
        plan=plan, balance=asset_balance(plan), owed=owed(Ledger(), "stays 2024", plan.prior)
    )
    assert "Learning, charged with this release" in protocol.to_markdown()
    ledger = Ledger()
    ledger.register("stays 2024", epsilon=3.0, delta=plan.delta)
    ledger.charge(
        "stays 2024",
        step="domain",
        spent=prior.spent,
        events=events,
        plan="a" * 64,
        accountant="zcdp",
        receipts=prior.receipts,
    )
    test = open_page("release", project)
    shown = texts(test)
    assert "this ledger holds no charge" not in shown
    said = test.text_input(key="release_confirm_0").label
    assert f"spends epsilon {eps_text(plan.spent.epsilon)} of “stays 2024”. It" in said
    assert f"Epsilon {eps_text(plan.spent.epsilon)} of “stays 2024”" in shown


def asset_balance(plan):
    return Ledger.prospect("stays 2024", epsilon=3.0, delta=plan.delta)


@pytest.mark.privacy
def test_an_approval_on_the_page_is_for_a_named_asset(project):
    project.account.asset = ""
    test = open_page("release", project)
    (record,) = (b for b in test.button if b.label == "Record the approval of this plan")
    assert record.disabled
    project.account.asset = "stays 2024"
    project.release.approved = Protocol(plan=project.plan(), statement=STATED).approve(
        by="A", role="b", date="2026-01-01"
    )
    assert any("names no data asset" in line for line in missing(open_page("release", project)))
