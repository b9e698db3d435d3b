"""The engine on random small graphs against enumeration of the joint and an independent solver."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.errors import PlanError
from prism_core.planning.tree.junction_tree import junction_tree, maximal_cliques
from prism_core.synthesis.engine import kernels
from prism_core.synthesis.engine.fit import Structure, fit
from prism_core.synthesis.engine.flat_tree import flatten, overlap
from prism_core.synthesis.engine.variable_elimination import marginal_of
from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.pgm import fit_many, fit_pgm
from tests.support.exact import exact, indicator
from tests.support.workloads import SHAPES, graphs, measured, workload


class Flat:
    """A flattened graph with room for the kernels, and the same by brute force."""

    def __init__(self, sizes, sets):
        self.tree = junction_tree(maximal_cliques(sizes, sets))
        self.flat = flatten(sizes, self.tree, sets)
        self.matrix = np.vstack([indicator(sizes, clique) for clique in sets])
        cells, states = self.flat.layout.cells[-1], self.flat.layout.states[-1]
        self.given, self.belief, self.change = (np.zeros(cells) for _ in range(3))
        self.message, self.top, self.total = (np.zeros(states) for _ in range(3))

    def infer(self, potential):
        mean = np.zeros(len(potential))
        log_z = kernels.infer(
            self.flat.layout,
            potential,
            self.given,
            self.belief,
            self.message,
            self.top,
            self.total,
            mean,
        )
        return log_z, mean

    def joint(self, potential):
        log = potential @ self.matrix
        weight = np.exp(log - log.max())
        return weight / weight.sum(), float(log.max() + np.log(weight.sum()))


@given(graphs(), st.sampled_from([0.0, 1.0, 40.0, 900.0]))
def test_belief_propagation_is_exact(graph, spread):
    """Also where every factor underflows: potentials of hundreds."""
    sizes, sets, rng = graph
    flat = Flat(sizes, sets)
    potential = spread * rng.normal(size=len(flat.matrix))
    joint, expected = flat.joint(potential)
    log_z, mean = flat.infer(potential)
    assert log_z == pytest.approx(expected, rel=1e-12, abs=1e-9)
    np.testing.assert_allclose(mean, flat.matrix @ joint, atol=1e-9)
    at = flat.flat.layout.cells
    tables = [
        flat.belief[a:b].reshape(shape)
        for a, b, shape in zip(at, at[1:], flat.flat.shapes, strict=False)
    ]
    for size in range(1, len(sizes) + 1):
        for clique in itertools.permutations(sizes, size):
            found = marginal_of(flat.tree, tables, sizes, 1.0, clique)
            np.testing.assert_allclose(found.ravel(), indicator(sizes, clique) @ joint, atol=1e-9)


@given(graphs())
def test_derivative_and_least_cost(graph):
    sizes, sets, rng = graph
    flat = Flat(sizes, sets)
    potential, move = rng.normal(size=(2, len(flat.matrix)))
    joint, _ = flat.joint(potential)
    flat.infer(potential)
    found = np.zeros(len(move))
    kernels.differentiate(
        flat.flat.layout, move, flat.given, flat.belief, flat.change, flat.message, flat.top, found
    )
    mean = flat.matrix @ joint
    expected = flat.matrix @ (joint * (move @ flat.matrix)) - mean * (move @ mean)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    least = kernels.lowest(flat.flat.layout, move, flat.change, flat.message, flat.top)
    assert least == pytest.approx(float((move @ flat.matrix).min()), abs=1e-9)


@given(graphs())
def test_agreeing_tables_are_the_weighted_projection(graph):
    """Against least squares onto the marginals of signed joint tables that sum to 0."""
    sizes, sets, rng = graph
    weights = np.exp(rng.normal(0.0, 2.0, len(sets)))
    lay = overlap(sizes, sets, weights)
    room = int(lay.sizes.max(initial=1))
    matrix = np.vstack([indicator(sizes, clique) for clique in sets])
    scale = np.sqrt(np.repeat(weights, np.diff(lay.tables)))
    basis = scale[:, None] * (matrix - matrix.mean(axis=1, keepdims=True))
    values = rng.normal(size=len(matrix))
    expected = basis @ np.linalg.lstsq(basis, scale * values, rcond=1e-10)[0] / scale
    kernels.agree(lay, values, np.zeros(room), np.zeros(room))
    np.testing.assert_allclose(values, expected, atol=1e-8)


@given(graphs(), st.integers(50, 5_000))
def test_the_optimum_is_that_of_an_independent_solver(graph, n):
    sizes, sets, rng = graph
    measurements = measured(sizes, sets, rng, n)
    found = fit(sizes, n, measurements)
    expected, _ = exact(sizes, n, measurements)
    assert found.loss <= expected * (1 + 1e-5) + 1e-6
    assert found.loss - found.gap <= expected * (1 + 1e-9) + 1e-9  # the gap is a true bound
    for clique, table in zip(found.tree.cliques, found.tables, strict=True):
        assert table.shape == tuple(sizes[name] for name in clique)
        assert (table >= 0.0).all()
        assert table.sum() == pytest.approx(n, rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_random_workloads_reach_the_exact_optimum(shape):
    """Six of every shape here; `tests/benchmarks/same_optimum.py` compares 200, also with mbi."""
    for seed in range(6):
        sizes, n, measurements = workload(shape, seed)
        found = fit(sizes, n, measurements)
        loss, joint = exact(sizes, n, measurements)
        assert found.loss == pytest.approx(loss, rel=1e-6, abs=1e-9)
        for m in measurements:
            mine = marginal_of(found.tree, found.tables, sizes, n, m.clique).ravel() / n
            # Noise of more than 20 times n says nothing about the marginal at this precision.
            atol = 1e-4 if m.sigma < 20 * n else 2e-3
            np.testing.assert_allclose(mine, indicator(sizes, m.clique) @ joint, atol=atol)


@settings(max_examples=33)
@given(st.sampled_from(SHAPES), st.integers(0, 2**20))
def test_every_shape_ends_with_a_certificate(shape, seed):
    """The duality gap bounds what is missing, and a fit to a far smaller tolerance finds nothing
    more: no other engine's word is needed that this is the optimum."""
    sizes, n, measurements = workload(shape, seed)
    found = fit(sizes, n, measurements)
    closer = fit(sizes, n, measurements, tolerance=1e-10)
    assert closer.gap <= 0.05 * closer.loss + 1e-6
    assert found.loss - closer.loss <= 5e-6 * closer.loss + 1e-9
    assert found.steps < 400


@settings(max_examples=25)
@given(graphs(), st.integers(2, 9))
def test_what_must_not_matter_does_not(graph, factor):
    """Order of the measurements and of their axes; one unit for counts, n and sigma; one
    measurement or two of the same precision together."""
    sizes, sets, rng = graph
    measurements = measured(sizes, sets, rng, 500)
    found = fit(sizes, 500, measurements)
    turned = [
        Measurement(clique=m.clique[::-1], values=m.values.transpose(), sigma=m.sigma)
        for m in reversed(measurements)
    ]
    scaled = [
        Measurement(clique=m.clique, values=m.values * factor, sigma=m.sigma * factor)
        for m in measurements
    ]
    twice = [
        Measurement(clique=m.clique, values=m.values, sigma=m.sigma * math.sqrt(2))
        for m in measurements
        for _ in range(2)
    ]
    for other, n in ((turned, 500), (scaled, 500 * factor), (twice, 500)):
        again = fit(sizes, n, other)
        assert again.loss == pytest.approx(found.loss, rel=1e-5, abs=1e-6)
        for clique in sets:
            mine = marginal_of(found.tree, found.tables, sizes, 500, clique) / 500
            other_marginal = marginal_of(again.tree, again.tables, sizes, n, clique) / n
            np.testing.assert_allclose(mine, other_marginal, atol=2e-4)


def test_a_fit_is_deterministic_and_a_structure_serves_many():
    sizes, n, measurements = workload("cycle", 5)
    structure = Structure(sizes, [m.clique for m in measurements], [m.sigma for m in measurements])
    values = [m.values for m in measurements]
    first, second = structure.fit(n, values), structure.fit(n, values)
    third = fit(sizes, n, measurements)
    for other in (second, third):
        assert other.loss == first.loss
        for mine, theirs in zip(first.tables, other.tables, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("jobs", [1, 3])
def test_many_fits_are_the_single_ones(jobs):
    sizes, n, measurements = workload("nested", 7)
    rng = np.random.default_rng(0)
    draws = [
        [
            Measurement(
                clique=m.clique,
                sigma=m.sigma,
                values=m.values + rng.integers(-5, 6, m.values.shape),
            )
            for m in measurements
        ]
        for _ in range(5)
    ]
    target = list(sizes)[-1]
    for many, draw in zip(fit_many(sizes, target, n, draws, jobs=jobs), draws, strict=True):
        alone = fit_pgm(sizes, target, n, draw)
        assert many.loss == alone.loss
        for mine, theirs in zip(many.tables, alone.tables, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_many_fits_of_different_graphs_are_refused():
    sizes, n, measurements = workload("tree", 7)
    assert fit_many(sizes, "v0", n, []) == []
    with pytest.raises(PlanError, match="different cliques"):
        fit_many(sizes, "v0", n, [measurements, measurements[:-1]])
    for jobs in (0, -1):
        with pytest.raises(PlanError, match="jobs must be"):
            fit_many(sizes, "v0", n, [measurements], jobs=jobs)


def test_a_new_graph_compiles_nothing():
    """One signature for each kernel, whatever was fitted before in this process."""
    for shape in ("tree", "clique", "nested"):
        sizes, n, measurements = workload(shape, 3)
        fit(sizes, n, measurements)
    for kernel in (kernels.infer, kernels.lowest, kernels.agree, kernels.direction):
        assert len(kernel.signatures) == 1


@given(graphs(), st.integers(50, 5_000))
def test_a_fit_may_go_on_from_another(graph, n):
    """From its own end nothing is lost; from one marginal less the gap still holds; from NaN anew.

    Cells that an earlier fit brought to 0 may stay there, so the loss itself may be higher.
    """
    sizes, sets, rng = graph
    ms = measured(sizes, sets, rng, n)
    cold = fit(sizes, n, ms)
    same = fit(sizes, n, ms, start=cold.potentials)
    assert same.loss <= cold.loss * (1.0 + 1e-9) + 1e-9
    assert same.steps <= cold.steps + 5
    if len(ms) > 1:
        warm = fit(sizes, n, ms, start=fit(sizes, n, ms[:-1]).potentials)
        assert warm.loss - warm.gap <= cold.loss * (1.0 + 1e-9) + 1e-9
    lost = fit(sizes, n, ms, start={names: p * np.nan for names, p in cold.potentials.items()})
    assert lost.loss == cold.loss
