"""T-NOISE: the declared sigma is accepted, one off by 30% is rejected."""

from __future__ import annotations

import math

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.linear_queries import linear_query
from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.schema import Schema
from prism_core.privacy.mechanisms import noisy_query
from prism_core.privacy.noise import SecureNoise, SeededNoise
from tests.support.laws import ACCEPT, REJECT, gaussian_p_value

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


@pytest.mark.parametrize("family", ["moments", "thresholds 3", "value"])
def test_the_noise_of_a_linear_query_has_the_declared_scale(family):
    """The whole way: rows, counts, Q, noise; 100,000 samples around the exact answer."""
    levels = 10_000  # as many answers at once
    schema = Schema(
        columns=(
            Column(
                name="x", kind="numeric", lower=0.0, upper=1.0, edges=equal_edges(0.0, 1.0, 8, None)
            ),
            Column(name="y", kind="ordinal", levels=tuple(range(levels))),
        )
    )
    codes = np.random.default_rng(0).integers(0, (8, levels), (500, 2))
    table = EncodedTable(schema=schema, codes=codes, public=True)
    query = linear_query(schema, ("x", "y"), (family, "levels"))
    exact = query.of(table.counts([query.clique])[0])
    sigma = 0.004 * query.sensitivity if query.grid > 1 else 3.3
    noise = SeededNoise(np.random.default_rng(21))
    draws = [
        (noisy_query(table, query, sigma, query.sensitivity, noise) - exact).ravel()
        for _ in range(math.ceil(100_000 / exact.size))
    ]
    found = np.concatenate(draws)
    assert gaussian_p_value(found, sigma) > ACCEPT
    assert gaussian_p_value(found, sigma * 1.3, REJECT) < ACCEPT
    assert gaussian_p_value(found, sigma / 1.3, REJECT) < ACCEPT
