"""T-NOISE: the declared sigma is accepted, one off by 30% is rejected."""

from __future__ import annotations

import numpy as np
import pytest

from prism_core.privacy.noise import SecureNoise, SeededNoise
from statistical.laws import ACCEPT, REJECT, gaussian_p_value

pytestmark = [pytest.mark.privacy, pytest.mark.statistical]

SIGMAS = (0.4, 1.0, 3.3, 50.0)
SAMPLES = {"seeded": 100_000, "secure": 10_000}


def source(name: str):
    return SecureNoise() if name == "secure" else SeededNoise(np.random.default_rng(20))


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_noise_has_the_declared_scale(name, sigma):
    counts = np.full(SAMPLES[name], 1_000, dtype=np.int64)
    noise = source(name).add_discrete_gaussian(counts, sigma) - counts
    assert gaussian_p_value(noise, sigma) > ACCEPT
    assert gaussian_p_value(noise, sigma * 1.3, REJECT) < ACCEPT
    assert gaussian_p_value(noise, sigma / 1.3, REJECT) < ACCEPT


@pytest.mark.parametrize("name", SAMPLES)
def test_noise_of_different_cells_is_uncorrelated(name):
    """abs(r) < 7 / sqrt(rows): false alarm below 3e-12 for each of ten pairs."""
    rows = SAMPLES[name] // 6
    noise = source(name).add_discrete_gaussian(np.zeros((rows, 4), dtype=np.int64), 3.3)
    between = np.corrcoef(noise, rowvar=False)[np.triu_indices(4, 1)]
    flat = noise.ravel()
    following = [np.corrcoef(flat[:-lag], flat[lag:])[0, 1] for lag in (1, 2, 3, 4)]
    assert np.abs([*between, *following]).max() < 7 / np.sqrt(rows)


def test_two_default_runs_differ():
    """No fixed or shared seed: 40 equal cells at sigma 50 have probability below 1e-80."""
    zeros = np.zeros(40, dtype=np.int64)
    runs = {tuple(SecureNoise().add_discrete_gaussian(zeros, 50.0)) for _ in range(4)}
    assert len(runs) == 4
    source = SecureNoise()
    first, second = (source.add_discrete_gaussian(zeros, 50.0) for _ in range(2))
    assert (first != second).any()


def test_the_noise_does_not_depend_on_the_counts():
    """Same law around 0 and around a large count."""
    seeded = SeededNoise(np.random.default_rng(5))
    for level in (0, 10**9):
        counts = np.full(50_000, level, dtype=np.int64)
        assert gaussian_p_value(seeded.add_discrete_gaussian(counts, 3.3) - counts, 3.3) > ACCEPT
