"""A table that counts a known list of marginals together, when the first of them is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from prism_core.data.schema import Schema
    from prism_core.data.source import Rows


@dataclass
class Over:
    """What counts the rows of another table in its own way: the same schema, the same n.

    Attributes:
        rows: the table.
    """

    rows: Rows = field(repr=False)

    @property
    def schema(self) -> Schema:
        """The declared domain."""
        return self.rows.schema

    @property
    def public(self) -> bool:
        """Whether the rows are public."""
        return self.rows.public

    @property
    def n(self) -> int:
        """Number of rows; a public fact."""
        return self.rows.n


@dataclass
class Batch(Over):
    """Rows of which these marginals will be asked for one by one; satisfies `data.source.Rows`.

    Nothing is read before the first is asked for, so checks that come before it still do. The
    counts are as private as the rows and are forgotten with this object.

    Attributes:
        planned: the marginals; public.
    """

    planned: Sequence[tuple[str, ...]]
    _known: dict[tuple[str, ...], NDArray[np.int64]] = field(default_factory=dict, repr=False)

    def counts(self, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """See `data.source.Rows`. Spends nothing by itself."""
        wanted = [tuple(clique) for clique in cliques]
        if not set(wanted).issubset(self.planned):
            return self.rows.counts(wanted)
        if not self._known:
            counted = self.rows.counts(self.planned)
            self._known.update(zip(self.planned, counted, strict=True))
        return [self._known[clique].copy() for clique in wanted]
