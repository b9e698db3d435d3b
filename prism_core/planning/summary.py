"""A plan as lines of a table: what is paid for, with what noise, for what error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.planning.plan import expected_relative_error

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan, Query, ThreeWayChoice


@dataclass(frozen=True, kw_only=True)
class PlanLine:
    """One line of the budget.

    Attributes:
        label: what is measured or chosen.
        pool: selection, choice, task or background.
        cells: cells of the marginal; the mean for pairs still to be chosen; None for choices.
        share: of the whole budget, 0 to 1.
        sigma: noise of one cell, in counts; None for choices.
        relative_error: expected l1 error over n; None for choices.
        times: how many marginals the line stands for.
    """

    label: str
    pool: str
    cells: int | None
    share: float
    sigma: float | None
    relative_error: float | None
    times: int = 1

    @property
    def measured(self) -> bool:
        """Whether the line is a measurement rather than a private choice."""
        return self.sigma is not None


def lines(plan: Plan) -> tuple[PlanLine, ...]:
    """The whole budget; shares add up to 1 (but for rounding to the safe side)."""
    found: list[PlanLine] = []
    if plan.selection is not None:
        found.append(
            PlanLine(
                label=f"choosing {plan.selection.k} of {len(plan.selection.candidates)} features",
                pool="selection",
                cells=None,
                share=plan.selection.share,
                sigma=None,
                relative_error=None,
            )
        )
    found += [_query_line(query) for query in plan.queries]
    if plan.unused:
        found.append(
            PlanLine(
                label=f"{len(plan.unused)} rounds not needed (they count as spent)", pool="task",
                cells=None, share=math.fsum(event.rho for event in plan.unused) / plan.total,
                sigma=None, relative_error=None,
            )
        )  # fmt: skip
    found += [*_three_way(plan), *_tree(plan)]
    return tuple(found)


def _up_to(three: ThreeWayChoice) -> str:
    return "up to " if three.rule == "adaptive" else ""


def _three_way(plan: Plan) -> list[PlanLine]:
    three = plan.three_way
    if three is None:
        return []
    choosing = PlanLine(
        label=f"choosing {_up_to(three)}{three.rounds} {three.words}", pool=three.pool, cells=None,
        share=three.choice_share, sigma=None, relative_error=None,
    )  # fmt: skip
    measuring = PlanLine(
        label=f"{_up_to(three)}{three.rounds} {three.words}, once chosen", pool="task",
        cells=round(three.cells), share=three.measure_share, sigma=three.sigma,
        relative_error=expected_relative_error(three.cells, three.sigma, plan.n),
        times=three.rounds,
    )  # fmt: skip
    return [choosing, measuring]


def _tree(plan: Plan) -> list[PlanLine]:
    tree = plan.tree
    if tree is None:
        return []
    choosing = PlanLine(
        label=f"choosing {tree.rounds} background pairs", pool="background", cells=None,
        share=tree.choice_share, sigma=None, relative_error=None,
    )  # fmt: skip
    measuring = PlanLine(
        label=f"{tree.rounds} background pairs, once chosen", pool="background",
        cells=round(tree.cells), share=tree.measure_share, sigma=tree.sigma,
        relative_error=expected_relative_error(tree.cells, tree.sigma, plan.n),
        times=tree.rounds,
    )  # fmt: skip
    return [choosing, measuring]


def _query_line(query: Query) -> PlanLine:
    return PlanLine(
        label=query.label, pool=query.pool, cells=query.cells, share=query.share,
        sigma=query.sigma, relative_error=query.relative_error,
    )  # fmt: skip
