"""Shrinkage of pairs with the target: which pairs of a plan may be moved by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.plan import Plan
    from prism_core.planning.tree.junction_tree import Clique

FEWEST_LEVELS = 4
"""Deviations of the levels add up to nothing, so that fewer levels are too few to tell noise from
signal (shrinking pays from three free numbers on: James and Stein 1961)."""


def target_of_pair(schema: Schema, clique: Clique, targets: Sequence[str]) -> str | None:
    """The target of a pair that may be drawn together, else None.

    None for other than two columns, for no or two targets, for features of fewer than
    `FEWEST_LEVELS` levels, and for a numeric target: a learner by squared loss needs its scale,
    which shrinking draws to the middle (generated houses at epsilon 1: R^2 .629, shrunk .623).
    """
    held = [name for name in clique if name in targets]
    if len(clique) != 2 or len(held) != 1 or schema[held[0]].is_number:
        return None
    (feature,) = (name for name in clique if name not in held)
    return held[0] if schema.size(feature) >= FEWEST_LEVELS else None


def may_move_pairs(plan: Plan) -> bool:
    """Whether the plan's fit may move a pair with the target away from what was measured.

    Pairs are drawn together themselves, or counts of several features move them a little, those
    that are still to be chosen among them.
    """
    if plan.synthesis.model != "pgm" or plan.synthesis.pairs != "shrunk":
        return False
    targets = plan.task.target_names
    return (plan.tree is not None or plan.three_way is not None) or any(
        query.linear is None
        and (
            target_of_pair(plan.domain, query.clique, targets) is not None
            or sum(name not in targets for name in query.clique) > 1
        )
        for query in plan.queries
    )
