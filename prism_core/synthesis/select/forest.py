"""The private choice of background pairs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import networkx as nx

from prism_core.privacy.mechanisms import guard, private_choice
from prism_core.privacy.scores import MODEL_ERROR_SENSITIVITY, model_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.data.source import Rows
    from prism_core.planning.junction_tree import Clique
    from prism_core.planning.plan import Plan
    from prism_core.privacy.noise import NoiseSource
    from prism_core.synthesis.model import Model


def choose_forest(
    table: Rows,
    plan: Plan,
    model: Model,
    noise: NoiseSource,
    step: Callable[[], None] = lambda: None,
) -> tuple[Clique, ...]:
    """Background pairs as a private maximum spanning forest (after MST, McKenna et al. 2021).

    Each round takes, among the pairs that join two components, one that the model of the
    measurements so far gets most wrong: l1 error in counts, less the expected noise of
    measuring the pair (data-free). The number of rounds is a fact of the schema.

    Args:
        table: the private rows.
        plan: holds the candidates and the budget of the choice.
        model: fitted to noisy measurements only (post-processing).
        noise: where the randomness comes from.
        step: called before each round; may raise to stop.

    Spends: the tree event of the plan: `rounds` choices of the same epsilon, sensitivity 2.
    """
    tree = plan.tree
    if tree is None:
        return ()
    guard(table, noise)
    step()
    errors = _pair_errors(table, plan, model)
    penalty = math.sqrt(2.0 / math.pi) * tree.sigma
    joined = nx.utils.UnionFind(name for name in plan.schema.names if name != plan.task.target)
    if len(tree.joined) > 1:
        joined.union(*tree.joined)
    for pair in tree.tied:
        joined.union(*pair)
    candidates = tuple(tree.candidates)
    chosen: list[Clique] = []
    for _ in range(tree.rounds):
        step()
        open_pairs = [pair for pair in candidates if joined[pair[0]] != joined[pair[1]]]
        index = private_choice(
            table,
            lambda _, open_pairs=open_pairs: [
                errors[pair] - penalty * plan.schema.cells(pair) for pair in open_pairs
            ],
            sensitivity=MODEL_ERROR_SENSITIVITY,
            epsilon=tree.event.epsilon,
            noise=noise,
        )
        chosen.append(open_pairs[index])
        joined.union(*open_pairs[index])
    return tuple(chosen)


def _pair_errors(table: Rows, plan: Plan, model: Model) -> dict[Clique, float]:
    """The score of every candidate. Reads private rows: for `private_choice` only."""
    assert plan.tree is not None
    pairs = tuple(plan.tree.candidates)
    return {
        pair: model_error(counts, model.marginal(pair))
        for pair, counts in zip(pairs, table.counts(pairs), strict=True)
    }
