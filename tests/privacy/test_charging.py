"""The one gate: every way to spend passes it, and every rule of it holds at each of them."""

from __future__ import annotations

import ast
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import prism_core
from dashboard.jobs import worker
from prism_core import comparators
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.cli import main
from prism_core.data.encoding import encode
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import ConfigError, LedgerError, PlanError, PrivacyError
from prism_core.evaluation import design_private, evaluate_private
from prism_core.evaluation.inside_epsilon.holdout import open_holdout
from prism_core.evaluation.inside_epsilon.holdout_plan import design_holdout
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.learned_domain import learn_domain
from prism_core.learning.domain.outline_io import loads_outline
from prism_core.learning.graph.graph_plan import design_graph
from prism_core.learning.graph.learned_graph import learn_graph
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.config import AssetConfig
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.privacy.ledger import Ledger, store
from prism_core.privacy.ledger.charging import owed
from prism_core.privacy.ledger.rules import CHARGED_STEPS
from prism_core.privacy.noise import SeededNoise
from prism_core.runs.charged_comparator import run_charged_comparator
from prism_core.runs.charged_evaluation import run_open_holdout, run_private_numbers
from prism_core.runs.charged_learning import run_learn_domain, run_learn_graph
from prism_core.runs.charged_release import run_release
from prism_core.runs.step_account import StepAccount
from prism_core.structure import formats
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release
from prism_core.synthesizer import LearningOwedWarning, PrismSynthesizer
from tests.support.noise import Unasked

pytestmark = pytest.mark.privacy

DAG = Dag(
    nodes=("age", "readmitted", "smoker"), edges=(("age", "readmitted"), ("smoker", "readmitted"))
)
TASK = Task(target="readmitted", max_joint_cells=0, three_way="none")
STAR = Synthesis(model="naive_bayes")
OUTLINE = (
    "one_row_per_person: true\ncolumns:\n"
    "  - {name: age, kind: numeric, learn: true, lower: 0, upper: 120}\n"
    "  - {name: readmitted, kind: boolean}\n"
)


@pytest.fixture
def place(workspace):
    """A workspace with an asset, which asks for an approval of every release."""
    Ledger().register("ward", epsilon=50.0, delta=1e-5)
    (workspace / "settings.toml").write_text("[release]\napproval_required = true\n")
    return workspace


@pytest.fixture
def rows(schema, frame):
    return encode(schema, RawTable(frame))


def planned(schema, n=300, **others):
    return design(Brief(schema, TASK, Budget(), n, dag=DAG, synthesis=STAR, **others))


def rng():
    return np.random.default_rng()


# --- the doors -------------------------------------------------------------------------------
# Each spends on private rows, charged to the asset `ward` of the default workspace.


def by_release(schema, frame, rows, tmp_path, make_run):
    release(planned(schema), rows, ledger=Ledger(), asset="ward", rng=rng())


def by_folder(schema, frame, rows, tmp_path, make_run):
    run_release(
        planned(schema),
        rows,
        tmp_path / "out",
        ward(),
    )


def ward():
    return StepAccount(ledger=Ledger(), asset="ward")


def by_comparator_folder(schema, frame, rows, tmp_path, make_run):
    plan = comparators.design_comparator("independent", schema, rows.n, 1.0, 1e-6, rows=9)
    run_charged_comparator(plan, rows, tmp_path / "out", ward())


def by_schema_file(schema, frame, rows, tmp_path, make_run):
    plan = design_domain(loads_outline(OUTLINE), 1.0, 1e-6, 300)
    raw = RawTable(frame[["age", "readmitted"]])
    run_learn_domain(plan, raw, tmp_path / "s.yaml", ward(), public=False)


def by_graph_file(schema, frame, rows, tmp_path, make_run):
    plan = design_graph(schema, "readmitted", 1.0, 1e-6, rows.n)
    run_learn_graph(plan, rows, tmp_path / "g.json", ward())


def by_numbers_file(schema, frame, rows, tmp_path, make_run):
    plan = design_private(schema, "readmitted", rows.n, 1.0, 1e-6)
    run_private_numbers(plan, _released(schema, rows), rows, tmp_path / "n.json", ward())


def by_stored_session(schema, frame, rows, tmp_path, make_run):
    plan = design_holdout(schema, "readmitted", rows.n, 1.0, 1e-6, answers=2)
    place = Ledger().path.parent
    run_open_holdout(plan, _released(schema, rows), rows, place, ward())


def by_facade(schema, frame, rows, tmp_path, make_run):
    PrismSynthesizer(
        schema=schema, target="readmitted", dag=DAG, ledger=Ledger(), asset="ward", synthesis=STAR
    ).fit(frame)


def by_comparator(schema, frame, rows, tmp_path, make_run):
    plan = comparators.design_comparator("independent", schema, rows.n, 1.0, 1e-6, rows=9)
    comparators.run_comparator(plan, rows, ledger=Ledger(), asset="ward", rng=rng())


def by_learning_a_domain(schema, frame, rows, tmp_path, make_run):
    plan = design_domain(loads_outline(OUTLINE), 1.0, 1e-6, 300)
    learn_domain(
        plan, RawTable(frame[["age", "readmitted"]]), ledger=Ledger(), asset="ward", rng=rng()
    )


def by_learning_a_graph(schema, frame, rows, tmp_path, make_run):
    plan = design_graph(schema, "readmitted", 1.0, 1e-6, rows.n)
    learn_graph(plan, rows, ledger=Ledger(), asset="ward")


def _released(schema, rows):
    """Synthetic rows that somebody approved, as far as this test goes."""
    return replace(rows, public=True)


def by_private_numbers(schema, frame, rows, tmp_path, make_run):
    plan = design_private(schema, "readmitted", rows.n, 1.0, 1e-6)
    evaluate_private(plan, _released(schema, rows), rows, ledger=Ledger(), asset="ward")


def by_holdout(schema, frame, rows, tmp_path, make_run):
    plan = design_holdout(schema, "readmitted", rows.n, 1.0, 1e-6, answers=2)
    open_holdout(
        plan,
        _released(schema, rows),
        rows,
        workspace=Ledger().path.parent,
        ledger=Ledger(),
        asset="ward",
    )


def _command(*arguments: object) -> None:
    """Runs as a user runs it; what it refuses is raised as the gate's error again."""
    import contextlib
    import io

    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        status = main.main([str(argument) for argument in arguments])
    if status:
        field, _, text = said.getvalue().removeprefix("prism: ").partition(": ")
        raise PrivacyError(text.strip(), field=field)


def by_command_release(schema, frame, rows, tmp_path, make_run):
    _command("release", make_run(public=False, asset=50.0), "--out", tmp_path / "out")


def by_command_compare(schema, frame, rows, tmp_path, make_run):
    config = make_run(public=False, asset=50.0)
    _command("comparator", config, "--method", "independent", "--out", tmp_path / "out")


def by_command_learn_dag(schema, frame, rows, tmp_path, make_run):
    _command("learn-dag", make_run(public=False, asset=50.0), "--out", tmp_path / "g.json")


def _job(started: worker.Job) -> None:
    """The work of a page's process, here."""
    assert started.process is not None
    started.process.wait()
    outcome = started.outcome()
    if outcome.state == "failed":
        raise PrivacyError(outcome.message, field="job")


def by_page_release(schema, frame, rows, tmp_path, make_run):
    _job(worker.start(planned(schema), rows, AssetConfig(name="ward", lifetime_epsilon=50.0), 1))


def by_page_comparator(schema, frame, rows, tmp_path, make_run):
    plan = comparators.design_comparator("independent", schema, rows.n, 1.0, 1e-6, rows=9)
    _job(worker.compare(plan, rows, AssetConfig(name="ward", lifetime_epsilon=50.0), 1))


DOORS = {
    "release": (by_release, by_folder, by_facade, by_command_release, by_page_release),
    "comparator": (by_comparator, by_comparator_folder, by_command_compare, by_page_comparator),
    "domain": (by_learning_a_domain, by_schema_file),
    "graph": (by_learning_a_graph, by_graph_file, by_command_learn_dag),
    "evaluation": (by_private_numbers, by_numbers_file),
    "holdout": (by_holdout, by_stored_session),
}
ALL = [(step, door) for step, doors in DOORS.items() for door in doors]


def _no_counts(self: object, cliques: object) -> None:
    raise AssertionError("private rows were counted")


@pytest.mark.parametrize(("step", "door"), ALL, ids=[door.__name__ for _, door in ALL])
def test_the_rule_stands_at_every_door(
    step, door, place, schema, frame, rows, tmp_path, make_run, monkeypatch
):
    """Where an approval is needed nothing is charged or measured; the rest is charged."""
    if CHARGED_STEPS[step].refusal:
        monkeypatch.setattr(type(rows), "counts", _no_counts)
        with pytest.raises(PrivacyError, match="approval"):
            door(schema, frame, rows, tmp_path, make_run)
        assert Ledger().charges() == ()
        return
    door(schema, frame, rows, tmp_path, make_run)
    (charge,) = Ledger().charges()
    assert charge.state == "done"


def _functions():
    """Every function of the product by syntax, with its file."""
    root = Path(prism_core.__file__).parents[1]
    for path in [*root.glob("prism_core/**/*.py"), *root.glob("dashboard/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield path.relative_to(root).as_posix(), node


def _arguments(function):
    return {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}


def test_every_function_that_takes_a_ledger_is_a_door():
    """A new one has to be walked above; only the gate writes and closes charges."""
    takes = {
        f"{file}:{function.name}"
        for file, function in _functions()
        if {"ledger", "noise"} <= _arguments(function)
    }
    assert takes == {
        "prism_core/synthesis/release.py:release",
        "prism_core/comparators/comparator_run.py:run_comparator",
        "prism_core/learning/domain/learned_domain.py:learn_domain",
        "prism_core/learning/graph/learned_graph.py:learn_graph",
        "prism_core/evaluation/inside_epsilon/private_numbers.py:evaluate_private",
        "prism_core/evaluation/inside_epsilon/holdout.py:open_holdout",
        "prism_core/privacy/ledger/charging.py:charging",
    }


DOORS_OF_RUNS = {
    "release": "charged_release.py:run_release",
    "run_comparator": "charged_comparator.py:run_charged_comparator",
    "learn_domain": "charged_learning.py:run_learn_domain",
    "learn_graph": "charged_learning.py:run_learn_graph",
    "evaluate_private": "charged_evaluation.py:run_private_numbers",
    "open_holdout": "charged_evaluation.py:run_open_holdout",
}


def test_each_step_is_run_from_one_place():
    """By syntax: a call with a ledger stands in `runs`, once a step, and in the facade.

    The reproduction has public rows alone and no ledger.
    """
    calls = {
        (call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id, file, fn.name)
        for file, fn in _functions()
        for call in ast.walk(fn)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute | ast.Name)
        and any(
            keyword.arg == "ledger" and ast.unparse(keyword.value) != "None"
            for keyword in call.keywords
        )
    }
    found = {(name, f"{file}:{fn}") for name, file, fn in calls if name in DOORS_OF_RUNS}
    assert found == {
        *((name, f"prism_core/runs/{place}") for name, place in DOORS_OF_RUNS.items()),
        ("release", "prism_core/synthesizer.py:fit"),
    }


def test_a_step_without_a_ledger_has_known_noise():
    """By syntax: noise that a private table refuses, so that nobody forgets to charge one."""
    noises = [
        {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}.get("noise", "")
        for _, fn in _functions()
        for call in ast.walk(fn)
        if isinstance(call, ast.Call)
        and any(
            keyword.arg == "ledger" and ast.unparse(keyword.value) == "None"
            for keyword in call.keywords
        )
    ]
    assert noises
    assert all(noise.startswith("SeededNoise(") for noise in noises)


def test_nothing_else_writes_or_closes_a_charge():
    """By syntax: calls of `charge` or `mark` on a ledger, whatever it is called there."""
    root = Path(prism_core.__file__).parents[1]
    found = {
        (path.relative_to(root).as_posix(), node.func.attr, ast.unparse(node.func.value))
        for path in [*root.glob("prism_core/**/*.py"), *root.glob("dashboard/**/*.py")]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("charge", "mark")
        and node.args  # a job's charge() and a graph reader's mark() take none
    }
    assert found == {
        ("prism_core/privacy/ledger/charging.py", "charge", "ledger"),
        ("prism_core/privacy/ledger/charging.py", "mark", "ledger"),
        ("dashboard/jobs/progress.py", "charge", "super()"),  # notes the number beside the run
    }


# --- approvals -------------------------------------------------------------------------------


def approve(plan, asset="ward"):
    return Protocol(plan=plan, asset=asset).approve(by="A. B.", role="board", date="2026-11-01")


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
        with pytest.raises(ConfigError, match="Only the plan of a release"):
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


def test_a_domain_learned_twice_is_charged_twice(free, frame, tmp_path):
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
        older.setattr(store, "VERSION", 2)
        older.setattr(store, "_VERSION_3", ())
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
