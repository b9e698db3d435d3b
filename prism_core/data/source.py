"""Source of marginal counts: what a mechanism may ask of a table, and a list counted together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from prism_core.data.counts import count_chunks
from prism_core.errors import PlanError
from prism_core.privacy.private_rows import PrivateRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema
    from prism_core.privacy.contribution import Contribution


class Rows(PrivateRows, Protocol):
    """Private rows behind their marginal counts, with their declared domain.

    `EncodedTable` holds them in memory, `StoredTable` in files, `EngineTable` leaves them in their
    database; nothing that measures, chooses or fits needs to know which.
    """

    @property
    def schema(self) -> Schema:
        """The declared domain."""
        ...

    def on_fine_grid(self) -> Rows:
        """The same rows with their columns on the public fine grid (`data.schema.fine_grid`).

        As private as the rows; spends nothing by itself.
        """
        ...


def check_fits(table: Rows, schema: Schema, n: int) -> None:
    """Refuse a table that a plan was not made for. Spends nothing: no row is read.

    Only the schema it is encoded in and the number of people, both public, are compared.

    Raises:
        PlanError: when it is encoded in another schema, or has another number of people, or does
            not know whose its rows are where people have several.
    """
    if table.schema != schema or table.contribution != schema.contribution:
        raise PlanError("The table is encoded in another schema than the plan's.", field="schema")
    if table.people != n:
        raise PlanError(
            f"The plan is for {n:,} training {'rows' if schema.contribution.single else 'persons'} "
            "and the table does not have that many. Design the plan for this table.",
            field="n",
        )


@dataclass
class _SamePeople:
    """Rows of the people of another table.

    Attributes:
        rows: the table.
    """

    rows: Rows = field(repr=False)

    @property
    def public(self) -> bool:
        """Whether the rows are public."""
        return self.rows.public

    @property
    def people(self) -> int:
        """Number of persons; a public fact."""
        return self.rows.people

    @property
    def contribution(self) -> Contribution:
        """What one person adds to the counts."""
        return self.rows.contribution

    def on_fine_grid(self) -> Rows:
        """See `Rows.on_fine_grid`."""
        return self.rows.on_fine_grid()


@dataclass
class RowsView(_SamePeople):
    """What counts the rows of another table in its own way: the same schema, the same people."""

    @property
    def schema(self) -> Schema:
        """The declared domain."""
        return self.rows.schema

    def batches(
        self, names: Sequence[str]
    ) -> Iterable[tuple[Mapping[str, NDArray[np.integer]], int]]:
        """The rows themselves; see `PrivateRows.batches`. Spends nothing by itself."""
        return self.rows.batches(names)


@dataclass
class BatchedRows(RowsView):
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
        # What was not planned costs a pass of its own; the others stay known.
        if not set(wanted).issubset(self.planned):
            return self.rows.counts(wanted)
        if not self._known:
            counted = self.rows.counts(self.planned)
            self._known.update(zip(self.planned, counted, strict=True))
        # A copy: who adds noise in place must not change what the next one is given.
        return [self._known[clique].copy() for clique in wanted]


@dataclass
class MappedRows(_SamePeople):
    """Rows in a coarser schema: each code by a public map; satisfies `data.source.Rows`.

    A code of a mapped row depends on that row's code alone, so replacing a person moves its counts
    as it moves those of the rows.

    Attributes:
        rows: in the finer schema.
        schema: the coarser one, with the same columns.
        maps: of every column whose codes differ, the coarser code of each code.
    """

    schema: Schema
    maps: Mapping[str, NDArray[np.integer]]

    def counts(self, cliques: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """See `data.source.Rows`. Spends nothing by itself."""
        # The number of people, which is public, decides how they are counted; that of rows may not
        # be.
        return count_chunks(self.schema, cliques, self.batches, self.people)

    def batches(
        self, names: Sequence[str]
    ) -> Iterable[tuple[Mapping[str, NDArray[np.integer]], int]]:
        """See `PrivateRows.batches`. Spends nothing by itself."""
        for codes, size in self.rows.batches(names):
            yield (
                {
                    name: self.maps[name][one] if name in self.maps else one
                    for name, one in codes.items()
                },
                size,
            )
