"""The private choice of one more marginal: the one that the model so far gets most wrong."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import networkx as nx

from prism_core.planning.adaptive import GROWTH_CELLS
from prism_core.planning.junction_tree import forecast
from prism_core.privacy.mechanisms import guard, private_choice
from prism_core.privacy.scores import MODEL_ERROR_SENSITIVITY, model_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from prism_core.data.source import Rows
    from prism_core.planning.junction_tree import Clique
    from prism_core.planning.plan import Plan
    from prism_core.privacy.noise import NoiseSource
    from prism_core.synthesis.model import Model


class AdaptiveChooser:
    """Picks marginals round by round; the rounds of a run share their exact counts.

    Args:
        table: the private rows.
        plan: holds the candidates and the budget of the choice.
        noise: where the randomness comes from.

    Raises:
        PrivacyError: for known noise on a private table, before a row is read.
    """

    def __init__(self, table: Rows, plan: Plan, noise: NoiseSource) -> None:
        assert plan.three_way is not None
        guard(table, noise)
        self._table, self._plan, self._noise = table, plan, noise
        self._choice = plan.three_way
        self._known = [query.clique for query in plan.queries]
        self._limit = self._cells(()) + GROWTH_CELLS
        self._counts: dict[Clique, NDArray[np.int64]] = {}

    def pick(self, model: Model, picked: Sequence[Clique]) -> Clique | None:
        """One more marginal, or None when nothing was found that beats its noise.

        The score of a candidate is the l1 error, in counts, of the model so far, less the
        expected noise of measuring it (data-free); stopping is a candidate of score 0. Model
        and earlier picks are released already, so which candidates are open does not depend on
        the rows otherwise. Once no candidate fits into the model, None without a choice.

        Args:
            model: fitted to noisy measurements only (post-processing).
            picked: of earlier rounds.

        Spends: one choice of the plan's event, sensitivity 2.
        """
        open_cliques = self._open(picked)
        if not open_cliques:
            return None
        index = private_choice(
            self._table,
            lambda _: [*(self._score(clique, model) for clique in open_cliques), 0.0],
            sensitivity=MODEL_ERROR_SENSITIVITY,
            epsilon=self._choice.event.epsilon,
            noise=self._noise,
        )
        return open_cliques[index] if index < len(open_cliques) else None

    def _open(self, picked: Sequence[Clique]) -> list[Clique]:
        """Candidates with which the junction tree stays within its limit.

        With and without Y a candidate has the same edge (X_i, X_j), as both are joined to Y
        already. An edge between parts that only Y connects costs the clique (X_i, X_j, Y).
        """
        now = self._cells(picked)
        joined = nx.utils.UnionFind(self._plan.s)
        edges = {self._edge(clique) for clique in picked}
        for edge in edges:
            joined.union(*edge)
        room: dict[Clique, bool] = dict.fromkeys(edges, True)
        target = self._plan.task.target
        for clique in self._choice.candidates:
            edge = self._edge(clique)
            if edge in room:
                continue
            if joined[edge[0]] == joined[edge[1]]:
                cells = self._cells((*picked, edge))
            else:
                cells = now + self._plan.schema.cells((*edge, target))
            room[edge] = cells <= self._limit
        taken = set(picked)
        return [
            clique
            for clique in self._choice.candidates
            if clique not in taken and room[self._edge(clique)]
        ]

    def _edge(self, clique: Clique) -> Clique:
        return tuple(name for name in clique if name != self._plan.task.target)

    def _cells(self, picked: Sequence[Clique]) -> int:
        sizes, target = self._plan.sizes, self._plan.task.target
        return forecast(sizes, [*self._known, *picked], last=(target,)).cells

    def _score(self, clique: Clique, model: Model) -> float:
        """Reads private rows: for `private_choice` only."""
        if not self._counts:
            wanted = self._choice.candidates
            self._counts = dict(zip(wanted, self._table.counts(wanted), strict=True))
        counts = self._counts[clique]
        penalty = math.sqrt(2.0 / math.pi) * self._choice.sigma * counts.size
        return model_error(counts, model.marginal(clique)) - penalty
