"""What the mechanisms may ask of a table: how many rows, which domain, and marginal counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from prism_core.errors import PlanError

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


def check_fits(table: Rows, schema: Schema, n: int) -> None:
    """Refuse a table that a plan was not made for. Spends nothing: no row is read.

    Only the schema it is encoded in and the number of rows, both public, are compared.

    Raises:
        PlanError: when it is encoded in another schema, or has another number of rows.
    """
    if table.schema != schema:
        raise PlanError("The table is encoded in another schema than the plan's.", field="schema")
    if table.n != n:
        raise PlanError(
            f"The plan is for {n:,} training rows and the table does not have that many. "
            "Design the plan for this table.",
            field="n",
        )
