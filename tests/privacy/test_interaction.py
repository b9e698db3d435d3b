"""T-SENS for the score of features that act together on Y, and what it sees."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from prism_core.data.schema.column import Column
from prism_core.planning.interactions import contrasts
from prism_core.privacy.scores import interaction, interaction_sensitivity
from tests.support.enumeration import worst_move

pytestmark = pytest.mark.privacy

HALVES = np.array([[-1.0, 1.0]])
THREE = contrasts(Column(name="x", kind="ordinal", levels=(0, 1, 2)))


def two_levels(k):
    return [HALVES] * k


@pytest.mark.parametrize(
    ("shape", "functions", "largest"),
    [
        ((2, 2, 2), two_levels(2), 5),
        ((3, 2), [THREE], 5),
        ((2, 3), two_levels(1), 5),
        ((2, 2, 2, 2), two_levels(3), 2),
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_it_moves_by_at_most_its_sensitivity(shape, functions, largest, seed):
    """Whatever the model expects; it was fitted to noisy counts and does not move."""
    expected = np.random.default_rng(seed).gamma(0.3, size=shape)
    if seed == 0:  # of some features it expects nothing, and of the others one class
        expected[..., 1:] = 0.0
        expected[0] = 0.0
    for n in range(1, largest + 1):
        worst = worst_move(shape, n, lambda counts: interaction(counts, expected, functions))
        assert worst <= interaction_sensitivity() * (1.0 + 1e-12)


def test_the_sensitivity_is_reached():
    """A halved constant is seen: a surprise at the one level against one at the other."""
    sure = np.array([[1.0, 0.0], [1.0, 0.0]])  # of the first class, whatever the feature is
    before, after = np.array([[0, 3], [0, 1]]), np.array([[0, 4], [0, 0]])
    moved = interaction(after, sure, [HALVES]) - interaction(before, sure, [HALVES])
    assert moved == pytest.approx(interaction_sensitivity())


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_parity_is_seen_whole_and_in_no_part(k):
    counts = np.zeros((2,) * (k + 1), dtype=np.int64)
    for codes in itertools.product((0, 1), repeat=k):
        counts[(*codes, sum(codes) % 2)] = 100
    even = np.ones_like(counts, dtype=float)
    n = counts.sum()
    assert interaction(counts, even, two_levels(k)) == pytest.approx(n / 2)
    part = counts.sum(axis=0)
    assert interaction(part, even.sum(axis=0), two_levels(k - 1)) == pytest.approx(0.0)


def test_what_the_pairs_say_is_no_interaction():
    """Skewed features, independent given Y, in a table as the model expects it."""
    given = np.array([[0.9, 0.1], [0.3, 0.7]])  # P(x | y)
    expected = np.einsum("y,ya,yb->aby", [600.0, 400.0], given, given)
    counts = np.rint(expected).astype(np.int64)
    assert interaction(counts, expected, two_levels(2)) < 3.0


@pytest.mark.parametrize(
    "column",
    [
        Column(name="x", kind="boolean"),
        Column(name="x", kind="ordinal", levels=(0, 1, 2), nullable=True),
        Column(
            name="x",
            kind="numeric",
            lower=0.0,
            upper=10.0,
            edges=tuple(map(float, range(1, 10))),
            nullable=True,
        ),
        Column(name="x", kind="categorical", levels=tuple("abcdefg")),
    ],
    ids=lambda column: f"{column.kind} {column.size}",
)
def test_contrasts_are_between_minus_one_and_one(column):
    found = contrasts(column)
    assert found.shape[1] == column.size
    assert np.abs(found).max() == 1.0
    assert np.abs(found).max(axis=1).min() == 1.0
    assert not found[:, list(column.valueless_codes)].any()
    # Each tells two groups of levels apart.
    assert all({-1.0, 1.0} <= set(row) for row in found)
