"""Choice of an allocation by rehearsal: the plan as it is, or another one.

The closed form minimises the expected error of the marginals, which is not the same as the error
of a prediction made from all of them: where it starves many weak features of budget, their noise
can cost more than the strong ones gain. Which wins depends on epsilon, n and the graph, so it is
tried out on rows that belong to nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.errors import PrismError
from prism_core.rehearsal.estimates import half_width
from prism_core.rehearsal.points import METRIC_TEXT, Metric, PointStore, RehearsalPoint
from prism_core.rehearsal.rehearsal_run import run_rehearsal
from prism_core.rehearsal.variants import PLANNED, Rehearsal, plan_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.planning.wishes.task import AllocationRule
    from prism_core.rehearsal.stand_in_rows import StandIn
    from prism_core.samples.additive_scm import Shift

TILTS: dict[float, str] = {
    1.0: "closed form",
    0.0: "uniform",
    0.75: "near the closed form (tilt 0.75)",
    0.5: "halfway (tilt 0.5)",
    0.25: "near uniform (tilt 0.25)",
}
"""Exponents that are tried, as parts of the closed form's, the simpler to explain first."""

SEEDS = 20
"""Runs of every candidate."""


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One candidate and how far it is behind the best.

    Attributes:
        name: of the candidate.
        mean: score over the runs.
        half: half the width of its 95% interval; None with a single run.
        behind: mean difference to the best, seed by seed; 0 for the best.
        behind_half: half the width of the 95% interval of that difference.
    """

    name: str
    mean: float
    half: float | None
    behind: float
    behind_half: float | None

    @property
    def level(self) -> bool:
        """Whether the runs do not tell it from the best."""
        return self.behind <= (self.behind_half or 0.0)


@dataclass(frozen=True, kw_only=True)
class AllocationChoice:
    """What was chosen, and why.

    Attributes:
        scenario: the wishes with the chosen allocation and 3-way rule, under their own name.
        chosen: name of the candidate.
        tried: all candidates, the plan as it is and then the simplest first.
        why: a sentence.
        metric: what was scored.
    """

    scenario: Scenario
    chosen: str
    tried: tuple[Tried, ...]
    why: str
    metric: Metric

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        budget = self.scenario.budget
        return {
            "chosen": self.chosen,
            "why": self.why,
            "metric": self.metric,
            "allocation": budget.allocation,
            "tilt": budget.tilt,
            "three_way": self.scenario.task.three_way,
            "tried": [vars(one) | {"level": one.level} for one in self.tried],
        }


def candidates(scenario: Scenario, stand_in: StandIn, epsilon: float) -> tuple[Scenario, ...]:
    """What is tried: the plan as it is, every tilt without 3-way marginals, then with them.

    The first is kept unless the runs tell another one from it.

    3-way marginals are tried where the plan would measure some: a graphical model, features not
    measured jointly, and a choice pool above 0.
    """
    # A plan without 3-way marginals names no rule to choose them by.
    rule = scenario.task.three_way if scenario.task.three_way != "none" else "model_error"
    planned = replace(scenario, name=PLANNED)
    plain = [_tilted(scenario, tilt) for tilt in TILTS]
    more = [
        replace(one, name=f"{one.name}, 3-way", task=replace(one.task, three_way=rule))
        for one in plain
    ]
    others = (*plain, *(one for one in more if _measures_three_ways(one, stand_in, epsilon)))
    if _plan(planned, stand_in, epsilon) is None:
        return others
    # What is the same but for its name would be run twice.
    return (planned, *(one for one in others if replace(one, name=PLANNED) != planned))


def _tilted(scenario: Scenario, tilt: float) -> Scenario:
    named: dict[float, AllocationRule] = {1.0: "closed_form", 0.0: "uniform"}
    rule = named.get(tilt, "tilted")
    budget = replace(scenario.budget, allocation=rule, tilt=tilt if rule == "tilted" else 1.0)
    task = replace(scenario.task, three_way="none")
    return replace(scenario, name=TILTS[tilt], budget=budget, task=task)


def _plan(scenario: Scenario, stand_in: StandIn, epsilon: float) -> Plan | None:
    """The plan of these wishes; None where there is none: they may be meant for another model."""
    try:
        return plan_on(scenario, stand_in, epsilon)
    except PrismError:
        return None


def _measures_three_ways(scenario: Scenario, stand_in: StandIn, epsilon: float) -> bool:
    plan = _plan(scenario, stand_in, epsilon)
    return plan is not None and plan.three_way is not None


def trial(
    scenario: Scenario, stand_in: StandIn, epsilon: float, *, seeds: int = SEEDS
) -> Rehearsal:
    """The rehearsal of every candidate at one epsilon."""
    return Rehearsal(
        variants=candidates(scenario, stand_in, epsilon), epsilons=(epsilon,), seeds=seeds
    )


def choose(
    scenario: Scenario,
    stand_in: StandIn,
    epsilon: float,
    *,
    seeds: int = SEEDS,
    shift: Shift = "none",
    kept: PointStore | None = None,
    jobs: int | None = None,
) -> AllocationChoice:
    """The first allocation that the runs do not tell from the best one. Spends nothing.

    Args:
        scenario: the wishes; their allocation and 3-way rule are what is chosen.
        stand_in: the public rows.
        epsilon: at which to choose.
        seeds: runs of every candidate; the same seeds for all.
        shift: of the rows that are scored.
        kept: where points are kept.
        jobs: processes.
    """
    rehearsal = trial(scenario, stand_in, epsilon, seeds=seeds)
    return decide(
        scenario, rehearsal, run_rehearsal(rehearsal, stand_in, kept=kept, jobs=jobs), shift
    )


def decide(
    scenario: Scenario,
    rehearsal: Rehearsal,
    points: Iterable[RehearsalPoint],
    shift: Shift = "none",
) -> AllocationChoice:
    """The choice once the points of a `trial` are there.

    A candidate is level with the best when its mean difference, seed by seed, is not above half
    the width of that difference's 95% t-interval. Of those the first in the order of the trial is
    taken: the plan as it is, or what is easier to explain, unless it costs something that the runs
    can see.
    """
    scores: dict[str, dict[int, float]] = {v.name: {} for v in rehearsal.variants}
    metric: Metric = "auc"
    for point in points:
        if point.shift == shift:
            scores[point.variant][point.seed] = point.score
            metric = point.metric
    tried = _tried({name: [by[seed] for seed in sorted(by)] for name, by in scores.items()})
    # The best is level with itself, so there is one.
    chosen = next(one for one in tried if one.level)
    budget, rule = rehearsal.variant(chosen.name).budget, rehearsal.variant(chosen.name).task
    made = replace(
        scenario,
        budget=replace(scenario.budget, allocation=budget.allocation, tilt=budget.tilt),
        task=replace(scenario.task, three_way=rule.three_way),
    )
    why = _why(chosen, tried, rehearsal, METRIC_TEXT[metric])
    return AllocationChoice(scenario=made, chosen=chosen.name, tried=tried, why=why, metric=metric)


def _tried(scores: dict[str, list[float]]) -> tuple[Tried, ...]:
    means = {name: float(np.mean(values)) for name, values in scores.items()}
    # Of equal ones the first, which is the simplest.
    best = max(means, key=means.__getitem__)
    found = []
    for name, values in scores.items():
        # Seed by seed, so that what one seed drew for both is no difference between them.
        gaps = [a - b for a, b in zip(scores[best], values, strict=True)]
        found.append(
            Tried(
                name=name,
                mean=means[name],
                half=half_width(values),
                behind=float(np.mean(gaps)),
                behind_half=half_width(gaps),
            )
        )
    return tuple(found)


def _why(chosen: Tried, tried: Sequence[Tried], rehearsal: Rehearsal, unit: str) -> str:
    best = max(tried, key=lambda one: one.mean)
    worst = min(tried, key=lambda one: one.mean)
    where = f"On stand-in rows at epsilon {rehearsal.epsilons[0]:g}, over {rehearsal.seeds} runs,"
    if chosen.name == best.name:
        said = f"“{chosen.name}” predicts best ({unit} {chosen.mean:.3f})"
    else:
        said = (
            f"“{chosen.name}” ({unit} {chosen.mean:.3f}) cannot be told from the best, "
            f"“{best.name}” ({best.mean:.3f}), and "
            + ("is what is planned" if chosen.name == PLANNED else "is simpler")
        )
    return f"{where} {said}; the worst, “{worst.name}”, has {worst.mean:.3f}."
