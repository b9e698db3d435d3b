"""Runs in a process of their own: done, refused, cancelled; nothing private is left behind."""

from __future__ import annotations

import json
import stat
import time
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from dashboard.jobs import child, folders, worker
from prism_core.bundle.write import bundle_folder
from prism_core.comparators import design_comparator
from prism_core.data.encoding import encode, set_aside
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import from_frame, read_table
from prism_core.evaluation import LEARNERS, evaluate
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.requests import CategoryRequest, Outline
from prism_core.learning.graph.graph_plan import design_graph
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.config import AssetConfig
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.runs.finished_run import encode_synthetic
from prism_core.runs.inputs import encode_rows
from prism_core.structure import formats

pytestmark = [pytest.mark.app, pytest.mark.slow]


@pytest.fixture
def start(spurious):
    """Start a run on the benchmark; every run is ended at the end of the test."""
    jobs: list[worker.Job] = []

    def run(*, public: bool, asset: AssetConfig | None, epsilon: float = 1.0, model="naive_bayes"):
        table = encode(spurious.schema, spurious.train, public=public)
        plan = design(
            Brief(
                spurious.schema,
                Task(target="Y"),
                Budget(epsilon=epsilon),
                table.n,
                dag=formats.read(spurious.dag_json),
                synthesis=Synthesis(model=model),
            )
        )
        jobs.append(worker.start(plan, table, asset, seed=5))
        return jobs[-1]

    yield run
    for one in jobs:
        one.cancel()


@pytest.fixture
def start_with():
    """Start a private run of any table, with naive Bayes and k = 1."""
    jobs: list[worker.Job] = []

    def run(schema, table):
        plan = design(
            Brief(
                schema,
                Task(target="y", regime="predictive", k=1),
                Budget(),
                table.n,
                synthesis=Synthesis(model="naive_bayes"),
            )
        )
        jobs.append(worker.start(plan, table, ASSET, seed=5))
        return jobs[-1]

    yield run
    for one in jobs:
        one.cancel()


def finish(run: worker.Job) -> worker.JobOutcome:
    end = time.monotonic() + 120
    while (outcome := run.outcome()).state == "running":
        assert time.monotonic() < end, "the run did not end"
        time.sleep(0.1)
    return outcome


ASSET = AssetConfig(name="stays", lifetime_epsilon=1.0, why="a test")


def test_a_private_run_is_charged_and_leaves_no_private_file(start):
    run = start(public=False, asset=ASSET)
    assert stat.S_IMODE(run.folder.stat().st_mode) == 0o700
    outcome = finish(run)
    assert outcome.document["stamp"] == "release", outcome
    (charge,) = Ledger().charges()
    assert (charge.state, charge.asset, charge.why) == ("done", "stays", "a test")
    assert not (run.folder / folders.CODES).exists()
    certificate = json.loads((run.result / bundle_folder.CERTIFICATE).read_text())
    assert certificate["charge"] == charge.id
    # The asset is used up: the next run is refused, before a row is measured.
    second = finish(start(public=False, asset=ASSET))
    assert second.state == "failed"
    assert "lifetime epsilon" in second.message
    assert len(Ledger().charges()) == 1


def test_a_rehearsal_is_seeded_and_not_charged(start):
    results = []
    for _ in range(2):
        run = start(public=True, asset=None)
        assert finish(run).document["stamp"] == "rehearsal, not a release"
        results.append((run.result / bundle_folder.SYNTHETIC).read_bytes())
    assert results[0] == results[1]
    assert Ledger().charges() == ()


def test_a_private_run_without_an_asset_is_refused(start):
    outcome = finish(start(public=False, asset=None))
    assert outcome.state == "failed"
    assert "data asset" in outcome.message


@pytest.mark.privacy
@pytest.mark.parametrize("kind", ["domain", "graph"])
def test_learning_runs_the_plan_that_was_confirmed_or_none(kind, spurious):
    """Rows are remembered for that plan's hash: under another one they would pass for public."""
    rows = spurious.train.rows
    if kind == "domain":
        wanted = Outline(columns=(CategoryRequest(name="A"),), one_row_per_person=True)
        plan = design_domain(wanted, 0.1, 1e-6, rows - 1)
        run = worker.learn(plan, spurious.train, ASSET, 1, delta_share=0.1, public=False)
    else:
        table = encode(spurious.schema, spurious.train)
        plan = design_graph(spurious.schema, "Y", 0.1, 1e-6, rows - 1)
        run = worker.learn_graph(plan, table, ASSET, 1)
    outcome = finish(run)
    run.cancel()
    assert outcome.state == "failed"
    assert "not the one that was confirmed" in outcome.message
    assert Ledger().charges() == ()


def test_cancelling_ends_the_process_and_deletes_the_codes(start):
    run = start(public=False, asset=ASSET, model="pgm")
    time.sleep(0.5)
    run.cancel()
    assert run.process.poll() is not None
    assert run.outcome().state == "cancelled"
    assert not (run.folder / folders.CODES).exists()
    assert not run.result.exists()


def test_a_run_with_a_person_id_can_be_inspected(start_with):
    raw = read_table(
        ("mrn,a,y\n" + "".join(f"p{i % 300},{i % 3},{i % 2}\n" for i in range(900))).encode()
    )
    schema = Schema(
        columns=(
            Column(name="a", kind="ordinal", levels=(0, 1, 2)),
            Column(name="y", kind="boolean"),
        ),
        person_id="mrn",
        persons=300,
    )
    table = encode_rows(schema, raw, public=False, rng=np.random.default_rng(1))
    train, holdout = set_aside(table, 60, np.random.default_rng(2))
    run = start_with(schema, train)
    assert finish(run).document["stamp"] == "release"
    folder = bundle_folder.read(run.result)
    made = encode_synthetic(folder.schema, read_table(folder.synthetic))
    found = evaluate(made, holdout, target="y", train=train, s=("a",), learners=LEARNERS[:1])
    assert found.tstr_auc is not None


@pytest.mark.privacy
def test_a_run_is_not_handed_the_key_of_the_dashboard(monkeypatch, start, studio_key):
    """Programs of other packages may run there."""
    begin, environments = worker.subprocess.Popen, []

    def noted(*arguments, **options):
        environments.append(options["env"])
        return begin(*arguments, **options)

    monkeypatch.setattr(worker.subprocess, "Popen", noted)
    start(public=True, asset=None)
    (environment,) = environments
    assert studio_key not in environment.values()
    assert environment["PATH"]


def test_every_kind_of_job_is_named_and_has_its_function():
    assert set(child._KINDS) == set(get_args(folders.JobKind))


@pytest.mark.parametrize("text", ["", "{}", '{"kind": "another"}'])
def test_a_folder_that_names_no_kind_is_run_by_nothing(tmp_path, monkeypatch, text):
    monkeypatch.setattr(child.os, "umask", lambda _: 0)
    monkeypatch.setattr(child.signal, "signal", lambda *_: None)
    (tmp_path / folders.JOB).write_text(text)
    child.main(tmp_path)
    assert json.loads((tmp_path / folders.OUTCOME).read_text())["state"] == "failed"


@pytest.mark.parametrize("step", ["release", "graph", "comparator"])
def test_several_rows_of_a_person_reach_each_step(schema, frame, step):
    """What was planned for persons is run for the same persons, from the rows of each."""
    stays = from_frame(frame.assign(pid=[f"p{i // 3}" for i in range(len(frame))]))
    several = replace(schema, one_row_per_person=False, person_id="pid", persons=100, max_rows=2)
    table = encode(several, stays, public=True, rng=np.random.default_rng(0))
    assert table.n > table.people == 100
    if step == "release":
        wishes = Task(target="readmitted", regime="predictive", k=2), Budget()
        run = worker.start(design(Brief(several, *wishes, 100)), table, None, seed=5)
    elif step == "graph":
        plan = design_graph(several, "readmitted", 1.0, None, 100, members=2)
        run = worker.learn_graph(plan, table, None, 5)
    else:
        run = worker.compare(design_comparator("mst", several, 100, 1.0), table, None, 5)
    try:
        outcome = finish(run)
    finally:
        run.cancel()
    assert outcome.state == "done", outcome
    assert not any((run.folder / name).exists() for name in folders.PRIVATE)
