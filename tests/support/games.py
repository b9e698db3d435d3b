"""Games of an adversary against a mechanism, and the bound that it stays under."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy import stats

if TYPE_CHECKING:
    import numpy as np

GAMES = 10_000
MISS = 5e-11
"""Each Clopper-Pearson bound fails with this probability: a false alarm below 1e-9 per suite."""


def mu_bound(without: np.ndarray, within: np.ndarray) -> float:
    """A lower bound on mu from the best linear test at the middle threshold.

    A mu-GDP mechanism allows no test with Phi^-1(1 - false positives) - Phi^-1(false negatives)
    above mu (Dong, Roth, Su 2022); both rates are bounded from above.
    """
    false_positives = int((without > 0).sum())
    false_negatives = int((within <= 0).sum())

    def upper(hits: int, games: int) -> float:
        return float(stats.beta.ppf(1 - MISS, hits + 1, games - hits))

    return float(
        stats.norm.ppf(1 - upper(false_positives, len(without)))
        - stats.norm.ppf(upper(false_negatives, len(within)))
    )
