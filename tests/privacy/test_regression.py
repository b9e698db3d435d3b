"""Objective perturbation: its privacy loss by the exact density, and what it chooses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import expit

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, OverspentError, PrivacyError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy import objective_perturbation
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.events import ApproximateEvent
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SecureNoise, SeededNoise
from prism_core.privacy.objective_perturbation import Calibration, calibrate, private_coefficients
from prism_core.synthesis.release import release
from prism_core.synthesis.select import choose_features
from tests.support.laws import ACCEPT
from tests.support.noise import Exact

pytestmark = pytest.mark.privacy

SIZES = {"a": 2, "b": 3, "y": 2, "c": 4, "d": 2}


def domain(**sizes: int) -> Schema:
    return Schema(
        columns=tuple(
            Column(name=name, kind="categorical", levels=tuple(range(size)))
            for name, size in sizes.items()
        ),
        one_row_per_person=True,
    )


def seeded(seed: int = 1) -> SeededNoise:
    return SeededNoise(np.random.default_rng(seed))


# --- the constants ---------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_the_parts_of_the_loss_add_up_to_epsilon_and_no_more(epsilon, delta):
    found = calibrate(epsilon, delta)
    determinant = math.log1p(0.25 / found.ridge)
    a, c = math.sqrt(2 * math.log(2 / delta)), 2.0 / found.sigma
    noise = a * c + c * c / 2
    assert determinant + noise <= 0.95 * epsilon
    assert determinant + noise >= 0.95 * epsilon * (1 - 1e-6)  # nothing is thrown away
    # The output noise, by the analytic Gaussian formula.
    from prism_core.privacy.accountants.conversions import gaussian_delta

    moved = 2 * objective_perturbation.GRADIENT_TOLERANCE / found.ridge
    assert gaussian_delta(0.05 * epsilon, found.sigma_out, moved) <= delta / 2


def log_density(theta, x, y, calibration):
    """Of the exact minimum, for every theta; the law the proof speaks of, written out."""
    share = expit(theta @ x.T)
    b = -((share - y) @ x + calibration.ridge * theta)
    hessians = np.einsum("ti,ij,ik->tjk", share * (1 - share), x, x)
    _, logdet = np.linalg.slogdet(hessians + calibration.ridge * np.eye(x.shape[1]))
    return -(b**2).sum(axis=1) / (2 * calibration.sigma**2) + logdet


def minima(x, y, b, ridge):
    theta = np.zeros((len(b), x.shape[1]))
    for _ in range(60):
        share = expit(theta @ x.T)
        gradient = (share - y) @ x + ridge * theta + b
        hessian = np.einsum("ti,ij,ik->tjk", share * (1 - share), x, x)
        hessian += ridge * np.eye(x.shape[1])
        theta = theta - np.linalg.solve(hessian, gradient[..., None])[..., 0]
    assert np.abs(gradient).max() < 1e-9
    return theta


def losses(calibration, x, y, x_, y_, draws, rng):
    b = rng.normal(0, calibration.sigma, (draws, x.shape[1]))
    theta = minima(x, y, b, calibration.ridge)
    return log_density(theta, x, y, calibration) - log_density(theta, x_, y_, calibration)


POINTS = [np.array(v) for v in ((1.0, 0.0), (0.0, 1.0), (0.6, 0.8), (-1.0, 0.0))]


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("epsilon", "delta"), [pytest.param(0.5, 0.1, marks=pytest.mark.long), (2.0, 0.02)]
)
def test_the_privacy_loss_exceeds_epsilon_with_probability_delta_at_most(epsilon, delta):
    """The exact density ratio at sampled minima, over neighbours of every kind.

    False alarms: a rate of delta/2 or less over 20,000 draws passes delta/2 + 7 standard
    deviations with probability below 1e-11.
    """
    found, rng, draws = calibrate(epsilon, delta), np.random.default_rng(3), 20_000
    rest_x, rest_y = np.array([[1.0, 0.0]]), np.array([1.0])
    allowed = delta / 2 + 7 * math.sqrt(delta / 2 / draws)
    largest, rates = 0.0, []
    for (p, u), (q, v) in itertools.product(itertools.product(POINTS, (0.0, 1.0)), repeat=2):
        x, y = np.vstack([rest_x, p]), np.append(rest_y, u)
        x_, y_ = np.vstack([rest_x, q]), np.append(rest_y, v)
        loss = losses(found, x, y, x_, y_, draws if not rates else 2_000, rng)
        bound = allowed if len(loss) == draws else delta / 2 + 7 * math.sqrt(delta / 2 / 2_000)
        rates.append(float((loss > 0.95 * epsilon).mean()))
        assert rates[-1] <= bound
        largest = max(largest, float(np.quantile(loss, 1 - delta / 2)))
    assert largest >= 0.25 * epsilon  # the test looks at neighbours that matter


@pytest.mark.statistical
def test_too_little_noise_is_seen():
    """With a fifth of the noise the loss passes epsilon more than twice as often as delta."""
    epsilon, delta = 0.5, 0.02
    found = calibrate(epsilon, delta)
    weak = Calibration(ridge=found.ridge, sigma=found.sigma / 5, sigma_out=found.sigma_out)
    x, y = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, 0.0])
    x_, y_ = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, 0.0])
    loss = losses(weak, x, y, x_, y_, 20_000, np.random.default_rng(3))
    assert (loss > 0.95 * epsilon).mean() > 2 * delta


# --- the solution ----------------------------------------------------------------------------


def problem(n=3_000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return csr_matrix(x), (rng.random(n) < expit(8 * x[:, 0])).astype(float)


def test_the_gradient_of_what_is_released_is_small():
    rows, labels = problem()
    found = calibrate(1.0, 1e-6)
    theta = private_coefficients(rows, labels, found, Exact())
    gradient = rows.T @ (expit(rows @ theta) - labels) + found.ridge * theta
    assert np.linalg.norm(gradient) <= objective_perturbation.GRADIENT_TOLERANCE
    assert int(np.argmax(np.abs(theta))) == 0


def test_an_inexact_solution_is_not_released(monkeypatch):
    rows, labels = problem(200)
    monkeypatch.setattr(objective_perturbation, "_solve", lambda problem, start: start)
    with pytest.raises(PrivacyError, match="not solved exactly enough"):
        private_coefficients(rows, labels, calibrate(1.0, 1e-6), Exact())
    monkeypatch.setattr(objective_perturbation, "_solve", lambda problem, start: start * math.nan)
    with pytest.raises(PrivacyError, match="not solved exactly enough"):
        private_coefficients(rows, labels, calibrate(1.0, 1e-6), Exact())


def test_long_rows_are_refused():
    for wrong in (1.1, math.nan, math.inf):
        with pytest.raises(PrivacyError, match="norm at most 1"):
            private_coefficients(
                csr_matrix(np.array([[wrong, 0.0]])), np.ones(1), calibrate(1.0, 1e-6), Exact()
            )


@pytest.mark.parametrize("bad", [None, math.nan, 0.0, -1.0, math.inf])
def test_unusable_scales_are_refused(bad):
    with pytest.raises(PrivacyError):
        calibrate(bad, 1e-6)
    with pytest.raises(BudgetError):
        calibrate(1.0, bad)
    with pytest.raises(PrivacyError):
        Calibration(ridge=1.0, sigma=bad, sigma_out=1.0)


@pytest.mark.statistical
@pytest.mark.parametrize("source", [seeded(4), SecureNoise()], ids=["seeded", "secure"])
def test_the_continuous_noise_has_the_declared_scale(source):
    from scipy import stats

    sample = source.gaussian(20_000, 3.5)
    assert stats.kstest(sample, "norm", (0, 3.5)).pvalue > ACCEPT
    for off in (0.7, 1.3):
        assert stats.kstest(sample, "norm", (0, 3.5 * off)).pvalue < ACCEPT
    assert (source.gaussian(5, 1.0) != source.gaussian(5, 1.0)).all()


# --- the choice ------------------------------------------------------------------------------


def rows(*, public=True, n=4_000, levels=2) -> EncodedTable:
    """y follows b; c follows b, so it is associated with y and adds nothing; a and d are noise."""
    rng = np.random.default_rng(11)
    b = rng.integers(0, 3, n)
    y = np.where(rng.random(n) < 0.9, b % levels, rng.integers(0, levels, n))
    codes = np.column_stack(
        [rng.integers(0, 2, n), b, y, rng.integers(0, 4, n), rng.integers(0, 2, n)]
    )
    return EncodedTable(schema=domain(**{**SIZES, "y": levels}), codes=codes, public=public)


def plan_for(table, k=1, **budget):
    task = Task(target="y", regime="predictive", k=k, selection="logistic")
    return design(
        Brief(
            table.schema,
            task,
            Budget(**{"epsilon": 20.0, **budget}),
            table.n,
            synthesis=Synthesis(model="naive_bayes", rows=20),
        )
    )


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("noise", [seeded(2), SecureNoise()], ids=["seeded", "secure"])
def test_the_feature_that_matters_is_chosen(levels, noise):
    table = rows(levels=levels)
    plan = plan_for(
        table, epsilon=200.0
    )  # at 20 secure noise drowned it once in some thousand runs
    steps = []
    assert choose_features(table, plan, noise, lambda: steps.append(1)) == ("b",)
    assert len(steps) == (1 if levels == 2 else levels)


@pytest.mark.parametrize("accountant", ["zcdp", "basic"])
def test_the_regression_takes_its_part_of_delta(accountant):
    table = rows()
    plan = plan_for(table, epsilon=1.0, accountant=accountant)
    event = plan.selection.event
    assert isinstance(event, ApproximateEvent)
    assert event.delta == pytest.approx(plan.delta / 10)
    assert plan.events[0] is event
    assert plan.spent.epsilon <= 1.0
    assert plan.spent.epsilon == pytest.approx(1.0, rel=1e-6)
    assert plan.spent.delta <= plan.delta
    share = event.epsilon**2 / 2 if accountant == "zcdp" else event.epsilon
    assert share == pytest.approx(0.1 * plan.total)
    entry = plan.to_dict()["deferred"][0]
    assert (entry["rule"], entry["epsilon"]) == ("logistic", event.epsilon)


def test_what_the_regression_is_asked_adds_up_to_its_event(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "prism_core.synthesis.select.features.calibrate",
        lambda epsilon, delta: asked.append((epsilon, delta)) or calibrate(epsilon, delta),
    )
    table = rows(levels=3)
    plan = plan_for(table)
    choose_features(table, plan, seeded())
    ((epsilon, delta),) = asked
    assert plan.selection.event.epsilon >= 3 * epsilon >= plan.selection.event.epsilon * 0.999
    assert plan.selection.event.delta >= 3 * delta >= plan.selection.event.delta * 0.999


def test_known_noise_is_refused_and_so_is_an_event_without_delta():
    private = rows(public=False)
    with pytest.raises(PrivacyError, match="Seeded noise"):
        choose_features(private, plan_for(private), seeded())


def test_a_run_on_public_rows():
    table = rows()
    made = release(
        plan_for(table), table, ledger=None, noise=seeded(), rng=np.random.default_rng(0)
    )
    assert made.plan.s == ("b",)
    assert made.plan.spent.epsilon <= made.plan.budget.epsilon


def test_a_charge_holds_the_step_s_delta_and_the_whole_amount_at_what_is_left_of_it(tmp_path):
    ledger = Ledger(tmp_path)
    private = rows(public=False)
    plan = plan_for(private, epsilon=1.0)
    ledger.register("ward", epsilon=2.0, delta=plan.delta)
    release(plan, private, ledger=ledger, asset="ward", rng=np.random.default_rng(0))
    (charge,) = ledger.charges()
    step = plan.selection.event
    assert step.delta == pytest.approx(plan.delta / 10)
    assert charge.rho == pytest.approx(epsilon_to_rho(1.0, plan.delta - step.delta), rel=1e-9)
    assert charge.rho < epsilon_to_rho(1.0, plan.delta) * 0.999
    balance = ledger.balance("ward")
    assert balance.spent_delta == pytest.approx(step.delta)
    # Both parts together are the plan's guarantee: not above it, and nothing is lost.
    assert balance.spent_epsilon == pytest.approx(1.0, rel=1e-9)


def test_deltas_that_add_up_to_the_asset_s_are_refused_and_the_reason_is_said(tmp_path):
    ledger = Ledger(tmp_path)
    private = rows(public=False)
    plan = plan_for(private)
    ledger.register("ward", epsilon=50.0, delta=plan.delta / 10)
    with pytest.raises(OverspentError, match="delta"):
        release(plan, private, ledger=ledger, asset="ward", rng=np.random.default_rng(0))
    assert ledger.charges() == ()
