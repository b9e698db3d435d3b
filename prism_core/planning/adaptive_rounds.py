"""Adaptive rounds: which marginals may be picked, how many, how large the model may grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np

from prism_core.errors import PlanError
from prism_core.planning.candidates import Pairs
from prism_core.planning.queries import expected_relative_error

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema
    from prism_core.planning.tree.junction_tree import Clique

ROUNDS_SHARE = 0.5
"""Part of the task pool for the rounds; the pairs with the target get the rest."""

CHOICE_SHARE = 0.1
"""Part of a round for the choice; the measurement gets the rest (method note, section 5)."""

GROWTH_CELLS = 200_000
"""Cells by which the rounds may enlarge the junction tree.

Adult, 14 splits, AUC at epsilon 1: .8970 with 10,000, .8974 with 40,000, .8981 with 200,000 and
with a million."""

CANDIDATE_CELLS = 40_000
"""Cells of the largest candidate with the target."""

LEAST_ROUNDS = 4
"""Fewer do not make up for the noise that half of the budget adds to the pairs with the target."""

NOISE_LIMIT = 0.035
"""Largest expected error of a typical marginal, over n, in `LEAST_ROUNDS` rounds.

Measured on public rows, three to ten seeds: at .04 and above rounds lost AUC on readmission (.004
to .012) and gained on Adult (.003); at .02 they gained on both (.001 and .007)."""

FIRST_NOISE_LIMIT = 0.07
"""The same in rounds of one part: the first are cheap, as what is most wrong is easily found."""

WATCHED = 45
"""Features that a run looks at two by two; of more, those that tell most about the target."""


@dataclass(frozen=True, kw_only=True)
class Pick:
    """One round that found something.

    Attributes:
        clique: the marginal.
        parts: how many of the equal parts of the rounds' budget it took.
    """

    clique: Clique
    parts: int


@dataclass(frozen=True, kw_only=True)
class Candidates(Sequence["Clique"]):
    """(X_i, X_j) and (X_i, X_j, Y) with both features in S, without a list of them.

    Attributes:
        schema: the domain.
        pairs: (X_i, X_j) that are small enough together with Y.
        target: Y.
    """

    schema: Schema
    pairs: Pairs
    target: str

    @classmethod
    def of(cls, schema: Schema, s: Sequence[str], target: str) -> Candidates:
        """Those within S."""
        sizes = tuple(map(schema.size, s))
        # With Y at once: of every pair here a round may also take (X_i, X_j, Y).
        most = CANDIDATE_CELLS // schema.size(target)
        pairs = Pairs(names=tuple(s), sizes=sizes, most=most)
        return cls(schema=schema, pairs=pairs, target=target)

    def within(self, features: Sequence[str]) -> Candidates:
        """Those of some of the features, in the order of the schema."""
        return Candidates.of(self.schema, self.schema.canonical(features), self.target)

    @cached_property
    def typical(self) -> float:
        """Cells of the median candidate."""
        # Without a list of candidates, of which a wide table has very many.
        sizes = np.array(self.pairs.sizes, dtype=np.int64)
        cells = np.multiply.outer(sizes, sizes)[np.triu_indices(len(sizes), 1)]
        cells = cells[cells <= self.pairs.most]
        # Each pair counts twice, without Y and with it, as `__iter__` gives both.
        return float(np.median(np.concatenate([cells, cells * self.schema.size(self.target)])))

    def __len__(self) -> int:
        return 2 * len(self.pairs)

    def __iter__(self) -> Iterator[Clique]:
        for pair in self.pairs:
            yield pair
            yield self.schema.canonical((*pair, self.target))

    def __contains__(self, clique: object) -> bool:
        if not isinstance(clique, tuple) or len(clique) not in (2, 3):
            return False
        pair = tuple(name for name in clique if name != self.target)
        if len(pair) != 2 or pair not in self.pairs:
            return False
        return clique in (pair, self.schema.canonical((*pair, self.target)))

    @overload
    def __getitem__(self, place: int) -> Clique: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Clique, ...]: ...
    def __getitem__(self, place: int | slice) -> Clique | tuple[Clique, ...]:
        return tuple(self)[place]


@dataclass(frozen=True, kw_only=True)
class AdaptiveRounds:
    """What the rounds may pick from.

    Attributes:
        candidates: marginals within S and Y.
        parts: equal parts of the budget; a round takes one or more. A fact of schema, S, budget.
        share: part of the task pool for them.
        choice_share: part of a round for the choice; the measurement gets the rest.
        ties: whether the first round that finds nothing ends them (`planning.ties`).
    """

    candidates: Candidates
    parts: int
    share: float = ROUNDS_SHARE
    choice_share: float = CHOICE_SHARE
    ties: bool = False


def adaptive_rounds(
    schema: Schema,
    s: Sequence[str],
    target: str,
    n: int,
    at_most: int,
    sigma: Callable[[int], float],
) -> AdaptiveRounds | None:
    """The candidates and the number of parts; None where the noise would outweigh the gain.

    Reads no row. The regime guard holds for whatever is picked: Y comes only with features in S,
    and the other candidates hold no column outside S.

    Args:
        schema: the domain.
        s: the features S.
        target: Y.
        n: training rows.
        at_most: the most marginals wanted.
        sigma: noise of a marginal that takes one part, in counts, by the number of parts.
    """
    candidates = Candidates.of(schema, s, target)
    if not len(candidates):
        return None

    def error(parts: int) -> float:
        return expected_relative_error(candidates.typical, sigma(parts), n)

    most = min(at_most, len(candidates))
    least = min(most, LEAST_ROUNDS)
    # `not <=` instead of `>`, so that NaN means no rounds.
    if not error(least) <= NOISE_LIMIT:
        return None
    # From the most down: a round may take several parts, but never less than one.
    for parts in range(most, least, -1):
        if error(parts) <= FIRST_NOISE_LIMIT:
            return AdaptiveRounds(candidates=candidates, parts=parts)
    return AdaptiveRounds(candidates=candidates, parts=least)


def best_features(schema: Schema, features: Sequence[str], k: int, target: str) -> tuple[str, ...]:
    """The S of k features that is likeliest to have rounds: where it has none, no other has.

    The fewer cells the median candidate has, the less its noise weighs. The k smallest features
    have the smallest median, but where large pairs are no candidates: then the two smallest.
    """
    ordered = sorted(features, key=schema.size)
    largest = schema.cells((*ordered[-2:], target))
    return schema.canonical(ordered[: k if largest <= CANDIDATE_CELLS else 2])


def check_picks(picks: Sequence[Pick], candidates: Sequence[Clique], parts: int) -> None:
    """Only candidates, none twice, within the budget.

    Raises:
        PlanError: when a run could not have picked these.
    """
    cliques = [pick.clique for pick in picks]
    if len(set(cliques)) != len(cliques) or not all(one in candidates for one in cliques):
        raise PlanError("An adaptive marginal is no candidate.", field="three_way")
    taken = [pick.parts for pick in picks]
    # By type, as True is an instance of int.
    if not all(type(part) is int and part >= 1 for part in taken) or sum(taken) > parts:
        raise PlanError("The adaptive marginals take more than planned.", field="three_way")
