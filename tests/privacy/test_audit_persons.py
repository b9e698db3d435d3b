"""T-AUDIT of people with five rows: a membership game on the worst pair of neighbouring persons."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.noise import SeededNoise
from prism_core.privacy.noisy_gradient import GRID, Regression, coefficients
from prism_core.synthesis.measure import measure
from tests.support.games import GAMES, mu_bound
from tests.support.noise import Exact, Tape
from tests.support.people import schema_of, table_of

pytestmark = [pytest.mark.privacy, pytest.mark.statistical]

M, PERSONS = 5, 6
MANY = 100 * GAMES
HERE, THERE = ((0, 0),) * M, ((1, 1),) * M
"""The worst case of the proof: all of her rows leave one cell and enter another."""


def plan_of(weighting):
    schema = schema_of((2, 2), M, weighting, PERSONS)
    task = Task(target="y", regime="predictive", k=1)
    budget, how = Budget(epsilon=4.0, delta=1e-6), Synthesis(model="naive_bayes")
    return design(Brief(schema, task, budget, PERSONS, synthesis=how))


def played(weighting, smaller, games, seed):
    """The bound on mu from games on the marginal of (a, y), and what the plan claims.

    What is handed to the noise, and with which scale, is that of the release path; the noise of
    all games is drawn in one call to save time. An attacker knows all persons but one, so the
    middle between the two worlds, too.
    """
    plan, noise = plan_of(weighting), SeededNoise(np.random.default_rng(seed))
    (query,) = plan.queries
    query = replace(query, event=replace(query.event, sigma=smaller * query.sigma))
    worlds = []
    for mine in (HERE, THERE):
        table = table_of(plan.schema, [mine, *[HERE] * (PERSONS - 1)])
        path = Exact()
        measure(table, (query,), path)
        ((counts, sigma),) = path.calls
        drawn = noise.add_discrete_gaussian(np.repeat(counts[None], games, axis=0), sigma)
        middle = (PERSONS - 1) * plan.contribution.most
        worlds.append(drawn[:, 1, 1] - drawn[:, 0, 0] + middle)
    return mu_bound(*worlds), math.sqrt(2.0 * plan.queries[0].event.rho)


def test_five_rows_of_a_person_stay_below_the_claim():
    bound, claimed = played("rows", 1.0, GAMES, 5)
    assert 0.5 * claimed < bound <= claimed


def test_a_person_of_five_rows_who_weighs_one_stays_below_the_claim():
    bound, claimed = played("persons", 1.0, GAMES, 6)
    assert 0.5 * claimed < bound <= claimed


def test_noise_for_the_root_of_five_rows_is_flagged():
    """Planted bug: sqrt(m) for m, as if a person's rows were all different."""
    bound, claimed = played("rows", 1.0 / math.sqrt(M), GAMES, 7)
    assert bound > claimed


@pytest.mark.long
@pytest.mark.parametrize("weighting", ["rows", "persons"])
def test_many_games_come_close_to_the_claim_and_not_above(weighting):
    bound, claimed = played(weighting, 1.0, MANY, 8)
    assert 0.9 * claimed < bound <= claimed
    assert played(weighting, 1.0 / math.sqrt(M), GAMES, 9)[0] > claimed


MU, LEARNERS, STEPS = 1.5, 3, 2_000
SCHEMA = schema_of((2, 2), M, persons=LEARNERS)
REGRESSION = Regression(
    target="y",
    levels=2,
    cells={"a": np.arange(2)},
    steps=STEPS,
    rate=1e-9,  # too short to leave 0: each step is the same game, played once more
)


def gradients(y, seed, smaller):
    """What a gradient shows of somebody with five equal rows, of whom y alone is unknown."""
    table = table_of(SCHEMA, [((0, y),) * M, *[((0, 0),) * M] * (LEARNERS - 1)])
    sensitivity = REGRESSION.moved(table.contribution)
    event = GaussianEvent(sigma=smaller * sensitivity / MU, sensitivity=sensitivity)
    tape = Tape(seed=seed)
    coefficients(table, REGRESSION, event, tape)
    seen = np.array(tape.outputs)[:, [0, 2], 0]  # the cell of all rows, and the intercept
    return -(seen - (LEARNERS - 1) * M * GRID / 2).sum(axis=1)


@pytest.mark.parametrize(("smaller", "flagged"), [(1.0, False), (1.0 / math.sqrt(M), True)])
def test_a_gradient_of_five_rows_is_flagged_with_too_little_noise_only(smaller, flagged):
    bound = mu_bound(gradients(0, 11, smaller), gradients(1, 12, smaller))
    assert (bound > MU) == flagged
    assert bound > 0.5 * MU
