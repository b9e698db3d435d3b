"""Approvals at the gate, and what learning owes to the run that uses it."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

from prism_core.bundle.protocol.protocol import Protocol
from prism_core.cli import main
from prism_core.data.encoding import encode
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import ConfigError, LedgerError, PlanError, PrivacyError
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.learned_domain import learn_domain
from prism_core.learning.domain.outline_io import loads_outline
from prism_core.learning.graph.graph_plan import design_graph
from prism_core.learning.graph.learned_graph import learn_graph
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.privacy.ledger import Ledger, sqlite_store, store
from prism_core.privacy.ledger.charging import owed
from prism_core.privacy.ledger.rules import CHARGED_STEPS
from prism_core.privacy.noise import SeededNoise
from prism_core.structure import formats
from prism_core.synthesis.release import release
from prism_core.synthesizer import LearningOwedWarning, PrismSynthesizer
from tests.support.approvals import STATED
from tests.support.noise import Unasked
from tests.support.refusals import refused
from tests.support.wards import DAG, OUTLINE, STAR, planned, rng

pytestmark = pytest.mark.privacy


# --- approvals -------------------------------------------------------------------------------


def approve(plan, asset="ward"):
    return Protocol(plan=plan, asset=asset, statement=STATED).approve(
        by="A. B.", role="board", date="2026-11-01"
    )


def test_an_approval_opens_the_gate_once_for_its_plan_and_asset(place, schema, frame, rows):
    synthesizer = PrismSynthesizer(
        schema=schema, target="readmitted", dag=DAG, ledger=Ledger(), asset="Ward ", synthesis=STAR
    )
    plan = design(
        Brief(schema, synthesizer.task, synthesizer.budget, rows.n, dag=DAG, synthesis=STAR)
    )
    with pytest.raises(PlanError, match="approved for the asset 'clinic'"):
        synthesizer.fit(frame, approval=approve(plan, "clinic"))
    with pytest.raises(PlanError, match="not the one that was approved"):
        synthesizer.fit(frame, approval=approve(planned(schema, n=299)))
    assert Ledger().charges() == ()
    record = approve(plan)
    synthesizer.fit(frame, approval=record)
    assert synthesizer.release_.stamp == "release"
    assert synthesizer.release_.approval == record.approval
    for spelling in ("ward", "WARD", " ward", "ｗａｒｄ"):
        again = replace(record, approval=replace(record.approval, asset=spelling.strip()))
        with pytest.raises(LedgerError, match="was used for charge 1"):
            synthesizer.fit(frame, approval=again)
    assert len(Ledger().charges()) == 1


def test_an_approval_that_names_no_asset_is_refused_where_one_is_charged(place, schema, rows):
    plan = planned(schema)
    record = approve(plan, asset="")
    with pytest.raises(LedgerError, match="names no data asset"):
        release(
            plan,
            rows,
            ledger=Ledger(),
            asset="ward",
            rng=rng(),
            noise=Unasked(),
            approval=record.approval,
        )
    assert Ledger().charges() == ()
    public = replace(rows, public=True)
    made = release(
        plan, public, ledger=None, rng=rng(), noise=SeededNoise(rng()), approval=record.approval
    )
    assert made.stamp == "rehearsal, not a release"


def test_an_approval_of_an_older_version_counts_as_used(place, schema, rows):
    """Its mark is of the asset's name as it was typed."""
    plan = planned(schema)
    given = approve(plan, "Ward").approval
    assert given.marks[0] != given.marks[1]
    ledger = Ledger()
    number = ledger.charge(
        "ward",
        step="release",
        spent=plan.spent,
        events=plan.events,
        plan=plan.hash,
        accountant="zcdp",
        approval=given,
    )
    assert ledger.used(plan.hash, given).id == number
    other = ledger.charge(
        "ward",
        step="holdout",
        spent=plan.spent,
        events=plan.events,
        plan="other",
        accountant="zcdp",
    )
    ledger.correct(other, f"Approved by A. B. (board) on 2026-11-01 ({given.marks[1]})")
    assert ledger.used("other", given).id == other


def test_only_a_release_can_be_approved(place, schema, rows):
    plan = planned(schema)
    for step in ("domain", "graph", "evaluation", "holdout", "comparator"):
        with refused(ConfigError, "approval"):
            Ledger().charge(
                "ward",
                step=step,
                spent=plan.spent,
                events=plan.events,
                plan=plan.hash,
                accountant="zcdp",
                approval=approve(plan).approval,
            )


# --- what learning owes ----------------------------------------------------------------------


@pytest.fixture
def free(place):
    """The same workspace without its rule."""
    (place / "settings.toml").unlink()
    return place


def learned_in(workspace, frame, asset="ward", ledger=True):
    book = Ledger(workspace) if ledger else None
    if book is not None:
        book.register(asset, epsilon=50.0, delta=1e-5)
    plan = design_domain(loads_outline(OUTLINE), 1.0, 1e-6, 300)
    return learn_domain(
        plan, RawTable(frame[["age", "readmitted"]]), ledger=book, asset=asset, rng=rng()
    ).schema


def released_in(workspace, schema, frame, dag=None):
    task = Task(target="readmitted", regime="predictive", k=1, three_way="none")
    if dag is not None:
        task = replace(task, regime="graphical", k=None)
    plan = design(Brief(schema, task, Budget(delta=1e-6), 300, dag=dag, synthesis=STAR))
    table = encode(schema, RawTable(frame[list(schema.names)]))
    return release(plan, table, ledger=Ledger(workspace), asset="ward", rng=rng()).plan


def test_a_domain_learned_twice_is_charged_twice(either_store, free, frame, tmp_path):
    """Learned in A and, alike, in B; released in B with A's: three costs, three charges' worth."""
    theirs, ours = learned_in(tmp_path / "a", frame), learned_in(free, frame)
    assert theirs.prior.events == ours.prior.events  # nothing but the receipt tells them apart
    plan = released_in(free, theirs, frame)
    spent = Ledger().balance("ward").spent_rho
    whole = plan.prior.rho + max(plan.spent.rho, plan.total)
    assert spent == pytest.approx(whole + ours.prior.rho, rel=1e-9)
    released_in(free, theirs, frame)  # the cost was taken over: it is not charged a third time
    assert Ledger().balance("ward").spent_rho == pytest.approx(
        spent + max(plan.spent.rho, plan.total), rel=1e-9
    )
    assert Ledger().verify().ok


def test_a_graph_learned_twice_is_charged_twice(free, schema, frame, rows, tmp_path):
    plan = design_graph(schema, "readmitted", 1.0, 1e-6, rows.n)
    books = Ledger(tmp_path / "a"), Ledger()
    books[0].register("ward", epsilon=50.0, delta=1e-5)
    theirs, ours = (learn_graph(plan, rows, ledger=book, asset="ward").dag for book in books)
    dag = replace(theirs, nodes=schema.names, edges=(("age", "readmitted"),))
    made = released_in(free, schema, frame, dag)
    assert Ledger().balance("ward").spent_rho == pytest.approx(
        theirs.prior.rho + ours.prior.rho + max(made.spent.rho, made.total), rel=1e-9
    )


@pytest.mark.parametrize("how", ["no ledger", "older copy", "other asset", "void", "edited"])
def test_what_this_ledger_does_not_hold_is_owed(free, frame, tmp_path, how):
    ledger = Ledger()
    shutil.copy(ledger.path, tmp_path / "backup")
    if how == "other asset":
        ledger.register("clinic", epsilon=50.0, delta=1e-5)
    asset = "clinic" if how == "other asset" else "ward"
    schema = learned_in(free, frame, asset, ledger=how != "no ledger")
    prior = schema.prior
    if how == "older copy":
        for name in ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"):
            (free / name).unlink(missing_ok=True)
        shutil.copy(tmp_path / "backup", ledger.path)
        ledger = Ledger()
        with pytest.raises(LedgerError, match="an older copy"):
            ledger.balance("ward")
        ledger.accept("the disk was replaced")
        learned_in(free, frame)  # alike, and under the same number
    elif how == "void":
        with ledger._store.transaction(write=True) as db:
            db.execute("DROP TRIGGER states_no_update")
            db.execute("UPDATE states SET state = 'void' WHERE state = 'done'")
    elif how == "edited":
        prior = replace(prior, events=(replace(prior.events[0], sigma=1.0), *prior.events[1:]))
    assert owed(ledger, "ward", schema.prior if how != "edited" else prior).events == prior.events
    assert owed(None, "ward", prior).events == prior.events
    assert owed(ledger, "nobody yet", prior).events == prior.events
    assert "learned with epsilon" in owed(ledger, "nobody yet", prior).sentence


def test_one_receipt_pays_for_no_more_than_its_charge(free, frame):
    """A file that lists an event twice owes the second one."""
    prior = learned_in(free, frame).prior
    twice = replace(prior, events=prior.events * 2, receipts=prior.receipts * 2)
    assert owed(Ledger(), "ward", prior) is None
    assert owed(Ledger(), "WARD", prior) is None
    assert owed(Ledger(), "ward", twice).events == prior.events


def test_receipts_survive_files_and_rehearsals_have_none(free, frame, schema, rows, tmp_path):
    learned = learned_in(free, frame)
    again = schema_file.loads(schema_file.dumps(learned))
    assert again.prior == learned.prior
    assert owed(Ledger(), "ward", again.prior) is None
    graph = learn_graph(
        design_graph(schema, "readmitted", 1.0, 1e-6, rows.n), rows, ledger=Ledger(), asset="ward"
    ).dag
    (tmp_path / "g.json").write_text(formats.write(graph, "node-link"))
    assert formats.read(tmp_path / "g.json").prior == graph.prior
    made = [
        learn_graph(
            design_graph(schema, "readmitted", 1.0, 1e-6, rows.n),
            replace(rows, public=True),
            ledger=None,
            noise=SeededNoise(np.random.default_rng(3)),
        ).dag
        for _ in range(2)
    ]
    assert made[0] == made[1]  # a rehearsal can be repeated
    assert made[0].prior.receipts == ()
    for spoiled in (["x"] * len(graph.prior.events), [], 3, [None], ["0" * 32] * 9):
        document = graph.prior.to_dict() | {"receipts": spoiled}
        if spoiled != []:
            with pytest.raises(PrivacyError, match="receipts"):
                LearningCharge.from_dict(document)


def test_the_curator_is_told_before_learning_is_charged(free, frame, tmp_path, make_run, capsys):
    learned = learned_in(tmp_path / "a", frame)
    synthesizer = PrismSynthesizer(
        schema=learned,
        target="readmitted",
        regime="predictive",
        k=1,
        ledger=Ledger(),
        asset="ward",
        synthesis=STAR,
        delta=1e-6,
    )
    with pytest.warns(LearningOwedWarning, match="holds no charge"):
        synthesizer.fit(frame[["age", "readmitted"]])
    config = make_run(
        public=False,
        asset=50.0,
        schema=learned,
        frame=frame[["age", "readmitted"]],
        task={"regime": "predictive", "k": 1},
        budget={"delta": 1e-6},
    )
    config.write_text(config.read_text().replace('dag = "dag.csv"\n', ""))
    capsys.readouterr()
    other = ["--workspace", str(tmp_path / "c")]
    assert main.main(["release", str(config), "--out", str(tmp_path / "o"), *other]) == 0
    assert "holds no charge" in capsys.readouterr().err
    assert main.main(["release", str(config), "--out", str(tmp_path / "p"), *other]) == 0
    assert "holds no charge" not in capsys.readouterr().err


def test_a_ledger_of_version_two_is_taken_over_as_it_stands(tmp_path, schema, rows, monkeypatch):
    """Rows and digests stay; a receipt is kept from then on."""
    plan = planned(schema)
    with monkeypatch.context() as older:
        older.setattr(sqlite_store, "VERSION", 2)
        older.setattr(sqlite_store, "_VERSION_3", ())
        older.delitem(store.COLUMNS, "receipts")
        ledger = Ledger(tmp_path)
        ledger.register("ward", epsilon=50.0, delta=1e-5)
        ledger.charge(
            "ward",
            step="release",
            spent=plan.spent,
            events=plan.events,
            plan=plan.hash,
            accountant="zcdp",
        )
        ledger.mark(1, "done")
        before = ledger.verify()
        assert before.ok
    again = Ledger(tmp_path)
    assert again.verify(before.head).ok
    assert again.verify().rows == before.rows
    release(plan, rows, ledger=again, asset="ward", rng=rng())
    assert again.verify(before.head).ok
    assert [charge.state for charge in again.charges()] == ["done", "done"]


@pytest.mark.parametrize("step", CHARGED_STEPS)
def test_every_step_has_three_stamps(step):
    kind = CHARGED_STEPS[step]
    assert len({kind.charged, kind.uncharged, kind.rehearsed}) == 3
