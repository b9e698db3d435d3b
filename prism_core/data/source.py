"""What the mechanisms may ask of a table: how many rows, which domain, and marginal counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from prism_core.data.schema import Schema


class Rows(Protocol):
    """Private rows behind their marginal counts.

    `EncodedTable` holds them in memory, `StoredTable` in files; nothing that measures, chooses
    or fits needs to know which.
    """

    @property
    def schema(self) -> Schema:
        """The declared domain."""
        ...

    @property
    def public(self) -> bool:
        """Whether the rows are public; only then may they be measured with known noise."""
        ...

    @property
    def n(self) -> int:
        """Number of rows; a public fact."""
        ...

    def counts(self, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """Exact counts of marginals, each in the shape of its declared domain.

        Reads private rows; spends nothing by itself and must not be shown or stored without
        noise.
        """
        ...
