"""What every fitted model can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from prism_core.planning.wishes.task import SamplingRule


class Model(Protocol):
    """A distribution over the domain, fitted to noisy measurements; post-processing."""

    def marginal(self, clique: Sequence[str]) -> NDArray[np.float64]:
        """Expected counts of a marginal, in the order of `clique`; sums to n."""
        ...

    def sample(
        self, rows: int, rng: np.random.Generator, rule: SamplingRule = "rounded"
    ) -> NDArray[np.int32]:
        """Rows of codes in schema order, in random order, shape (rows, columns)."""
        ...
