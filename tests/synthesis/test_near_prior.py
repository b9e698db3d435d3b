"""A fit that stays near a prior, against minimisation over the joint that knows no graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from prism_core.synthesis.engine.fit import FitPrior, fit
from prism_core.synthesis.engine.variable_elimination import marginal_of
from tests.support.exact import asked
from tests.support.workloads import graphs, measured, workload, workloads

GONE = 1e-15  # of a cell that a prior holds at less nothing is asked: it comes back step by step
WEIGHTS = st.sampled_from([0.3, 30.0, 3_000.0])


def joint_of(sizes, potentials):
    log = np.zeros(tuple(sizes.values()))
    for names, potential in potentials.items():
        shape = [size if name in names else 1 for name, size in sizes.items()]
        log = log + potential.reshape(shape)
    joint = np.exp(log - log.max()).ravel()
    return joint / joint.sum()


class Objective:
    """Loss + weight KL(P || P0) of a joint, and its least value by quasi-Newton in the logits."""

    def __init__(self, sizes, n, measurements, prior, weight):
        self.matrix = np.vstack([asked(sizes, m) * n / m.unit_sigma for m in measurements])
        self.wanted = np.concatenate([m.unit_values.ravel() / m.unit_sigma for m in measurements])
        self.prior, self.weight = np.maximum(prior, 1e-300), weight

    def __call__(self, joint):
        left = self.matrix @ joint - self.wanted
        known = joint > 0
        apart = float(joint[known] @ np.log(joint[known] / self.prior[known]))
        return 0.5 * float(left @ left) + self.weight * apart

    def least(self):
        def in_logits(u):
            weight = self.prior * np.exp(u - u.max())
            joint = weight / weight.sum()
            left = self.matrix @ joint - self.wanted
            ratio = u - u.max() - np.log(weight.sum())
            slope = self.matrix.T @ left + self.weight * ratio
            value = 0.5 * float(left @ left) + self.weight * float(joint @ ratio)
            return value, joint * (slope - joint @ slope)

        found = minimize(
            in_logits,
            np.zeros(len(self.prior)),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-10},
        )
        return float(found.fun)


def near(sizes, n, measurements, weight, start=None):
    """The fit to all of them near the fit to all but the last, and its objective."""
    known = fit(sizes, n, measurements[:-1], tolerance=1e-10).potentials
    prior = FitPrior(potentials=known, weight=weight)
    made = fit(sizes, n, measurements, prior=prior, tolerance=1e-9, start=start)
    joint = joint_of(sizes, made.potentials)
    return made, joint, Objective(sizes, n, measurements, joint_of(sizes, known), weight)


def moves(measurements):
    """Whether the last one counts something new of columns that the others know."""
    last, others = measurements[-1], measurements[:-1]
    names = {name for m in others for name in m.clique}
    return last.clique not in [m.clique for m in others] and names.intersection(last.clique)


def check(sizes, n, measurements, weight):
    made, joint, objective = near(sizes, n, measurements, weight)
    for clique in [m.clique for m in measurements]:  # the potentials are the model's
        drop = tuple(i for i, name in enumerate(sizes) if name not in clique)
        whole = joint.reshape(tuple(sizes.values()))
        mine = marginal_of(made.tree, made.tables, sizes, n, clique)
        np.testing.assert_allclose(whole.sum(axis=drop) * n, mine, atol=1e-6 * n)
    value, least = objective(joint), objective.least()
    scale = 1.0 + abs(least)
    assert value - made.gap <= least + 1e-6 * scale  # the gap is a true bound
    if objective.prior.min() > GONE:
        assert value <= least + 1e-5 * scale
        assert made.steps < 200


@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(graphs(), st.integers(50, 5_000), WEIGHTS)
def test_the_optimum_is_that_of_a_solver_over_the_joint(graph, n, weight):
    sizes, sets, rng = graph
    assume(len(sets) > 1)
    measurements = measured(sizes, sets, rng, n)
    assume(moves(measurements))
    check(sizes, n, measurements, weight)


@settings(
    max_examples=settings.default.max_examples // 8,  # each is solved twice, over the joint
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(workloads(), WEIGHTS)
def test_the_optimum_with_linear_queries(made, weight):
    sizes, n, measurements = made
    assume(len(measurements) > 1 and moves(measurements))
    check(sizes, n, measurements, weight)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["tree", "cycle", "clique", "nested"]), st.integers(0, 2**20), WEIGHTS)
def test_where_a_fit_begins_does_not_matter(shape, seed, weight):
    """Also where overlapping sets share a part of their potentials otherwise than the prior."""
    sizes, n, measurements = workload(shape, seed)
    assume(len(measurements) > 1 and moves(measurements))
    cold, _, objective = near(sizes, n, measurements, weight)
    assume(objective.prior.min() > GONE)
    plain = fit(sizes, n, measurements).potentials
    warm, _, _ = near(sizes, n, measurements, weight, start=plain)
    assert warm.steps < 200
    value = objective(joint_of(sizes, cold.potentials))
    again = objective(joint_of(sizes, warm.potentials))
    assert again == pytest.approx(value, rel=1e-5, abs=1e-5)


def test_much_weight_leaves_the_prior_and_little_the_plain_fit():
    sizes, n, measurements = workload("cycle", 5)
    base = fit(sizes, n, measurements[:-1])
    plain = fit(sizes, n, measurements)
    clique = measurements[-1].clique
    before = marginal_of(base.tree, base.tables, sizes, n, clique)
    after = marginal_of(plain.tree, plain.tables, sizes, n, clique)
    assert np.abs(before - after).sum() > 0.01 * n
    for weight, wanted in ((1e12, before), (1e-6, after)):
        made = near(sizes, n, measurements, weight)[0]
        found = marginal_of(made.tree, made.tables, sizes, n, clique)
        assert np.abs(found - wanted).sum() < 1e-3 * n


def test_a_prior_that_knows_everything_or_nothing_moves_nothing():
    sizes, n, measurements = workload("nested", 7)
    plain = fit(sizes, n, measurements)
    for known in (plain.potentials, {}):
        made = fit(sizes, n, measurements, prior=FitPrior(potentials=known, weight=50.0))
        assert made.loss == plain.loss
    with pytest.raises(ValueError, match="weight"):
        FitPrior(potentials={}, weight=0.0)


def test_the_unit_of_the_counts_changes_nothing():
    """Where every person weighs one, counts, noise and total come in units of 1 / M."""
    sizes, n, measurements = workload("cycle", 7)
    unit = 60
    larger = [replace(m, values=m.values * unit, sigma=m.sigma * unit) for m in measurements]
    for weight in (1.0, 100.0):
        made = near(sizes, n, measurements, weight)[0]
        scaled = near(sizes, n * unit, larger, weight)[0]
        for m in measurements:
            one = marginal_of(made.tree, made.tables, sizes, n, m.clique)
            other = marginal_of(scaled.tree, scaled.tables, sizes, n * unit, m.clique)
            assert other / unit == pytest.approx(one, rel=1e-3, abs=1e-2)
