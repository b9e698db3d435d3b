"""Lines of a plan: what is paid for, with what noise, for what error; under other allocations.

No row is read.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prism_core.planning.allocation import allocate
from prism_core.planning.queries import (
    Pool,
    Query,
    ThreeWayChoice,
    TreeChoice,
    expected_relative_error,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.interactions import InteractionChoice
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.task import AllocationRule
    from prism_core.privacy.events import GaussianEvent


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
    # Not strict: where nothing is chosen there are targets and no choices.
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
    found += [_query_line(query) for query in plan.with_fine]
    if plan.unused:
        found.append(
            PlanLine(
                label=f"{len(plan.unused)} parts of the rounds not needed (they count as spent)",
                pool="task",
                cells=None,
                share=math.fsum(event.rho for event in plan.unused) / plan.total,
                sigma=None,
                relative_error=None,
            )
        )
    look, three, tree = plan.interactions, plan.three_way, plan.tree
    if look is not None:
        found += _look_lines(plan, look)
    if three is not None:
        what = f"{_up_to(three)}{three.rounds} {three.words}"
        once = "chosen" if three.bar is None else "found; else the pairs again"
        found += _later(plan, three, what, three.pool, "task", once)
    if tree is not None:
        what = f"{tree.rounds} background pairs"
        found += _later(plan, tree, what, "background", "background")
    return tuple(found)


def look_line(look: InteractionChoice) -> PlanLine:
    """The line of the look itself."""
    return PlanLine(
        label=f"looking for features that act together, in {len(look.candidates):,} sets",
        pool="task",
        cells=None,
        share=look.choice_share,
        sigma=None,
        relative_error=None,
    )


def _look_lines(plan: Plan, look: InteractionChoice) -> list[PlanLine]:
    """The look for features that act together, and what is kept back for it."""
    target = plan.domain.size(plan.task.target)
    largest = target * max(math.prod(map(plan.domain.size, names)) for names in look.candidates)
    measuring = PlanLine(
        label="features found to act together; else the pairs again",
        pool="task",
        cells=largest,
        share=look.measure_share,
        sigma=look.sigma,
        relative_error=expected_relative_error(largest, look.sigma, plan.mass),
    )
    return [look_line(look), measuring]


def idle_pools(plan: Plan) -> tuple[str, ...]:
    """Pools that have a share of the budget and pay for nothing; the task has it instead."""
    paying = {line.pool for line in lines(plan)}
    shares = plan.budget.shares
    return tuple(
        pool
        for pool in ("selection", "choice", "background")
        if getattr(shares, pool) > 0.0 and pool not in paying
    )


def _up_to(three: ThreeWayChoice) -> str:
    return "up to " if three.rule == "adaptive" else ""


def _later(
    plan: Plan,
    choice: ThreeWayChoice | TreeChoice,
    what: str,
    chooser: str,
    payer: str,
    once: str = "chosen",
) -> list[PlanLine]:
    """The line of a private choice, and that of measuring what it will choose."""
    choosing = PlanLine(
        label=f"choosing {what}",
        pool=chooser,
        cells=None,
        share=choice.choice_share,
        sigma=None,
        relative_error=None,
    )
    measuring = PlanLine(
        label=f"{what}, once {once}",
        pool=payer,
        cells=round(choice.cells),
        share=choice.measure_share,
        sigma=choice.sigma,
        relative_error=expected_relative_error(choice.cells, choice.sigma, plan.mass),
        times=choice.rounds,
    )
    return [choosing, measuring]


def _query_line(query: Query) -> PlanLine:
    return PlanLine(
        label=query.label,
        pool=query.pool,
        cells=query.cells,
        share=query.share,
        sigma=query.noise,
        relative_error=query.relative_error,
    )


@dataclass(frozen=True, kw_only=True)
class Noise:
    """What one marginal gets, and what comes of it.

    Attributes:
        share: of the whole budget, 0 to 1.
        sigma: noise of one cell, in counts.
        l1: expected l1 error over all cells, in counts.
        relative_error: the same over n.
    """

    share: float
    sigma: float
    l1: float
    relative_error: float


@dataclass(frozen=True, kw_only=True)
class AllocationComparison:
    """One measured line of a plan beside the same line under other allocations.

    Attributes:
        label: the marginal in words.
        columns: of the marginal; () for a line that stands for marginals chosen at run time.
        pool: task or background.
        cells: of the marginal; the mean where it stands for several.
        weight: task weight.
        locked: whether its share is fixed by hand.
        times: how many marginals the line stands for; `now` and the others are for one of them.
        now: as planned, locks and all.
        uniform, closed_form: under these rules, with nothing locked.
    """

    label: str
    columns: tuple[str, ...]
    pool: Pool
    cells: float
    weight: float
    locked: bool
    times: int
    now: Noise
    uniform: Noise
    closed_form: Noise


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """A line, its cost in the allocation and the amount one of its marginals has."""

    line: PlanLine
    columns: tuple[str, ...]
    pool: Pool
    cells: float
    weight: float
    locked: bool
    event: GaussianEvent
    share: float
    unit: float = 1.0  # noise beside that of counts at equal spending
    kept_back: bool = False  # for fine grids or the look: no rule shares it out


def against_uniform(plan: Plan) -> tuple[AllocationComparison, ...]:
    """Every measured line of the plan, in the order of `lines`, with both ablations.

    A pool's amount is shared out anew, so nothing is designed twice: which marginals there are
    does not change. Exact under `zcdp` and `basic`. Under `pld` the amounts are the rho that
    the calibrated noise has, whose sum is kept; the exact composition may then differ by a few
    percent of epsilon.
    """
    entries = _entries(plan)
    others: dict[AllocationRule, dict[int, Noise]] = {"uniform": {}, "closed_form": {}}
    for pool in ("task", "background"):
        places = [
            place
            for place, entry in enumerate(entries)
            if entry.pool == pool and not entry.kept_back
        ]
        if not places:
            continue
        own = [entries[place] for place in places]
        for rule, found in others.items():
            found.update(zip(places, _shared(plan, own, rule), strict=True))
    for place, entry in enumerate(entries):
        if entry.kept_back:
            same = _noise(plan, entry, _of_counts(entry.event, plan.contribution.l2), entry.share)
            # Kept back before anything is shared out: the same under every rule.
            others["uniform"][place] = others["closed_form"][place] = same
    return tuple(
        AllocationComparison(
            label=entry.line.label,
            columns=entry.columns,
            pool=entry.pool,
            cells=entry.cells,
            weight=entry.weight,
            locked=entry.locked,
            times=entry.line.times,
            now=_noise(plan, entry, _of_counts(entry.event, plan.contribution.l2), entry.share),
            uniform=others["uniform"][place],
            closed_form=others["closed_form"][place],
        )
        for place, entry in enumerate(entries)
    )


def _entries(plan: Plan) -> list[_Entry]:
    measured = [line for line in lines(plan) if line.measured]
    found = [
        _Entry(
            line=line,
            columns=query.clique,
            pool=query.pool,
            cells=query.cells,
            weight=query.weight,
            locked=query.locked,
            event=query.event,
            share=query.share,
            unit=query.unit,
            kept_back=query.kind in ("fine", "again", "interaction"),
        )
        # Not strict: the lines of what is still to be chosen come after those of the queries.
        for line, query in zip(measured, plan.with_fine, strict=False)
    ]
    # `lines` puts what is chosen at run time after the queries, in this order.
    rest = measured[len(plan.with_fine) :]
    look = plan.interactions
    if look is not None:
        line, rest = rest[0], rest[1:]
        found.append(
            _Entry(
                line=line,
                columns=(),
                pool="task",
                cells=line.cells or 0,
                weight=1.0,
                locked=False,
                kept_back=True,
                event=plan.accountant.gaussian(look.amount, 0.0, line.label),
                share=line.share,
            )
        )
    choices = [choice for choice in (plan.three_way, plan.tree) if choice is not None]
    for line, choice in zip(rest, choices, strict=True):
        part = choice.amount / choice.rounds
        found.append(
            _Entry(
                line=line,
                columns=(),
                pool="task" if choice is plan.three_way else "background",
                cells=choice.cells,
                weight=1.0,
                locked=False,
                event=plan.accountant.gaussian(part, choice.delta, line.label),
                share=line.share / choice.rounds,
            )
        )
    return found


def _shared(plan: Plan, entries: Sequence[_Entry], rule: AllocationRule) -> list[Noise]:
    """The pool's amount under another rule; all marginals of a line are alike."""
    amounts = [_amount(plan, entry.event) for entry in entries]
    times = [entry.line.times for entry in entries]
    whole = math.fsum(amount * count for amount, count in zip(amounts, times, strict=True))
    costs = [
        entry.weight * entry.cells * entry.unit
        for entry in entries
        for _ in range(entry.line.times)
    ]
    # One cost for each marginal of a line: with an exponent below 1 the share of a sum is less
    # than the sum of the shares.
    parts = allocate(whole, costs, rule, plan.accountant.exponent)
    # What one unit of the pool's amount is of the whole budget.
    share = math.fsum(e.share * count for e, count in zip(entries, times, strict=True)) / whole
    first = itertools.accumulate(times, initial=0)  # where each line's marginals start
    found: list[Noise] = []
    # Not strict: the running sum has one more, the end of the last line.
    for entry, place in zip(entries, first, strict=False):
        event = plan.accountant.gaussian(parts[place], entry.event.delta, entry.line.label)
        found.append(_noise(plan, entry, event, parts[place] * share))
    return found


def _amount(plan: Plan, event: GaussianEvent) -> float:
    # Basic composition adds up epsilons, the other accountants rho.
    return event.epsilon if plan.budget.accountant == "basic" else event.rho


def _noise(plan: Plan, entry: _Entry, event: GaussianEvent, share: float) -> Noise:
    sigma = event.sigma * entry.unit
    error = expected_relative_error(entry.cells, sigma, plan.mass)
    return Noise(share=share, sigma=sigma, l1=error * plan.mass, relative_error=error)


def _of_counts(event: GaussianEvent, of_counts: float) -> GaussianEvent:
    """The event of counts, of this sensitivity, that costs as much as one of a linear query."""
    if event.sensitivity == of_counts:
        return event
    scale = of_counts / event.sensitivity
    return replace(event, sigma=event.sigma * scale, sensitivity=of_counts)
