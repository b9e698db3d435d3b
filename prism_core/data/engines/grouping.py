"""Grouping sets: counts of several marginals in one pass of a database over its rows.

Each marginal is one whole number a row, the place of its cell, so that a set groups by one column
and comes home as a number of the set, a place and a count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.data.engines.pushdown import HOME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from prism_core.data.engines.coded_query import CodedQuery

MOST_SETS = 64
"""Sets of one query; Spark and PostgreSQL keep a hash table for each."""

ALL = -1
"""Number of the set of all rows."""

MODULUS = 1_000_003
"""Of the marks, whose sum over ten billion rows fits 64 bits."""


@dataclass(frozen=True, kw_only=True)
class CountQuery:
    """Marginals to be counted in one pass over the rows.

    Attributes:
        coded: the rows.
        told: for outputs among `h0`, `h1` ... of the rows the different cells, `cell`, and their
            codes, `code`.
        missing: for every column the code of a missing cell.
        sizes: codes of every column.
        wide: the marginals, as places of columns.
        weights: secret whole numbers below 2^20, one for each column. The *mark* of a row is made
            of them and its codes. The sum of the marks is the same in two scans of the same rows,
            and by chance about once in a million where they differ.
    """

    coded: CodedQuery
    told: Mapping[str, pa.Table]
    missing: tuple[int, ...]
    sizes: tuple[int, ...]
    wide: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]

    @property
    def cells(self) -> tuple[int, ...]:
        """How many cells each marginal has."""
        return tuple(math.prod(self.sizes[place] for place in clique) for clique in self.wide)

    def expression(self, beside: Callable[[str, pa.Table], Any]) -> Any:  # noqa: ANN401
        """The rows as an Ibis expression with the outputs `f0`, `f1` ... and `mark`.

        `f0` is the place of the row's cell in the flat table of the first marginal; null where a
        cell came that nobody was told of.

        Args:
            beside: makes a small table of ours one that the database may join.
        """
        import ibis

        rows, codes = self._joined(beside)
        outputs: dict[str, Any] = {}
        for number, clique in enumerate(self.wide):
            cell: Any = ibis.literal(0, "int64")
            for place in clique:
                cell = cell * self.sizes[place] + codes[place]
            outputs[f"f{number}"] = cell.cast("int64")
        line: Any = ibis.literal(1, "int64")
        for code, weight in zip(codes, self.weights, strict=True):
            line = line + code * weight
        rest = line % MODULUS
        outputs["mark"] = ((rest * rest) % MODULUS).cast("int64")
        return rows.select(**outputs)

    def _joined(self, beside: Callable[[str, pa.Table], Any]) -> tuple[Any, list[Any]]:
        """The rows, and the code of every column; null where a cell came that none was told of."""
        import ibis

        rows = self.coded.rows
        for name, cells in self.told.items():
            table = beside(f"prism_cells_{name}", cells)
            lookup = table.select(**{f"{name}_cell": table.cell, f"{name}_code": table.code})
            rows = rows.left_join(lookup, rows[name] == lookup[f"{name}_cell"])
        outputs: dict[str, Any] = {}
        for place, (names, empty) in enumerate(zip(self.coded.homes, self.missing, strict=True)):
            code = rows[f"c{place}"]
            if names:
                told = [rows[f"{name}_code"] for name in names if name in self.told]
                # A cell of no part is a missing one; a cell that is there was to be told of.
                nothing = ibis.and_(*(rows[name].isnull() for name in names))
                home = ibis.coalesce(*told, ibis.ifelse(nothing, empty, ibis.null("int16")))
                code = ibis.ifelse(code == HOME, home, code)
            outputs[f"c{place}"] = code.cast("int64")
        # A step of its own: written out in every place, the codes would be worked out as often.
        rows = rows.select(**outputs)
        return rows, [rows[name] for name in outputs]


def grouping_sql(inner: str, sets: int) -> str:
    """A query of the rows `part`, `cell`, `rows_here`, `mark`, in words that all databases know.

    Args:
        inner: the query of `CountQuery.expression`.
        sets: how many marginals.

    Returns:
        SQL with a grouping set for each marginal, and one of all rows, whose part is `ALL`.
    """
    names = [f"f{place}" for place in range(sets)]
    # The database is asked for the set: a null may be a place of that set, or of another one.
    parts = " ".join(f"WHEN GROUPING({name}) = 0 THEN {i}" for i, name in enumerate(names))
    return (
        f"SELECT CASE {parts} ELSE {ALL} END AS part, COALESCE({', '.join(names)}) AS cell, "
        "COUNT(*) AS rows_here, CAST(SUM(mark) AS BIGINT) AS mark "
        f"FROM ({inner}) AS coded "
        f"GROUP BY GROUPING SETS ({', '.join(f'({name})' for name in names)}, ())"
    )


def different_sql(inner: str, names: Sequence[str]) -> str:
    """A query of the different values of each of these columns, in one pass.

    Args:
        inner: a query with these columns.
        names: of columns; of a row of the answer all but one are null.
    """
    there = " OR ".join(f"{name} IS NOT NULL" for name in names)
    sets = ", ".join(f"({name})" for name in names)
    return (
        f"SELECT {', '.join(names)} FROM ({inner}) AS coded WHERE {there} "
        f"GROUP BY GROUPING SETS ({sets})"
    )
