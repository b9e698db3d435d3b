"""R² and RMSE inside epsilon: sensitivity of the sums, charge, error bars, refusals."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import root_mean_squared_error

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column, equal_edges
from prism_core.errors import EvaluationError, PrivacyError, TaskError
from prism_core.evaluation import REGRESSORS, design_private, evaluate_private, fit_numeric
from prism_core.evaluation.inside_epsilon.private_numbers import PRIVATE
from prism_core.evaluation.inside_epsilon.private_numeric import (
    numeric_model,
    numeric_numbers,
    row_steps,
)
from prism_core.evaluation.inside_epsilon.private_plan import STEPS
from prism_core.evaluation.tstr.squared_loss import target_values
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.events import L2_SENSITIVITY, GaussianEvent
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.mechanisms import noisy_sum
from prism_core.privacy.noise import SecureNoise, SeededNoise
from tests.support.games import GAMES, mu_bound
from tests.support.noise import Exact
from tests.support.numeric_rows import rows, schema_of

pytestmark = pytest.mark.privacy


def plan_of(schema, n, epsilon=1.0, **others):
    return design_private(schema, "y", n, epsilon, 1e-6, **others)


# --- sensitivity ---------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", REGRESSORS)
@pytest.mark.parametrize(
    ("nullable", "special"), [(False, ()), (True, ()), (False, (-9,)), (True, (-9, ".a"))]
)
def test_every_small_holdout_and_every_replaced_row(learner, nullable, special):
    """T-SENS on the exact sums: each moves by at most `STEPS`, and comes close to it."""
    schema = schema_of(4, nullable=nullable, special=special)
    valueless = nullable or bool(special)
    made = rows(300, 1, schema=schema, public=True)
    people = 2
    plan = plan_of(schema, people, learner=learner)
    model = numeric_model(plan, made)
    kinds = np.array([(x, 0, y) for x in (0, 9) for y in (0, 3)] + [(9, 0, 1 + 3 * valueless)])
    sums = {}
    for holdout in itertools.product(range(len(kinds)), repeat=people):
        table = EncodedTable(schema=schema, codes=kinds[list(holdout)])
        sums[holdout] = np.array([part.sum() for part in row_steps(plan, model, table)])
    worst = np.zeros(2)
    for holdout, place, other in itertools.product(sums, range(people), range(len(kinds))):
        moved = sums[(*holdout[:place], other, *holdout[place + 1 :])]
        worst = np.maximum(worst, np.abs(sums[holdout] - moved))
    assert worst.max() <= STEPS
    assert worst.min() > 0.5 * STEPS
    assert [event.sensitivity for event in plan.events[:2]] == [STEPS, STEPS]
    assert all(event.sensitivity == L2_SENSITIVITY for event in plan.events[2:])
    assert len(plan.events) == 2 + valueless


def test_what_is_handed_to_the_noise_are_these_sums_and_one_row_moves_nothing_else():
    """T-RECORD through `evaluate_private`: calls and scales are the same on a neighbour."""
    schema = schema_of(nullable=True)
    made, holdout = rows(300, 1, schema=schema, public=True), rows(40, 2, schema=schema)
    plan = plan_of(schema, 40)
    codes = np.array(holdout.codes)
    codes[7] = [9, 2, 10]
    seen = []
    for table in (holdout, replace(holdout, codes=codes)):
        noise = Exact()
        evaluate_private(plan, made, table, ledger=None, noise=noise)
        steps = row_steps(plan, numeric_model(plan, made), table)
        assert [int(counts[0]) for counts, _ in noise.calls[:2]] == [part.sum() for part in steps]
        seen.append(noise.calls)
    for (first, sigma), (second, same), event in zip(*seen, plan.events, strict=True):
        assert sigma == same == event.sigma
        assert first.dtype.kind == "i"
        assert np.linalg.norm(first - second) <= event.sensitivity + 1e-12


def test_the_numbers_come_from_the_noisy_sums_alone():
    schema = schema_of()
    made, holdout = rows(300, 1, schema=schema, public=True), rows(400, 2, schema=schema)

    class Fixed(Exact):
        def add_discrete_gaussian(self, counts, sigma):
            return np.full(counts.shape, 2_000_000)

    found = [
        evaluate_private(plan_of(schema, 400), made, table, ledger=None, noise=Fixed()).numbers
        for table in (holdout, replace(holdout, codes=holdout.codes * 0))
    ]
    assert found[0] == found[1]


def test_no_row_moves_another_row_s_step():
    schema = schema_of()
    made, holdout = rows(300, 1, schema=schema, public=True), rows(40, 2, schema=schema)
    plan = plan_of(schema, 40)
    model = numeric_model(plan, made)
    codes = np.array(holdout.codes)
    codes[7] = [9, 2, 0]
    before, after = (
        row_steps(plan, model, table) for table in (holdout, replace(holdout, codes=codes))
    )
    for first, second in zip(before, after, strict=True):
        assert (np.delete(first, 7) == np.delete(second, 7)).all()
        assert first.dtype == np.int64


def test_a_sum_clips_and_refuses_a_sensitivity_that_is_too_small():
    event = GaussianEvent(sigma=1.0, sensitivity=10.0)
    values = np.array([3, 900, -900], dtype=np.int64)
    assert noisy_sum(values, 10, event, Exact(), public=False).tolist() == [13]
    with pytest.raises(PrivacyError, match="largest value"):
        noisy_sum(values, 11, event, Exact(), public=False)
    with pytest.raises(PrivacyError, match="Seeded noise"):
        noisy_sum(values, 10, event, SeededNoise(np.random.default_rng(0)), public=False)


@pytest.mark.statistical
def test_a_membership_game_on_a_sum_is_within_the_declaration_and_finds_less_noise():
    """T-AUDIT: one row 0 or `STEPS`; noise for half the sensitivity is flagged (odds 1e-9)."""
    event = plan_of(schema_of(), 2, 4.0).events[0]
    noise = SeededNoise(np.random.default_rng(5))
    for scale, flagged in ((1.0, False), (0.5, True)):
        played = [
            noise.add_discrete_gaussian(np.full(GAMES, total), event.sigma * scale) - STEPS / 2
            for total in (0, STEPS)
        ]
        assert (mu_bound(*played) > event.sensitivity / event.sigma) == flagged


# --- the plan and the charge ---------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 8.0])
@pytest.mark.parametrize("nullable", [False, True])
def test_the_plan_never_spends_more_than_it_says(epsilon, nullable):
    plan = plan_of(schema_of(nullable=nullable), 1_000, epsilon)
    assert 0.999 * epsilon < plan.spent.epsilon <= epsilon
    assert math.fsum(event.rho for event in plan.events) <= epsilon_to_rho(epsilon, 1e-6)
    assert plan.numeric
    assert plan.classes == ()
    assert plan.to_dict()["squared_loss_steps"] == STEPS
    assert plan.hash == plan_of(schema_of(nullable=nullable), 1_000, epsilon).hash


def test_as_classes_its_bins_are_counted_and_learners_do_not_mix():
    plan = plan_of(schema_of(), 1_000, as_classes=True)
    assert not plan.numeric
    assert len(plan.classes) == 10
    with pytest.raises(EvaluationError, match="one of ridge"):
        plan_of(schema_of(), 1_000, learner="logistic_onehot")
    with pytest.raises(EvaluationError, match="one of logistic_onehot"):
        plan_of(schema_of(), 1_000, learner="ridge", as_classes=True)


@pytest.mark.parametrize("reach", [1e101, 1e152, 1e300])
def test_a_range_whose_squares_are_infinite_is_refused_before_a_charge(reach):
    """At 1e152 the sums were infinite and R² came out as 1."""
    edges = equal_edges(-reach, reach, 6, None)
    wide = Column(name="y", kind="numeric", lower=-reach, upper=reach, edges=edges)
    schema = replace(schema_of(), columns=(*schema_of().columns[:2], wide))
    with pytest.raises(TaskError, match="narrower bounds"):
        plan_of(schema, 200)
    assert not plan_of(schema, 200, as_classes=True).numeric


def test_it_is_charged_and_names_its_mechanism(tmp_path):
    schema = schema_of()
    made, holdout = rows(500, 1, schema=schema, public=True), rows(2_000, 2, schema=schema)
    ledger = Ledger(tmp_path / "work")
    ledger.register("ward", epsilon=2.0, delta=1e-6)
    plan = plan_of(schema, holdout.n)
    found = evaluate_private(plan, made, holdout, ledger=ledger, asset="ward", noise=SecureNoise())
    (charge,) = ledger.charges()
    assert charge.state == "done"
    assert charge.rho == pytest.approx(plan.spent.rho)
    assert [event["sensitivity"] for event in charge.events] == [STEPS, STEPS]
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["private_evaluation"] == PRIVATE
    assert "squared errors" in document["mechanism"]
    assert [number["name"] for number in document["numbers"]] == ["r2", "rmse"]
    assert document["learner"].startswith("Ridge")


# --- what comes out ------------------------------------------------------------------------------


@pytest.mark.parametrize("nullable", [False, True])
def test_without_noise_the_numbers_are_those_of_the_model(nullable):
    schema = schema_of(nullable=nullable)
    made = rows(500, 1, schema=schema, public=True)
    codes = np.array(rows(2_000, 2, schema=schema).codes)
    if nullable:
        codes[:200, 2] = 10
    holdout = EncodedTable(schema=schema, codes=codes)
    plan = plan_of(schema, 2_000, 8.0)
    found = evaluate_private(plan, made, holdout, ledger=None, noise=Exact())
    known = holdout.take(np.arange(200 * nullable, 2_000))
    y = target_values(known, "y")
    predicted = fit_numeric("ridge", made, target="y").predictions(known)
    mean = target_values(made, "y").mean()
    against = 1 - ((predicted - y) ** 2).sum() / ((mean - y) ** 2).sum()
    error = root_mean_squared_error(y, predicted)
    assert found.find("rmse").value == pytest.approx(error, rel=1e-3)
    assert found.find("r2").value == pytest.approx(against, abs=1e-3)
    assert found.binning is None
    assert found.find("r2").interval[1] <= 1.0
    assert found.find("rmse").interval[0] > 1.0  # in the column's unit, not cut off at 1


def test_noise_that_is_too_large_is_a_sentence_and_no_number():
    schema = schema_of(nullable=True)
    plan = plan_of(schema, 50, 0.01)
    model = numeric_model(plan, rows(300, 1, schema=schema, public=True))
    noisy = [np.array([10]), np.array([10]), np.array([50, 0])]
    for number in numeric_numbers(plan, model, noisy):
        assert number.value is number.deviation is number.interval is None
        assert "too large" in number.note


@pytest.mark.statistical
def test_the_error_bar_is_that_of_the_noise():
    """400 runs: the spread of z lies in 1 ± .28 but for odds of 1e-12 (chi-square, 399 degrees)
    and the mean within ± .36 (7 standard errors)."""
    schema = schema_of(nullable=True)
    made, holdout = rows(500, 1, schema=schema, public=True), rows(5_000, 2, schema=schema)
    plan = plan_of(schema, holdout.n, 2.0)
    model = numeric_model(plan, made)
    exact = [np.array([part.sum()]) for part in row_steps(plan, model, holdout)]
    exact.append(np.array([holdout.n, 0]))
    true = numeric_numbers(plan, model, exact)
    noise = SeededNoise(np.random.default_rng(3))
    z = []
    for _ in range(400):
        noisy = [
            noise.add_discrete_gaussian(counts, event.sigma)
            for counts, event in zip(exact, plan.events, strict=True)
        ]
        numbers = numeric_numbers(plan, model, noisy)
        z.append([(n.value - t.value) / n.deviation for n, t in zip(numbers, true, strict=True)])
    spread = np.array(z)
    assert np.abs(spread.std(axis=0) - 1.0).max() < 0.28
    assert np.abs(spread.mean(axis=0)).max() < 0.36
