"""Sentences that were untrue or contradicted each other, through the doors that show them."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.jobs import folders, worker
from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import Designs, Entries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from prism_core.bundle import bundle_files
from prism_core.bundle.report.report_copy import copy_report
from prism_core.bundle.verify.verification import verify
from prism_core.bundle.write import bundle_folder
from prism_core.data.encoding import encode
from prism_core.data.schema import column_form
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import from_frame, read_table
from prism_core.errors import SchemaError
from prism_core.explain.error_bounds import bounds
from prism_core.explain.features_statement import features_statement
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.curator_statement import LABELS
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.release import release
from tests.support.pages import open_page, texts

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.app
EDGES = (("age", "readmitted"), ("smoker", "readmitted"))
PURPOSE = "benchmark for external teams"


@pytest.fixture
def project(schema, frame) -> Project:
    raw = from_frame(frame)
    return Project(
        data=DataEntries(name="stays", raw=raw, test=raw, public=True, schema=schema),
        structure=StructureEntries(target="readmitted", graph=EditedGraph(edges=EDGES)),
        designs=Designs(plan=Entries(synthesis=Synthesis(model="naive_bayes", rows=200))),
    )


def run(project: Project) -> None:
    """The rehearsal of what is entered, by the page's own button, to its end."""
    test = open_page("release", project)
    test.button(key="release_run").click().run()
    assert not test.exception
    assert project.release.job is not None
    end = time.monotonic() + 120
    while project.release.job.outcome().state == "running" and time.monotonic() < end:
        time.sleep(0.2)
    assert project.release.job.outcome().state == "done", project.release.job.outcome().message
    assert project.release.job.process is not None
    project.release.job.process.wait(60)
    open_page("release", project)
    assert project.release.folder is not None


def test_the_summary_says_which_files_hold_designs_and_which_hold_private_rows(project):
    project.designs.others["B"] = project.designs.plan.copy()
    shown = texts(open_page("release", project))
    assert "Your designs beside the plan (B) go into it" in shown
    assert re.search(r"Private rows and exact counts are in none of these files", shown)
    assert not re.search(r"in none of them\.\s+So are", shown)


def test_a_bound_that_promises_nothing_claims_nothing(schema):
    from prism_core.structure.dag import Dag

    dag = Dag(nodes=schema.names, edges=EDGES)
    for epsilon in (0.001, 0.01, 1.0, 50.0):
        plan = design(
            Brief(schema, Task(target="readmitted"), Budget(epsilon=epsilon), 300, dag=dag)
        )
        found = bounds(plan, p_min=0.2)
        each = [b for line in found.marginals for b in (line.expected, line.l1, line.tv)]
        for bound in (*each, found.sampling, found.delta_s, *found.erm.terms, found.erm.total):
            if bound.text == "no guarantee":
                assert "But for a chance" not in bound.sentence, bound
                assert "It holds if" not in bound.sentence, bound
                if bound.raw is not None:
                    assert "promises nothing" in bound.sentence


def bounds_page() -> None:
    from dashboard.budget import bounds_panel
    from dashboard.session.shelf import project

    bounds_panel.section(project().designs.plan, project().plan())


def test_the_page_budget_does_not_promise_what_it_does_not(project):
    for epsilon, promised in ((0.001, False), (50.0, True)):
        project.designs.plan.budget.epsilon = epsilon
        test = AppTest.from_function(bounds_page, default_timeout=60)
        test.session_state["project"] = project
        test.run()
        assert not test.exception
        assert ("the noise of this marginal stays below it" in texts(test)) is promised


@pytest.fixture
def released(schema, frame, tmp_path) -> Path:
    """A rehearsal with private choices, so that its two hashes differ."""
    table = encode(schema, from_frame(frame), public=True)
    plan = design(
        Brief(schema, Task(target="readmitted", regime="predictive", k=2), Budget(), table.n)
    )
    rng = np.random.default_rng(3)
    made = release(plan, table, ledger=None, noise=SeededNoise(rng), rng=rng)
    return bundle_folder.write(made, tmp_path / "run")


def test_a_plan_has_one_number_in_heading_annex_and_data_sheet(released):
    certificate = json.loads((released / bundle_files.CERTIFICATE).read_text(encoding="utf-8"))
    number = certificate["planned_sha256"][:12]
    assert certificate["plan_sha256"][:12] != number
    for name in (bundle_files.REPORT, bundle_files.README):
        text = (released / name).read_text(encoding="utf-8")
        assert set(re.findall(r"\bplan ([0-9a-f]{12})\b", text)) == {number}, name
    assert verify(released).findings == ()


def test_release_and_report_say_when_the_plan_has_moved_on(project):
    run(project)
    for name in ("release", "report"):
        assert "earlier plan" not in texts(open_page(name, project))
    project.designs.plan.regime = "predictive"
    project.designs.plan.budget.epsilon = 2.0
    for name in ("release", "report"):
        test = open_page(name, project)
        assert "This run was made with an earlier plan" in texts(test), name
        assert project.release.job is not None
        assert project.release.job.plan.hash[:12] in texts(test)
        (table,) = (f.value for f in test.dataframe if "in this run" in f.value.columns)
        told = {
            row["what changed"]: (row["in this run"], row["now"]) for _, row in table.iterrows()
        }
        assert told["Regime"] == ("causal", "predictive")
        assert told["Epsilon"] == ("1.0", "2.0")
    project.designs.plan.regime, project.designs.plan.budget.epsilon = "causal", 1.0
    assert "earlier plan" not in texts(open_page("report", project))
    ward = replace(project.data.schema["ward"], levels=("north", "south", "west", "rest"))
    columns = tuple(ward if c.name == "ward" else c for c in project.data.schema.columns)
    project.use_schema(replace(project.data.schema, columns=columns))
    test = open_page("report", project)
    (table,) = (f.value for f in test.dataframe if "in this run" in f.value.columns)
    assert table.to_numpy().tolist() == [
        ["Column ward", "levels north, south, rest", "levels north, south, west, rest"]
    ]
    project.designs.plan.budget.epsilon = float("nan")
    assert "makes no plan" in texts(open_page("release", project))


def test_who_what_and_why_is_entered_before_the_run_and_stands_in_the_bundle(project):
    test = open_page("release", project)
    assert "names no organisation, purpose or contact yet" in texts(test)
    test.text_input(key="said_organisation").set_value("St. Mary's").run()
    test.text_input(key="said_purpose").set_value(f"{PURPOSE} <b>").run()
    assert "what you entered below of: Controller, Purpose" in texts(test)
    run(project)
    folder = project.release.folder
    assert folder is not None
    report = (folder / bundle_files.REPORT).read_text(encoding="utf-8")
    top = report.split("people whose rows were used")[0]
    assert "St. Mary&#39;s" in top
    assert f"{PURPOSE} &lt;b&gt;" in top
    assert "names them in a copy" not in report
    certificate = json.loads((folder / bundle_files.CERTIFICATE).read_text(encoding="utf-8"))
    assert certificate["said"] == {"organisation": "St. Mary's", "purpose": f"{PURPOSE} <b>"}
    assert PURPOSE in (folder / bundle_files.README).read_text(encoding="utf-8")
    assert verify(folder).findings == ()
    assert copy_report(folder) == report
    # The page shows the bundle's own report, and after a reload the same entries.
    project.release.said.clear()
    test = open_page("report", project)
    assert test.text_input(key="said_purpose").value == f"{PURPOSE} <b>"
    assert test.get("iframe")[0].proto.srcdoc == report
    # Whoever takes the line out of the certificate is found.
    path = folder / bundle_files.CERTIFICATE
    certificate["said"]["purpose"] = "another one"
    path.write_text(bundle_files.json_text(certificate), encoding="utf-8")
    assert verify(folder).findings


def test_the_ledgers_own_words_stay_with_the_curator_unless_she_takes_them(project):
    project.data.public, project.account.asset, project.account.why = (
        False,
        "stays of clinic A",
        PURPOSE,
    )
    project.designs.plan.synthesis = Synthesis()
    test = open_page("release", project)
    assert test.text_input(key="said_purpose").value == ""
    test.button(key="said_ledger").click().run()
    assert project.release.said == {"asset": "stays of clinic A", "purpose": PURPOSE}
    assert [one.value for one in test.text_input if one.label == LABELS["purpose"][0]] == [PURPOSE]


def test_who_what_and_why_on_the_command_line(make_run, tmp_path, capsys):
    from prism_core.cli.main import main

    out = tmp_path / "out"
    asked = ["release", str(make_run()), "--out", str(out), "--seed", "1"]
    assert main([*asked, "--purpose", PURPOSE, "--data-asset", "stays of clinic A"]) == 0
    capsys.readouterr()
    top = (
        (out / bundle_files.REPORT)
        .read_text(encoding="utf-8")
        .split("people whose rows were used")[0]
    )
    assert PURPOSE in top
    assert "stays of clinic A" in top
    assert main([*asked, "--purpose", "two\nlines"]) == 2
    assert "Purpose must be one line" in capsys.readouterr().err


def test_what_is_said_reaches_the_process_of_the_run(project, monkeypatch):
    from prism_core.planning.wishes.curator_statement import CuratorStatement

    monkeypatch.setattr(
        worker,
        "_process",
        lambda folder, lock, plan: worker.Job(folder=folder, plan=plan, started=0.0),
    )
    table = encode(project.data.schema, project.data.raw, public=True)
    job = worker.start(project.plan(), table, None, 1, said=CuratorStatement(purpose=PURPOSE))
    assert json.loads((job.folder / folders.SAID).read_text())["purpose"] == PURPOSE
    assert (job.folder / folders.SAID).stat().st_mode & 0o777 == 0o600


def test_articles_fit_the_kind():
    for kind, words in (("ordinal", "an ordinal column"), ("categorical", "a categorical column")):
        with pytest.raises(SchemaError, match=words):
            Column(name="x", kind=kind)
        with pytest.raises(SchemaError, match=words):
            Column(name="x", kind=kind, levels=("a", "b"), lower=0.0, upper=1.0)


@pytest.mark.parametrize(
    ("names", "said"), [(("seqn",), "For seqn: choose"), (("a", "b"), "For each of a, b: choose")]
)
def test_a_column_without_a_kind_is_asked_for_in_grammar(names, said):
    rows = "".join("1," * len(names) + f"{i}\n" for i in range(20))
    header = ",".join((*names, "y"))
    project = Project(
        data=DataEntries(
            name="x.csv",
            raw=read_table(f"{header}\n{rows}".encode()),
            form=[
                *map(dict, column_form.blank_rows(names)),
                {**column_form.blank_rows(["y"])[0], "kind": "boolean"},
            ],
        ),
    )
    test = open_page("data", project)
    test.button(key="apply_columns").click().run()
    assert said in texts(test)


def test_one_of_a_thing_is_in_the_singular(schema):
    one = Task(target="readmitted", regime="predictive", k=1)
    assert "the 1 feature most associated" in features_statement(one, None, 6)
    few = Schema(columns=schema.columns[-2:], one_row_per_person=True)
    assert "S is the only column besides readmitted" in features_statement(
        replace(one, k=1), None, len(few.columns) - 1
    )


def test_the_report_says_that_s_was_chosen_only_where_it_was(schema, frame, tmp_path):
    table = encode(schema, from_frame(frame), public=True)
    for k, chosen in ((2, True), (6, False)):
        plan = design(
            Brief(
                schema,
                Task(target="readmitted", regime="predictive", k=k),
                Budget(),
                table.n,
                synthesis=Synthesis(model="naive_bayes"),
            )
        )
        rng = np.random.default_rng(3)
        made = release(plan, table, ledger=None, noise=SeededNoise(rng), rng=rng)
        folder = bundle_folder.write(made, tmp_path / f"run {k}")
        text = (folder / bundle_files.REPORT).read_text(encoding="utf-8")
        assert ("chosen privately with part of the budget" in text) is chosen
        assert ("nothing has to be chosen" in text) is not chosen


def test_a_schema_from_private_rows_is_not_said_to_have_come_from_nowhere(schema, frame, tmp_path):
    private = replace(schema, provenance="private rows")
    table = encode(private, from_frame(frame), public=True)
    plan = design(
        Brief(
            private,
            Task(target="readmitted", regime="predictive", k=6),
            Budget(),
            table.n,
            synthesis=Synthesis(model="naive_bayes"),
        )
    )
    rng = np.random.default_rng(3)
    made = release(plan, table, ledger=None, noise=SeededNoise(rng), rng=rng)
    text = (bundle_folder.write(made, tmp_path / "run") / bundle_files.REPORT).read_text(
        encoding="utf-8"
    )
    assert "Nothing was learned from the rows before the plan" not in text
    assert "none that read a row under this plan" not in text
