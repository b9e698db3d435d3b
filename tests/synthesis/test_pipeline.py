"""release(): charged before, guarded, spent as declared, and the table that comes out."""

from __future__ import annotations

import json
import math
import sqlite3
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from prism_core.data.encoding import EncodedTable, encode
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import from_frame
from prism_core.errors import (
    BudgetError,
    CancelledError,
    LedgerError,
    OverspentError,
    PlanError,
    PrivacyError,
)
from prism_core.planning.brief import Brief
from prism_core.planning.choices import with_forest
from prism_core.planning.design import design, with_features
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SeededNoise
from prism_core.structure.dag import Dag
from prism_core.synthesis import release as pipeline
from prism_core.synthesis.naive_bayes import fit_naive_bayes
from prism_core.synthesis.release import STAGES, release
from tests.support.noise import Exact

pytestmark = pytest.mark.privacy

N = 120
SIZES = {"a": 2, "b": 3, "y": 2, "c": 4, "d": 2}
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in SIZES.items()
    ),
    one_row_per_person=True,
)
DAG = Dag(nodes=SCHEMA.names, edges=(("a", "y"), ("b", "y"), ("y", "c")))
STAR = Synthesis(model="naive_bayes", rows=50)
PREDICTIVE = Task(target="y", regime="predictive", k=2)


def rows(*, public: bool = False, n: int = N, schema: Schema = SCHEMA) -> EncodedTable:
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.integers(0, size, n) for size in SIZES.values()])
    return EncodedTable(schema=schema, codes=codes, public=public)


def plan_for(task: Task = PREDICTIVE, *, synthesis: Synthesis = STAR, **budget):
    return design(Brief(SCHEMA, task, Budget(**budget), N, dag=DAG, synthesis=synthesis))


def rng() -> np.random.Generator:
    return np.random.default_rng(2)


def seeded(seed: int = 3) -> SeededNoise:
    return SeededNoise(np.random.default_rng(seed))


class Untouchable:
    """A table whose rows must not be read."""

    def __init__(self, *, schema: Schema = SCHEMA, n: int = N, public: bool = False) -> None:
        self.schema, self.n, self.public = schema, n, public
        self.people, self.contribution = n, schema.contribution

    @property
    def codes(self):
        raise AssertionError("a row was read")

    def column(self, name):
        raise AssertionError("a row was read")


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    found = Ledger(tmp_path)
    found.register("ward", epsilon=2.0, delta=1e-5)
    return found


def run(plan, table, *, ledger=None, noise=None, **others):
    return release(
        plan,
        table,
        ledger=ledger,
        asset="" if ledger is None else "ward",
        noise=Exact(choice=0) if noise is None else noise,
        rng=rng(),
        **others,
    )


# --- refusals, all before a row is read ------------------------------------------------------


def test_seeded_noise_on_a_private_table(ledger):
    with pytest.raises(PrivacyError, match="Seeded noise"):
        run(plan_for(), Untouchable(), ledger=ledger, noise=seeded())
    assert ledger.charges() == ()


@pytest.mark.parametrize(
    ("table", "error", "field"),
    [
        (Untouchable(n=N - 1), PlanError, "n"),
        (Untouchable(schema=replace(SCHEMA, provenance="public twin")), PlanError, "schema"),
    ],
)
def test_a_table_that_does_not_fit_the_plan(ledger, table, error, field):
    with pytest.raises(error) as caught:
        run(plan_for(), table, ledger=ledger)
    assert caught.value.field == field
    assert str(N - 1) not in str(caught.value)
    assert ledger.charges() == ()


def test_undeclared_persons(ledger):
    loose = replace(SCHEMA, one_row_per_person=False)
    plan = design(Brief(loose, PREDICTIVE, Budget(), N, synthesis=STAR))
    with pytest.raises(PrivacyError, match="one row"):
        run(plan, Untouchable(schema=loose), ledger=ledger)
    assert ledger.charges() == ()


def test_a_plan_that_spends_more_than_it_declares(ledger):
    plan = plan_for(epsilon=1.0)
    for forged in (replace(plan, budget=Budget(epsilon=0.5)), replace(plan, delta=1e-9)):
        with pytest.raises(PrivacyError, match="more than it declares"):
            run(forged, Untouchable(), ledger=ledger)
    basic = plan_for(accountant="basic", delta=1e-5)
    with pytest.raises(PrivacyError, match="more than it declares"):
        run(replace(basic, delta=1e-6), Untouchable(), ledger=None)
    assert ledger.charges() == ()


def test_basic_composition_is_refused_for_a_charged_asset(ledger):
    with pytest.raises(BudgetError, match="choose zcdp") as caught:
        run(plan_for(accountant="basic"), Untouchable(), ledger=ledger)
    assert caught.value.field == "accountant"
    assert ledger.charges() == ()


def test_an_asset_without_a_name(ledger):
    with pytest.raises(LedgerError, match="Name the data asset"):
        release(plan_for(), Untouchable(), ledger=ledger, noise=Exact(choice=0), rng=rng())


def test_overspending_is_refused_with_nothing_written_or_read(ledger):
    with pytest.raises(OverspentError):
        run(plan_for(epsilon=3.0), Untouchable(), ledger=ledger)
    assert ledger.charges() == ()


# --- the charge ------------------------------------------------------------------------------


def test_the_charge_is_on_disk_before_the_first_mechanism(ledger):
    seen = []

    def look() -> None:
        with sqlite3.connect(ledger.path) as db:
            charged = db.execute("SELECT rho, events, plan FROM charges").fetchall()
            states = db.execute("SELECT state FROM states").fetchall()
        db.close()
        seen.append((charged, states))

    plan = plan_for()
    made = run(plan, rows(), ledger=ledger, noise=Exact(look, choice=0), why="test")
    assert len(seen) == 2 + len(made.measurements)
    for charged, states in seen:
        assert states == [("reserved",)]
        ((rho, events, digest),) = charged
        assert rho >= made.plan.spent.rho  # covers what was chosen at run time
        assert rho <= epsilon_to_rho(plan.budget.epsilon, plan.delta)
        assert len(json.loads(events)) == len(plan.events)
        assert digest == plan.hash
    (charge,) = ledger.charges("ward")
    assert (charge.id, charge.state, charge.why) == (made.charge, "done", "test")
    assert made.stamp == "release"


def test_a_plan_with_parts_taken_out_is_charged_in_full(ledger):
    """What the run would spend in the end counts, not what the first plan lists."""
    plan = plan_for()
    run(replace(plan, queries=(), total=1e-9), rows(), ledger=ledger)
    assert ledger.charges()[0].rho == plan.total


def stop_at(stage: str, share: float = 0.0):
    def progress(found: str, done: float) -> None:
        if found == stage and done >= share:
            raise CancelledError("stop")

    return progress


def test_cancelled_before_the_charge_leaves_nothing(ledger):
    with pytest.raises(CancelledError):
        run(plan_for(), Untouchable(), ledger=ledger, progress=stop_at("charge"))
    assert ledger.charges() == ()


@pytest.mark.parametrize(
    ("task", "stage"), [(PREDICTIVE, "select"), (Task(target="y"), "task")], ids=["3a", "causal"]
)
def test_cancelled_before_the_first_mechanism_is_void(ledger, task, stage):
    with pytest.raises(CancelledError):
        run(plan_for(task), Untouchable(), ledger=ledger, progress=stop_at(stage))
    assert [charge.state for charge in ledger.charges()] == ["void"]
    assert ledger.balance("ward").spent_rho == 0.0


@pytest.mark.parametrize(
    ("stage", "share"),
    [
        ("select", 0.5),
        ("task", 0.0),
        ("background", 0.0),
        ("background", 0.5),
        ("fit", 0.0),
        ("sample", 0.0),
    ],
)
def test_cancelled_after_the_first_mechanism_stays_charged(ledger, stage, share):
    with pytest.raises(CancelledError):
        run(plan_for(), rows(), ledger=ledger, progress=stop_at(stage, share))
    assert [charge.state for charge in ledger.charges()] == ["failed"]
    assert ledger.balance("ward").spent_rho > 0.0


@pytest.mark.parametrize("error", [PrivacyError("x"), ZeroDivisionError(), KeyboardInterrupt()])
@pytest.mark.parametrize("draw", [0, 3])
def test_a_run_that_breaks_in_a_mechanism_stays_charged(ledger, error, draw):
    calls = []

    def fail() -> None:
        calls.append(1)
        if len(calls) > draw:
            raise error

    with pytest.raises(type(error)):
        run(plan_for(), rows(), ledger=ledger, noise=Exact(fail, choice=0))
    assert [charge.state for charge in ledger.charges()] == ["failed"]
    assert ledger.balance("ward").spent_rho > 0.0


def test_releases_of_one_asset_compose_until_the_lifetime_is_spent(ledger):
    plan = plan_for(epsilon=1.1)
    made = [run(plan, rows(), ledger=ledger) for _ in range(2)]
    assert [release.charge for release in made] == [1, 2]
    balance = ledger.balance("ward")
    assert balance.spent_rho == pytest.approx(2 * plan.total, rel=1e-9)
    assert balance.spent_epsilon <= 2.0
    with pytest.raises(OverspentError):
        run(plan, Untouchable(), ledger=ledger)


def test_a_rehearsal_is_not_charged(ledger):
    made = run(plan_for(), rows(public=True), ledger=ledger, noise=seeded())
    assert made.stamp == "rehearsal, not a release"
    assert made.charge is None
    assert ledger.charges() == ()


def test_secure_noise_on_a_public_table_is_a_release(ledger):
    made = run(plan_for(), rows(public=True), ledger=ledger)
    assert (made.stamp, made.charge) == ("release", 1)


def test_no_ledger_is_stamped():
    made = run(plan_for(), rows())
    assert made.stamp == "release without a ledger"
    assert made.charge is None


# --- what is spent ---------------------------------------------------------------------------


@pytest.mark.parametrize("accountant", ["zcdp", "basic"])
def test_with_features_and_with_forest_keep_the_total(accountant):
    plan = plan_for(synthesis=Synthesis(), accountant=accountant)
    known = with_features(plan, ["a", "d"])
    pairs = (("a", "b"), ("b", "c"), ("c", "d"))[: known.tree.rounds]
    for found in (known, with_forest(known, pairs)):
        assert found.total == plan.total
        assert found.spent.epsilon <= plan.budget.epsilon
        assert found.spent.epsilon == pytest.approx(plan.spent.epsilon, rel=1e-6)
        assert found.spent.delta <= plan.delta
        assert found.selection == plan.selection


def test_two_default_runs_differ():
    """Secure noise by default: the same tables come out with probability far below 1e-9."""
    plan = plan_for(epsilon=0.3)
    table = rows()
    first, second = (
        release(plan, table, ledger=None, rng=np.random.default_rng(0)) for _ in range(2)
    )
    assert any(
        a.clique != b.clique or (a.values != b.values).any()
        for a, b in zip(first.measurements, second.measurements, strict=True)
    )
    assert all(m.values.dtype == np.int64 for m in first.measurements)


def test_the_order_of_the_rows_changes_nothing_that_is_measured():
    table = rows()
    plan = plan_for()
    before, after = Exact(choice=0), Exact(choice=0)
    run(plan, table, noise=before)
    run(plan, table.take(np.random.default_rng(4).permutation(N)), noise=after)
    assert len(before.calls) == len(after.calls) > 0
    for (one, _), (other, _) in zip(before.calls, after.calls, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.int64


def test_every_stage_is_told_in_order_and_shares_do_not_depend_on_rows():
    def told(table) -> list[tuple[str, float]]:
        steps = []
        run(plan_for(), table, progress=lambda stage, share: steps.append((stage, share)))
        return steps

    steps = told(rows())
    stages = list(dict.fromkeys(stage for stage, _ in steps))
    later = ("coarsen", "interactions", "three_way", "forest")
    assert stages == [stage for stage in STAGES if stage not in later]
    assert all(0.0 <= share <= 1.0 for _, share in steps)
    constant = EncodedTable(schema=SCHEMA, codes=np.zeros((N, 5)))
    assert told(constant) == steps


def test_the_forest_is_chosen_measured_and_paid(monkeypatch, ledger):
    """With the fit replaced by a fast one: everything up to it is the real pipeline."""
    monkeypatch.setattr(
        pipeline,
        "fit_pgm",
        lambda sizes, target, n, measurements, **_: fit_naive_bayes(sizes, target, n, measurements),
    )
    draws = []
    plan = plan_for(synthesis=Synthesis(rows=30))
    made = run(plan, rows(), ledger=ledger, noise=Exact(lambda: draws.append(1), choice=0))
    trees = [query for query in made.plan.queries if query.kind == "tree"]
    assert made.plan.tree is None
    assert len(trees) == with_features(plan, made.plan.s).tree.rounds
    assert len(draws) == 2 + len(made.measurements) + len(trees)
    assert [m.clique for m in made.measurements] == list(made.plan.cliques)
    assert [m.sigma for m in made.measurements] == [q.sigma for q in made.plan.queries]
    assert made.plan.spent.rho <= ledger.charges()[0].rho
    with pytest.raises(CancelledError):
        run(plan, rows(), ledger=ledger, progress=stop_at("forest"))
    assert ledger.charges()[-1].state == "failed"


# --- what comes out --------------------------------------------------------------------------


MIXED = Schema(
    columns=(
        Column(name="age", kind="numeric", lower=18, upper=90, edges=(40, 65), decimals=0),
        Column(name="dose", kind="numeric", lower=0.0, upper=1.0, edges=(0.5,)),
        Column(name="ward", kind="categorical", levels=("n", "s"), nullable=True),
        Column(name="grade", kind="ordinal", levels=(1, 2, 3)),
        Column(name="readmitted", kind="boolean"),
    ),
    one_row_per_person=True,
)


@pytest.mark.parametrize("sampling", ["rounded", "iid"])
def test_the_table_has_the_declared_columns_dtypes_and_levels(sampling):
    source = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": source.integers(10, 99, N),
            "dose": source.random(N),
            "ward": source.choice(["n", "s", "", "x"], N),
            "grade": source.integers(1, 4, N),
            "readmitted": source.random(N) < 0.4,
        }
    )
    table = encode(MIXED, from_frame(frame))
    task = Task(target="readmitted", regime="predictive", k=2)
    synthesis = Synthesis(model="naive_bayes", sampling=sampling, rows=77)
    plan = design(Brief(MIXED, task, Budget(epsilon=5.0), N, synthesis=synthesis))
    made = release(plan, table, ledger=None, rng=rng())
    out = made.table
    assert tuple(out.columns) == MIXED.names
    assert len(out) == 77
    assert list(out.index) == list(range(77))  # no index of the input
    assert out["age"].dtype == np.int64
    assert out["age"].between(18, 90).all()
    assert out["dose"].dtype == np.float64
    assert out["dose"].between(0, 1).all()
    assert set(out["ward"].dropna()) <= {"n", "s"}
    assert out["grade"].dtype == np.int64
    assert set(out["grade"]) <= {1, 2, 3}
    assert out["readmitted"].dtype == bool
    again = encode(MIXED, from_frame(out))
    np.testing.assert_array_equal(again.codes, made.codes)  # decoding and encoding agree


def test_as_many_rows_as_trained_on_by_default():
    plan = plan_for(synthesis=Synthesis(model="naive_bayes"))
    made = run(plan, rows())
    assert len(made.table) == N
    assert made.codes.shape == (N, 5)


def test_a_release_shows_no_row_in_its_text():
    made = run(plan_for(), rows())
    text = repr(made)
    assert "codes=" not in text
    assert "values" not in text
    assert "codes" not in repr(rows())
    assert math.isfinite(made.seconds)


@pytest.mark.slow
def test_a_whole_run_with_the_graphical_model():
    made = run(
        plan_for(Task(target="y"), synthesis=Synthesis(rows=60, iterations=100)),
        rows(public=True),
        noise=seeded(),
    )
    assert made.table.shape == (60, 5)
    assert made.plan.tree is None
    assert made.plan.forecast.exact
    assert math.prod(made.model.tables[0].shape) <= made.plan.forecast.largest_clique
    assert sum(table.size for table in made.model.tables) == made.plan.forecast.cells
    assert made.stamp == "rehearsal, not a release"
