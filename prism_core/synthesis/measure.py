"""Noisy marginals: the only numbers about the rows that the later steps see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.batch import Batch
from prism_core.privacy.checks import positive
from prism_core.privacy.mechanisms import noisy_marginal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.data.source import Rows
    from prism_core.planning.plan import Query
    from prism_core.privacy.noise import NoiseSource


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One measured marginal.

    Attributes:
        clique: its columns.
        values: int64 noisy counts in the shape of the domain; may be negative.
        sigma: scale of the noise, in counts.
    """

    clique: tuple[str, ...]
    values: NDArray[np.int64]
    sigma: float

    def __post_init__(self) -> None:
        positive(self.sigma, "sigma")
        if self.values.ndim != len(self.clique) or not np.issubdtype(self.values.dtype, np.integer):
            raise ValueError("values must be integer counts with one axis per column")


def measure(
    table: Rows,
    queries: Sequence[Query],
    noise: NoiseSource,
    step: Callable[[], None] = lambda: None,
) -> list[Measurement]:
    """Measure marginals in order; their exact counts are taken in one pass.

    Spends: the event of every query (see `privacy.mechanisms.noisy_marginal`).

    Args:
        table: the private rows.
        queries: what to measure, with how much noise.
        noise: where the noise comes from.
        step: called before each measurement; may raise to stop.
    """
    rows = Batch(rows=table, planned=[query.clique for query in queries])
    found: list[Measurement] = []
    for query in queries:
        step()
        values = noisy_marginal(rows, query.clique, query.sigma, noise)
        found.append(Measurement(clique=query.clique, values=values, sigma=query.sigma))
    return found
