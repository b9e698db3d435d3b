"""The private choice of 3-way marginals (X_i, X_j, Y) within S."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import networkx as nx

from prism_core.privacy.information import conditional_information
from prism_core.privacy.mechanisms import guard, private_choice
from prism_core.privacy.scores import model_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.data.source import Rows
    from prism_core.planning.junction_tree import Clique
    from prism_core.planning.plan import Plan, ThreeWayChoice
    from prism_core.privacy.noise import NoiseSource
    from prism_core.synthesis.model import Model


def choose_three_way(
    table: Rows,
    plan: Plan,
    model: Model,
    noise: NoiseSource,
    step: Callable[[], None] = lambda: None,
) -> tuple[Clique, ...]:
    """Pairs (X_i, X_j) of S that are measured together with Y; they form a forest over S.

    Rounds of the exponential mechanism, as many as planned. Each takes, among the pairs that
    join two components, one with a high score: I(X_i; X_j | Y) in nats (`cmi`, the paper), or
    the l1 error in counts of the model so far, less the expected noise of measuring the
    marginal (`model_error`; the noise is data-free).

    Args:
        table: the private rows.
        plan: holds the candidates and the budget of the choice.
        model: fitted to noisy measurements only (post-processing); used by `model_error`.
        noise: where the randomness comes from.
        step: called before each round; may raise to stop.

    Spends: the 3-way event of the plan: `rounds` choices of the same epsilon.
    """
    choice = plan.three_way
    if choice is None:
        return ()
    guard(table, noise)
    step()
    scores = _scores(table, plan, choice, model)
    joined = nx.utils.UnionFind(plan.s)
    chosen: list[Clique] = []
    for place in range(choice.rounds):
        if place:
            step()
        open_pairs = [pair for pair in choice.candidates if joined[pair[0]] != joined[pair[1]]]
        index = private_choice(
            table,
            lambda _, open_pairs=open_pairs: [scores[pair] for pair in open_pairs],
            sensitivity=choice.sensitivity,
            epsilon=choice.event.epsilon,
            noise=noise,
        )
        chosen.append(open_pairs[index])
        joined.union(*open_pairs[index])
    return tuple(chosen)


def _scores(table: Rows, plan: Plan, choice: ThreeWayChoice, model: Model) -> dict[Clique, float]:
    """The score of every candidate. Reads private rows: for `private_choice` only."""
    cliques = [(*pair, plan.task.target) for pair in choice.candidates]
    found = zip(choice.candidates, cliques, table.counts(cliques), strict=True)
    if choice.rule == "cmi":
        return {pair: conditional_information(counts) for pair, _, counts in found}
    penalty = math.sqrt(2.0 / math.pi) * choice.sigma
    return {
        pair: model_error(counts, model.marginal(clique)) - penalty * plan.schema.cells(clique)
        for pair, clique, counts in found
    }
