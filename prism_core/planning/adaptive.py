"""The adaptive rounds: which marginals may be picked, how many, how large the model may grow."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.errors import PlanError
from prism_core.planning.plan import expected_relative_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prism_core.data.schema import Schema
    from prism_core.planning.junction_tree import Clique

ROUNDS_SHARE = 0.5
"""Part of the task pool for the rounds; the pairs with the target get the rest."""

CHOICE_SHARE = 0.1
"""Part of a round for the choice; the measurement gets the rest (method note, section 5)."""

GROWTH_CELLS = 40_000
"""Cells by which the rounds may enlarge the junction tree."""

NOISE_LIMIT = 0.08
"""Largest expected error of a typical marginal, over n."""

LEAST_ROUNDS = 4
"""Fewer do not make up for the noise that half of the budget adds to the pairs with the target."""


MAX_FEATURES = 45
"""Most features in S: every round looks at every two of them."""


@dataclass(frozen=True, kw_only=True)
class AdaptiveRounds:
    """What the rounds may pick from.

    Attributes:
        candidates: (X_i, X_j) and (X_i, X_j, Y) with both features in S, in schema order.
        rounds: at most so many; a fact of schema, S and budget.
        cells: those of the median candidate.
    """

    candidates: tuple[Clique, ...]
    rounds: int
    cells: float


def adaptive_rounds(
    schema: Schema,
    s: Sequence[str],
    target: str,
    n: int,
    at_most: int,
    sigma: Callable[[int], float],
) -> AdaptiveRounds | None:
    """The candidates and the number of rounds; None where the noise would outweigh the gain.

    Reads no row. The regime guard holds for whatever is picked: Y comes only with features in S,
    and the other candidates hold no column outside S.

    Args:
        schema: the domain.
        s: the features S.
        target: Y.
        n: training rows.
        at_most: the most rounds wanted.
        sigma: noise of a round's marginal, in counts, by the number of rounds.

    Raises:
        PlanError: when S has too many features.
    """
    if len(s) > MAX_FEATURES:
        raise PlanError(
            f"Adaptive marginals are looked for among at most {MAX_FEATURES} features; S has "
            f"{len(s)}. Choose fewer features, or another rule for 3-way marginals.",
            field="three_way",
        )
    candidates = tuple(
        clique
        for pair in itertools.combinations(s, 2)
        for clique in (schema.canonical(pair), schema.canonical((*pair, target)))
        if schema.cells((*pair, target)) <= GROWTH_CELLS
    )
    if not candidates:
        return None
    cells = statistics.median(map(schema.cells, candidates))
    most = min(at_most, len(candidates))
    for rounds in range(most, min(most, LEAST_ROUNDS) - 1, -1):
        if expected_relative_error(cells, sigma(rounds), n) <= NOISE_LIMIT:
            return AdaptiveRounds(candidates=candidates, rounds=rounds, cells=cells)
    return None
