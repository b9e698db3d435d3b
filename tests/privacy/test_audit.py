"""T-AUDIT: a membership game, judged by a lower bound on mu (Gaussian differential privacy)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.events import L2_SENSITIVITY
from prism_core.privacy.noise import SecureNoise, SeededNoise
from prism_core.synthesis.measure import measure
from tests.support.games import GAMES, mu_bound

pytestmark = [pytest.mark.privacy, pytest.mark.statistical]


SCHEMA = Schema(
    columns=(
        Column(name="a", kind="categorical", levels=(0, 1)),
        Column(name="y", kind="categorical", levels=(0, 1)),
    ),
    one_row_per_person=True,
)
# Worst case: all rows in one cell; the neighbour has one of them in another.
BEFORE = np.zeros((6, 2), dtype=np.int32)
AFTER = BEFORE.copy()
AFTER[0] = [1, 1]
PLAN = design(
    Brief(
        SCHEMA,
        Task(target="y", regime="predictive", k=1),
        Budget(epsilon=4.0, delta=1e-6),
        6,
        synthesis=Synthesis(model="naive_bayes"),
    )
)
(QUERY,) = PLAN.queries
DECLARED = L2_SENSITIVITY / QUERY.sigma


def statistic(tables: np.ndarray) -> np.ndarray:
    """Likelihood ratio of the two worlds: the cell that gained less the cell that lost.

    `tables` has shape (games, 2, 2). Between the worlds the middle is at -(6 - 1) + 0.
    """
    return tables[:, 1, 1] - tables[:, 0, 0] + 5


def play(noise, codes: np.ndarray, *, smaller: float = 1.0) -> np.ndarray:
    """Noisy tables of GAMES runs through `measure`, the release path."""
    query = replace(QUERY, event=replace(QUERY.event, sigma=QUERY.sigma * smaller))
    table = EncodedTable(schema=SCHEMA, codes=codes, public=True)
    return np.stack([measure(table, (query,), noise)[0].values for _ in range(GAMES)])


@pytest.fixture(scope="module")
def rng() -> np.random.Generator:
    return np.random.default_rng(77)


def test_the_plan_declares_what_the_game_assumes():
    assert QUERY.clique == ("a", "y")
    assert PLAN.spent.epsilon <= 4.0
    assert QUERY.event.rho == pytest.approx(DECLARED**2 / 2)


def test_the_mechanism_is_not_flagged(rng):
    noise = SeededNoise(rng)
    bound = mu_bound(statistic(play(noise, BEFORE)), statistic(play(noise, AFTER)))
    assert bound <= DECLARED
    assert bound > 0.5 * DECLARED  # the game has power


def test_the_secure_mechanism_is_not_flagged():
    """The same game; the noise of all games is drawn in one call to save time."""
    noise = SecureNoise()

    def draw(codes: np.ndarray) -> np.ndarray:
        counts = np.zeros((GAMES, 2, 1), dtype=np.int64)
        counts[:, 0] = int((codes[:, 0] == 0).sum())
        counts[:, 1] = int((codes[:, 0] == 1).sum())
        noisy = noise.add_discrete_gaussian(counts, QUERY.sigma)
        return noisy[:, 1, 0] - noisy[:, 0, 0] + 5

    bound = mu_bound(draw(BEFORE), draw(AFTER))
    assert 0.5 * DECLARED < bound <= DECLARED


def test_noise_for_sensitivity_one_is_flagged(rng):
    """Planted bug: calibrated for one changed cell instead of two."""
    noise = SeededNoise(rng)
    smaller = 1 / math.sqrt(2)
    bound = mu_bound(
        statistic(play(noise, BEFORE, smaller=smaller)),
        statistic(play(noise, AFTER, smaller=smaller)),
    )
    assert bound > DECLARED
