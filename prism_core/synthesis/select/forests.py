"""Private choices of forests: 3-way marginals (X_i, X_j, Y) within S, and background pairs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from prism_core.privacy.mechanisms import check_noise_of_table, private_choice
from prism_core.privacy.scores import conditional_information, model_error, model_error_sensitivity
from prism_core.synthesis.naive_bayes import NaiveBayes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan
    from prism_core.planning.queries import ThreeWayChoice
    from prism_core.planning.tree.junction_tree import Clique
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
    # Refused before a row is counted, not only by the first mechanism.
    check_noise_of_table(table, noise)
    step()
    # Once: the model stays the same for all rounds.
    scores = _scores(table, plan, choice, model)
    joined = nx.utils.UnionFind(plan.s)
    chosen: list[Clique] = []
    for place in range(choice.rounds):
        if place:
            step()
        # A pair within one tree would close a cycle, and cliques would grow beyond (X_i, X_j, Y).
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
    # The mean of |N(0, sigma)|, for each cell.
    penalty = math.sqrt(2.0 / math.pi) * choice.sigma
    return {
        pair: model_error(counts, model.marginal(clique)) - penalty * plan.domain.cells(clique)
        for pair, clique, counts in found
    }


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

    Spends: the tree event of the plan: `rounds` choices of the same epsilon, sensitivity 2
    (for one row a person).
    """
    tree = plan.tree
    if tree is None:
        return ()
    # Refused before a row is counted, not only by the first mechanism.
    check_noise_of_table(table, noise)
    step()
    candidates = tuple(tree.candidates)
    penalty = math.sqrt(2.0 / math.pi) * tree.sigma
    scores = _pair_errors(table, candidates, model)
    scores -= penalty * np.array([plan.domain.cells(pair) for pair in candidates])
    trees = _Trees(plan.domain.names, (tree.joined, *tree.tied))
    ends = trees.places(candidates)
    chosen: list[Clique] = []
    for _ in range(tree.rounds):
        step()
        open_pairs = trees.apart(ends)
        index = private_choice(
            table,
            lambda _, open_pairs=open_pairs: scores[open_pairs],
            sensitivity=model_error_sensitivity(table.contribution),
            epsilon=tree.event.epsilon,
            noise=noise,
        )
        chosen.append(candidates[open_pairs[index]])
        trees.join(chosen[-1])
    return tuple(chosen)


class _Trees:
    """Columns by the tree they are in: a wide table has twenty thousand pairs to look through."""

    def __init__(self, names: Sequence[str], joined: Sequence[Sequence[str]]) -> None:
        self._place = {name: place for place, name in enumerate(names)}
        self._tree = np.arange(len(names))
        for group in joined:
            self.join(group)

    def places(self, pairs: Sequence[Clique]) -> NDArray[np.intp]:
        """Places of the columns of every pair, shape (pairs, 2)."""
        return np.array([[self._place[u], self._place[v]] for u, v in pairs], dtype=np.intp)

    def join(self, names: Sequence[str]) -> None:
        """Make one tree of those of these columns."""
        trees = {self._tree[self._place[name]] for name in names}
        self._tree[np.isin(self._tree, list(trees))] = min(trees, default=0)

    def apart(self, ends: NDArray[np.intp]) -> NDArray[np.intp]:
        """Which pairs join two trees."""
        return np.flatnonzero(self._tree[ends[:, 0]] != self._tree[ends[:, 1]])


def _pair_errors(table: Rows, pairs: Sequence[Clique], model: Model) -> NDArray[np.float64]:
    """The l1 error of every pair. Reads private rows: for `private_choice` only."""
    expected = model.pairs(pairs) if isinstance(model, NaiveBayes) else map(model.marginal, pairs)
    both = zip(table.counts(pairs), expected, strict=True)
    return np.array([model_error(counts, guess) for counts, guess in both])
