"""The projection onto distributions, against the conditions that define it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from prism_core.synthesis.projection import to_simplex

counts = arrays(np.int64, st.integers(1, 12), elements=st.integers(-50, 200))


@given(counts)
def test_it_is_the_nearest_distribution(values):
    """Optimality: p = max(v - t, 0) for one threshold t, and p sums to 1."""
    p = to_simplex(values)
    target = values / max(values.sum(), 1.0)
    assert p.min() >= 0.0
    assert p.sum() == pytest.approx(1.0)
    inside = p > 1e-12
    thresholds = (target - p)[inside]
    assert np.ptp(thresholds) == pytest.approx(0.0, abs=1e-9)
    assert (target[~inside] <= thresholds.mean() + 1e-9).all()


@given(counts, st.integers(0, 2**32))
def test_no_distribution_is_nearer(values, seed):
    target = values / max(values.sum(), 1.0)
    mine = np.sum((to_simplex(values) - target) ** 2)
    others = np.random.default_rng(seed).dirichlet(np.full(values.size, 0.5), 50)
    assert (mine <= ((others - target) ** 2).sum(axis=1) + 1e-9).all()


def test_distributions_stay_and_shapes_too():
    values = np.array([[30, 20], [10, 40]])
    np.testing.assert_allclose(to_simplex(values), values / 100)
    assert to_simplex(values).shape == (2, 2)


@pytest.mark.parametrize(
    "values", [[0, 0, 0], [-5, -5], [-1, -9, 3], [2**62, -(2**62), 7], [-(2**62), 2**62 - 1], [0]]
)
def test_hopeless_measurements_still_give_a_distribution(values):
    p = to_simplex(np.array(values, dtype=np.int64))
    assert np.isfinite(p).all()
    assert p.min() >= 0.0
    assert p.sum() == pytest.approx(1.0)
