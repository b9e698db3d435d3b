"""Totals of noisy counts: what a table comes to where the number of its rows is private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.privacy.contribution import Contribution
    from prism_core.synthesis.measure import Measurement


@dataclass(frozen=True, kw_only=True)
class CountedMeasurement:
    """Noisy counts of a measurement.

    Attributes:
        clique: their columns; () where only the total is known.
        values: the counts, in the shape of the domain.
        sigma: scale of the noise of each.
        measured: the columns that were measured, for its name.
    """

    clique: tuple[str, ...]
    values: NDArray[Any]
    sigma: float
    measured: tuple[str, ...]

    @property
    def label(self) -> str:
        """The measurement in words."""
        return " × ".join(self.measured)


def counted_measurements(measurements: Sequence[Measurement]) -> list[CountedMeasurement]:
    """The noisy counts of measurements, in their order; a query that holds none is left out."""
    found = [_counts(m) for m in measurements]
    return [counts for counts in found if counts is not None]


def _counts(m: Measurement) -> CountedMeasurement | None:
    """Of a linear query: rows that add up to 1 for every code are summed, column by column.

    Fine counts are in other cells than what they are compared with, and what was measured later
    follows from their noise; they have a check of their own.
    """
    if m.fine:
        return None
    if m.query is None:
        return CountedMeasurement(
            clique=m.clique, values=m.values, sigma=m.sigma, measured=m.clique
        )
    values, summed, kept = m.values.astype(np.float64), 1, []
    # From the last axis on: summing one away leaves the numbers of those before it.
    for name, basis in reversed(list(zip(m.clique, m.query.bases, strict=True))):
        axis = m.clique.index(name)
        if basis.kind == "levels":
            kept.insert(0, name)
            continue
        rows = basis.count_rows
        if rows is None:
            return None
        values = values.take(rows, axis=axis).sum(axis=axis)
        summed *= len(rows)
    return CountedMeasurement(
        clique=tuple(kept),
        values=values / m.query.grid,
        measured=m.clique,
        sigma=m.sigma * math.sqrt(summed) / m.query.grid,
    )


def total_of(contribution: Contribution, people: int, measurements: Sequence[Measurement]) -> int:
    """What the counts of a table add up to: known where everybody adds the same, else from them.

    Every marginal counts all rows, so its noisy sum is the number of rows and noise of variance
    sigma^2 times its cells. The mean by the inverse of these variances, within what so many people
    can add up to. Post-processing, spends nothing.

    Args:
        contribution: what one person adds.
        people: how many there are; public.
        measurements: the noisy counts so far.
    """
    least, most = contribution.totals(people)
    known = counted_measurements(measurements)
    if least == most or not known:
        return least
    sums = [float(m.values.sum(dtype=np.float64)) for m in known]
    weights = [1.0 / (m.sigma**2 * m.values.size) for m in known]
    return int(np.clip(round(float(np.average(sums, weights=weights))), least, most))
