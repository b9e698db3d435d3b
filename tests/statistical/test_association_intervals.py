"""Intervals of Cramér's V cover it 19 times of 20, and independent columns stay below its chance.

Of 400 tables the number covered is binomial: with a true coverage of 95% it is below 90% or above
98.5% in less than 1 of 10,000 seeds; the seeds are fixed. At independence the interval holds 0
more often, as V cannot be below it.
"""

from __future__ import annotations

import numpy as np
import pytest

from prism_core.evaluation.association import associations

pytestmark = pytest.mark.statistical
TABLES = 400


def found(share, n, rng):
    start = np.array([0])
    return associations(rng.multinomial(n, share.ravel()).reshape(share.shape) / n, start, start, n)


def follows(size: int, strength: float):
    """Two columns of so many levels; the second is the first in so many rows: V is that share."""
    return np.eye(size) / size * strength + (1 - strength) / size**2


@pytest.mark.parametrize(
    ("size", "strength", "n"),
    [(2, 0.5, 100), (4, 0.3, 200), (4, 0.6, 200), (4, 0.9, 1_000), (20, 0.3, 1_000)],
)
def test_the_interval_covers_v(size, strength, n):
    rng = np.random.default_rng([size, n])
    ends = [found(follows(size, strength), n, rng) for _ in range(TABLES)]
    covered = np.mean([one.low[0, 0] <= strength <= one.high[0, 0] for one in ends])
    assert 0.90 <= covered <= 0.985


@pytest.mark.parametrize(
    "share", [follows(20, 0.0), np.outer([0.9, 0.07, 0.03], [0.5, 0.3, 0.15, 0.05])]
)
def test_independent_columns_stay_below_the_chance_level(share):
    rng = np.random.default_rng(share.size)
    tables = [found(share, 400, rng) for _ in range(TABLES)]
    below = np.mean([one.within_chance[0, 0] for one in tables])
    assert 0.90 <= below <= 0.985
    assert np.mean([one.low[0, 0] <= 0.0 for one in tables]) >= 0.93
