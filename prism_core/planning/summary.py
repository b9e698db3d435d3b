"""A plan as lines of a table: what is paid for, with what noise, for what error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.planning.plan import expected_relative_error

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan, Query, ThreeWayChoice, TreeChoice


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
    for choice, aim in zip(plan.selections, plan.aims, strict=False):
        whose = f" for {aim.target}" if plan.several else ""
        found.append(
            PlanLine(
                label=f"choosing {choice.k} of {len(choice.candidates)} features{whose}",
                pool="selection",
                cells=None,
                share=choice.share,
                sigma=None,
                relative_error=None,
            )
        )
    found += [_query_line(query) for query in plan.queries]
    if plan.unused:
        found.append(
            PlanLine(
                label=f"{len(plan.unused)} parts of the rounds not needed (they count as spent)",
                pool="task",
                cells=None, share=math.fsum(event.rho for event in plan.unused) / plan.total,
                sigma=None, relative_error=None,
            )
        )  # fmt: skip
    three, tree = plan.three_way, plan.tree
    if three is not None:
        what = f"{_up_to(three)}{three.rounds} {three.words}"
        found += _later(plan, three, what, three.pool, "task")
    if tree is not None:
        what = f"{tree.rounds} background pairs"
        found += _later(plan, tree, what, "background", "background")
    return tuple(found)


def idle_pools(plan: Plan) -> tuple[str, ...]:
    """Pools that have a share of the budget and pay for nothing; the task has it instead."""
    paying = {line.pool for line in lines(plan)}
    shares = plan.budget.shares
    return tuple(
        pool for pool in ("selection", "choice", "background")
        if getattr(shares, pool) > 0.0 and pool not in paying
    )  # fmt: skip


def _up_to(three: ThreeWayChoice) -> str:
    return "up to " if three.rule == "adaptive" else ""


def _later(
    plan: Plan, choice: ThreeWayChoice | TreeChoice, what: str, chooser: str, payer: str
) -> list[PlanLine]:
    """The line of a private choice, and that of measuring what it will choose."""
    choosing = PlanLine(
        label=f"choosing {what}", pool=chooser, cells=None, share=choice.choice_share, sigma=None,
        relative_error=None,
    )  # fmt: skip
    measuring = PlanLine(
        label=f"{what}, once chosen", pool=payer, cells=round(choice.cells),
        share=choice.measure_share, sigma=choice.sigma,
        relative_error=expected_relative_error(choice.cells, choice.sigma, plan.n),
        times=choice.rounds,
    )  # fmt: skip
    return [choosing, measuring]


def _query_line(query: Query) -> PlanLine:
    return PlanLine(
        label=query.label, pool=query.pool, cells=query.cells, share=query.share,
        sigma=query.noise, relative_error=query.relative_error,
    )  # fmt: skip
