"""T-SENS for mutual information and conditional mutual information, in nats."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from prism_core.errors import PrivacyError
from prism_core.privacy.scores import (
    conditional_information,
    conditional_information_sensitivity,
    mutual_information,
    mutual_information_sensitivity,
)
from tests.support.enumeration import worst_move

pytestmark = pytest.mark.privacy


@pytest.mark.parametrize(
    ("shape", "largest"), [((2, 2), 8), ((2, 3), 8), ((3, 2), 6), ((3, 3), 5)], ids=str
)
def test_mutual_information_moves_by_at_most_its_sensitivity(shape, largest):
    ratios = []
    for n in range(2, largest + 1):
        declared = mutual_information_sensitivity(n, binary=min(shape) == 2)
        worst = worst_move(shape, n, mutual_information)
        assert worst <= declared * (1 + 1e-12)
        ratios.append(worst / declared)
    assert max(ratios) >= 0.5


@pytest.mark.parametrize(
    ("shape", "largest"), [((2, 2, 2), 7), ((3, 2, 2), 4), ((3, 3, 2), 3)], ids=str
)
def test_conditional_information_moves_by_at_most_its_sensitivity(shape, largest):
    ratios = []
    for n in range(2, largest + 1):
        declared = conditional_information_sensitivity(n)
        worst = worst_move(shape, n, conditional_information)
        assert worst <= declared * (1 + 1e-12)
        ratios.append(worst / declared)
    assert max(ratios) >= 0.5


@pytest.mark.parametrize("n", [3, 5, 21, 101])
def test_both_constants_are_reached(n):
    """A halved constant, or the binary one used for general domains, is seen for every odd n."""
    half = (n - 1) // 2
    # Two filled cells (0, 0) and (1, 1); the last row goes to (2, 2) or to (0, 1).
    before, after = (np.diag([half, half, 0]) for _ in range(2))
    before[2, 2] += 1
    after[0, 1] += 1
    change = mutual_information(before) - mutual_information(after)
    assert change == pytest.approx(mutual_information_sensitivity(n, binary=False), rel=1e-9)
    # All rows in (0, 0) but one, which is alone in (1, 1), or with the others.
    lone, none = np.diag([n - 1, 1]), np.diag([n, 0])
    change = mutual_information(lone) - mutual_information(none)
    assert change == pytest.approx(mutual_information_sensitivity(n, binary=True), rel=1e-9)
    assert mutual_information_sensitivity(n, binary=False) > change


def test_the_binary_constant_does_not_hold_for_conditional_information():
    """n = 20, three binary columns: .3828 bits move, the binary constant allows .2864."""
    best = 0.0
    for half in range(10):
        # 19 rows: one stratum is constant, the other has its rows in the two mixed cells.
        base = np.zeros((2, 2, 2), dtype=np.int64)
        base[1, 1, 0], base[0, 1, 1], base[1, 0, 1] = 19 - 2 * half, half, half
        values = []
        for cell in itertools.product(range(2), repeat=3):
            moved = base.copy()
            moved[cell] += 1
            values.append(conditional_information(moved))
        best = max(best, max(values) - min(values))
    assert best > mutual_information_sensitivity(20, binary=True) * 1.3
    assert best <= conditional_information_sensitivity(20)
    assert best / math.log(2) == pytest.approx(0.3828, abs=5e-5)
    assert mutual_information_sensitivity(20, binary=True) / math.log(2) == pytest.approx(
        0.2864, abs=5e-5
    )


def test_information_is_in_nats():
    assert mutual_information(np.diag([5, 5])) == pytest.approx(math.log(2))
    assert mutual_information(np.array([[4, 4], [4, 4]])) == 0.0
    same = np.zeros((2, 2, 2), dtype=np.int64)
    same[0, 0, :] = same[1, 1, :] = 3
    assert conditional_information(same) == pytest.approx(math.log(2))
    assert conditional_information(np.full((2, 3, 2), 4)) == pytest.approx(0.0, abs=1e-12)
    # X and X' are both copies of Y: nothing is left once Y is known.
    copies = np.zeros((2, 2, 2), dtype=np.int64)
    copies[0, 0, 0] = copies[1, 1, 1] = 9
    assert conditional_information(copies) == pytest.approx(0.0, abs=1e-12)


def test_conditional_information_is_the_mean_over_strata():
    counts = np.random.default_rng(2).integers(0, 9, (3, 2, 4))
    brute = sum(
        counts[..., y].sum() / counts.sum() * mutual_information(counts[..., y]) for y in range(4)
    )
    assert conditional_information(counts) == pytest.approx(brute)


def test_sensitivities_are_the_closed_forms():
    n = 1_000
    binary = math.log(n) / n + (n - 1) / n * math.log(n / (n - 1))
    general = 2 / n * math.log((n + 1) / 2) + (n - 1) / n * math.log((n + 1) / (n - 1))
    assert mutual_information_sensitivity(n, binary=True) == pytest.approx(binary, rel=1e-12)
    assert mutual_information_sensitivity(n, binary=False) == pytest.approx(general, rel=1e-12)
    assert conditional_information_sensitivity(n) == mutual_information_sensitivity(n, binary=False)


@pytest.mark.parametrize("n", [1, 0, -3, None, math.nan, math.inf])
def test_no_sensitivity_without_rows(n):
    for read in (
        lambda: mutual_information_sensitivity(n, binary=True),
        lambda: mutual_information_sensitivity(n, binary=False),
        lambda: conditional_information_sensitivity(n),
    ):
        with pytest.raises(PrivacyError, match="must be a finite number above 0"):
            read()
