"""T-AUDIT of objective perturbation: two membership games played through the release path.

One call plays many games. The rows of a game have coordinates of their own, so the objective is a
sum over games, the noise of each coordinate is drawn by itself, and the minimum of the whole is the
minimum of every game.

- **Noise.** A row x with y = 1 is replaced by x' with y' = 0, and common rows push both scores to
  where the gradients are near -x and x': they differ by nearly 2, the most the proof allows. The
  gradient of what both worlds share, taken at the released coefficients, is the noise along one
  axis, moved to the one side or to the other. Its shift is below 2, whatever the noise was, so no
  test does better than mu = 2 / sigma between two normal laws.
- **Regularisation.** A row x is replaced by a row of zeros. Where the coefficient is small, the
  proof bounds the ratio of the two densities by 1 + 1 / (4 ridge) and a small share of the noise.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_matrix
from scipy.special import expit
from threadpoolctl import threadpool_limits

from prism_core.privacy.noise import SeededNoise
from prism_core.privacy.objective_perturbation import Calibration, calibrate, private_coefficients

pytestmark = [pytest.mark.privacy, pytest.mark.statistical]

MISS = 5e-11
"""Each Clopper-Pearson bound fails with this probability: a false alarm below 1e-9 per suite."""


@pytest.fixture(autouse=True)
def _one_thread():
    """Thousands of small systems are solved; threads would only wait for each other."""
    with threadpool_limits(1):
        yield


def upper(hits: int, games: int) -> float:
    return float(stats.beta.ppf(1 - MISS, hits + 1, games - hits))


def lower(hits: int, games: int) -> float:
    return float(stats.beta.ppf(MISS, hits, games - hits + 1)) if hits else 0.0


# --- the noise -------------------------------------------------------------------------------

EPSILON, DELTA = 8.0, 1e-3
TOGETHER, CALLS = 100, 60
COMMON = 100
"""Rows of every game that are the same in both worlds: x = (0, 1) with y = 0."""
TILT = 0.45
X, X_ = np.array([math.sqrt(1 - TILT**2), TILT]), np.array([math.sqrt(1 - TILT**2), -TILT])


def declared_mu(epsilon: float, delta: float) -> float:
    """2 / sigma as the proof demands it, not as `calibrate` says: a c + c^2 / 2 = .7 epsilon."""
    a = math.sqrt(2 * math.log(2 / delta))
    return math.sqrt(a * a + 2 * 0.7 * epsilon) - a


def blocks(row: np.ndarray, label: float) -> tuple[csr_matrix, np.ndarray]:
    """The rows and labels of TOGETHER games: the common rows of each, and one row of its own."""
    own = np.kron(np.eye(TOGETHER), row)
    common = np.kron(np.eye(TOGETHER), np.array([0.0, 1.0]))
    rows = csr_matrix(np.vstack([own, np.repeat(common, COMMON, axis=0)]))
    labels = np.zeros(rows.shape[0])
    labels[:TOGETHER] = label
    return rows, labels


def play(row: np.ndarray, label: float, used: Calibration, rng: np.random.Generator) -> np.ndarray:
    """The noise along the first axis as an attacker sees it who knows all but one row."""
    rows, labels = blocks(row, label)
    known = calibrate(EPSILON, DELTA).ridge  # public
    seen = []
    for _ in range(CALLS):
        theta = private_coefficients(rows, labels, used, SeededNoise(rng))
        seen.append(-known * theta.reshape(TOGETHER, 2)[:, 0])  # common rows say nothing here
    return np.concatenate(seen)


def mu_bound(one: np.ndarray, other: np.ndarray) -> float:
    """A lower bound on mu from the test at 0, in the middle by symmetry."""
    false_positives, false_negatives = int((one > 0).sum()), int((other <= 0).sum())
    return float(
        stats.norm.ppf(1 - upper(false_positives, one.size))
        - stats.norm.ppf(upper(false_negatives, other.size))
    )


def noise_game(used: Calibration) -> float:
    rng = np.random.default_rng(12)
    return mu_bound(play(X, 1.0, used, rng), play(X_, 0.0, used, rng))


def test_the_rows_of_the_game_are_near_the_worst():
    """Without that the audit could not tell half the noise from all of it."""
    found = calibrate(EPSILON, DELTA)
    theta = np.array([0.0, -5.0])  # about where the common rows put it
    one, other = (expit(theta @ X) - 1.0) * X, expit(theta @ X_) * X_
    assert np.linalg.norm(one - other) > 1.5
    assert found.sigma == pytest.approx(2 / declared_mu(EPSILON, DELTA), rel=1e-6)


def test_the_noise_is_not_flagged():
    bound = noise_game(calibrate(EPSILON, DELTA))
    declared = declared_mu(EPSILON, DELTA)
    assert bound <= declared
    assert bound > 0.5 * declared  # the game has power


def test_too_little_noise_is_flagged():
    """Planted bug: the noise for a gradient that moves by 1, not by 2."""
    right = calibrate(EPSILON, DELTA)
    bound = noise_game(replace(right, sigma=right.sigma / 2))
    assert bound > declared_mu(EPSILON, DELTA)


# --- the regularisation ----------------------------------------------------------------------

MILD, RATE = 2.0, 1e-3
SIZE, ROUNDS = 200, 100
NEAR = 1.0


def declared_loss() -> float:
    """What the proof allows for where the coefficient is at most NEAR in size.

    There the noise is at most 1 + ridge NEAR in size, and it moves by less than 1.
    """
    ridge = 0.25 / math.expm1(0.25 * MILD)
    sigma = 2 / declared_mu(MILD, RATE)
    return math.log1p(0.25 / ridge) + (2 * (1 + ridge * NEAR) + 1) / (2 * sigma**2)


def loss_bound(used: Calibration) -> float:
    """A lower bound on the log ratio of how often the coefficient is near zero."""
    rng = np.random.default_rng(5)
    hits = []
    for row in (csr_matrix(np.eye(SIZE)), csr_matrix((SIZE, SIZE))):
        near = 0
        for _ in range(ROUNDS):
            theta = private_coefficients(row, np.zeros(SIZE), used, SeededNoise(rng))
            near += int((np.abs(theta) <= NEAR).sum())
        hits.append(near)
    games = SIZE * ROUNDS
    return math.log(max(lower(hits[0], games), 1e-300) / upper(hits[1], games))


def test_the_regularisation_is_not_flagged():
    assert loss_bound(calibrate(MILD, RATE)) <= declared_loss()


@pytest.mark.parametrize("ridge", [1e-3, 0.02])
def test_too_little_regularisation_is_flagged(ridge):
    """Planted bug: the squared norm is left out, or counts a twentieth."""
    assert loss_bound(replace(calibrate(MILD, RATE), ridge=ridge)) > declared_loss()
