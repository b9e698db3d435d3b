"""Noisy marginals: the only numbers about the rows that the later steps see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.source import BatchedRows, Rows
from prism_core.privacy.mechanisms import noisy_marginal, noisy_query
from prism_core.privacy.parameters import positive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.data.linear_queries import LinearQuery
    from prism_core.planning.queries import Query
    from prism_core.privacy.noise import NoiseSource


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One measured marginal, or a linear query of it.

    Attributes:
        clique: its columns.
        values: int64 noisy counts in the shape of the domain; may be negative. Of a linear query:
            its noisy answers in the query's shape, in units of 1 / query.grid.
        sigma: scale of the noise, in the units of the values.
        query: what of the marginal was measured; its counts when None.
        fine: whether its columns were counted on their fine grids (`data.schema.fine_grid`).
    """

    clique: tuple[str, ...]
    values: NDArray[np.int64]
    sigma: float
    query: LinearQuery | None = None
    fine: bool = False

    def __post_init__(self) -> None:
        positive(self.sigma, "sigma")
        # Whole numbers only: noise in floats would bring back the holes of floating-point
        # mechanisms.
        if self.values.ndim != len(self.clique) or not np.issubdtype(self.values.dtype, np.integer):
            raise ValueError("values must be integer counts with one axis per column")
        query = self.query
        if query is not None and (query.clique, query.shape) != (self.clique, self.values.shape):
            raise ValueError("values must be in the shape of the query")

    @property
    def unit_values(self) -> NDArray[np.float64]:
        """The values in units of 1: counts, or sums of phi."""
        return self.values / (1.0 if self.query is None else self.query.grid)

    @property
    def unit_sigma(self) -> float:
        """Scale of the noise in units of 1."""
        return self.sigma if self.query is None else self.sigma / self.query.grid


def combined(measurements: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """The same, with what was measured more than once as one measurement, where the first stood.

    Weighted by the inverse of their variances: of all unbiased averages the one of least variance.
    Rounded to whole counts, as measurements are; that adds at most half a person to a cell.
    Post-processing, spends nothing.
    """
    kinds: dict[tuple[tuple[str, ...], LinearQuery | None], list[Measurement]] = {}
    for m in measurements:
        kinds.setdefault((m.clique, m.query), []).append(m)
    return tuple(one[0] if len(one) == 1 else _mean(one) for one in kinds.values())


def _mean(repeated: Sequence[Measurement]) -> Measurement:
    weights = [1.0 / m.sigma**2 for m in repeated]
    whole = sum(weights)
    values = sum(weight * m.values for weight, m in zip(weights, repeated, strict=True)) / whole
    return replace(repeated[0], values=np.rint(values).astype(np.int64), sigma=whole**-0.5)


def measure(
    table: Rows,
    queries: Sequence[Query],
    noise: NoiseSource,
    step: Callable[[], None] = lambda: None,
) -> list[Measurement]:
    """Measure marginals in order; their exact counts are taken in one pass.

    Spends: the event of every query (see `privacy.mechanisms`).

    Args:
        table: the private rows.
        queries: what to measure, with how much noise.
        noise: where the noise comes from.
        step: called before each measurement; may raise to stop.
    """
    rows = BatchedRows(rows=table, planned=[query.clique for query in queries])
    found: list[Measurement] = []
    for query in queries:
        step()
        found.append(_measured(rows, query, noise))
    return found


def _measured(rows: Rows, query: Query, noise: NoiseSource) -> Measurement:
    linear, sigma = query.linear, query.sigma
    if linear is None:
        values = noisy_marginal(rows, query.clique, sigma, noise, query.event.sensitivity)
    else:
        values = noisy_query(rows, linear, sigma, query.event.sensitivity, noise)
    return Measurement(
        clique=query.clique, values=values, sigma=sigma, query=linear, fine=query.kind == "fine"
    )
