"""Cancelling at every moment of a release, as its process does it, and the ledger afterwards."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from dashboard.jobs.progress import CHARGE, LOG, PROGRESS, WRITING, NotedLedger, RunProgress
from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import CancelledError, LedgerError
from prism_core.planning.approval import Approval
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.synthesis.release import release

pytestmark = pytest.mark.privacy


class Cancelling(RunProgress):
    """Is asked to stop when a stage is entered for the first time, or while the charge is written.

    The wish arrives as a signal would: between two steps of the run.
    """

    def __init__(self, folder, when: str) -> None:
        super().__init__(folder)
        self.when = when

    def __call__(self, stage, share) -> None:
        super().__call__(stage, share)
        if stage == self.when or (self.when == WRITING and share >= 1.0):
            self.when = ""
            self.cancel()


@pytest.fixture
def run(schema, frame, tmp_path, monkeypatch, canary):
    frame.loc[5, ["ward", "age"]] = [f"{canary}-ward", "87.7391"]
    monkeypatch.setenv("PRISM_WORKSPACE", str(tmp_path / "ws"))
    table = encode(schema, RawTable(frame))
    plan = design(
        Brief(
            schema,
            Task(target="readmitted", regime="predictive", k=2),
            Budget(),
            table.n,
            synthesis=Synthesis(model="naive_bayes", rows=50),
        )
    )

    def start(when: str) -> RunProgress:
        teller = Cancelling(tmp_path, when)
        ledger = NotedLedger(teller, tmp_path)
        ledger.register("ward 7", epsilon=3.0, delta=plan.delta)
        release(
            plan,
            table,
            ledger=ledger,
            asset="ward 7",
            rng=np.random.default_rng(),
            progress=teller,
            approval=Approval(
                by="A. Meyer",
                role="committee",
                date="2025-11-20",
                plan_sha256=plan.hash,
                asset="ward 7",
            ),
        )
        return teller

    return start


def states(folder) -> list[list[str]]:
    """The states of every charge, in order, from the file itself."""
    with closing(sqlite3.connect(folder / "ws" / "ledger.sqlite")) as db:
        found: dict[int, list[str]] = {}
        for charge, state in db.execute("SELECT charge, state FROM states ORDER BY id"):
            found.setdefault(charge, []).append(state)
    return list(found.values())


def test_asked_while_the_charge_is_written_it_is_void(run, tmp_path):
    with pytest.raises(CancelledError):
        run("charge")
    assert states(tmp_path) == [["reserved", "void"]]
    assert json.loads((tmp_path / CHARGE).read_text()) == {"number": 1}


def test_asked_before_the_first_mechanism_it_is_void(run, tmp_path):
    with pytest.raises(CancelledError):
        run("select")
    assert states(tmp_path) == [["reserved", "void"]]


@pytest.mark.parametrize("stage", ["task", "background", "fit", "sample"])
def test_asked_after_it_the_charge_stands(run, tmp_path, stage):
    with pytest.raises(CancelledError):
        run(stage)
    assert states(tmp_path) == [["reserved", "failed"]]


def test_what_is_measured_and_drawn_is_not_thrown_away(run, tmp_path):
    run(WRITING)
    assert states(tmp_path) == [["reserved", "done"]]


def test_a_run_from_the_page_uses_its_approval_up(run, tmp_path):
    with pytest.raises(CancelledError):
        run("select")
    run("never")  # the first was void
    notes = [charge.corrections[0].note for charge in Ledger(tmp_path / "ws").charges()]
    assert all(note.startswith("Approved by A. Meyer (committee)") for note in notes)
    with pytest.raises(LedgerError, match="used for charge 2"):
        run("never")
    assert len(states(tmp_path)) == 2


def test_a_second_wish_does_not_disturb_the_closing_of_the_charge(tmp_path):
    teller = RunProgress(tmp_path)
    teller("task", 0.0)
    with pytest.raises(CancelledError):
        teller.cancel()
    teller.cancel()


def test_stages_times_and_log_hold_nothing_private(run, tmp_path, canary):
    run("never")
    document = json.loads((tmp_path / PROGRESS).read_text())
    assert document["stage"] == WRITING
    assert list(document["times"]) == [
        "charge",
        "select",
        "task",
        "background",
        "fit",
        "sample",
        WRITING,
    ]
    assert all(isinstance(second, int) for second in document["times"].values())
    log = (tmp_path / LOG).read_text()
    assert "Charge 1 is written; no mechanism has run yet." in log
    assert log.count("\n") == 8
    for text in (log, json.dumps(document)):
        assert canary not in text
        assert "7391" not in text
