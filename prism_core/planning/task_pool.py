"""The task pool: pairs of S with Y or one joint, adaptive rounds or 3-way marginals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prism_core.errors import BudgetError, PlanError
from prism_core.planning.adaptive import (
    CHOICE_SHARE,
    ROUNDS_SHARE,
    AdaptiveRounds,
    adaptive_rounds,
    best_features,
)
from prism_core.planning.frame import allocated
from prism_core.planning.numeric import linear_queries
from prism_core.planning.plan import ThreeWayChoice
from prism_core.planning.targets import free_features
from prism_core.planning.workload import (
    ThreeWayCandidates,
    forest_candidates,
    three_way_candidates,
)
from prism_core.privacy.information import conditional_information_sensitivity
from prism_core.privacy.scores import MODEL_ERROR_SENSITIVITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.frame import Frame
    from prism_core.planning.junction_tree import Clique
    from prism_core.planning.plan import Query, QueryKind


def joint_cells(frame: Frame, s: tuple[str, ...], pairs: tuple[Clique, ...], share: float) -> int:
    """Cells of (S, Y) when measuring it at once has less expected error than its pairs.

    Otherwise the most cells that a joint of another, smaller S could have (0 for none).
    """
    if len(s) < 2 or frame.task.weights or frame.task.further:
        return 0
    delta = frame.delta / len(pairs)
    amount = frame.total * share
    sigma = frame.accountant.gaussian(amount, delta, "").sigma
    if any(linear_queries(frame.schema, frame.task, pairs, "task")):  # wanted instead of cells
        most = min(frame.schema.cells((*s, frame.task.target)) - 1, frame.task.max_joint_cells)
        return max(0, most)
    sizes = [frame.schema.cells(pair) for pair in pairs]
    amounts = allocated(amount, sizes, frame.budget)
    apart = math.fsum(
        size * frame.accountant.gaussian(part, delta, "").sigma
        for size, part in zip(sizes, amounts, strict=True)
    )
    cells = frame.schema.cells((*s, frame.task.target))
    if cells <= frame.task.max_joint_cells and cells * sigma < apart:
        return cells
    return min(cells - 1, max(0, frame.task.max_joint_cells), math.floor(apart / sigma))


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
    """The adaptive rounds; None when not asked for or when the noise would outweigh them."""
    if not frame.by_rounds:
        return None
    needs_pgm(frame)
    if frame.budget.accountant != "zcdp":
        raise BudgetError(
            "Adaptive marginals are accounted for under zcdp; choose this accountant, or "
            "another rule for 3-way marginals.",
            field="accountant",
        )
    background = len(s) < len(frame.schema.columns) - 1
    pool = frame.total * frame.pools(background=background)["task"] * ROUNDS_SHARE
    amount = pool * (1.0 - CHOICE_SHARE)
    return adaptive_rounds(
        frame.schema, s, frame.task.target, frame.n, frame.task.max_three_way,
        lambda parts: frame.accountant.gaussian(amount / parts, 0.0, "").sigma,
    )  # fmt: skip


def may_grow(frame: Frame) -> bool:
    """Whether any S that may be chosen has adaptive rounds."""
    features = free_features(frame.schema, frame.task)
    best = best_features(frame.schema, features, frame.task.count, frame.task.target)
    return rounds_for(frame, best) is not None


def star_and_rounds(
    frame: Frame, cliques: tuple[Clique, ...], adaptive: AdaptiveRounds, share: float
) -> tuple[tuple[Query, ...], ThreeWayChoice]:
    """The pairs with the target, and the rounds after them, from the task pool."""
    rounds = share * ROUNDS_SHARE
    queries, _ = frame.queries(
        cliques, frame.weights(cliques), frame.total * (share - rounds), "pair", "task", 0.0
    )
    choosing = rounds * CHOICE_SHARE
    amount = frame.total * (rounds - choosing)
    return queries, ThreeWayChoice(
        candidates=adaptive.candidates, rounds=adaptive.parts, rule="adaptive",
        sensitivity=MODEL_ERROR_SENSITIVITY * _heaviest(frame, adaptive.candidates.pairs.names),
        choice_share=choosing,
        measure_share=rounds - choosing, amount=amount, delta=0.0,
        sigma=frame.accountant.gaussian(amount / adaptive.parts, 0.0, "").sigma,
        cells=adaptive.candidates.typical,
        event=frame.accountant.exponential(
            frame.total * choosing, adaptive.parts, "choosing adaptive marginals"
        ),
    )  # fmt: skip


def _heaviest(frame: Frame, names: Sequence[str]) -> float:
    """The largest weight of two features together: that of a score in a round."""
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
    frame: Frame, cliques: tuple[Clique, ...], triples: ThreeWayCandidates | None,
    pools: dict[str, float], delta: float,
) -> tuple[tuple[Query, ...], ThreeWayChoice | None]:  # fmt: skip
    """Pairs with the target or one joint, beside 3-way marginals chosen in one go."""
    weights = frame.weights(cliques)
    kind: QueryKind = "pair" if len(cliques[0]) == 2 else "joint"
    pool = frame.total * pools["task"]
    if triples is None:
        return frame.queries(cliques, weights, pool, kind, "task", delta)[0], None
    # Shared between pairs and 3-way marginals not known yet: these count with mean cells.
    target = frame.schema.size(frame.task.target)
    typical = target * math.fsum(map(frame.schema.cells, triples.pairs)) / len(triples.pairs)
    queries, amount = frame.queries(
        cliques, weights, pool, kind, "task", delta, [typical] * triples.rounds
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
    frame: Frame, triples: ThreeWayCandidates, share: float, amount: float, cells: float,
    delta: float,
) -> ThreeWayChoice:  # fmt: skip
    check_choice_share(share)
    by_error = frame.task.three_way == "model_error"
    return ThreeWayChoice(
        candidates=triples.pairs, rounds=triples.rounds, rule=frame.task.three_way,
        sensitivity=MODEL_ERROR_SENSITIVITY if by_error
        else conditional_information_sensitivity(frame.n),
        choice_share=share, measure_share=amount / frame.total, amount=amount, delta=delta,
        sigma=frame.accountant.gaussian(amount / triples.rounds, delta, "").sigma, cells=cells,
        event=frame.accountant.exponential(
            frame.total * share, triples.rounds, "choosing 3-way marginals"
        ),
    )  # fmt: skip
