"""Use of every column: what for, how finely it is modelled and written, which groups survive.

All of it follows from the plan; no row is read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.data.schema.column import Column
    from prism_core.planning.plan import Plan

Use: TypeAlias = Literal["target", "used", "open", "context"]

# A normal count passes twice its noise by chance 1 time in 40: below it, a group is not told from
# none.
TIMES_NOISE = 2.0
"""How many times the noise of its count a group must have to survive it."""


@dataclass(frozen=True, kw_only=True)
class ColumnUse:
    """What one column is for.

    Attributes:
        name: of the column.
        use: `target`; `used` to predict it; `open` while the choice is made at run time; `context`
            for what is published only beside them.
        bands: bands that its values fall into; 0 where it has levels.
        levels: levels, or groups of codes; 0 where it has bands.
        written: what recipients see: "days", "whole numbers", "numbers", "codes", or "levels".
        smallest: people that a level must have to survive the noise; None while it is not known.
    """

    name: str
    use: Use
    bands: int
    levels: int
    written: str
    smallest: int | None


def column_uses(plan: Plan) -> tuple[ColumnUse, ...]:
    """Every column of a plan, in schema order. Reads no row, spends nothing."""
    return tuple(
        ColumnUse(
            name=column.name,
            use=_use(plan, column.name),
            bands=len(column.edges) + 1 if column.binned else 0,
            levels=0 if column.binned else column.level_count,
            written=_written(column),
            smallest=smallest_group(plan, column.name),
        )
        for column in plan.schema.columns
    )


def named(uses: Iterable[ColumnUse], *kinds: Use) -> list[str]:
    """Names of the columns of these uses."""
    return [one.name for one in uses if one.use in kinds]


def smallest_group(plan: Plan, name: str) -> int | None:
    """People that a level of a column must have to be told from noise; None while not known.

    The count of a level is a cell of a one-way marginal, or a sum of m cells of a larger one, whose
    noise is sigma sqrt(m). The marginal with the least noise is taken, and `TIMES_NOISE` of it,
    rounded up. What is still to be chosen at run time, and moments, are left out.
    """
    size = plan.sizes[name]
    noises = [
        query.sigma * math.sqrt(query.cells / size)
        for query in plan.queries
        if name in query.clique and query.linear is None
    ]
    return math.ceil(TIMES_NOISE * min(noises)) if noises else None


def not_preserved(target: str) -> str:
    """The sentence on a column whose link to the target is not preserved."""
    return (
        f"Published, but its link to {target} is not preserved: do not study fairness or causes "
        "with it."
    )


def _use(plan: Plan, name: str) -> Use:
    if name in plan.task.target_names:
        return "target"
    # Before S is asked: a plan with choices to come holds none of it yet.
    if not plan.s_is_final:
        return "open"
    return "used" if name in plan.s else "context"


def _written(column: Column) -> str:
    if column.kind == "date":
        return "days"
    if column.binned:
        return "whole numbers" if column.decimals == 0 else "numbers"
    return "levels" if column.groups is None else "codes"
