"""Estimates from points: curves with intervals, the verdict in a sentence, the time to go."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from prism_core.rehearsal.points import METRIC_TEXT, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prism_core.rehearsal.points import RehearsalPoint
    from prism_core.samples.additive_scm import Shift

CONFIDENCE = 0.95

LEAST = 0.001
"""Differences of a score below this are not called a lead, however well they are known."""

SHIFT_TEXT: dict[Shift, str] = {
    "none": "While the world stays as it is",
    "children": "If the target's consequences stop following it",
    "parents": "If the target's causes shift",
}
"""The shifts, as the start of a sentence."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Mean score of a design at one epsilon under one shift.

    Attributes:
        variant, epsilon, shift: which.
        mean: over the runs.
        half: half the width of the 95% t-interval; None with a single run.
        ceiling: score of the same learner without noise, from what the design protects.
        runs: how many.
        metric: what is scored.
        rows: what the stand-in rows are, in words; "" where it is not said.
    """

    variant: str
    epsilon: float
    shift: Shift
    mean: float
    half: float | None
    ceiling: float
    runs: int
    metric: Metric = "auc"
    rows: str = ""

    @property
    def unit(self) -> str:
        """The metric as people write it."""
        return METRIC_TEXT[self.metric]

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% t-interval; None with a single run."""
        return None if self.half is None else (self.mean - self.half, self.mean + self.half)

    @property
    def rows_named(self) -> str:
        """What the stand-in rows are, without how they were invented."""
        return self.rows.partition(" drawn from ")[0] or "public rows"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dict(vars(self))


def estimates_from(documents: Iterable[dict[str, Any]]) -> tuple[Estimate, ...]:
    """Estimates from what `Estimate.to_dict` gave.

    Raises:
        ValueError, TypeError: when one is not usable.
    """
    found = tuple(Estimate(**document) for document in documents)
    for one in found:
        numbers = (one.epsilon, one.mean, one.ceiling, 0.0 if one.half is None else one.half)
        named = one.shift in SHIFT_TEXT and one.metric in METRIC_TEXT
        known = named and isinstance(one.variant, str) and isinstance(one.rows, str)
        if not known or not all(math.isfinite(number) for number in numbers):
            raise ValueError("an estimate needs a known shift, metric and name, and finite numbers")
    return found


def half_width(values: Sequence[float]) -> float | None:
    """Half the width of the 95% t-interval of the mean; None for fewer than two values."""
    if len(values) < 2:
        return None
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return float(stdtrit(len(values) - 1, (1.0 + CONFIDENCE) / 2.0)) * error


def estimates(points: Iterable[RehearsalPoint], *, rows: str = "") -> tuple[Estimate, ...]:
    """Curves, in the order in which variants and shifts appear and by increasing epsilon.

    Args:
        points: of the runs.
        rows: what the stand-in rows are, in words.
    """
    groups: dict[tuple[str, Shift], dict[float, list[RehearsalPoint]]] = {}
    for point in points:
        by_epsilon = groups.setdefault((point.variant, point.shift), {})
        by_epsilon.setdefault(point.epsilon, []).append(point)
    found: list[Estimate] = []
    for (variant, shift), by_epsilon in groups.items():
        for epsilon in sorted(by_epsilon):
            some = by_epsilon[epsilon]
            # By seed: the last digit of a mean must not hang on which run ended first.
            scores = [point.score for point in sorted(some, key=lambda point: point.seed)]
            found.append(
                Estimate(
                    variant=variant,
                    epsilon=epsilon,
                    shift=shift,
                    mean=float(np.mean(scores)),
                    half=half_width(scores),
                    # Without noise it depends on design and rows alone, so it is the same in every
                    # run.
                    ceiling=some[0].ceiling,
                    runs=len(scores),
                    metric=some[0].metric,
                    rows=rows,
                )
            )
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Lead:
    """The best design at one epsilon, and how far it is ahead of the second.

    Attributes:
        epsilon: where.
        best, second: the two designs.
        by: mean difference of their scores over the seeds they share.
        half: half the width of its 95% t-interval; None with a single seed.
    """

    epsilon: float
    best: str
    second: str
    by: float
    half: float | None

    @property
    def clear(self) -> bool:
        """Whether the interval of the difference leaves out 0, and it would show in a figure."""
        return self.half is not None and self.by > self.half and self.by >= LEAST


def leads(points: Iterable[RehearsalPoint], shift: Shift) -> tuple[Lead, ...]:
    """The best design at every epsilon where two or more share a seed."""
    table: dict[float, dict[str, dict[int, float]]] = {}
    for point in points:
        if point.shift == shift:
            table.setdefault(point.epsilon, {}).setdefault(point.variant, {})[point.seed] = (
                point.score
            )
    found: list[Lead] = []
    for epsilon, by_variant in sorted(table.items()):
        # Seeds that all designs have: one that lacks a hard seed must not look better for it.
        seeds = set.intersection(*map(set, by_variant.values()))
        if len(by_variant) < 2 or not seeds:
            continue
        means = {
            name: float(np.mean([scores[seed] for seed in seeds]))
            for name, scores in by_variant.items()
        }
        # Stable: of equal designs the first stays the first.
        best, second = sorted(means, key=lambda name: -means[name])[:2]
        # Seed by seed: the chance that both designs share drops out of the difference.
        gaps = [by_variant[best][seed] - by_variant[second][seed] for seed in sorted(seeds)]
        found.append(
            Lead(
                epsilon=epsilon,
                best=best,
                second=second,
                by=float(np.mean(gaps)),
                half=half_width(gaps),
            )
        )
    return tuple(found)


def verdict(points: Sequence[RehearsalPoint], shift: Shift) -> str:
    """Which design is best under a shift, and by how much, in a sentence; "" with one design."""
    found = leads(points, shift)
    if not found:
        return ""
    parts, unit = [], METRIC_TEXT[points[0].metric]
    # Neighbouring epsilons with the same best design share a sentence.
    for best, run in itertools.groupby(found, lambda lead: lead.best if lead.clear else ""):
        some = list(run)
        where = _span([lead.epsilon for lead in some])
        if not best:
            parts.append(f"at {where} no design is clearly ahead")
            continue
        low, high = min(lead.by for lead in some), max(lead.by for lead in some)
        amount = f"{low:.3f}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:.3f} to {high:.3f}"
        parts.append(f"at {where} “{best}” is ahead of the next by {amount} {unit}")
    return f"{SHIFT_TEXT[shift]}, {'; '.join(parts)}."


def _span(epsilons: Sequence[float]) -> str:
    if len(epsilons) == 1:
        return f"epsilon {epsilons[0]:g}"
    return f"epsilon {epsilons[0]:g} to {epsilons[-1]:g}"


_MINUTE, _HOUR = 60.0, 3_600.0


def pace(done: int, before: int, runs: int, seconds: float) -> str:
    """The time left in words; "" while nothing is known of it, or nothing is left.

    An estimate: runs at another epsilon or of another design may take longer or shorter, and
    loading the engine counts with those that have ended.

    Args:
        done: runs whose points are there.
        before: of these, runs that were there when this rehearsal began.
        runs: runs of the rehearsal.
        seconds: since it began.

    Example:
        >>> pace(13, 10, 150, 30.0)
        'about 23 minutes more at this pace'
    """
    if done <= before or done >= runs:
        return ""
    # By the runs of this time: those that were there before took none of it.
    left = seconds * (runs - done) / (done - before)
    if left < 1.5 * _MINUTE:
        words = f"{max(1.0, left):.0f} s"
    elif left < 1.5 * _HOUR:
        words = f"{left / _MINUTE:.0f} minutes"
    else:
        words = f"{left / _HOUR:.1f} hours"
    return f"about {words} more at this pace"
