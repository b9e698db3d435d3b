"""Queries of a plan and its private choices: what is measured, and what is still to be chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from prism_core.planning.regression import STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.linear_queries import LinearQuery
    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.planning.wishes.task import SelectionRule, ThreeWayRule
    from prism_core.privacy.events import ExponentialEvent, GaussianEvent

Pool: TypeAlias = Literal["selection", "choice", "task", "background"]
QueryKind: TypeAlias = Literal[
    "fine",
    "pair",
    "joint",
    "interaction",
    "again",
    "three-way",
    "adaptive",
    "one-way",
    "tree",
    "moments",
    "thresholds",
    "product",
]


@dataclass(frozen=True, kw_only=True)
class Query:
    """One marginal to be measured.

    Attributes:
        clique: its columns, in schema order.
        kind: fine (a pair on the fine grid, to find parts), pair (X_j, Y), joint of several
            features of S with Y, interaction (such a joint that was found privately), again (a
            pair once more, with budget that was kept back), three-way (X_i, X_j, Y), adaptive
            (either of the two, picked round by round), one-way X_j, or tree (X_i, X_j); or a
            linear query: moments or thresholds of X_j with Y, or the product X_i X_j.
        pool: the pool that pays.
        cells: cells of the marginal; of a linear query how many numbers are measured.
        weight: task weight, mean 1 within a pool.
        share: of the whole budget (rho or epsilon).
        event: what measuring it spends; holds sigma in counts, or in units of 1 / grid of a linear
            query.
        relative_error: expected l1 error divided by n.
        locked: whether its share is fixed by hand.
        parts: of an adaptive marginal: equal parts of the rounds' budget that it took.
        linear: what of the marginal is measured; its counts when None.
    """

    clique: Clique
    kind: QueryKind
    pool: Pool
    cells: int
    weight: float
    share: float
    event: GaussianEvent
    relative_error: float
    locked: bool = False
    parts: int = 1
    linear: LinearQuery | None = None

    @property
    def sigma(self) -> float:
        """Scale of the noise as it is drawn: in counts, or in units of 1 / grid."""
        return self.event.sigma

    @property
    def noise(self) -> float:
        """Scale of the noise for people to read: in counts, or in sums of phi (|phi| <= 1)."""
        return self.sigma if self.linear is None else self.sigma / self.linear.grid

    @property
    def unit(self) -> float:
        """Noise at equal spending, beside that of counts: sensitivity over sqrt(2)."""
        return 1.0 if self.linear is None else self.linear.unit

    @property
    def label(self) -> str:
        """The marginal in words."""
        name = " × ".join(self.clique)
        if self.kind == "fine":
            return f"{name}, fine grid"
        return name if self.linear is None else f"{name}, {self.kind}"


@dataclass(frozen=True, kw_only=True)
class SelectionChoice:
    """k features to be chosen privately at run time (predictive regime).

    Attributes:
        candidates: all features.
        k: features chosen.
        rule: round by round, or in one shot; and by which score.
        sensitivity: of the score: 3 / n for R and one row a person, in nats for mutual
            information; of the gradient for a regression.
        share: of the whole budget.
        event: the k rounds, or one step of the private regression.
    """

    candidates: tuple[str, ...]
    k: int
    rule: SelectionRule
    sensitivity: float
    share: float
    event: ExponentialEvent | GaussianEvent

    @property
    def steps(self) -> int:
        """How often the rows are asked."""
        if self.rule == "logistic":
            return STEPS
        return self.k if self.rule == "greedy" else 1

    @property
    def events(self) -> tuple[ExponentialEvent | GaussianEvent, ...]:
        """All that the choice spends; an event of rounds counts them itself."""
        return (self.event,) * (STEPS if self.rule == "logistic" else 1)


@dataclass(frozen=True, kw_only=True)
class ThreeWayChoice:
    """Marginals (X_i, X_j, Y) within S to be chosen privately at run time.

    The chosen pairs (X_i, X_j) form a forest over S, so that with Y on top no clique of the
    junction tree outgrows the largest candidate. The rule `adaptive` picks marginals (X_i, X_j),
    too, may close cycles, and stops where the junction tree has grown enough.

    Attributes:
        candidates: pairs (X_i, X_j) of features in S; Y comes to each. Of `adaptive`: the
            marginals themselves.
        rounds: how many are chosen; the same whatever the rows hold. Of `adaptive`: the equal
            parts of the budget, of which a round takes one or more, so at most as many are chosen.
        rule: the score: conditional mutual information, or the error of the model so far.
        sensitivity: of the score: in nats for `cmi`, 2 (in counts) for `model_error`.
        choice_share: of the whole budget, for choosing.
        measure_share: of the whole budget, for measuring the chosen marginals.
        amount: rho or epsilon for measuring them.
        delta: for each of them (basic composition only).
        sigma: noise of each if all had equal cells, in counts. Of `adaptive`: of one part.
        cells: mean cells of a candidate with Y; of `adaptive` the median cells of a candidate.
        event: the choice.
        bar: of ties: the score of finding nothing, in counts, which ends them; else None.
    """

    candidates: Sequence[Clique]
    rounds: int
    rule: ThreeWayRule
    sensitivity: float
    choice_share: float
    measure_share: float
    amount: float
    delta: float
    sigma: float
    cells: float
    event: ExponentialEvent
    bar: float | None = None

    @property
    def words(self) -> str:
        """What is chosen, in words."""
        if self.bar is not None:
            return "ties of two features"
        return "adaptive marginals" if self.rule == "adaptive" else "3-way marginals"

    @property
    def pool(self) -> Pool:
        """The pool that pays for the choice."""
        return "task" if self.rule == "adaptive" else "choice"


@dataclass(frozen=True, kw_only=True)
class TreeChoice:
    """Background pairs to be chosen privately at run time as a spanning forest.

    Attributes:
        candidates: pairs that may be chosen; the target is in none of them.
        joined: columns already tied together (S when its joint is measured).
        rounds: number of pairs in the forest; the same whatever the rows hold.
        choice_share: of the whole budget, for choosing.
        measure_share: of the whole budget, for measuring the chosen pairs.
        amount: rho or epsilon for measuring them.
        delta: for each of them (basic composition only).
        sigma: noise of each if all had equal cells, in counts.
        cells: mean cells of a candidate.
        event: the choice.
        tied: pairs of columns tied together by a chosen 3-way marginal.
    """

    candidates: Sequence[Clique]
    joined: tuple[str, ...]
    rounds: int
    choice_share: float
    measure_share: float
    amount: float
    delta: float
    sigma: float
    cells: float
    event: ExponentialEvent
    tied: tuple[Clique, ...] = ()


def expected_relative_error(cells: float, sigma: float, n: int) -> float:
    """Expected l1 error of a marginal over n: cells sigma sqrt(2 / pi) / n.

    E|N(0, sigma^2)| = sigma sqrt(2 / pi); an expectation, not a guarantee.
    """
    # The continuous Gaussian's mean stands for that of the integers drawn.
    return cells * sigma * math.sqrt(2.0 / math.pi) / n


def query_dict(query: Query) -> dict[str, Any]:
    """A query as plain values for JSON."""
    return {
        "clique": list(query.clique),
        "kind": query.kind,
        "pool": query.pool,
        "cells": query.cells,
        "weight": query.weight,
        "share": query.share,
        "sigma": query.sigma,
        "relative_error": query.relative_error,
        # Only where they say something: entries for all would change the hash of older plans.
        **({"locked": True} if query.locked else {}),
        **({"parts": query.parts} if query.kind == "adaptive" else {}),
        **_linear_dict(query),
    }


def _linear_dict(query: Query) -> dict[str, Any]:
    """What a linear query is; nothing for counts."""
    linear = query.linear
    if linear is None:
        return {}
    return {
        "query": linear.spec(),
        "grid": linear.grid,
        "sensitivity": query.event.sensitivity,
        "unit": linear.unit,
    }
