"""The private choice of one more marginal: the one that the model so far gets most wrong."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from prism_core.errors import PlanError
from prism_core.planning.adaptive_rounds import GROWTH_CELLS, WATCHED, Candidates, Pick
from prism_core.planning.ties import cost_of_tie
from prism_core.planning.tree.junction_tree import Clique, forecast
from prism_core.privacy.mechanisms import check_noise_of_table, private_choice
from prism_core.privacy.scores import model_error, model_error_sensitivity, mutual_information

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan
    from prism_core.privacy.noise import NoiseSource
    from prism_core.synthesis.measure import Measurement
    from prism_core.synthesis.model import Model

_SAFE = 1.0 - 1e-12
"""Rounds an epsilon down, so that the parts of all rounds together stay within the planned ones."""


@dataclass(frozen=True, kw_only=True)
class PairNoise:
    """Noise of one pair (X_j, Y), for what two of them say together where nothing ties them.

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


class AdaptiveChooser:
    """Picks marginals round by round, with more budget a round as less is left to be found.

    The budget of the rounds is `parts` equal parts. A round takes one part at first, and twice
    as many as the round before once that one found nothing beyond its noise (annealing as in AIM,
    McKenna et al. 2022). How many it takes follows from noisy measurements and earlier choices
    alone, and the parts are never exceeded, so the rounds together are rho-zCDP with the planned
    rho (a privacy filter for zCDP: Feldman and Zrnic 2021).

    Ties are rounds of one part each, and the first that finds nothing ends them: what is left goes
    back to the pairs with the target.

    Args:
        table: the private rows; the rounds share their exact counts.
        plan: holds the candidates and the budget of the choice.
        noise: where the randomness comes from.
        measured: noisy pairs with the target, measured before.

    Raises:
        PrivacyError: for known noise on a private table, before a row is read.
    """

    def __init__(
        self, table: Rows, plan: Plan, noise: NoiseSource, measured: Sequence[Measurement] = ()
    ) -> None:
        assert plan.three_way is not None
        check_noise_of_table(table, noise)
        self._table, self._plan, self._noise = table, plan, noise
        self._choice = plan.three_way
        self._bar = plan.three_way.bar
        self._candidates = watched(plan, measured)
        self._noises = pair_noises(measured, plan.task.target)
        self._known = [query.clique for query in plan.queries]
        self._limit = self._cells(()) + GROWTH_CELLS
        self._counts: dict[Clique, NDArray[np.int64]] = {}
        self._width = 1
        self._before: NDArray[np.float64] | None = None
        self.left = self._choice.rounds
        self.picks: list[Pick] = []

    def pick(self, model: Model) -> Clique | None:
        """One more marginal, or None when nothing was found that beats its noise.

        The score of a candidate is w times the l1 error, in counts, of the model so far, less the
        expected noise of measuring it (data-free), with w the mean of the curator's weights of its
        two features; to find nothing is a candidate of score 0. Ties are scored by what they are
        worth instead (`planning.ties`), and to find none scores the plan's bar.
        Model and earlier picks are released already, so which candidates are open, and how many
        parts the round takes, does not depend on the rows otherwise. Once no candidate fits into
        the model nothing is chosen, and no part is left.

        Args:
            model: fitted to noisy measurements only (post-processing).

        Spends: `width` parts of the plan's choice. Sensitivity 2 max w: one replaced row moves
            the counts of a marginal by 2 in l1, and nothing else in its score (of several rows a
            person that many times as much). epsilon^2 / 8 is the
            rho of one part, so sqrt(width) times its epsilon is `width` times its rho. The
            measurement of what is picked takes as many parts; where nothing is, they count as
            spent.
        """
        known = {clique: _expected(model, clique) for clique in self._open()}
        cliques = [clique for clique, counts in known.items() if counts is not None]
        expected = [counts for counts in known.values() if counts is not None]
        if not cliques:
            self.left = 0
            return None
        width = self._width = self._next_width(model)
        # A round of several parts also measures with all of them, hence with less noise.
        sigma = self._choice.sigma / math.sqrt(width)
        weights = [self._weight(clique) for clique in cliques]
        sigmas = [sigma] * len(cliques)
        # The scores are a function, so that rows are read within the mechanism only.
        index = private_choice(
            self._table,
            lambda _: [*map(self._score, cliques, expected, sigmas, weights), self._bar or 0.0],
            sensitivity=model_error_sensitivity(self._table.contribution) * max(weights),
            epsilon=self._choice.event.epsilon * math.sqrt(width) * _SAFE,
            noise=self._noise,
        )
        self.left -= width
        if index == len(cliques):
            if self._bar is not None:
                self.left = 0
            self._before = None
            self._width = 2 * width
            return None
        self._before = expected[index]
        self.picks.append(Pick(clique=cliques[index], parts=width))
        return cliques[index]

    def _next_width(self, model: Model) -> int:
        """Parts of the next round. Post-processing of noisy measurements, spends nothing."""
        if self._bar is not None:
            return 1
        width = self._width
        if self._before is not None:
            last = self.picks[-1]
            # A model that moved no further than noise alone would move it has learned nothing
            # (AIM).
            moved = np.abs(np.asarray(model.marginal(last.clique)) - self._before).sum()
            if moved <= self._noise_of(self._before.size, last.parts):
                width *= 2
        # What is left over and too little for another round is spent with this one.
        return width if self.left >= 2 * width else self.left

    def _noise_of(self, cells: int, parts: int) -> float:
        """Expected l1 norm of the noise of a measurement."""
        # sqrt(2 / pi) is the mean of |N(0, 1)|.
        return math.sqrt(2.0 / math.pi / parts) * self._choice.sigma * cells

    def _open(self) -> list[Clique]:
        """Candidates with which the junction tree stays within its limit.

        With and without Y a candidate has the same edge (X_i, X_j), as both are joined to Y
        already. An edge between parts that only Y connects costs the clique (X_i, X_j, Y).
        """
        picked = [pick.clique for pick in self.picks]
        now = self._cells(picked)
        joined = nx.utils.UnionFind(self._plan.s)
        # What is measured at once is tied already: another edge to it closes a cycle.
        for query in self._plan.queries:
            if query.kind in ("joint", "interaction"):
                joined.union(*(name for name in query.clique if name != self._plan.task.target))
        products = [query.clique for query in self._plan.queries if query.kind == "product"]
        edges = {self._edge(clique) for clique in (*products, *picked)}
        for edge in edges:
            joined.union(*edge)
        room: dict[Clique, bool] = dict.fromkeys(edges, True)
        target = self._plan.task.target
        for clique in self._candidates:
            edge = self._edge(clique)
            if edge in room:
                continue
            if joined[edge[0]] == joined[edge[1]]:
                cells = self._cells((*picked, edge))
            else:
                cells = now + self._plan.domain.cells((*edge, target))
            room[edge] = cells <= self._limit
        taken = set(picked)
        return [
            clique
            for clique in self._candidates
            if clique not in taken and room[self._edge(clique)]
        ]

    def _edge(self, clique: Clique) -> Clique:
        return tuple(name for name in clique if name != self._plan.task.target)

    def _cells(self, picked: Iterable[Clique]) -> int:
        sizes, target = self._plan.sizes, self._plan.task.target
        return forecast(sizes, [*self._known, *picked], last=(target,)).cells

    def _weight(self, clique: Clique) -> float:
        """What the curator said its features count, on average; public."""
        weights = self._plan.task.weights
        return statistics.fmean(weights.get(name, 1.0) for name in self._edge(clique))

    def _score(
        self, clique: Clique, expected: NDArray[np.float64], sigma: float, weight: float
    ) -> float:
        """Reads private rows: for `private_choice` only."""
        # Once for all rounds: the rows stay the same, and counting them is the slow part.
        if not self._counts:
            wanted = tuple(self._candidates)
            self._counts = dict(zip(wanted, self._table.counts(wanted), strict=True))
        counts = self._counts[clique]
        if self._bar is None:
            cost = math.sqrt(2.0 / math.pi) * sigma * counts.size
        else:
            variance = self._plan.contribution.variance(self._plan.n)
            variance += variance_told(self._noises, self._edge(clique))
            cost = cost_of_tie(counts.size, sigma, variance)
        return weight * (model_error(counts, expected) - cost)


def _expected(model: Model, clique: Clique) -> NDArray[np.float64] | None:
    """What the model expects of a marginal; None where that needs too large a table on the way.

    Which that is follows from sizes and from what was measured, so a run that is charged goes on
    without this candidate. Post-processing, spends nothing.
    """
    try:
        return np.asarray(model.marginal(clique))
    except PlanError:
        return None


def watched(plan: Plan, measured: Sequence[Measurement]) -> Candidates:
    """The candidates of a run: of a large S those of the features that tell most about Y.

    By the mutual information of their noisy pairs with Y. Post-processing, spends nothing.

    Args:
        plan: holds the candidates.
        measured: noisy pairs (X_j, Y).
    """
    assert plan.three_way is not None
    candidates = plan.three_way.candidates
    assert isinstance(candidates, Candidates)
    if len(plan.s) <= WATCHED:
        return candidates
    told = {
        # Noise leaves cells at 0 and below, where there is no logarithm.
        name: mutual_information(np.maximum(one.values, 1))
        for name, one in counted_pairs(measured, plan.task.target).items()
    }
    # Equal ones go by name, so that the same measurements give the same candidates.
    best = sorted(plan.s, key=lambda name: (-told.get(name, 0.0), name))[:WATCHED]
    return candidates.within(best)
