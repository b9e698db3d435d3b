"""What every pool of a plan needs to know: the wishes, the amount to spend, how it is shared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from prism_core.planning.allocation import WEIGHT_POWER, allocate
from prism_core.planning.coarsening import (
    Coarsening,
    ColumnParts,
    coarse_schema,
    coarsening_of,
    widest_parts,
)
from prism_core.planning.numeric_queries import (
    bases,
    cost,
    kind_of,
    linear_queries,
    numbers,
    stretched,
)
from prism_core.planning.queries import Pool, Query, QueryKind, expected_relative_error
from prism_core.planning.regimes import Aim, free_features, marginal_weight
from prism_core.planning.wishes.locks import held
from prism_core.privacy.accountants.accountant import Accountant, accountant
from prism_core.privacy.learning_charge import amount_left, combined_charge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.brief import Brief
    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.planning.wishes.task import Budget, Synthesis, Task
    from prism_core.privacy.contribution import Contribution
    from prism_core.structure.dag import Dag

_REGRESSION_DELTA_SHARE = 0.1  # of delta, for choosing features by a private regression


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The brief of a plan with what follows from it before any pool is shared out.

    Attributes:
        brief: with k settled, and the graph over the columns alone.
        delta: as spent, declared or 1/n².
        aims: S of every target; the widest ones before they were chosen.
        parts: of coarsened columns; None before they were found.
    """

    brief: Brief
    delta: float
    aims: tuple[Aim, ...]
    parts: tuple[ColumnParts, ...] | None = None

    @cached_property
    def schema(self) -> Schema:
        """The domain that is measured: coarsened columns by their parts, at most as many."""
        if self.coarsening is None:
            return self.brief.schema
        parts = self.parts or widest_parts(self.brief.schema, self.coarsening)
        return coarse_schema(self.brief.schema, parts)

    @cached_property
    def coarsening(self) -> Coarsening | None:
        """Columns that are coarsened, and what counts them."""
        return coarsening_of(self)

    @property
    def task(self) -> Task:
        """Target, regime, number of features."""
        return self.brief.task

    @property
    def budget(self) -> Budget:
        """Epsilon, delta, accountant, allocation, shares, locks."""
        return self.brief.budget

    @property
    def synthesis(self) -> Synthesis:
        """Model and sampling."""
        return self.brief.synthesis

    @property
    def n(self) -> int:
        """Training persons; public."""
        return self.brief.n

    @property
    def contribution(self) -> Contribution:
        """What one person adds to the counts."""
        # Of the declared schema: coarser columns change nobody's rows.
        return self.brief.schema.contribution

    @property
    def mass(self) -> int:
        """What the counts of a marginal add up to at least; public."""
        return self.contribution.totals(self.n)[0]

    @property
    def dag(self) -> Dag | None:
        """The public graph."""
        return self.brief.dag

    @property
    def accountant(self) -> Accountant:
        """How losses add up."""
        return accountant(self.budget.accountant, self.contribution)

    @cached_property
    def total(self) -> float:
        """What is left to spend, in the accountant's unit: rho, or epsilon."""
        schema = self.brief.schema
        prior = combined_charge(schema.prior, None if self.dag is None else self.dag.prior)
        return amount_left(self.accountant, self.budget.epsilon, self.delta, prior)

    @property
    def chooses(self) -> bool:
        """Whether features are chosen privately: not where all of them are wanted."""
        predictive = self.task.regime == "predictive"
        return predictive and self.task.count < len(free_features(self.brief.schema, self.task))

    @property
    def taken(self) -> float:
        """Delta for the steps of a private regression, where deltas are shared out: under basic."""
        shared = self.budget.accountant == "basic"
        regression = shared and self.chooses and self.task.selection == "logistic"
        return self.delta * _REGRESSION_DELTA_SHARE if regression else 0.0

    def pools(self, *, background: bool = True, choice: bool = False) -> dict[str, float]:
        """Shares of the pools, 1 in all but for a hair."""
        shares = self.budget.shares
        found = {
            "selection": shares.selection if self.chooses else 0.0,
            "choice": shares.choice if choice else 0.0,
            "background": shares.background if background else 0.0,
            "coarsening": 0.0 if self.coarsening is None else self.coarsening.share,
        }
        # A hair less than what is left, so that the float sum of the pools stays below the whole.
        return {**found, "task": math.fsum([1.0, -1e-15, *(-part for part in found.values())])}

    @property
    def shared_by_hand(self) -> bool:
        """Whether a lock fixes what a marginal with the target has."""
        return any(self.task.target in lock.key for lock in self.budget.locks)

    @property
    def by_rounds(self) -> bool:
        """Whether S is looked at in rounds, if any fit; locks share the task pool out by hand."""
        if self.task.three_way != "auto":
            # Asked for by name, so what has no rounds is refused (`rounds_for`) and not passed
            # over.
            return self.task.three_way == "adaptive"
        pgm, zcdp = self.synthesis.model == "pgm", self.budget.accountant == "zcdp"
        return pgm and zcdp and not self.shared_by_hand and not self.task.further

    @property
    def may_keep_back(self) -> bool:
        """Whether a part of what the pairs have may wait for what a private choice finds.

        Not where the curator fixed the share of a marginal with Y or said what features count.
        """
        return (
            self.by_rounds
            and self.synthesis.model == "pgm"
            and self.budget.accountant == "zcdp"
            and not self.task.weights
            # What is kept back would be measured beside a lock, or be missing for it once S is
            # chosen.
            and not self.shared_by_hand
            # Moments say too little of a pair to tell what the pairs get wrong.
            and not bases(self.schema, self.task)
        )

    def schema_order(self, singles: tuple[Clique, ...]) -> tuple[Clique, ...]:
        """One-way marginals in the order of the schema."""
        return tuple((name,) for name in self.schema.canonical(name for (name,) in singles))

    def weights(self, cliques: Sequence[Clique], power: float = 1.0) -> list[float]:
        """Importance of marginals, 1 on average."""
        raw = [self.weight(clique, power) for clique in cliques]
        mean = math.fsum(raw) / len(raw)
        # Mean 1, so that a pool's marginals and those still to be chosen (weight 1) compare.
        return [weight / mean for weight in raw]

    def weight(self, clique: Clique, power: float = 1.0) -> float:
        """Importance of one marginal: by the declared weights of features, or a power of them."""
        weights = {name: weight**power for name, weight in self.task.weights.items()}
        targets = {aim.target for aim in self.aims}
        if not targets.intersection(clique):  # a product of two features
            return math.fsum(weights.get(name, 1.0) for name in clique) / len(clique)
        return marginal_weight(clique, self.aims, weights)

    def in_force(
        self, cliques: Sequence[Clique], weights: Sequence[float], pool: Pool
    ) -> Sequence[float]:
        """The weights by which a pool is shared out; the background has none of its own."""
        if pool == "task" and self.task.weights and self.budget.allocation == "balanced":
            return self.weights(cliques, WEIGHT_POWER)
        return weights

    def queries(
        self,
        cliques: Sequence[Clique],
        weights: Sequence[float],
        amount: float,
        kind: QueryKind,
        pool: Pool,
        delta: float,
        later: Sequence[float] = (),
    ) -> tuple[tuple[Query, ...], float]:
        """Queries of a pool, and what is kept for marginals of the costs `later`."""
        linear = linear_queries(self.schema, self.task, cliques, pool)
        cells = [
            numbers(self.schema, clique, query)
            for clique, query in zip(cliques, linear, strict=True)
        ]
        in_force = self.in_force(cliques, weights, pool)
        costs = [
            cost(weight, size, query, self.contribution)
            for weight, size, query in zip(in_force, cells, linear, strict=True)
        ]
        shares = held(self.budget.locks, cliques)
        # A lock's share is of the whole budget, and not of the pool that it lies in.
        locked = {place: share * self.total for place, share in shares.items()}
        parts = allocated(amount, [*costs, *later], self.budget, locked)
        queries: list[Query] = []
        for place, (clique, weight, size) in enumerate(zip(cliques, weights, cells, strict=True)):
            part = parts[place]
            event = self.accountant.gaussian(part, delta, " × ".join(clique))
            query = linear[place]
            # Weight 1: the error is the marginal's own. The query's sensitivity is in it, so
            # sigma is still that of counts.
            error = cost(1.0, size, query, self.contribution)
            error = expected_relative_error(error, event.sigma, self.mass)
            event = stretched(event, query, self.contribution)
            queries.append(
                Query(
                    clique=clique,
                    kind=kind_of(kind, clique, query),
                    pool=pool,
                    cells=size,
                    weight=weight,
                    # A locked share as it was typed: multiplied and divided by the total it may
                    # lose its last digit.
                    share=shares.get(place, part / self.total),
                    event=event,
                    relative_error=error,
                    locked=place in locked,
                    linear=query,
                )
            )
        return tuple(queries), math.fsum(parts[len(costs) :])


def allocated(
    amount: float, costs: Sequence[float], budget: Budget, locked: Mapping[int, float] | None = None
) -> tuple[float, ...]:
    """Shared out as the budget says."""
    return allocate(
        amount,
        costs,
        budget.allocation,
        accountant(budget.accountant).exponent,
        tilt=budget.tilt,
        locked=locked,
    )
