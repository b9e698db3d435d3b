"""The one gate: every way to spend passes it, and every rule of it holds at each of them."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import prism_core
from dashboard.jobs import worker
from dashboard.key import access
from dashboard.session.inspection import Inspection, InspectionEntries
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from prism_core import comparators
from prism_core.cli import main
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import PrivacyError
from prism_core.evaluation import Subject, design_private, evaluate_private
from prism_core.evaluation.inside_epsilon.holdout import open_holdout
from prism_core.evaluation.inside_epsilon.holdout_plan import design_holdout
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.learned_domain import learn_domain
from prism_core.learning.domain.outline_io import loads_outline
from prism_core.learning.graph.graph_plan import design_graph
from prism_core.learning.graph.learned_graph import learn_graph
from prism_core.planning.wishes.config import AssetConfig, DomainConfig
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.rules import CHARGED_STEPS
from prism_core.runs.charged_comparator import run_charged_comparator
from prism_core.runs.charged_evaluation import run_open_holdout, run_private_numbers
from prism_core.runs.charged_learning import run_learn_domain, run_learn_graph
from prism_core.runs.charged_release import run_release
from prism_core.runs.step_account import StepAccount
from prism_core.synthesis.release import release
from prism_core.synthesizer import PrismSynthesizer
from tests.support.product import nodes_by_function
from tests.support.wards import DAG, OUTLINE, STAR, planned, rng

pytestmark = pytest.mark.privacy
WARD = AssetConfig(name="ward", lifetime_epsilon=50.0)


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


def by_command_learn_domain(schema, frame, rows, tmp_path, make_run):
    config = make_run(public=False, asset=50.0)
    (config.parent / "schema.yaml").write_text(OUTLINE, encoding="utf-8")
    _command("learn-domain", config, "--out", tmp_path / "s.yaml")


def _public_run(make_run, tmp_path, frame):
    """A run's folder that nobody was charged for, and private rows in a file that it knows not."""
    _command("release", make_run(), "--out", tmp_path / "out")
    frame.to_csv(tmp_path / "held.csv", index=False)
    return tmp_path / "out", "--holdout", tmp_path / "held.csv", "--asset", "ward"


def by_command_evaluate(schema, frame, rows, tmp_path, make_run):
    _command("evaluate", *_public_run(make_run, tmp_path, frame), "--private", 1)


def by_command_holdout(schema, frame, rows, tmp_path, make_run):
    _command("holdout", "open", *_public_run(make_run, tmp_path, frame), "--epsilon", 1)


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
    _job(worker.start(planned(schema), rows, WARD, 1))


def by_page_comparator(schema, frame, rows, tmp_path, make_run):
    plan = comparators.design_comparator("independent", schema, rows.n, 1.0, 1e-6, rows=9)
    _job(worker.compare(plan, rows, WARD, 1))


def by_page_learn_domain(schema, frame, rows, tmp_path, make_run):
    shares = DomainConfig()
    plan = design_domain(
        loads_outline(OUTLINE), 1.0, 1e-6, 300, share=shares.share, delta_share=shares.delta_share
    )
    raw = RawTable(frame[["age", "readmitted"]])
    _job(worker.learn(plan, raw, WARD, 1, delta_share=shares.delta_share, public=False))


def by_page_learn_graph(schema, frame, rows, tmp_path, make_run):
    plan = design_graph(schema, "readmitted", 1.0, 1e-6, rows.n)
    _job(worker.learn_graph(plan, rows, WARD, 1))


def _pressed(run: str, plan, rows, folder: Path) -> None:
    """What the button of the page Inspect runs, in a session with a release opened there."""

    def page():
        import importlib

        import streamlit as st

        module, name = st.session_state["run"].split(":")
        getattr(importlib.import_module(module), name)(st.session_state["plan"])

    test = AppTest.from_function(page, default_timeout=60)
    test.session_state[access._GIVEN] = True  # the key of the app was shown
    test.session_state["project"] = Project(
        account=AccountEntries(asset="ward", lifetime=50.0),
        inspection=InspectionEntries(
            shown=Inspection(
                folder=folder,
                certificate={},
                subject=Subject(
                    synthetic=_released(rows.schema, rows),
                    holdout=rows,
                    target="readmitted",
                    s=("age",),
                    n=rows.n,
                ),
            )
        ),
    )
    test.session_state["run"], test.session_state["plan"] = run, plan
    test.run()
    assert not test.exception


def by_page_numbers(schema, frame, rows, tmp_path, make_run):
    plan = design_private(schema, "readmitted", rows.n, 1.0, 1e-6)
    _pressed("dashboard.inspection.private_numbers:_run", plan, rows, tmp_path / "run")


def by_page_holdout(schema, frame, rows, tmp_path, make_run):
    plan = design_holdout(schema, "readmitted", rows.n, 1.0, 1e-6, answers=2)
    _pressed("dashboard.inspection.holdout_session:_open", plan, rows, tmp_path / "run")


# Whoever starts a charged step, and the door above by which this file walks through it.
STARTED_IN = {
    "prism_core/cli/release_command.py:_release": by_command_release,
    "dashboard/jobs/child.py:_released": by_page_release,
    "prism_core/cli/comparator_command.py:_run_own": by_command_compare,
    "dashboard/jobs/child.py:_compare": by_page_comparator,
    "prism_core/cli/learn_domain_command.py:_learn": by_command_learn_domain,
    "dashboard/jobs/child.py:_learn_domain": by_page_learn_domain,
    "prism_core/cli/learn_dag_command.py:_run": by_command_learn_dag,
    "dashboard/jobs/child.py:_learn_graph": by_page_learn_graph,
    "prism_core/cli/evaluate_command.py:_private": by_command_evaluate,
    "dashboard/inspection/private_numbers.py:_run": by_page_numbers,
    "prism_core/cli/holdout_command.py:_open": by_command_holdout,
    "dashboard/inspection/holdout_session.py:_open": by_page_holdout,
}
DOORS = {
    "release": (by_release, by_folder, by_facade, by_command_release, by_page_release),
    "comparator": (by_comparator, by_comparator_folder, by_command_compare, by_page_comparator),
    "domain": (
        by_learning_a_domain,
        by_schema_file,
        by_command_learn_domain,
        by_page_learn_domain,
    ),
    "graph": (by_learning_a_graph, by_graph_file, by_command_learn_dag, by_page_learn_graph),
    "evaluation": (by_private_numbers, by_numbers_file, by_command_evaluate, by_page_numbers),
    "holdout": (by_holdout, by_stored_session, by_command_holdout, by_page_holdout),
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


def test_whoever_starts_a_step_of_runs_is_walked():
    """By syntax: a command or page that charges has its door in this file."""
    runs = {place.split(":")[1] for place in DOORS_OF_RUNS.values()}
    assert {
        place
        for place, node in nodes_by_function()
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).split(".")[-1] in runs
        and not place.startswith("prism_core/runs/")
    } == set(STARTED_IN)
    walked = {door for doors in DOORS.values() for door in doors}
    assert set(STARTED_IN.values()) <= walked


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
