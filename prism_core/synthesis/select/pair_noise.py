"""Noise of what pairs with the target say of two features together, where nothing ties them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.synthesis.measure import Measurement


@dataclass(frozen=True, kw_only=True)
class PairNoise:
    """One noisy pair (X_j, Y).

    Attributes:
        variance: of the noise of one class, over all levels.
        squares: sum over classes and levels of the squared share that a level has of its class.
    """

    variance: float
    squares: float

    @classmethod
    def of(cls, pair: Measurement, target: str) -> PairNoise:
        """Of one measurement. Post-processing, spends nothing."""
        axis = 1 - pair.clique.index(target)
        # Noise leaves cells below 0, which have no share.
        counts = np.maximum(pair.values, 0)
        # A class whose noisy counts are all 0 or below has no sum to divide by.
        shares = counts / np.maximum(counts.sum(axis=axis, keepdims=True), 1)
        levels = pair.values.shape[axis]
        return cls(variance=levels * pair.sigma**2, squares=float((shares**2).sum()))


def pair_noises(measured: Sequence[Measurement], target: str) -> dict[str, PairNoise]:
    """That of every feature whose pair with the target was counted."""
    return {
        name: PairNoise.of(pair, target) for name, pair in counted_pairs(measured, target).items()
    }


def counted_pairs(measured: Sequence[Measurement], target: str) -> dict[str, Measurement]:
    """The counts of every feature with the target, by the feature's name."""
    return {
        name: pair
        for pair in measured
        if pair.query is None and len(pair.clique) == 2 and target in pair.clique
        for name in pair.clique
        if name != target
    }


def variance_told(noises: Mapping[str, PairNoise], edge: Clique) -> float:
    """Sum of variances, over the cells, of the counts that two pairs with Y expect of two features.

    With a and b the noisy counts of the two, these are the sums over y of a(x, y) b(x', y) / m(y):
    noise in a comes with the shares of b, and the other way round. 0 where a pair is not known.
    """
    known = [noises[name] for name in edge if name in noises]
    if len(known) < 2:
        return 0.0
    one, other = known
    return one.variance * other.squares + other.variance * one.squares
