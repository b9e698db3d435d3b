"""What noisy answers say in counts: those of linear queries hold counts, too, as sums of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.synthesis.measure import Measurement


@dataclass(frozen=True, kw_only=True)
class Counted:
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


def counted(measurements: Sequence[Measurement]) -> list[Counted]:
    """The noisy counts of measurements, in their order; a query that holds none is left out."""
    found = [_counts(m) for m in measurements]
    return [counts for counts in found if counts is not None]


def _counts(m: Measurement) -> Counted | None:
    """Of a linear query: rows that add up to 1 for every code are summed, column by column."""
    if m.query is None:
        return Counted(clique=m.clique, values=m.values, sigma=m.sigma, measured=m.clique)
    values, summed, kept = m.values.astype(np.float64), 1, []
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
    return Counted(
        clique=tuple(kept), values=values / m.query.grid, measured=m.clique,
        sigma=m.sigma * math.sqrt(summed) / m.query.grid,
    )  # fmt: skip
