"""Private rows and queries as mechanisms see them: Protocols, so that privacy imports no table.

Whatever satisfies them may be measured: a table in memory, one in files, a stand-in of a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from prism_core.privacy.contribution import Contribution


class PrivateRows(Protocol):
    """Private rows behind their marginal counts."""

    @property
    def public(self) -> bool:
        """Whether the rows are public; only then may they be measured with known noise."""
        ...

    @property
    def people(self) -> int:
        """Number of persons; a public fact, as the number of rows is where each has one."""
        ...

    @property
    def contribution(self) -> Contribution:
        """What one person adds to the counts, at most and at least."""
        ...

    def counts(self, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """Exact counts of marginals, each in the shape of its declared domain.

        Reads private rows; spends nothing by itself and must not be shown or stored without
        noise.
        """
        ...

    def batches(
        self, names: Sequence[str]
    ) -> Iterable[tuple[Mapping[str, NDArray[np.integer]], int]]:
        """The codes of these columns, and how many rows, some rows at a time; all rows once.

        Reads private rows; spends nothing by itself and must not be shown or stored.
        """
        ...


class IntegerQuery(Protocol):
    """A matrix of whole numbers times the counts of one marginal."""

    @property
    def clique(self) -> tuple[str, ...]:
        """Columns of the marginal."""
        ...

    @property
    def grid(self) -> int:
        """What stands for 1 in what is measured."""
        ...

    def moved(self, contribution: Contribution) -> float:
        """The l2 sensitivity under replace-one, in units of 1 / grid; from the matrix alone."""
        ...

    def of(self, counts: NDArray[Any]) -> NDArray[np.int64]:
        """The matrix times the counts, exactly. Spends nothing by itself."""
        ...


class CodedRows(Protocol):
    """Rows as whole numbers of a declared domain, for what stays in the workspace."""

    @property
    def schema(self) -> Any:  # noqa: ANN401 - a Schema, which lies above this room
        """The domain: `names`, `index(name)` and, of a column, `labels()` are asked for."""
        ...

    @property
    def codes(self) -> NDArray[np.int32]:
        """Codes, shape (n, columns)."""
        ...
