"""The page Report: what is shown, what may be added, what is handed over, and that it waits not."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dashboard.session.data_entries import DataEntries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import ReleaseEntries
from prism_core.bundle import bundle_files
from prism_core.bundle.write import bundle_folder
from prism_core.data.tables.raw_table import from_frame
from prism_core.evaluation import MetricRow
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.runs.inputs import encode_rows
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release
from tests.support.pages import open_page, texts

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app
EDGES = (("age", "readmitted"), ("smoker", "readmitted"))
ROW = MetricRow(
    name="auc", learner="logistic", subject="readmitted", value=0.731, floor=0.5, ceiling=0.745
)


class Inspected:
    """An inspection as far as the page asks it."""

    def __init__(self) -> None:
        self.private: list[object] = []

    def done(self, prefix: str) -> dict[str, object]:
        found = type("Prediction", (), {"rows": (ROW, replace(ROW, name="accuracy"))})()
        return {"predict:logistic": found, "split": object()}


@pytest.fixture
def project(tmp_path, schema, frame) -> Project:
    rng = np.random.default_rng(1)
    raw = from_frame(frame)
    train = encode_rows(schema, raw, public=True, rng=rng)
    plan = design(
        Brief(
            schema,
            Task(target="readmitted"),
            Budget(),
            train.n,
            dag=Dag(nodes=schema.names, edges=EDGES),
            synthesis=Synthesis(model="naive_bayes", rows=200),
        )
    )
    made = release(plan, train, ledger=None, noise=SeededNoise(rng), rng=rng)
    return Project(
        data=DataEntries(name="stays", raw=raw, test=raw, public=True, schema=schema),
        structure=StructureEntries(target="readmitted", graph=EditedGraph(edges=EDGES)),
        release=ReleaseEntries(folder=bundle_folder.write(made, tmp_path / "run")),
    )


def shown(test: AppTest) -> str:
    return test.get("iframe")[0].proto.srcdoc


def test_it_shows_the_bundles_report_without_waiting_for_an_inspection(project):
    test = open_page("report", project)
    assert shown(test) == (project.release.folder / bundle_files.REPORT).read_text(encoding="utf-8")
    assert "Not yet" not in texts(test)
    assert not any(toggle.value for toggle in test.toggle)
    assert all(toggle.disabled for toggle in test.toggle)  # there is nothing to add
    assert {element.label for element in test.get("download_button")} >= {
        "Report (HTML)",
        "The bundle (ZIP)",
    }


def test_without_a_run_it_leads_to_the_release(project):
    project.release.folder = None
    test = open_page("report", project)
    assert "Not yet: **Release** is not finished" in texts(test)
    assert not test.get("iframe")


@pytest.mark.privacy
def test_numbers_outside_epsilon_are_off_until_the_curator_opts_in(project):
    project.inspection.shown = Inspected()
    test = open_page("report", project)
    assert "0.731" not in shown(test)
    test.toggle(key="report_outside").set_value(True).run()
    assert not test.exception
    assert "0.731" in shown(test)
    assert shown(test).count('badge out">outside epsilon') == 2
    assert "Outside epsilon" in texts(test)
    assert "0.731" not in (project.release.folder / bundle_files.REPORT).read_text()
    # Another page and back: it stays; another run: it is off again.
    assert project.report.outside
    assert "0.731" in shown(open_page("report", project))
    project.forget_results()
    assert not project.report.outside


def test_what_the_curator_says_stands_on_top_and_stays(project):
    project.account.asset, project.account.why = "stays of clinic A", "benchmark"
    test = open_page("report", project)
    assert test.text_input(key="said_asset").value == "stays of clinic A"
    assert "<dd>benchmark</dd>" in shown(test)
    test.text_input(key="said_organisation").set_value("<i>St. Mary</i>").run()
    test.text_input(key="said_asset").set_value("").run()
    assert not test.exception
    assert "<dd>&lt;i&gt;St. Mary&lt;/i&gt;</dd>" in shown(test)
    assert "stays of clinic A" not in shown(test)
    # Another page and back; and the next run is of the same house.
    project.forget_results()
    project.show_finished() if project.release.finished else setattr(
        project.release, "folder", project.release.earlier[0]
    )
    assert "St. Mary" in shown(open_page("report", project))
    assert "St. Mary" not in (project.release.folder / bundle_files.REPORT).read_text()


def test_the_fields_stay_open_after_the_first_is_typed(project):
    test = open_page("report", project, said_open=True)
    for name in ("organisation", "purpose"):
        test.text_input(key=f"said_{name}").set_value("typed").run()
        assert not test.exception
        (fields,) = (each for each in test.expander if each.label.startswith("Who, what and why"))
        assert fields.proto.expanded
    (fields,) = (
        each for each in open_page("report", project).expander if "Who, what" in each.label
    )
    assert not fields.proto.expanded


@pytest.mark.privacy
def test_numbers_of_a_rehearsal_are_not_offered_as_private(project):
    kinds = (("Rehearsed", False, True), ("Bought", True, False))
    for name, covered, disabled in kinds:
        project.inspection.shown = Inspected()
        project.inspection.shown.private = [type(name, (), {"covered": covered})()]
        assert open_page("report", project).toggle(key="report_private").disabled == disabled


def test_a_date_is_printed(project):
    import datetime

    test = open_page("report", project)
    test.date_input(key="report_date").set_value(datetime.date(2026, 3, 1)).run()
    assert not test.exception
    assert "2026-03-01" in shown(test)
    assert project.report.date == datetime.date(2026, 3, 1)


def test_without_chromium_the_button_says_why(project, monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    button = open_page("report", project).button(key="report_print")
    assert button.disabled
    assert "no Chromium" in button.help


def test_the_pdf_is_made_on_request_and_offered(project, monkeypatch, tmp_path):
    fake = tmp_path / "chromium"
    fake.write_text(
        '#!/bin/sh\nfor word in "$@"; do case "$word" in --print-to-pdf=*) '
        'printf "%%PDF-1.7 paper" > "${word#--print-to-pdf=}";; esac; done\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(fake))
    test = open_page("report", project)
    test.button(key="report_print").click().run()
    assert not test.exception
    assert "Report (PDF)" in {element.label for element in test.get("download_button")}


def test_a_damaged_bundle_is_a_sentence(project):
    (project.release.folder / bundle_files.CERTIFICATE).write_text("[")
    test = open_page("report", project)
    assert any("certificate" in error.value for error in test.error)
    assert not test.get("iframe")


@pytest.mark.privacy
def test_the_zip_holds_the_report_and_no_place_of_this_machine(project):
    from prism_core.bundle.manifest import zip_bytes

    with zipfile.ZipFile(io.BytesIO(zip_bytes(project.release.folder))) as archive:
        assert bundle_files.REPORT in archive.namelist()
        assert bundle_files.LOCAL not in archive.namelist()
