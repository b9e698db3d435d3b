"""The accountant pld: what a plan becomes, what is refused, and what an asset is charged."""

from __future__ import annotations

import builtins
import math

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError, OverspentError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task
from prism_core.privacy.accountants import loss_distribution
from prism_core.privacy.accountants.accountant import accountant
from prism_core.privacy.accountants.conversions import counts_delta, epsilon_to_rho, rho_to_epsilon
from prism_core.privacy.accountants.loss_distribution import (
    LEAST_DELTA,
    common_factor,
    composed_epsilon,
)
from prism_core.privacy.events import ApproximateEvent, ExponentialEvent, GaussianEvent
from prism_core.privacy.ledger import Ledger
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release
from tests.support.noise import Exact

pytestmark = pytest.mark.privacy

N = 500
SIZES = {"a": 2, "b": 3, "y": 2, "c": 4}
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=tuple(range(size)))
        for name, size in SIZES.items()
    ),
    one_row_per_person=True,
)
DAG = Dag(nodes=SCHEMA.names, edges=(("a", "y"), ("b", "y"), ("y", "c")))
STAR = Synthesis(model="naive_bayes", rows=50)


def plan_for(task=None, *, synthesis=STAR, **budget):
    budget = {"epsilon": 1.0, "accountant": "pld"} | budget
    task = task or Task(target="y")
    return design(Brief(SCHEMA, task, Budget(**budget), N, dag=DAG, synthesis=synthesis))


@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_one_marginal_against_the_exact_sum_over_two_cells(sigma, epsilon):
    """`counts_delta` sums the law of two moved cells; the distribution has to agree with it."""
    delta = counts_delta(epsilon, sigma)
    if not 1e-10 < delta < 0.5:
        pytest.skip("outside what a plan would ask for")
    found = composed_epsilon([GaussianEvent(sigma=sigma)], delta)
    assert epsilon * (1 - 1e-6) <= found <= epsilon * (1 + 1e-2)


def test_a_pld_plan_has_less_noise_by_one_common_factor():
    tight, plain = plan_for(), plan_for(accountant="zcdp")
    ratios = [a.sigma / b.sigma for a, b in zip(tight.queries, plain.queries, strict=True)]
    assert max(ratios) == pytest.approx(min(ratios), rel=1e-12)
    assert 0.85 < ratios[0] < 0.95
    assert [q.share for q in tight.queries] == [q.share for q in plain.queries]
    assert [
        q.relative_error / p.relative_error
        for q, p in zip(tight.queries, plain.queries, strict=True)
    ] == pytest.approx(ratios)
    assert 1.0 - 5e-4 <= tight.spent.epsilon <= 1.0
    assert tight.total == tight.spent.rho > plain.total


@pytest.mark.parametrize(
    ("task", "synthesis"),
    [(Task(target="y", regime="predictive", k=2), STAR), (Task(target="y"), Synthesis())],
    ids=["features", "forest"],
)
def test_plans_that_choose_at_run_time_are_refused(task, synthesis):
    with pytest.raises(BudgetError, match="fixed beforehand") as caught:
        plan_for(task, synthesis=synthesis)
    assert caught.value.field == "accountant"


def test_a_graphical_model_without_a_forest_is_a_fixed_plan():
    schema = Schema(columns=SCHEMA.columns[:3], one_row_per_person=True)
    dag = Dag(nodes=("a", "b", "y"), edges=(("a", "y"), ("b", "y")))
    shares = Shares(selection=0.1, choice=0.05, task=0.85, background=0.0)
    plan = design(
        Brief(schema, Task(target="y"), Budget(accountant="pld", shares=shares), N, dag=dag)
    )
    assert plan.tree is None
    assert plan.spent.epsilon <= 1.0


def test_an_asset_is_charged_the_rho_of_the_events(tmp_path):
    """It lies above the rho that zCDP gives for the same epsilon, so lifetime 1 is too small."""
    plan = plan_for()
    table = EncodedTable(schema=SCHEMA, codes=np.zeros((N, 4), dtype=np.int32))
    ledger = Ledger(tmp_path)
    ledger.register("small", epsilon=1.0, delta=plan.delta)
    ledger.register("large", epsilon=1.3, delta=plan.delta)
    rng = np.random.default_rng(0)
    with pytest.raises(OverspentError):
        release(plan, table, ledger=ledger, asset="small", noise=Exact(), rng=rng)
    assert ledger.charges() == ()
    made = release(plan, table, ledger=ledger, asset="large", noise=Exact(), rng=rng)
    (charge,) = ledger.charges()
    by_hand = math.fsum(1.0 / measurement.sigma**2 for measurement in made.measurements)
    assert charge.rho == pytest.approx(by_hand, rel=1e-12)
    assert charge.rho > epsilon_to_rho(1.0, plan.delta)
    assert (charge.accountant, charge.epsilon) == ("pld", plan.spent.epsilon)
    assert ledger.balance("large").spent_epsilon == pytest.approx(
        rho_to_epsilon(by_hand, plan.delta)
    )


def test_choices_count_as_the_pure_pair():
    """One choice of epsilon e is exactly (e, 0); k of them less than k e at a delta."""
    one = composed_epsilon([ExponentialEvent(epsilon=0.4)], 1e-6)
    assert 0.4 - 1e-3 <= one <= 0.4 * 1.01
    many = composed_epsilon([ExponentialEvent(epsilon=0.01, count=400)], 1e-6)
    assert many < 400 * 0.01 / 2
    assert many >= rho_to_epsilon(400 * 0.01**2 / 8, 1e-6)  # less than the tight law allows


def test_what_it_cannot_account_is_refused():
    with pytest.raises(BudgetError, match="sensitivity √2"):
        composed_epsilon([GaussianEvent(sigma=2.0, sensitivity=1.0)], 1e-6)
    with pytest.raises(BudgetError, match="at least 1e-12"):
        composed_epsilon([GaussianEvent(sigma=2.0)], LEAST_DELTA / 2)
    hopeless = (ApproximateEvent(epsilon=0.1, delta=1e-5), GaussianEvent(sigma=9.0))
    with pytest.raises(BudgetError, match="No noise was found"):
        common_factor(hopeless, 1.0, 1e-6)
    for bad in (math.nan, 0.0, 1.0, None):
        with pytest.raises(BudgetError):
            composed_epsilon([GaussianEvent(sigma=2.0)], bad)
    assert composed_epsilon([], 1e-6) == 0.0


def test_small_deltas_are_met_despite_rounding():
    """At the least delta the distribution still agrees with the exact law."""
    event = GaussianEvent(sigma=10.0)
    epsilon = composed_epsilon([event], 1.01 * LEAST_DELTA)
    assert counts_delta(epsilon, 10.0) <= 1.01 * LEAST_DELTA
    assert counts_delta(epsilon * 0.99, 10.0) > 1.01 * LEAST_DELTA


def test_without_the_extra_the_refusal_says_what_to_install(monkeypatch):
    loss_distribution._epsilon.cache_clear()
    real = builtins.__import__

    def absent(name, *rest):
        if name.startswith("dp_accounting"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(BudgetError, match=r"prism-dashboard\[pld\]"):
        accountant("pld").spent([GaussianEvent(sigma=7.7)], 1e-6)
    assert accountant("zcdp").spent([GaussianEvent(sigma=7.7)], 1e-6).epsilon > 0.0
