"""The parts that noisy counts give: exact, few where there is nothing, and where the steps are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from prism_core.synthesis.partition import (
    Evidence,
    ordered_parts,
    penalty_of,
    unordered_parts,
)


def noisy(exact, sigma, seed):
    rng = np.random.default_rng(seed)
    return exact + np.rint(rng.normal(0.0, sigma, exact.shape)).astype(np.int64)


def drawn(rates, rows, seed):
    """Rows of a cell each, with Y = 1 at the cell's rate."""
    rng = np.random.default_rng(seed)
    yes = rng.binomial(rows, rates)
    return np.column_stack([np.broadcast_to(rows, len(rates)) - yes, yes])


@pytest.mark.parametrize("seed", range(8))
def test_cuts_are_those_of_most_evidence_less_its_penalty(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(-20, 200, (7, 3))
    evidence, penalty = Evidence(counts, 9.0), penalty_of(7, 3)

    def worth(parts):
        groups = [np.flatnonzero(parts == part) for part in range(parts.max() + 1)]
        return sum(
            float(evidence.of(counts[group].sum(axis=0).astype(float), float(len(group))))
            for group in groups
        ) - penalty * len(groups)

    every = [
        np.searchsorted(cuts, np.arange(7), side="right")
        for size in range(4)
        for cuts in itertools.combinations(range(1, 7), size)
    ]
    found = ordered_parts(counts, 9.0, most=4, fill=1)
    assert worth(found) == pytest.approx(max(map(worth, every)))


@pytest.mark.statistical
def test_where_y_does_not_depend_on_the_column_next_to_nothing_is_told_apart():
    """A false cut in a column of 64 cells has a chance of a few percent."""
    cuts = []
    for seed in range(60):
        counts = noisy(drawn(np.full(64, 0.3), 100, seed), 40.0, seed)
        cuts.append(ordered_parts(counts, 40.0, most=12, fill=1).max())
    assert np.mean(np.array(cuts) > 0) < 0.25


def test_a_step_is_cut_where_it_is_and_halves_fill_the_rest():
    rates = np.where(np.arange(64) < 20, 0.1, 0.5)
    counts = noisy(drawn(rates, 200, 1), 30.0, 1)
    parts = ordered_parts(counts, 30.0, most=12, fill=1)
    assert np.flatnonzero(np.diff(parts)).tolist() == [19]
    filled = ordered_parts(counts, 30.0, most=12, fill=6)
    assert filled.max() == 5
    assert np.diff(filled)[19] == 1
    assert np.all(np.diff(filled) >= 0)


def test_a_lone_cell_with_most_rows_is_a_part():
    counts = np.zeros((64, 2), dtype=np.int64)
    counts[0] = (9_000, 1_000)
    counts[1:] = (30, 20)
    parts = ordered_parts(noisy(counts, 20.0, 2), 20.0, most=12, fill=1)
    assert np.flatnonzero(np.diff(parts))[0] == 0


def test_like_levels_are_put_together_and_unlike_ones_are_not():
    rates = np.array([0.1, 0.5, 0.9] * 10)
    counts = noisy(drawn(rates, 400, 3), 15.0, 3)
    parts = unordered_parts(counts, 15.0, most=12)
    assert parts[0] == 0
    groups = [set(parts[rates == rate].tolist()) for rate in (0.1, 0.5, 0.9)]
    assert not groups[0] & groups[1]
    assert not groups[1] & groups[2]
    assert sum(map(len, groups)) <= 5


def test_levels_that_noise_hides_become_one_part():
    counts = noisy(drawn(np.full(40, 0.5), 3, 4), 30.0, 4)
    assert unordered_parts(counts, 30.0, most=12).max() == 0


@pytest.mark.parametrize("cells", [1, 2, 3])
@pytest.mark.parametrize("fill", [1, 12])
def test_whatever_the_counts_say_the_parts_are_numbered(cells, fill):
    for counts in (np.zeros((cells, 2)), np.full((cells, 2), -50), np.full((cells, 2), 10**6)):
        for parts in (
            ordered_parts(counts.astype(np.int64), 5.0, most=12, fill=fill),
            unordered_parts(counts.astype(np.int64), 5.0, most=12),
        ):
            assert set(parts.tolist()) == set(range(parts.max() + 1))
