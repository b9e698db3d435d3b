"""The background pool: columns outside the task marginals, and pairs that tie them together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.errors import BudgetError
from prism_core.planning.plan import TreeChoice, expected_relative_error
from prism_core.planning.workload import (
    ForestCandidates,
    ThreeWayCandidates,
    forest_candidates,
)

if TYPE_CHECKING:
    from prism_core.planning.frame import Frame
    from prism_core.planning.junction_tree import Clique
    from prism_core.planning.plan import Query

TREE_CHOICE_SHARE = 1.0 / 3.0
"""Part of the background pool for choosing pairs, as in MST (McKenna et al. 2021)."""

FOREST_LIMIT = 0.1
"""Largest expected error of a typical pair, over n, for tying features of S where no round fits.

It holds for classes: Adult lost .004 to .010 of AUC at .13 and above (four seeds). A number needs
its scale, which features taken for independent given Y exaggerate: houses and diabetes gained
R² from ties (.03 at an error of .04, .08 of boosting at .5) and lost none at any."""


def forest_for(
    frame: Frame, measured: tuple[Clique, ...], joined: tuple[str, ...],
    triples: ThreeWayCandidates | None,
) -> ForestCandidates | None:  # fmt: skip
    """The candidates for pairs of features; None where there is nothing to tie or no budget."""
    if frame.synthesis.model == "naive_bayes" or frame.budget.shares.background == 0.0:
        return None
    base = sum(map(frame.schema.cells, measured))
    found = forest_candidates(frame.schema, frame.task.target_names, joined, base)
    if triples is not None:  # its pairs are the first of the same forest
        found = replace(found, rounds=found.rounds - triples.rounds)
    return found if found.rounds else None


def ties_pay(frame: Frame, measured: tuple[Clique, ...], singles: tuple[Clique, ...]) -> bool:
    """Whether pairs of the forest within S are worth their noise. Known before any choice."""
    if frame.schema[frame.task.target].is_number:
        return True
    forest = forest_for(frame, measured, (), None)
    if forest is None:
        return False
    _, tree = background_queries(frame, singles, forest, frame.pools()["background"], 0.0)
    assert tree is not None
    return expected_relative_error(tree.cells, tree.sigma, frame.n) <= FOREST_LIMIT


def background_queries(
    frame: Frame, singles: tuple[Clique, ...], forest: ForestCandidates | None, share: float,
    delta: float,
) -> tuple[tuple[Query, ...], TreeChoice | None]:  # fmt: skip
    """One-way marginals, and the pairs to be chosen, from a share of the whole.

    Raises:
        BudgetError: when columns are in no task marginal and nothing is left for them.
    """
    pool = frame.total * share
    if singles and share <= 0.0:
        raise BudgetError(
            "The background pool needs a share above 0: some columns are in no task marginal.",
            field="shares",
        )
    if forest is None:
        if not singles:
            return (), None
        weights = [1.0] * len(singles)
        return frame.queries(singles, weights, pool, "one-way", "background", delta)[0], None
    choosing = pool * TREE_CHOICE_SHARE
    # Shared between one-ways and pairs not known yet: these count with their mean cells.
    mean = forest.pairs.cells / len(forest.pairs)
    queries, tree_amount = frame.queries(
        singles, [1.0] * len(singles), pool - choosing, "one-way", "background", delta,
        [mean] * forest.rounds,
    )  # fmt: skip
    typical = frame.accountant.gaussian(tree_amount / forest.rounds, delta, "")
    tree = TreeChoice(
        candidates=forest.pairs, joined=forest.joined, rounds=forest.rounds,
        choice_share=choosing / frame.total, measure_share=tree_amount / frame.total,
        amount=tree_amount, delta=delta, sigma=typical.sigma, cells=mean,
        event=frame.accountant.exponential(
            choosing, forest.rounds, "choosing background pairs"
        ),
    )  # fmt: skip
    return queries, tree
