"""Pools of a plan: queries and private choices that the task, background and selection pay for.

Task: pairs of S with Y or one joint, adaptive rounds or 3-way marginals. Background: columns
outside
the task marginals, and pairs that tie them together. Selection: features that are chosen privately.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.errors import BudgetError, PlanError
from prism_core.planning.adaptive_rounds import (
    CHOICE_SHARE,
    ROUNDS_SHARE,
    AdaptiveRounds,
    adaptive_rounds,
    best_features,
)
from prism_core.planning.candidates import (
    ForestCandidates,
    ThreeWayCandidates,
    forest_candidates,
    three_way_candidates,
)
from prism_core.planning.queries import (
    Query,
    SelectionChoice,
    ThreeWayChoice,
    TreeChoice,
    expected_relative_error,
)
from prism_core.planning.regimes import free_features, selection_parts
from prism_core.planning.regression import STEPS, regression_of
from prism_core.planning.ties import bar_of, ties_for
from prism_core.privacy.events import rescaled
from prism_core.privacy.scores import (
    association_sensitivity,
    conditional_information_sensitivity,
    model_error_sensitivity,
    mutual_information_sensitivity,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.frame import Frame
    from prism_core.planning.tree.junction_tree import Clique


def check_products(frame: Frame, *, some: bool) -> None:
    """Products tie features of S together; so do 3-way marginals, which count on a forest."""
    if not some:
        return
    if frame.task.three_way in ("cmi", "model_error"):
        raise PlanError(
            "Products of numeric columns do not go together with 3-way marginals that form a "
            "tree. Choose adaptive marginals or none, or moments without products.",
            field="three_way",
        )
    if frame.synthesis.model == "naive_bayes":
        raise PlanError(
            "Products of numeric columns need the graphical model: naive Bayes takes features "
            "to be independent given the target. Choose the model pgm, or moments alone.",
            field="numeric_queries",
        )


def needs_pgm(frame: Frame) -> None:
    """Refuse 3-way marginals with naive Bayes.

    Raises:
        PlanError: naming what to choose instead.
    """
    if frame.synthesis.model == "naive_bayes":
        raise PlanError(
            "3-way marginals need the graphical model: naive Bayes takes features to be "
            "independent given the target. Choose the model pgm, or no 3-way marginals.",
            field="three_way",
        )


def rounds_for(frame: Frame, s: tuple[str, ...]) -> AdaptiveRounds | None:
    """The adaptive rounds, or ties; None when not asked for or the noise would outweigh them."""
    if not frame.by_rounds:
        return None
    needs_pgm(frame)
    if frame.budget.accountant != "zcdp":
        raise BudgetError(
            "Adaptive marginals are accounted for under zcdp; choose this accountant, or "
            "another rule for 3-way marginals.",
            field="accountant",
        )
    # The forest is planned after the rounds, so columns outside S stand for its pool here.
    background = len(s) < len(frame.schema.columns) - 1
    pool = frame.total * frame.pools(background=background)["task"] * ROUNDS_SHARE
    amount = pool * (1.0 - CHOICE_SHARE)
    found = adaptive_rounds(
        frame.schema,
        s,
        frame.task.target,
        frame.mass,
        frame.task.max_three_way,
        lambda parts: frame.accountant.gaussian(amount / parts, 0.0, "").sigma,
    )
    return ties_for(frame, s) if found is None else found


def may_grow(frame: Frame) -> bool:
    """Whether any S that may be chosen has adaptive rounds."""
    features = free_features(frame.schema, frame.task)
    best = best_features(frame.schema, features, frame.task.count, frame.task.target)
    return rounds_for(frame, best) is not None


def star_and_rounds(
    frame: Frame,
    cliques: tuple[Clique, ...],
    adaptive: AdaptiveRounds,
    share: float,
    rounds: float,
) -> tuple[tuple[Query, ...], ThreeWayChoice]:
    """The pairs with the target, and the rounds after them, from their shares of the whole."""
    # No delta of their own: rounds are refused but under zCDP, where rho is all that is shared
    # out.
    queries, _ = frame.queries(
        cliques, frame.weights(cliques), frame.total * share, "pair", "task", 0.0
    )
    choosing = rounds * adaptive.choice_share
    amount = frame.total * (rounds - choosing)
    event = frame.accountant.exponential(
        frame.total * choosing, adaptive.parts, "choosing adaptive marginals"
    )
    sensitivity = model_error_sensitivity(frame.contribution) * _heaviest(
        frame, adaptive.candidates.pairs.names
    )
    bar = None
    if adaptive.ties:
        bar = bar_of(len(adaptive.candidates.pairs.names), sensitivity, event.epsilon)
    return queries, ThreeWayChoice(
        candidates=adaptive.candidates,
        rounds=adaptive.parts,
        rule="adaptive",
        sensitivity=sensitivity,
        choice_share=choosing,
        measure_share=rounds - choosing,
        amount=amount,
        delta=0.0,
        sigma=frame.accountant.gaussian(amount / adaptive.parts, 0.0, "").sigma,
        cells=adaptive.candidates.typical,
        event=event,
        bar=bar,
    )


def _heaviest(frame: Frame, names: Sequence[str]) -> float:
    """The largest weight of two features together: that of a score in a round."""
    # Over all features, also of pairs that are no candidates: a sensitivity may be too large,
    # which costs a little accuracy, but never too small.
    weights = sorted((frame.task.weights.get(name, 1.0) for name in names), reverse=True)
    return math.fsum(weights[:2]) / 2.0


def triples_for(
    frame: Frame, s: tuple[str, ...], measured: tuple[Clique, ...]
) -> ThreeWayCandidates | None:
    """The candidates of 3-way marginals chosen in one go; None where not asked for."""
    if frame.task.three_way in ("auto", "none", "adaptive"):
        return None
    needs_pgm(frame)
    base = sum(map(frame.schema.cells, measured))
    loose = forest_candidates(frame.schema, frame.task.target, (), base)
    found = three_way_candidates(s, loose, frame.task.max_three_way)
    return found if found.rounds else None


def task_queries(
    frame: Frame,
    cliques: tuple[Clique, ...],
    triples: ThreeWayCandidates | None,
    pools: dict[str, float],
    delta: float,
) -> tuple[tuple[Query, ...], ThreeWayChoice | None]:
    """Pairs with the target, a joint, or both; beside them 3-way marginals chosen in one go."""
    weights = frame.weights(cliques)
    pool = frame.total * pools["task"]
    if triples is None:
        return frame.queries(cliques, weights, pool, "pair", "task", delta)[0], None
    # Shared between pairs and 3-way marginals not known yet: these count with mean cells.
    target = frame.schema.size(frame.task.target)
    typical = target * math.fsum(map(frame.schema.cells, triples.pairs)) / len(triples.pairs)
    queries, amount = frame.queries(
        cliques, weights, pool, "pair", "task", delta, [typical] * triples.rounds
    )
    return queries, _three_way(frame, triples, pools["choice"], amount, typical, delta)


def check_choice_share(share: float) -> None:
    """Refuse a choice of 3-way marginals that nothing is left for.

    Raises:
        BudgetError: naming the shares.
    """
    if share <= 0.0:
        raise BudgetError("Choosing 3-way marginals needs a choice share above 0.", field="shares")


def _three_way(
    frame: Frame,
    triples: ThreeWayCandidates,
    share: float,
    amount: float,
    cells: float,
    delta: float,
) -> ThreeWayChoice:
    check_choice_share(share)
    by_error = frame.task.three_way == "model_error"
    if not by_error:
        _check_single(frame, "three_way", "adaptive, model_error or none")
    return ThreeWayChoice(
        candidates=triples.pairs,
        rounds=triples.rounds,
        rule=frame.task.three_way,
        sensitivity=model_error_sensitivity(frame.contribution)
        if by_error
        else conditional_information_sensitivity(frame.n),
        choice_share=share,
        measure_share=amount / frame.total,
        amount=amount,
        delta=delta,
        sigma=frame.accountant.gaussian(amount / triples.rounds, delta, "").sigma,
        cells=cells,
        event=frame.accountant.exponential(
            frame.total * share, triples.rounds, "choosing 3-way marginals"
        ),
    )


def _check_single(frame: Frame, field: str, instead: str) -> None:
    """Refuse mutual information where people have several rows; its proof is of one replaced row.

    Raises:
        BudgetError: naming what to choose instead.
    """
    if not frame.contribution.single:
        raise BudgetError(
            f"Mutual information as a score is proven for one row a person. Choose {field} = "
            f"{instead}, or max_rows = 1.",
            field=field,
        )


TREE_CHOICE_SHARE = 1.0 / 3.0
"""Part of the background pool for choosing pairs, as in MST (McKenna et al. 2021)."""

FOREST_LIMIT = 0.1
"""Largest expected error of a typical pair, over n, for tying features of S where no round fits.

It holds for classes: Adult lost .004 to .010 of AUC at .13 and above (four seeds). A number needs
its scale, which features taken for independent given Y exaggerate: houses and diabetes gained
R² from ties (.03 at an error of .04, .08 of boosting at .5) and lost none at any."""


def forest_for(
    frame: Frame,
    measured: tuple[Clique, ...],
    joined: tuple[str, ...],
    triples: ThreeWayCandidates | None,
) -> ForestCandidates | None:
    """The candidates for pairs of features; None where there is nothing to tie or no budget."""
    # Ties between features are a gain and not needed: without a share they are left out, where
    # columns without a marginal are refused (`background_queries`).
    if frame.synthesis.model == "naive_bayes" or frame.budget.shares.background == 0.0:
        return None
    # The cells that are there anyway come off the limit of the tree before pairs are admitted.
    base = sum(map(frame.schema.cells, measured))
    found = forest_candidates(frame.schema, frame.task.target_names, joined, base)
    if triples is not None:  # its pairs are the first of the same forest
        found = replace(found, rounds=found.rounds - triples.rounds)
    return found if found.rounds else None


def ties_pay(
    frame: Frame,
    measured: tuple[Clique, ...],
    singles: tuple[Clique, ...],
    joined: tuple[str, ...] = (),
) -> bool:
    """Whether pairs of the forest within S are worth their noise. Known before any choice."""
    if frame.schema[frame.task.target].is_number:
        return True
    forest = forest_for(frame, measured, joined, None)
    if forest is None:
        return False
    # Delta 0 is only right under zCDP, the one accountant that rounds are allowed with.
    _, tree = background_queries(frame, singles, forest, frame.pools()["background"], 0.0)
    # `forest_for` gives only forests of a round or more, and these make a choice.
    assert tree is not None
    return expected_relative_error(tree.cells, tree.sigma, frame.mass) <= FOREST_LIMIT


def background_queries(
    frame: Frame,
    singles: tuple[Clique, ...],
    forest: ForestCandidates | None,
    share: float,
    delta: float,
) -> tuple[tuple[Query, ...], TreeChoice | None]:
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
        singles,
        [1.0] * len(singles),
        pool - choosing,
        "one-way",
        "background",
        delta,
        [mean] * forest.rounds,
    )
    typical = frame.accountant.gaussian(tree_amount / forest.rounds, delta, "")
    tree = TreeChoice(
        candidates=forest.pairs,
        joined=forest.joined,
        rounds=forest.rounds,
        choice_share=choosing / frame.total,
        measure_share=tree_amount / frame.total,
        amount=tree_amount,
        delta=delta,
        sigma=typical.sigma,
        cells=mean,
        event=frame.accountant.exponential(choosing, forest.rounds, "choosing background pairs"),
    )
    return queries, tree


def selections_of(frame: Frame, share: float) -> tuple[SelectionChoice, ...]:
    """The choice of each target; they share the pool by the targets' weights."""
    if share <= 0.0:
        if frame.chooses:
            raise BudgetError(
                "The predictive regime needs a selection share above 0.", field="shares"
            )
        return ()
    parts = selection_parts([target.weight for target in frame.task.targets])
    return tuple(
        _selection(frame, target.name, share * part, frame.taken * part)
        for target, part in zip(frame.task.targets, parts, strict=True)
    )


def _selection(frame: Frame, target: str, share: float, taken: float) -> SelectionChoice:
    amount, count = frame.total * share, frame.task.count
    candidates = free_features(frame.schema, frame.task)
    if frame.task.selection == "logistic":
        regression = regression_of(frame.schema, candidates, target)
        sensitivity = regression.moved(frame.contribution)
        label = "step of the regression that chooses features"
        step = frame.accountant.gaussian(amount / STEPS, taken / STEPS, label)
        # The accountant gives sigma for counts; a gradient moves by another amount, at the same
        # rho.
        event = rescaled(step, sensitivity, label)
    else:
        sensitivity = _score_sensitivity(frame, target)
        event = frame.accountant.exponential(amount, count, "choosing features")
    return SelectionChoice(
        candidates=candidates,
        k=count,
        rule=frame.task.selection,
        sensitivity=sensitivity,
        share=share,
        event=event,
    )


def _score_sensitivity(frame: Frame, target: str) -> float:
    """The largest sensitivity of any candidate's score, by the declared domain alone."""
    if frame.task.selection != "mutual_information":
        return association_sensitivity(frame.n, frame.contribution)
    _check_single(frame, "selection", "greedy, one_shot or logistic")
    features = map(frame.schema.size, free_features(frame.schema, frame.task))
    # The smaller constant needs a binary column in every pair scored; one score for all pairs has
    # one sensitivity.
    binary = frame.schema.size(target) <= 2 or max(features) <= 2
    return mutual_information_sensitivity(frame.n, binary=binary)
