"""Comparators in the section Compare: rehearsed on stand-in rows, or on private rows, charged."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dashboard.jobs import folders, worker
from dashboard.session.data_entries import DataEntries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.inspection import Inspection
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries, ReleaseEntries
from prism_core.bundle.write import bundle_folder
from prism_core.comparators import design_comparator
from prism_core.comparators.external import design_external
from prism_core.data.tables.raw_table import from_frame
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.config import AssetConfig
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.ledger import default_workspace
from prism_core.privacy.noise import SeededNoise
from prism_core.runs.finished_run import candidate, subject
from prism_core.runs.inputs import encode_holdout, encode_rows
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release
from tests.support.pages import APP, settled, texts
from tests.support.released import inspect_page

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app
EDGES = (("age", "readmitted"), ("smoker", "readmitted"))


@pytest.fixture
def make(tmp_path, schema, frame):
    """A project with an opened inspection; its training rows are private unless asked otherwise."""

    def run(*, public: bool = False) -> Project:
        rng = np.random.default_rng(1)
        raw = from_frame(frame)
        train = encode_rows(schema, raw, public=True, rng=rng)
        synthesis = Synthesis(model="naive_bayes", rows=300)
        plan = design(
            Brief(
                schema,
                Task(target="readmitted"),
                Budget(epsilon=1.0),
                train.n,
                dag=Dag(nodes=schema.names, edges=EDGES),
                synthesis=synthesis,
            )
        )
        made = release(plan, train, ledger=None, noise=SeededNoise(rng), rng=rng)
        project = Project(
            data=DataEntries(name="stays", raw=raw, test=raw, public=public, schema=schema),
            structure=StructureEntries(target="readmitted", graph=EditedGraph(edges=EDGES)),
            release=ReleaseEntries(
                train=replace(train, public=public),
                holdout=encode_holdout(schema, raw, rng=rng, public=public),
                folder=bundle_folder.write(made, tmp_path / "run", again=True),
            ),
            account=AccountEntries(asset="ward 7", lifetime=1.5),
        )
        project.designs.plan.synthesis = synthesis
        folder = bundle_folder.read(project.release.folder)
        project.inspection.shown = Inspection(
            folder=project.release.folder,
            certificate=folder.certificate,
            section="Compare",
            subject=subject(folder, project.release.holdout, project.release.train),
        )
        return project

    return run


def lines(test: AppTest):
    (frame,) = [f.value for f in test.dataframe if "release" in f.value]
    return frame.set_index("release")


@pytest.mark.slow
def test_a_rehearsal_on_stand_in_rows_stands_beside_the_plan_on_the_same_rows(make):
    project = make()
    project.release.train = None  # the private rows are not needed for it
    test = inspect_page(project)
    shown = texts(test)
    assert "does not know which column is to be predicted" in shown
    assert "Neighbours here: replace one person" in shown
    assert "add or remove one person" in shown
    test.selectbox(key="rival_method").select("mst").run()
    test.button(key="rival_run").click()
    settled(test, project)
    found = lines(test)
    assert list(found.index) == ["this release", "this plan", "comparator 1"]
    assert list(found["scored on"])[1:] == ["stand-in rows"] * 2
    assert list(found["charge"]) == ["rehearsal"] * 3
    assert found.loc["comparator 1", "method"] == "MST"
    assert found.loc["comparator 1", "regime"] == "knows no target"
    assert set(found["neighbours"]) == {"replace one person"}
    assert set(found["epsilon"]) == {1.0}
    assert set(found["covered by"]) == {"outside epsilon"}
    assert found["AUC, trained on synthetic"].notna().all()
    assert (
        found.loc["this plan", "AUC, trained on real"]
        == found.loc["comparator 1", "AUC, trained on real"]
    )
    assert not (default_workspace() / folders.COMPARATORS).exists()
    assert Ledger().charges() == ()


@pytest.mark.slow
@pytest.mark.privacy
def test_on_private_rows_it_is_confirmed_by_typing_and_charged_first(make):
    project = make()
    test = inspect_page(project)
    test.radio(key="rival_own").set_value(True).run()
    test.selectbox(key="rival_method").select("independent").run()
    test.text_input(key="rival_confirm_0").set_value("ward 8").run()
    test.button(key="rival_run").click()
    settled(test, project)
    assert Ledger().charges() == ()
    test.text_input(key="rival_confirm_0").set_value("ward 7").run()
    test.button(key="rival_run").click()
    settled(test, project)
    (charge,) = Ledger().charges()
    assert (charge.state, charge.id) == ("done", 1)
    assert charge.epsilon == pytest.approx(1.0)
    assert charge.why.startswith("comparator Independent columns")
    found = lines(test).loc["comparator 1"]
    assert found["charge"] == "number 1"
    assert found["kind"] == "comparator"
    assert found["scored on"] == "real rows kept aside"
    kept = default_workspace() / folders.COMPARATORS / "charge-1"
    assert candidate(kept, "kept").charge == 1
    assert kept.stat().st_mode & 0o077 == 0
    # The next one is confirmed by itself, and the lifetime budget does not cover it twice more.
    test.text_input(key="rival_epsilon").set_value("1,4")
    settled(test, project)
    assert "of the lifetime budget is left" in texts(test)
    test.text_input(key="rival_confirm_1").set_value("ward 7").run()
    assert test.button(key="rival_run").disabled


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A stand-in for the package dpmm, which gives rows back at random."""
    (tmp_path / "site" / "dpmm").mkdir(parents=True)
    (tmp_path / "site" / "dpmm" / "__init__.py").touch()
    (tmp_path / "site" / "dpmm" / "pipelines.py").write_text(
        "class MSTPipeline:\n"
        "    def __init__(self, **told): pass\n"
        "    def fit(self, table, domain, random_state): self.table = table\n"
        "    def generate(self, n_records, random_state):\n"
        "        return self.table.sample(n_records, replace=True, random_state=random_state)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{APP.parents[1]}:{tmp_path / 'site'}")
    monkeypatch.setenv("PRISM_COMPARATOR_PYTHON_DPMM", sys.executable)


@pytest.mark.slow
@pytest.mark.privacy
def test_another_package_is_rehearsed_and_gets_no_private_row(make, package):
    project = make()
    test = inspect_page(project)
    titles = test.selectbox(key="rival_method").options
    assert "MST (dpmm)" in titles
    assert "MST (smartnoise-synth)" not in titles  # nobody named a Python for it
    test.radio(key="rival_own").set_value(True).run()
    test.selectbox(key="rival_method").select("dpmm-mst").run()
    assert "nobody here can vouch for the noise of another package" in texts(test)
    assert "rival_run" not in [button.key for button in test.button]
    plan = design_external("dpmm-mst", project.release.train.schema, project.release.train.n, 1.0)
    job = worker.compare(
        plan, project.release.train, AssetConfig(name="ward 7", lifetime_epsilon=9.0), 1
    )
    job.process.wait(timeout=120)
    assert "public rows and on stand-in rows only" in job.outcome().message
    job.remove()
    test.radio(key="rival_own").set_value(False).run()
    assert "its rho counts 4 rho here" in texts(test)
    test.button(key="rival_run").click()
    settled(test, project)
    found = lines(test).loc["comparator 1"]
    assert (found["method"], found["charge"]) == ("MST (dpmm)", "rehearsal")
    assert found["covered by"] == "outside epsilon"
    assert Ledger().charges() == ()


@pytest.mark.privacy
def test_where_releases_need_an_approval_private_rows_are_not_offered(make):
    default_workspace().mkdir()
    rule = "[release]\napproval_required = true\n"
    (default_workspace() / "settings.toml").write_text(rule, encoding="utf-8")
    project = make()
    project.inspection.comparators.own = True
    test = inspect_page(project)
    assert "a comparator cannot be approved" in texts(test)
    assert "rival_run" not in [button.key for button in test.button]
    test.radio(key="rival_own").set_value(False).run()
    assert "rival_run" in [button.key for button in test.button]
    plan = design_comparator(
        "mst", project.release.train.schema, project.release.train.n, 1.0, 1e-5
    )
    job = worker.compare(
        plan, project.release.train, AssetConfig(name="ward 7", lifetime_epsilon=9.0), 1
    )
    job.process.wait(timeout=120)
    assert "cannot be approved" in job.outcome().message
    assert Ledger().charges() == ()
    job.remove()


@pytest.mark.privacy
def test_what_is_offered_does_not_depend_on_the_rows(make):
    shown = []
    for shift in (0, 1):
        project = make()
        codes = np.array(project.release.train.codes)
        codes[:, -1] = (codes[:, -1] + shift) % 2
        project.release.train = replace(project.release.train, codes=codes)
        project.inspection.comparators.own = True
        test = inspect_page(project)
        shown.append(texts(test) + str([metric.value for metric in test.metric]))
    assert shown[0] == shown[1]


@pytest.mark.slow
def test_public_rows_are_run_with_known_noise_and_nobody_is_charged(make):
    project = make(public=True)
    project.inspection.comparators.own, project.inspection.comparators.method = (
        True,
        "independent",
    )
    test = inspect_page(project)
    test.button(key="rival_run").click()
    settled(test, project)
    assert lines(test).loc["comparator 1", "charge"] == "rehearsal"
    assert lines(test).loc["comparator 1", "scored on"] == "real rows kept aside"
    assert Ledger().charges() == ()
    test.text_input(key="rival_epsilon").set_value("0")
    settled(test, project)
    assert "epsilon must be a number above 0" in texts(test)
    project.release.train = None
    assert "no longer in memory" in texts(inspect_page(project))


@pytest.mark.slow
@pytest.mark.privacy
def test_the_process_is_refused_without_budget_and_leaves_no_row(make):
    """What the page disables is refused in the process as well; nothing private is left behind."""
    project = make()
    Ledger().register("ward 7", epsilon=0.5, delta=1e-4)
    plan = design_comparator(
        "mst", project.release.train.schema, project.release.train.n, 1.0, 1e-5
    )
    asset = AssetConfig(name="ward 7", lifetime_epsilon=0.5)
    job = worker.compare(plan, project.release.train, asset, 1)
    end = time.monotonic() + 60
    while job.outcome().state == "running" and time.monotonic() < end:
        time.sleep(0.05)
    assert job.outcome().state == "failed"
    assert "lifetime" in job.outcome().message
    assert Ledger().charges() == ()
    assert not (job.folder / folders.CODES).exists()
    assert not job.result.exists()
    assert not (job.folder / folders.SEED).exists()
    job.remove()
