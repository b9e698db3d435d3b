"""T-AUDIT of noisy gradient descent: a membership game through the mechanism itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.noisy_gradient import GRID, Regression, coefficients
from tests.support.games import GAMES, mu_bound
from tests.support.noise import Tape

pytestmark = [pytest.mark.privacy, pytest.mark.statistical]

FEATURES, DECLARED, N = 1, 1.5, 3
SCHEMA = Schema(
    columns=tuple(
        Column(name=name, kind="categorical", levels=(0, 1))
        for name in (*(f"x{place}" for place in range(FEATURES)), "y")
    ),
    one_row_per_person=True,
)
REGRESSION = Regression(
    target="y",
    levels=2,
    cells={name: np.arange(2) for name in SCHEMA.names[:-1]},
    steps=GAMES,
    rate=1e-9,  # too short to leave 0: each step is the same game, played once more
)


def play(y: int, seed: int, smaller: float = 1.0) -> np.ndarray:
    """What an attacker makes of a gradient who knows all rows but the y of one.

    The worst case of the proof: both rows lie in the same cells, and y turns every sign.
    """
    codes = np.zeros((N, FEATURES + 1), dtype=np.int32)
    codes[0, -1] = y
    table = EncodedTable(schema=SCHEMA, codes=codes, public=True)
    sensitivity = REGRESSION.sensitivity
    event = GaussianEvent(sigma=smaller * sensitivity / DECLARED, sensitivity=sensitivity)
    tape = Tape(seed=seed)
    coefficients(table, REGRESSION, event, tape)
    seen = np.array(tape.outputs)[:, [0, 2], 0]  # the cell of all rows, and the intercept
    known = (N - 1) * GRID / 2
    return -(seen - known).sum(axis=1)


@pytest.mark.parametrize(("smaller", "flagged"), [(1.0, False), (0.5, True)])
def test_only_too_little_noise_is_flagged(smaller, flagged):
    """Planted bug: the noise for a row that only leaves, where one leaves and one comes."""
    bound = mu_bound(play(0, 6, smaller), play(1, 7, smaller))
    assert (bound > DECLARED) == flagged
    assert bound > 0.5 * DECLARED  # the game has power
    assert math.isclose(REGRESSION.sensitivity, GRID * math.sqrt(FEATURES + 1))
