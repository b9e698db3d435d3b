"""Noisy gradient descent: its sensitivity on every small table, and what it chooses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import PrivacyError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.regression import GROUPS, STEPS, cells_of, regression_of
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy import noisy_gradient
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.contribution import ONE_ROW
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SecureNoise, SeededNoise
from prism_core.privacy.noisy_gradient import GRID, Regression, coefficients
from prism_core.synthesis.release import release
from prism_core.synthesis.select import choose_features
from tests.support.noise import Exact

pytestmark = pytest.mark.privacy


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


def gradient(schema: Schema, rows, theta: np.ndarray) -> np.ndarray:
    table = EncodedTable(schema=schema, codes=np.array(rows, dtype=np.int32), public=True)
    regression = regression_of(schema, schema.names[:-1], "y")
    return noisy_gradient._gradient(table, regression, theta)


def starts(shape: tuple[int, int]):
    """Public coefficients that a step may start from: none, mild, and so large that they clip."""
    rng = np.random.default_rng(8)
    yield np.zeros(shape, dtype=np.int64)
    for spread in (0.3, 1.0, 3.0, 40.0):
        for _ in range(3):
            yield np.rint(rng.normal(0.0, spread * GRID, shape)).astype(np.int64)


# --- the sensitivity -------------------------------------------------------------------------

DOMAINS = ({"a": 2, "y": 2}, {"a": 2, "b": 3, "y": 2}, {"a": 2, "y": 3}, {"a": 3, "b": 2, "y": 4})


@pytest.mark.parametrize("sizes", DOMAINS, ids=str)
def test_no_replaced_row_moves_a_gradient_by_more_than_is_declared(sizes):
    """Every row put in the place of every other; what stands beside them adds the same to both."""
    schema = domain(**sizes)
    regression = regression_of(schema, schema.names[:-1], "y")
    every = list(itertools.product(*(range(size) for size in sizes.values())))
    worst = 0.0
    for theta in starts((regression.width, regression.parts)):
        alone = [gradient(schema, [row], theta) for row in every]
        for one, other in itertools.product(alone, repeat=2):
            worst = max(worst, float(np.linalg.norm(one - other)))
    assert worst <= regression.sensitivity
    assert worst >= 0.9 * regression.sensitivity  # the first step, and y alone changes


@pytest.mark.parametrize("sizes", DOMAINS, ids=str)
def test_a_gradient_is_the_sum_of_its_rows_in_any_order_and_in_any_parts(sizes, monkeypatch):
    schema, rng = domain(**sizes), np.random.default_rng(2)
    rows = np.column_stack([rng.integers(0, size, 50) for size in sizes.values()])
    regression = regression_of(schema, schema.names[:-1], "y")
    for theta in starts((regression.width, regression.parts)):
        whole = gradient(schema, rows, theta)
        assert whole.dtype == np.int64
        assert (whole == sum(gradient(schema, [row], theta) for row in rows)).all()
        assert (whole == gradient(schema, rng.permutation(rows), theta)).all()
        with monkeypatch.context() as patch:
            patch.setattr(noisy_gradient, "_CHUNK", 7)
            assert (whole == gradient(schema, rows, theta)).all()


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_a_residual_is_never_longer_than_its_bound(parts):
    rng = np.random.default_rng(4)
    margins = np.concatenate(
        [
            np.rint(rng.normal(0.0, spread * GRID, (4_000, parts))).astype(np.int64)
            for spread in (0.0, 0.5, 3.0, 1e6)
        ]
    )
    labels = rng.integers(0, max(2, parts), len(margins))
    found = noisy_gradient._residuals(margins, labels)
    squared = (found**2).sum(axis=1)
    assert squared.max() <= noisy_gradient._squared_bound(parts)
    assert squared.max() > 0.99 * noisy_gradient._squared_bound(parts)  # it is reached


def test_the_first_gradient_is_that_of_logistic_regression():
    rows = [[0, 0, 1], [0, 1, 0], [1, 2, 1], [1, 2, 1]]
    found = gradient(domain(a=2, b=3, y=2), rows, np.zeros((6, 1), dtype=np.int64))[:, 0] / GRID
    assert found.tolist() == [0.0, -1.0, -0.5, 0.5, -1.0, -1.0]  # sums of 1/2 - y; y stands last


def test_without_noise_the_coefficients_are_those_of_clipped_residuals():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 5_000)
    y = (rng.random(5_000) < np.where(a == 1, 0.8, 0.4)).astype(int)
    table = EncodedTable(schema=domain(a=2, y=2), codes=np.column_stack([a, y]), public=True)
    regression = Regression(target="y", levels=2, cells={"a": np.arange(2)}, steps=200, rate=6.0)
    event = GaussianEvent(sigma=1.0, sensitivity=regression.sensitivity)
    low, high = coefficients(table, regression, event, Exact()).values["a"][:, 0]
    # Where residuals are clipped at a half a share q above 1/2 ends at 1 - (1 - q) / (2 q).
    expected = math.log(0.875 / 0.125) - math.log((1 / 3) / (2 / 3))
    assert high - low == pytest.approx(expected, abs=0.15)


# --- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [None, math.nan, 0.0, -1.0, math.inf])
def test_unusable_scales_are_refused(bad):
    with pytest.raises(PrivacyError):
        GaussianEvent(sigma=bad, sensitivity=1.0)
    with pytest.raises(PrivacyError):
        Regression(target="y", levels=2, cells={"a": np.arange(2)}, steps=2, rate=bad)


def test_nothing_is_read_before_all_is_checked():
    class Untouchable:
        public, people, contribution = False, 10, ONE_ROW

        def batches(self, names):
            raise AssertionError("rows were read")

        counts = batches

    regression = Regression(target="y", levels=2, cells={"a": np.arange(2)}, steps=2, rate=1.0)
    enough = regression.sensitivity
    for sensitivity in (enough / 2, math.nextafter(enough, 0.0)):
        event = GaussianEvent(sigma=5.0, sensitivity=sensitivity)
        with pytest.raises(PrivacyError, match="declared sensitivity"):
            coefficients(Untouchable(), regression, event, SecureNoise())
    event = GaussianEvent(sigma=5.0, sensitivity=enough)
    with pytest.raises(PrivacyError, match="Seeded noise"):
        coefficients(Untouchable(), regression, event, seeded())
    large = Untouchable()
    large.people = 2**42
    with pytest.raises(PrivacyError, match="too many rows"):
        coefficients(large, regression, event, SecureNoise())


def test_a_regression_needs_features_and_two_levels():
    for wrong in ({"levels": 1}, {"cells": {}}, {"cells": {"y": np.arange(2)}}):
        given = {"target": "y", "levels": 2, "cells": {"a": np.arange(2)}, **wrong}
        with pytest.raises(PrivacyError, match="needs features"):
            Regression(steps=1, rate=1.0, **given)


# --- the cells -------------------------------------------------------------------------------


def test_levels_of_a_long_scale_share_cells_with_their_neighbours_and_no_others():
    scale = Column(name="s", kind="ordinal", levels=tuple(range(20)), nullable=True)
    found = cells_of(scale)
    assert found.tolist() == sorted(found.tolist())
    assert found[-1] == GROUPS  # missing stands alone
    assert len(set(found[:-1].tolist())) == GROUPS
    for kept in (
        Column(name="c", kind="categorical", levels=tuple(range(20))),
        Column(name="o", kind="ordinal", levels=tuple(range(GROUPS))),
    ):
        assert cells_of(kept).tolist() == list(range(kept.size))


# --- the choice ------------------------------------------------------------------------------


def rows(*, public=True, n=4_000, levels=2) -> EncodedTable:
    """y follows b; c has many levels; a and d are noise."""
    rng = np.random.default_rng(11)
    b = rng.integers(0, 3, n)
    y = np.where(rng.random(n) < 0.9, b % levels, rng.integers(0, levels, n))
    codes = np.column_stack(
        [rng.integers(0, 2, n), b, y, rng.integers(0, 40, n), rng.integers(0, 2, n)]
    )
    schema = domain(a=2, b=3, y=levels, c=40, d=2)
    return EncodedTable(schema=schema, codes=codes, public=public)


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
    steps = []
    assert choose_features(table, plan_for(table), noise, lambda: steps.append(1)) == ("b",)
    assert len(steps) == STEPS == plan_for(table).selection.steps


@pytest.mark.statistical
def test_many_levels_do_not_win_by_their_noise():
    """Four columns say nothing: the one of 40 levels is not chosen more often than its share."""
    rng = np.random.default_rng(3)
    codes = np.column_stack([rng.integers(0, size, 500) for size in (2, 3, 2, 40, 2)])
    table = EncodedTable(schema=domain(a=2, b=3, y=2, c=40, d=2), codes=codes, public=True)
    plan = plan_for(table, epsilon=0.5)
    noise, wide = seeded(5), 0
    for _ in range(60):
        wide += choose_features(table, plan, noise) == ("c",)
    assert wide <= 40  # without the deduction it is all 60


@pytest.mark.parametrize("accountant", ["zcdp", "basic"])
def test_the_steps_take_their_pool_and_no_more(accountant):
    table = rows()
    plan = plan_for(table, epsilon=1.0, accountant=accountant)
    event, choice = plan.selection.event, plan.selection
    assert isinstance(event, GaussianEvent)
    assert plan.events[:STEPS] == (event,) * STEPS == choice.events
    assert event.sensitivity == choice.sensitivity == GRID * math.sqrt(5)
    assert plan.spent.epsilon <= 1.0
    assert plan.spent.epsilon == pytest.approx(1.0, rel=1e-6)
    assert plan.spent.delta <= plan.delta
    share = STEPS * (event.rho if accountant == "zcdp" else event.epsilon)
    assert share == pytest.approx(0.1 * plan.total)
    assert STEPS * event.delta == pytest.approx(0.0 if accountant == "zcdp" else plan.delta / 10)
    entry = plan.to_dict()["deferred"][0]
    assert (entry["rule"], entry["steps"], entry["sigma"]) == ("logistic", STEPS, event.sigma)


def test_what_the_noise_is_asked_is_what_the_plan_says():
    table, noise = rows(levels=3), Exact()
    plan = plan_for(table)
    choose_features(table, plan, noise)
    assert [sigma for _, sigma in noise.calls] == [plan.selection.event.sigma] * STEPS
    assert {counts.dtype for counts, _ in noise.calls} == {np.dtype(np.int64)}


def test_known_noise_is_refused_on_private_rows():
    private = rows(public=False)
    with pytest.raises(PrivacyError, match="Seeded noise"):
        choose_features(private, plan_for(private), seeded())


def test_a_charge_is_the_whole_amount(tmp_path):
    ledger = Ledger(tmp_path)
    private = rows(public=False)
    plan = plan_for(private, epsilon=1.0)
    ledger.register("ward", epsilon=2.0, delta=plan.delta)
    made = release(plan, private, ledger=ledger, asset="ward", rng=np.random.default_rng(0))
    (charge,) = ledger.charges()
    assert charge.rho == pytest.approx(epsilon_to_rho(1.0, plan.delta), rel=1e-9)
    assert ledger.balance("ward").spent_epsilon == pytest.approx(1.0, rel=1e-9)
    assert made.plan.events[:STEPS] == plan.events[:STEPS]
