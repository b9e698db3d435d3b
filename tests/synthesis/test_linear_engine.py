"""Linear queries in the fit: against an exact solver that knows nothing of graphs, and mbi."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from prism_core.data.linear_queries import Basis, LinearQuery
from prism_core.planning.tree.junction_tree import junction_tree, maximal_cliques
from prism_core.synthesis.engine import kernels
from prism_core.synthesis.engine.answer_map import AnswerMap
from prism_core.synthesis.engine.fit import fit
from prism_core.synthesis.engine.flat_tree import flatten
from prism_core.synthesis.engine.variable_elimination import marginal_of
from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.pgm import fit_pgm
from tests.support.exact import exact
from tests.support.workloads import observed, workloads


@settings(max_examples=60)
@given(workloads())
def test_the_optimum_is_that_of_an_exact_solver(made):
    sizes, n, measurements = made
    found = fit(sizes, n, measurements)
    loss, _ = exact(sizes, n, measurements)
    assert found.loss <= loss * (1.0 + 1e-5) + 1e-6
    assert found.loss - found.gap <= loss * (1.0 + 1e-9) + 1e-9  # the gap is a true bound
    assert found.steps < 400
    for table in found.tables:
        assert (table >= 0.0).all()
        assert table.sum() == pytest.approx(n, rel=1e-9)


@settings(max_examples=25)
@given(workloads())
def test_the_model_lies_in_the_family_of_what_was_measured(made):
    """The potentials handed out give the model's tables again, and are sums of Q' times rows."""
    sizes, n, measurements = made
    found = fit(sizes, n, measurements)
    log = np.zeros(tuple(sizes.values()))
    for names, potential in found.potentials.items():
        shape = [size if name in names else 1 for name, size in sizes.items()]
        log = log + potential.reshape(shape)
    joint = np.exp(log - log.max())
    joint *= n / joint.sum()
    for clique in {m.clique for m in measurements}:
        drop = tuple(i for i, name in enumerate(sizes) if name not in clique)
        mine = marginal_of(found.tree, found.tables, sizes, n, clique)
        np.testing.assert_allclose(joint.sum(axis=drop), mine, atol=1e-6 * n)
    for clique in found.potentials:
        own = [m for m in measurements if m.clique == clique]
        if any(m.query is None for m in own):
            continue
        rows = np.vstack([m.query.matrix for m in own]) / 1024.0
        flat = found.potentials[clique].ravel()
        left = flat - rows.T @ np.linalg.lstsq(rows.T, flat, rcond=None)[0]
        assert np.abs(left).max() <= 1e-6 * (1.0 + np.abs(flat).max())


@settings(max_examples=25)
@given(workloads())
def test_a_fit_goes_on_from_another(made):
    sizes, n, measurements = made
    cold = fit(sizes, n, measurements)
    same = fit(sizes, n, measurements, start=cold.potentials)
    assert same.loss <= cold.loss * (1.0 + 1e-6) + 1e-6
    fewer = fit(sizes, n, measurements[:-1]).potentials if len(measurements) > 1 else {}
    warm = fit(sizes, n, measurements, start=fewer)
    assert warm.loss - warm.gap <= cold.loss * (1.0 + 1e-9) + 1e-9


def test_a_fit_that_is_led_astray_begins_anew():
    # Linear queries of large noise take a start over in part only: from it no step leads on.
    sizes = {"v0": 5, "v1": 3, "v2": 6}
    value, late = Basis(kind="value", size=5), Basis(kind="value", size=6, valueless=1)
    moments = Basis(kind="moments", size=3)
    steps = Basis(kind="thresholds", size=5, valueless=1, starts=(0, 2))
    asked = [
        (("v0",), (value,), [42_246], 39_498.0),
        (("v0", "v2"), (value, late), [[-24_189_758]], 17_560_015.5),
        (("v0", "v1"), (value, moments), [[51_872_028, -17_113_992, 11_607_527]], 17_839_932.0),
        (("v0",), (steps,), [-13, -63, -26], 38.594727),
    ]
    told = [
        Measurement(
            clique=clique,
            values=np.array(values),
            sigma=sigma,
            query=LinearQuery(clique=clique, bases=bases),
        )
        for clique, bases, values, sigma in asked
    ]
    table = [[7, -5, 26, 4, -11, 10], [7, 17, 19, 11, 4, 0], [-5, -3, -9, 10, 14, -3]]
    told.append(Measurement(clique=("v1", "v2"), values=np.array(table), sigma=6.841314))
    cold = fit(sizes, 100, told)
    warm = fit(sizes, 100, told, start=cold.potentials)
    assert warm.loss == pytest.approx(cold.loss, rel=1e-6)
    assert warm.steps > cold.steps  # it did go the wrong way first


def test_the_map_of_rows_and_its_adjoint():
    rng = np.random.default_rng(3)
    sizes = {"a": 5, "b": 4, "y": 3}
    query = LinearQuery(
        clique=("a", "y"),
        bases=(Basis(kind="moments", size=5, valueless=1), Basis(kind="levels", size=3)),
    )
    product = LinearQuery(
        clique=("a", "b"), bases=(Basis(kind="value", size=5), Basis(kind="value", size=4))
    )
    rows = AnswerMap(12, 12 + 15 + 20, [(12, query), (27, product)])
    assert rows.size == 12 + 12 + 1
    cells, potential = rng.normal(size=rows.cells), rng.normal(size=rows.size)
    assert rows.to_rows(cells) @ potential == pytest.approx(cells @ rows.to_cells(potential))
    again = rows.to_rows(
        rows.to_cells(rows.start([rows.to_cells(potential)[12:27], rows.to_cells(potential)[27:]]))
    )[12:]
    potential[:12] = 0.0
    np.testing.assert_allclose(again, rows.to_rows(rows.to_cells(potential))[12:], atol=1e-9)
    del sizes


def test_the_gradient_of_the_loss_is_q_transposed_times_the_weighted_residual():
    """Finite differences of the loss in the rows' potentials, through belief propagation."""
    rng = np.random.default_rng(4)
    sizes = {"a": 6, "b": 3, "y": 2}
    sets = [("b", "y"), ("a", "y")]
    flat = flatten(sizes, junction_tree(maximal_cliques(sizes, sets)), sets)
    query = LinearQuery(
        clique=("a", "y"), bases=(Basis(kind="moments", size=6), Basis(kind="levels", size=2))
    )
    rows = AnswerMap(6, 18, [(6, query)])
    wanted, precision = rng.uniform(0.0, 0.3, rows.size), rng.uniform(1.0, 9.0, rows.size)
    cells, states = int(flat.layout.cells[-1]), int(flat.layout.states[-1])

    def room(size):
        return np.zeros(size)

    def mean(potential):
        found, given, belief = room(18), room(cells), room(cells)
        kernels.infer(
            flat.layout,
            rows.to_cells(potential),
            given,
            belief,
            room(states),
            room(states),
            room(states),
            found,
        )
        return found, given, belief

    def loss(potential):
        return 0.5 * float(precision @ (rows.to_rows(mean(potential)[0]) - wanted) ** 2)

    at = rng.normal(size=rows.size)
    now, given, belief = mean(at)
    residual = precision * (rows.to_rows(now) - wanted)
    gradient = room(18)
    kernels.differentiate(
        flat.layout,
        rows.to_cells(residual),
        given,
        belief,
        room(cells),
        room(states),
        room(states),
        gradient,
    )
    step = 1e-6
    for i in range(rows.size):
        move = np.zeros(rows.size)
        move[i] = step
        slope = (loss(at + move) - loss(at - move)) / (2.0 * step)
        assert rows.to_rows(gradient)[i] == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_both_engines_reach_the_same_optimum():
    """A star with moments, thresholds, counts and a product; mbi compiles for some seconds."""
    rng = np.random.default_rng(6)
    sizes = {"a": 12, "b": 10, "c": 3, "y": 2}
    joint = rng.dirichlet(np.full(720, 0.5))
    y = Basis(kind="levels", size=2)
    queries = [
        LinearQuery(clique=("a", "y"), bases=(Basis(kind="moments", size=12), y)),
        LinearQuery(
            clique=("b", "y"), bases=(Basis(kind="thresholds", size=10, starts=(0, 3, 6)), y)
        ),
        LinearQuery(
            clique=("a", "b"), bases=(Basis(kind="value", size=12), Basis(kind="value", size=10))
        ),
    ]
    measurements = [
        observed(clique, query, joint, sizes, 2_000, rng)
        for clique, query in [
            *((query.clique, query) for query in queries),
            (("c", "y"), None),
            (("a",), None),
        ]
    ]
    mine = fit_pgm(sizes, "y", 2_000, measurements, engine="fast")
    theirs = fit_pgm(sizes, "y", 2_000, measurements, engine="mbi", iterations=4_000)
    loss, _ = exact(sizes, 2_000, measurements)
    assert mine.loss == pytest.approx(loss, rel=1e-6)
    assert theirs.loss == pytest.approx(loss, rel=1e-3)
    for pair in itertools.combinations(sizes, 2):
        apart = np.abs(mine.marginal(pair) - theirs.marginal(pair)).max() / 2_000
        assert apart < 2e-3, pair
