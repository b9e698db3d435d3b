"""Mutual information with the target, paid for once: the paper's choice of features and weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.errors import PrivacyError
from prism_core.privacy.parameters import epsilon_value
from prism_core.privacy.scores import mutual_information, mutual_information_sensitivity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from prism_core.data.encoding import EncodedTable

SELECTION_SHARE = 0.10
"""Part of epsilon that the paper gives to choosing features."""

_LEAST = 0.01  # weight of a score that noise made useless, as a part of the largest


@dataclass(frozen=True, kw_only=True)
class InformationScores:
    """Noisy mutual information of every feature with the target, in nats.

    Attributes:
        scores: by feature, in schema order.
        scale: of the Laplace noise in each.
    """

    scores: Mapping[str, float]
    scale: float

    def top(self, k: int) -> tuple[str, ...]:
        """The k features with the highest noisy scores; post-processing."""
        return tuple(sorted(self.scores, key=lambda name: -self.scores[name])[:k])

    def weights(self, names: Sequence[str]) -> dict[str, float]:
        """Weights in proportion to the noisy scores, all above 0; post-processing."""
        # Where noise has left all scores at 0 or below, all weigh the same.
        largest = max(0.0, *(self.scores[name] for name in names)) or 1.0
        return {name: max(self.scores[name], _LEAST * largest) for name in names}


def information_scores(
    table: EncodedTable, target: str, epsilon: float, rng: np.random.Generator
) -> InformationScores:
    """The scores of all features with Laplace noise. For public benchmark rows only.

    Spends: epsilon, pure; neighbours replace one person.

    Proof. I(X_j; Y) moves by at most Delta_j (`mutual_information_sensitivity`), so the vector of
    all scores moves by at most sum_j Delta_j in l1, and Laplace noise of that scale over epsilon
    is epsilon-DP. The noise is made of floats, whose low bits would tell rows apart: no release
    may use it, and private rows are refused.

    Raises:
        PrivacyError: for rows that are not public; nothing was read.
    """
    if not table.public:
        raise PrivacyError(
            "Scores with floating-point noise are for public benchmark rows only; a release "
            "chooses features by the exponential mechanism.",
            field="table",
        )
    schema = table.schema
    names = [name for name in schema.names if name != target]
    scale = l1_sensitivity(
        table.n, [schema.size(name) for name in names], schema.size(target)
    ) / epsilon_value(epsilon)
    exact = [
        mutual_information(counts) for counts in table.counts([(name, target) for name in names])
    ]
    noise = rng.laplace(0.0, scale, len(names))
    scores = {name: e + float(z) for name, e, z in zip(names, exact, noise, strict=True)}
    return InformationScores(scores=scores, scale=scale)


def l1_sensitivity(n: int, sizes: Sequence[int], target: int) -> float:
    """The sum over features of the sensitivity of their mutual information with the target.

    Args:
        n: rows, public.
        sizes: codes of every feature.
        target: codes of Y.
    """
    return math.fsum(
        mutual_information_sensitivity(n, binary=target <= 2 or size <= 2) for size in sizes
    )
