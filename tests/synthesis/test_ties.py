"""Ties: near copies are tied, independent features are not; the first nothing ends the rounds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from prism_core.data.counts import marginal_counts
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.planning.brief import Brief
from prism_core.planning.choices import with_interaction
from prism_core.planning.design import design
from prism_core.planning.ties import cost_of_tie
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.privacy.scores import model_error
from prism_core.synthesis.measure import Measurement, measure
from prism_core.synthesis.pgm import fit_pgm
from prism_core.synthesis.release import release
from prism_core.synthesis.select import AdaptiveChooser
from prism_core.synthesis.select.adaptive import PairNoise, pair_noises, variance_told
from tests.support.noise import Best

pytestmark = pytest.mark.privacy

LEVELS = 8


def table(same: float, *, n: int = 6_000, seed: int = 0) -> EncodedTable:
    """Six features of eight levels; x1 and x2 equal x0 in a share of rows; Y leans on x0 and x3."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, LEVELS, (n, 6))
    for copy in (1, 2):
        codes[:, copy] = np.where(rng.random(n) < same, codes[:, 0], codes[:, copy])
    lean = (codes[:, 0] + 1.5 * codes[:, 3]) / LEVELS - 1.2
    y = rng.random(n) < 1.0 / (1.0 + np.exp(-4.0 * lean))
    columns = [Column(name=f"x{i}", kind="ordinal", levels=tuple(range(LEVELS))) for i in range(6)]
    schema = Schema(columns=(*columns, Column(name="y", kind="boolean")), one_row_per_person=True)
    whole = np.column_stack([codes, y]).astype(np.int32)
    return EncodedTable(schema=schema, codes=whole, public=True)


def plan_of(rows: EncodedTable, epsilon: float = 1.0):
    task = Task(target="y", regime="predictive")
    plan = design(Brief(rows.schema, task, Budget(epsilon=epsilon), rows.n))
    assert plan.three_way is not None
    assert plan.three_way.bar is not None
    return plan


def run(rows: EncodedTable, seed: int = 0):
    noise, rng = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    return release(plan_of(rows), rows, ledger=None, noise=SeededNoise(noise), rng=rng)


@pytest.mark.statistical
def test_near_copies_are_tied():
    made = run(table(0.95))
    tied = [set(q.clique) - {"y"} for q in made.plan.queries if q.kind == "adaptive"]
    assert len(tied) >= 2
    assert all(edge <= {"x0", "x1", "x2"} for edge in tied[:2])
    assert np.mean(made.codes[:, 0] == made.codes[:, 1]) > 0.5
    assert made.plan.spent.epsilon <= made.plan.budget.epsilon


@pytest.mark.statistical
def test_independent_features_are_not_tied_and_the_pairs_get_what_is_left():
    made = run(table(0.0))
    kinds = [q.kind for q in made.plan.queries]
    assert "adaptive" not in kinds
    assert kinds.count("again") >= 6
    assert [m.clique for m in made.measurements] == [q.clique for q in made.plan.queries]
    spent = math.fsum(event.rho for event in made.plan.events)
    assert spent == pytest.approx(made.plan.total, rel=1e-6)


def test_a_tie_is_scored_by_the_error_less_its_cost_and_nothing_by_the_bar():
    rows, noise = table(0.9, n=5_000), Best(99)
    plan = plan_of(rows)
    if plan.interactions is not None:
        plan = with_interaction(plan, None)
    measured = measure(rows, plan.queries, SeededNoise(np.random.default_rng(0)))
    model = fit_pgm(plan.sizes, "y", rows.n, measured)
    chooser = AdaptiveChooser(rows, plan, noise, measured)
    three, told = plan.three_way, pair_noises(measured, "y")
    assert chooser.pick(model) is not None
    scores, epsilon, sensitivity = noise.choices[0]
    wanted = [
        model_error(counts, model.marginal(clique))
        - cost_of_tie(counts.size, three.sigma, rows.n + variance_told(told, clique[:2]))
        for clique in three.candidates
        for counts in [marginal_counts(rows, clique)]
    ]
    assert scores == pytest.approx([*wanted, three.bar])
    assert sensitivity == three.sensitivity == 2.0
    assert 0.0 < epsilon <= three.event.epsilon


@pytest.mark.parametrize("found", [0, 1, 3])
def test_the_first_nothing_ends_the_ties(found):
    rows, noise = table(0.9, n=5_000), Best(stop_after=found)
    plan = plan_of(rows)
    chooser = AdaptiveChooser(rows, plan, noise)
    model = fit_pgm(plan.sizes, "y", rows.n, measure(rows, plan.queries, noise))
    while chooser.left:
        chooser.pick(model)
    assert len(chooser.picks) == found
    assert len(noise.choices) == found + 1
    assert [pick.parts for pick in chooser.picks] == [1] * found
    asked = math.fsum(epsilon**2 / 8.0 for _, epsilon, _ in noise.choices)
    assert asked <= (found + 1) / plan.three_way.rounds * plan.three_way.event.rho


@pytest.mark.statistical
def test_the_variance_of_what_pairs_tell_is_that_of_many_draws():
    """Two noisy pairs of independent features; the sum over classes of their products."""
    rng, sigma = np.random.default_rng(1), 4.0
    true = [rng.integers(150, 400, (4, 2)), rng.integers(150, 400, (5, 2))]
    whole = true[0].sum(axis=0)
    true[1] = np.rint(true[1] / true[1].sum(axis=0) * whole).astype(int)
    draws = []
    for _ in range(4_000):
        a, b = (one + rng.normal(0.0, sigma, one.shape) for one in true)
        draws.append(np.einsum("xy,zy->xz", a / whole, b))
    told = {
        name: PairNoise.of(Measurement(clique=(name, "y"), values=counts, sigma=sigma), "y")
        for name, counts in zip("ab", true, strict=True)
    }
    assert np.var(draws, axis=0).sum() == pytest.approx(variance_told(told, ("a", "b")), rel=0.05)
    assert variance_told(told, ("a", "c")) == 0.0
    turned = Measurement(clique=("y", "a"), values=true[0].T, sigma=sigma)
    assert PairNoise.of(turned, "y") == told["a"]
