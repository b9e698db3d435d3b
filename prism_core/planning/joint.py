"""Joint: the causes that are measured with the target at once, and why; no row is read.

Pairs (X_j, Y) say nothing of causes that act together: of a parity of four columns every pair is
even. So (T, Y) is measured at once for the causes T that the graph names, as far as its noise is
tolerable: in place of the pairs where it has less error than they have together, else beside them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.errors import PlanError, TaskError
from prism_core.planning.frame import Frame, allocated
from prism_core.planning.numeric_queries import linear_queries
from prism_core.planning.pools import rounds_for
from prism_core.planning.queries import expected_relative_error
from prism_core.text.numbers import count_text
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from prism_core.planning.tree.junction_tree import Clique

JOINT_LIMIT = 0.1
"""Largest expected l1 error of a joint beside the pairs, over n.

Half of it is the expected total variation between what is measured and the rows. Set on generated
causes without interactions and lowered on a generated hospital table (docs/defaults.md), where a
joint of .17 took half of the budget and lost .01 of AUC."""


@dataclass(frozen=True, kw_only=True)
class Joint:
    """The causes T that are measured with Y at once.

    Attributes:
        causes: of which T was taken, in schema order.
        features: T, in schema order; () where no joint is measured.
        cells: of (T, Y); of the smallest joint that was too large where none is measured.
        error: expected l1 error of that joint over n.
        asked: whether the curator named T.
        alone: whether it is measured in place of the pairs with Y.
    """

    causes: tuple[str, ...]
    features: tuple[str, ...]
    cells: int
    error: float
    asked: bool = False
    alone: bool = False

    @property
    def limit(self) -> float:
        """Largest error that is tolerable where nobody asked for the joint."""
        return JOINT_LIMIT

    @property
    def reason(self) -> str:
        """Why this joint is measured, or none: a sentence."""
        noise = f"{count_text(self.cells, 'cell')} with an expected error of {self.error:.1%} of n"
        if self.asked:
            return f"These columns were said to act together: {noise}."
        if self.alone:
            return f"{noise}: less than that of the pairs together."
        if not self.features:
            return f"A joint would have {noise}, or more; up to {JOINT_LIMIT:.0%} is tolerable."
        left = len(self.causes) - len(self.features)
        rest = f" {count_text(left, 'cause')} left out: one more would be too much." if left else ""
        return f"{noise}; up to {JOINT_LIMIT:.0%} is tolerable.{rest}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the plan's document."""
        return {
            "features": list(self.features),
            "cells": self.cells,
            "relative_error": self.error,
            "limit": JOINT_LIMIT,
            "asked": self.asked,
            "in_place_of_pairs": self.alone,
            "reason": self.reason,
        }


def joint_of(
    frame: Frame, s: tuple[str, ...], pairs: tuple[Clique, ...], share: float, *, final: bool
) -> Joint | None:
    """The joint that a plan measures, or why it has none; None where there is none to think of.

    Args:
        frame: the wishes.
        s: the features S.
        pairs: (X_j, Y) of all targets.
        share: of the whole budget for the task pool.
        final: whether S is known.

    Raises:
        TaskError, PlanError: for causes said to act together that cannot be measured so.
    """
    if frame.task.together:
        return _asked(frame, s, pairs, share)
    if not _possible(frame, s) or _linear(frame, pairs):
        return None
    cells = frame.schema.cells((*s, frame.task.target))
    sigma, apart = _noise(frame, pairs, share)
    # Both errors have the same factor sqrt(2 / pi) / n, so it is left out.
    if cells <= frame.task.max_joint_cells and cells * sigma < apart:
        error = expected_relative_error(cells, sigma, frame.mass)
        return Joint(causes=s, features=s, cells=cells, error=error, alone=True)
    return _beside(frame, s, pairs, share) if final and _goes_with_pairs(frame) else None


def causes_of(frame: Frame, s: tuple[str, ...]) -> tuple[str, ...]:
    """Features of S that the curator's knowledge makes causes of Y, in schema order.

    In the predictive regime there is no such knowledge: () unless S is all features, which may be
    measured at once or not at all.
    """
    regime, dag = frame.task.regime, frame.dag
    if regime != "graphical":
        return s if regime == "causal" or not frame.chooses else ()
    if dag is None or dag.learned:
        return ()
    return tuple(name for name in s if name in dag.measured_parents(frame.task.target))


def other_cells(frame: Frame, s: tuple[str, ...], pairs: tuple[Clique, ...], share: float) -> int:
    """The most cells of a joint that is measured in place of the pairs of another, smaller S.

    0 where there can be none. The arguments are those of `joint_of`, with the widest S there is.
    """
    if not _possible(frame, s):
        return 0
    cells = frame.schema.cells((*s, frame.task.target))
    most = min(cells - 1, max(0, frame.task.max_joint_cells))
    if _linear(frame, pairs):  # of these pairs; those of another S may be counts
        return most
    sigma, apart = _noise(frame, pairs, share)
    # No other S has pairs with more error, so a joint that beats its own pairs has no more cells.
    return min(most, math.floor(apart / sigma))


def _noise(frame: Frame, pairs: tuple[Clique, ...], share: float) -> tuple[float, float]:
    """Sigma of a joint that has all of the share, and the sum of cells sigma of the pairs."""
    delta, amount = frame.delta / len(pairs), frame.total * share
    sizes = [frame.schema.cells(pair) for pair in pairs]
    amounts = allocated(amount, sizes, frame.budget)
    apart = math.fsum(
        size * frame.accountant.gaussian(part, delta, "").sigma
        for size, part in zip(sizes, amounts, strict=True)
    )
    return frame.accountant.gaussian(amount, delta, "").sigma, apart


def _possible(frame: Frame, s: tuple[str, ...]) -> bool:
    """Whether a joint may be measured that nobody asked for.

    One feature: its pair is the joint already. Weights tell features apart, and several targets
    have no joint of their own, so both need pairs.
    """
    task = frame.task
    return len(s) > 1 and task.joint == "auto" and not task.weights and not task.further


def _linear(frame: Frame, pairs: tuple[Clique, ...]) -> bool:
    return any(linear_queries(frame.schema, frame.task, pairs, "task"))


def _goes_with_pairs(frame: Frame) -> bool:
    """Whether the model takes a joint beside the pairs.

    Naive Bayes has no place for it, several targets have none of their own, and 3-way marginals
    that are chosen in one go must be a forest over S, which a joint is not.
    """
    in_one_go = frame.task.three_way in ("cmi", "model_error")
    return frame.synthesis.model == "pgm" and not in_one_go and not frame.task.further


def _share_of_part(frame: Frame, s: tuple[str, ...], share: float) -> float:
    """What pairs and a joint of a part of S share: rounds come after them, where any fit."""
    rounds = rounds_for(frame, s)
    return share if rounds is None else share * (1.0 - rounds.share)


def _error(frame: Frame, pairs: tuple[Clique, ...], share: float, features: Clique) -> float:
    """Expected l1 error over n of (features, Y), which shares this share with the pairs."""
    joint = frame.schema.canonical((*features, frame.task.target))
    cliques = (*pairs, joint)
    sizes = [frame.schema.cells(clique) for clique in cliques]
    weights = frame.in_force(cliques, frame.weights(cliques), "task")
    costs = [weight * size for weight, size in zip(weights, sizes, strict=True)]
    part = allocated(frame.total * share, costs, frame.budget)[-1]
    sigma = frame.accountant.gaussian(part, frame.delta / len(cliques), "").sigma
    return expected_relative_error(sizes[-1], sigma, frame.mass)


def _beside(
    frame: Frame, s: tuple[str, ...], pairs: tuple[Clique, ...], share: float
) -> Joint | None:
    """The largest part of the causes whose joint is tolerable, the smallest columns first."""
    schema, task, causes = frame.schema, frame.task, causes_of(frame, s)
    if len(causes) < 2:
        return None
    of_part = _share_of_part(frame, s, share)
    # By name where sizes tie: what is measured must not hang on the order of the columns.
    ordered = sorted(causes, key=lambda name: (schema.size(name), name))
    parts = [schema.canonical(ordered[:count]) for count in range(2, len(ordered) + 1)]
    best: Joint | None = None
    for part in parts:
        cells = schema.cells((*part, task.target))
        # All of S at once leaves nothing to rounds, so it has their share as well.
        its = _error(frame, pairs, share if part == s else of_part, part)
        # `not <=`, so that NaN is no joint.
        if cells > task.max_joint_cells or not its <= JOINT_LIMIT:
            # Without a graph nothing says which columns to leave out.
            if best is None or task.regime == "predictive":
                best = Joint(causes=causes, features=(), cells=cells, error=its)
            break
        best = Joint(causes=causes, features=part, cells=cells, error=its)
    return best


def _asked(frame: Frame, s: tuple[str, ...], pairs: tuple[Clique, ...], share: float) -> Joint:
    """The joint of the columns that the curator said act together, whatever its noise.

    Raises:
        TaskError: for a column that is not in S, or S not known before the run.
        PlanError: for too many cells, or a model or rule that no joint goes with.
    """
    schema, task = frame.schema, frame.task
    strangers = [name for name in task.together if name not in s]
    if strangers or frame.chooses:
        why = (
            "the features are chosen privately, and which they are is not known before"
            if frame.chooses
            else f"{strangers[0]!r} is no feature of S"
        )
        raise TaskError(
            f"Columns that act together are measured with the target where they are in S, and "
            f"{why}. Name features of S: in the causal regime causes of the target, in the "
            f"predictive one any, where k asks for all.{suggestion((strangers or ('',))[0], s)}",
            field="together",
        )
    if not _goes_with_pairs(frame):
        raise PlanError(
            "Columns that act together need the graphical model, a single target, and no 3-way "
            "marginals that are chosen in one go. Choose the model pgm and three_way auto, "
            "adaptive or none.",
            field="together",
        )
    features = schema.canonical(task.together)
    cells = schema.cells((*features, task.target))
    if cells > task.max_joint_cells:
        raise PlanError(
            f"The joint of {', '.join(features)} and {task.target} has {cells:,} cells; at most "
            f"{task.max_joint_cells:,} are measured at once. Leave a column out, declare fewer "
            "bins or levels, or raise max_joint_cells.",
            field="together",
        )
    # As in `_beside`: all of S at once leaves nothing to rounds.
    shared = share if features == s else _share_of_part(frame, s, share)
    error = _error(frame, pairs, shared, features)
    return Joint(causes=features, features=features, cells=cells, error=error, asked=True)
