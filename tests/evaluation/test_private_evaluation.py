"""Headline numbers inside epsilon: sensitivity, charge, error bars, refusals."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import (
    BudgetError,
    EvaluationError,
    OverspentError,
    PlanError,
    PrivacyError,
    TaskError,
)
from prism_core.evaluation import LEARNERS, design_private, evaluate_private, fit
from prism_core.evaluation.inside_epsilon.private_numbers import (
    INSIDE_EPSILON,
    PrivateNumber,
    _numbers,
    binned_auc,
    cell_codes,
    score_edges,
)
from prism_core.evaluation.inside_epsilon.private_plan import BINS
from prism_core.evaluation.tstr.scoring import macro_auc
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.events import L2_SENSITIVITY
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SecureNoise, SeededNoise
from tests.support.games import GAMES, mu_bound
from tests.support.noise import Exact
from tests.support.refusals import refused

pytestmark = pytest.mark.privacy


def schema_of(classes: int = 2, *, nullable: bool = False) -> Schema:
    return Schema(
        columns=(
            Column(name="x", kind="ordinal", levels=tuple(range(6))),
            Column(name="y", kind="categorical", levels=tuple(range(classes)), nullable=nullable),
        ),
        one_row_per_person=True,
    )


def rows(n: int, schema: Schema, seed: int = 0, *, public: bool = False) -> EncodedTable:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, n)
    top = schema["y"].level_count - 1
    y = np.clip(np.round(x / 5 * top + rng.normal(0, 0.6, n)), 0, top).astype(int)
    return EncodedTable(schema=schema, codes=np.stack([x, y], axis=1), public=public)


@pytest.fixture(scope="module")
def two():
    schema = schema_of()
    return schema, rows(800, schema, 1, public=True), rows(2_000, schema, 2)


def plan_of(schema: Schema, n: int, epsilon: float = 1.0, **others):
    return design_private(schema, "y", n, epsilon, 1e-6, **others)


# --- sensitivity ---------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("classes", "nullable"), [(2, False), (2, True), (3, False)])
def test_every_small_holdout_and_every_replaced_row(classes, nullable, learner):
    """T-SENS on the exact vectors: each table moves by at most sqrt(2), and that is reached."""
    schema = schema_of(classes, nullable=nullable)
    made = rows(400, schema, 1, public=True)
    fitted = fit(learner, made, target="y")
    plan = plan_of(schema, 2, learner=learner)
    edges = score_edges(plan, fitted, made)
    people = list(itertools.product((0, 2, 5), range(schema["y"].size)))
    vectors = {}
    for holdout in itertools.product(people, repeat=2):
        table = EncodedTable(schema=schema, codes=np.array(holdout))
        cells = cell_codes(plan, fitted, table, edges)
        assert len(cells) == len(plan.events)
        vectors[holdout] = [np.bincount(codes, minlength=size) for codes, size in cells]
        assert all(counts.sum() == 2 for counts in vectors[holdout])  # nobody is left out
    worst = np.zeros(len(plan.events))
    for holdout in vectors:
        for place, other in itertools.product(range(2), people):
            moved = vectors[(*holdout[:place], other, *holdout[place + 1 :])]
            gaps = zip(vectors[holdout], moved, strict=True)
            worst = np.maximum(worst, [np.linalg.norm(a - b) for a, b in gaps])
    assert worst == pytest.approx(L2_SENSITIVITY)
    assert all(event.sensitivity == L2_SENSITIVITY for event in plan.events)


def test_the_whole_step_on_every_small_holdout():
    """T-SENS through `evaluate_private`: the model, the bins and the scales stay as they are."""
    schema = schema_of()
    made = rows(60, schema, 1, public=True)
    plan = plan_of(schema, 2)
    people = list(itertools.product((0, 3, 5), (0, 1)))
    vectors = {}
    for holdout in itertools.product(people, repeat=2):
        noise = Exact()
        table = EncodedTable(schema=schema, codes=np.array(holdout))
        evaluate_private(plan, made, table, ledger=None, noise=noise)
        vectors[holdout] = [counts for counts, _ in noise.calls]
    for holdout in vectors:
        for other in people:
            moved = vectors[(holdout[0], other)]
            for first, second in zip(vectors[holdout], moved, strict=True):
                assert np.linalg.norm(first - second) <= L2_SENSITIVITY + 1e-12


def test_the_numbers_come_from_the_noisy_counts_alone(two):
    schema, made, holdout = two

    class Fixed(Exact):
        def add_discrete_gaussian(self, counts, sigma):
            return np.arange(counts.size) * 100

    plan = plan_of(schema, holdout.n)
    other = replace(holdout, codes=holdout.codes * 0)
    found = [
        evaluate_private(plan, made, table, ledger=None, noise=Fixed()).numbers
        for table in (holdout, other)
    ]
    assert found[0] == found[1]


def test_what_is_handed_over_moves_with_one_row_and_nothing_else_does(two):
    """T-RECORD: a neighbour changes counts by one row; calls, scales and cells are the same."""
    schema, made, holdout = two
    plan = plan_of(schema, holdout.n)
    codes = np.array(holdout.codes)
    codes[7] = [5 - codes[7, 0], 1 - codes[7, 1]]
    seen = []
    for table in (holdout, replace(holdout, codes=codes)):
        noise = Exact()
        evaluate_private(plan, made, table, ledger=None, noise=noise)
        seen.append(noise.calls)
    for (first, sigma), (second, same), event in zip(*seen, plan.events, strict=True):
        assert sigma == same == event.sigma
        assert first.shape == second.shape
        assert np.linalg.norm(first - second) <= L2_SENSITIVITY + 1e-12
        assert first.dtype.kind == "i"


def test_the_bins_come_from_the_synthetic_rows_alone(two):
    schema, made, holdout = two
    plan = plan_of(schema, holdout.n)
    edges = score_edges(plan, fit(plan.learner, made, target="y"), made)
    scores = fit(plan.learner, made, target="y").probabilities(made)[:, 1]
    assert np.array_equal(edges[0], np.unique(np.quantile(scores, np.arange(1, BINS) / BINS)))
    assert len(edges) == len(plan.classes) == 1


# --- the charge ----------------------------------------------------------------------------------


def test_the_charge_stands_before_the_first_count_and_holds_the_plan_s_events(two, tmp_path):
    schema, made, holdout = two
    ledger = Ledger(tmp_path / "work")
    ledger.register("ward", epsilon=2.0, delta=1e-6)
    plan = plan_of(schema, holdout.n, 0.5, release="abc")
    states = []
    noise = Exact(lambda: states.append(Ledger(tmp_path / "work").charges()[0].state))
    found = evaluate_private(plan, made, holdout, ledger=ledger, asset="ward", noise=noise)
    assert states == ["reserved"] * 2
    (charge,) = ledger.charges()
    assert (charge.state, charge.plan) == ("done", plan.hash)
    assert charge.rho == pytest.approx(plan.spent.rho)
    assert charge.delta == plan.delta == 1e-6
    assert [event["sigma"] for event in charge.events] == [e.sigma for e in plan.events]
    assert found.charge == charge.id
    assert found.stamp == "private evaluation"
    assert found.covered
    assert found.notice == INSIDE_EPSILON
    assert found.to_dict()["guarantee"] == {
        "epsilon": plan.spent.epsilon,
        "delta": 1e-6,
        "rho": plan.spent.rho,
    }


def test_a_charge_that_is_too_large_reads_nothing_and_a_failure_stands(two, tmp_path):
    schema, made, holdout = two
    ledger = Ledger(tmp_path / "work")
    ledger.register("ward", epsilon=0.6, delta=1e-6)
    noise = Exact()
    with pytest.raises(OverspentError):
        evaluate_private(
            plan_of(schema, holdout.n, 0.7), made, holdout, ledger=ledger, asset="ward", noise=noise
        )
    assert noise.calls == []

    def broken():
        raise RuntimeError

    with pytest.raises(RuntimeError):
        evaluate_private(
            plan_of(schema, holdout.n, 0.3),
            made,
            holdout,
            ledger=ledger,
            asset="ward",
            noise=Exact(broken),
        )
    assert [charge.state for charge in ledger.charges()] == ["failed"]
    assert ledger.balance("ward").spent_rho == pytest.approx(
        plan_of(schema, holdout.n, 0.3).spent.rho
    )


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 8.0])
@pytest.mark.parametrize("classes", [2, 3, 20, 21])
def test_the_plan_never_spends_more_than_it_says(epsilon, classes):
    plan = plan_of(schema_of(classes), 1_000, epsilon)
    assert 0.999 * epsilon < plan.spent.epsilon <= epsilon
    assert math.fsum(e.rho for e in plan.events) <= epsilon_to_rho(epsilon, 1e-6)
    assert len(plan.events) == {2: 2, 3: 4, 20: 21, 21: 1}[classes]
    assert plan_of(schema_of(classes), 1_000, epsilon).hash == plan.hash


# --- what comes out ------------------------------------------------------------------------------


@pytest.mark.parametrize(("classes", "nullable"), [(2, False), (2, True), (4, False)])
def test_without_noise_the_numbers_are_those_of_the_model(classes, nullable):
    schema = schema_of(classes, nullable=nullable)
    made = rows(800, schema, 1, public=True)
    codes = np.array(rows(3_000, schema, 2).codes)
    if nullable:
        codes[:200, 1] = schema["y"].missing_code
    holdout = EncodedTable(schema=schema, codes=codes)
    plan = plan_of(schema, holdout.n)
    found = evaluate_private(plan, made, holdout, ledger=None, noise=Exact())
    known = holdout.take(np.arange(200 * nullable, 3_000))
    proba = fit(plan.learner, made, target="y").probabilities(known)
    y = known.column("y")
    assert found.find("accuracy").value == pytest.approx((proba.argmax(axis=1) == y).mean())
    assert found.find("auc").value == pytest.approx(macro_auc(y, proba), abs=0.01)
    assert abs(found.binning) < 0.01
    assert found.stamp == "private evaluation without a ledger"
    assert not found.covered
    assert "covered by no charge" in found.to_dict()["notice"]
    assert not any(number.outside_epsilon for number in found.numbers)
    assert json.dumps(found.to_dict(), allow_nan=False)
    assert len([n for n in found.numbers if n.name == "auc"]) == (1 if classes == 2 else 5)


def test_binned_auc_counts_ties_half():
    inside, others = np.array([1, 2, 0]), np.array([3, 2, 1])
    pairs = [(i, j) for i in np.repeat([0, 1, 2], inside) for j in np.repeat([0, 1, 2], others)]
    expected = np.mean([1.0 if i > j else 0.5 if i == j else 0.0 for i, j in pairs])
    assert binned_auc(inside, others) == pytest.approx(expected)


@pytest.mark.statistical
def test_the_error_bar_is_that_of_the_noise(two):
    """400 runs: the spread of z lies in 1 ± .28 but for odds of 1e-12 (chi-square, 399 degrees)
    and the mean within ± .36 (7 standard errors)."""
    schema, made, holdout = two
    plan = plan_of(schema, holdout.n, 1.0)
    fitted = fit(plan.learner, made, target="y")
    cells = cell_codes(plan, fitted, holdout, score_edges(plan, fitted, made))
    counts = [np.bincount(codes, minlength=size) for codes, size in cells]
    true = _numbers(plan, counts)
    noise = SeededNoise(np.random.default_rng(3))
    z = []
    for _ in range(400):
        noisy = [
            noise.add_discrete_gaussian(table, event.sigma)
            for table, event in zip(counts, plan.events, strict=True)
        ]
        numbers = _numbers(plan, noisy)
        z.append([(n.value - t.value) / n.deviation for n, t in zip(numbers, true, strict=True)])
    spread = np.array(z)
    assert np.abs(spread.std(axis=0) - 1.0).max() < 0.28
    assert np.abs(spread.mean(axis=0)).max() < 0.36


@pytest.mark.statistical
def test_a_membership_game_on_the_counts_is_within_the_declaration_and_finds_less_noise(two):
    """T-AUDIT through `evaluate_private`'s own counts; the bound fails with odds below 1e-9."""
    schema, made, _ = two
    plan = plan_of(schema, 2, 4.0)
    fitted = fit(plan.learner, made, target="y")
    edges = score_edges(plan, fitted, made)
    event = plan.events[0]
    worlds = []
    for row in ([0, 0], [5, 1]):
        table = EncodedTable(schema=schema, codes=np.array([[0, 0], row]))
        codes, size = cell_codes(plan, fitted, table, edges)[0]
        worlds.append(np.bincount(codes, minlength=size))
    toward = worlds[1] - worlds[0]
    assert np.linalg.norm(toward) == pytest.approx(L2_SENSITIVITY)
    middle = (worlds[0] + worlds[1]) @ toward / 2
    noise = SeededNoise(np.random.default_rng(5))
    for scale, flagged in ((1.0, False), (1 / math.sqrt(2), True)):
        played = [
            noise.add_discrete_gaussian(np.tile(world, (GAMES, 1)), event.sigma * scale) @ toward
            - middle
            for world in worlds
        ]
        assert (mu_bound(*played) > event.sensitivity / event.sigma) == flagged


def test_noise_that_is_too_large_is_a_sentence_and_no_number(two):
    schema, made, holdout = two
    quiet = replace(holdout, codes=holdout.codes[:60])
    plan = plan_of(schema, 60, 0.02)
    found = evaluate_private(plan, made, quiet, ledger=None, noise=SecureNoise())
    assert all(number.value is None and number.note for number in found.numbers)
    assert all(number.interval is None for number in found.numbers)
    edge = PrivateNumber(name="auc", subject="1", value=0.99, deviation=0.1)
    assert edge.interval == (pytest.approx(0.794, abs=1e-3), 1.0)


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, True])
def test_an_unusable_epsilon_is_refused(epsilon):
    with refused(BudgetError, "epsilon"):
        plan_of(schema_of(), 100, epsilon)


def test_what_does_not_fit_is_refused_before_anything_is_read(two):
    schema, made, holdout = two
    noise = Exact()

    def run(*, plan=None, made=made, holdout=holdout, noise=noise):
        return evaluate_private(
            plan or plan_of(schema, holdout.n), made, holdout, ledger=None, noise=noise
        )

    with pytest.raises(PrivacyError, match="trained on released rows"):
        run(made=replace(made, public=False))  # never TRTR
    with pytest.raises(PrivacyError, match="Seeded noise"):
        run(noise=SeededNoise(np.random.default_rng(0)))
    with pytest.raises(PlanError, match="does not have that many"):
        run(plan=plan_of(schema, holdout.n + 1))
    with pytest.raises(PlanError, match="other columns"):
        run(made=rows(100, schema_of(3), public=True))
    with pytest.raises(PrivacyError, match="protects one row"):
        run(holdout=replace(holdout, schema=replace(schema, one_row_per_person=False)))
    with pytest.raises(EvaluationError, match="two classes"):
        run(made=replace(made, codes=made.codes * 0))
    assert noise.calls == []
    with pytest.raises(PrivacyError, match="protects one row"):
        plan_of(replace(schema, one_row_per_person=False), 100)
    with pytest.raises(TaskError, match="not a column"):
        design_private(schema, "z", 100, 1.0)
    with pytest.raises(BudgetError, match="at least 2"):
        design_private(schema, "y", 1, 1.0)
    with pytest.raises(EvaluationError, match="must be one of"):
        plan_of(schema, 100, learner="oracle")
