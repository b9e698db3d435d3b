"""Grouping sets: counts of several marginals in one pass of a database over its rows.

Each marginal is one whole number a row, the place of its cell, so that a set groups by one column
and comes home as a number of the set, a place and a count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.data.engines.coded_query import KEPT, TURN, CodedQuery
from prism_core.data.engines.pushdown import HOME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from prism_core.privacy.contribution import Contribution

MOST_SETS = 64
"""Sets of one query; Spark and PostgreSQL keep a hash table for each."""

ALL = -1
"""Number of the set of all rows."""

TALLY = "rows_here"
"""How many rows there are, in the answers of a database."""

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
        contribution: what one person adds to the counts.
    """

    coded: CodedQuery
    told: Mapping[str, pa.Table]
    missing: tuple[int, ...]
    sizes: tuple[int, ...]
    wide: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]
    contribution: Contribution

    @property
    def cells(self) -> tuple[int, ...]:
        """How many cells each marginal has."""
        return tuple(math.prod(self.sizes[place] for place in clique) for clique in self.wide)


def count_sql(query: CountQuery, rows: str, beside: Mapping[str, str], fence: str = "") -> str:
    """A query of `part`, `cell`, `rows_here`, `mark`, `people`, in words that all databases know.

    All names in it are ours, so none has to be quoted. `cell` is the place of a cell in the flat
    table of the marginal `part`, null where a cell came that nobody was told of. `rows_here` is the
    count there, and `people` how many persons have their first row there.

    Args:
        query: what to count.
        rows: the query of `query.coded.rows`.
        beside: for every output in `query.told` what stands in FROM for its cells.
        fence: ends a query that is to be worked out as it stands, where a database would else work
            out its columns as often as they are named.

    Returns:
        SQL with a grouping set for each marginal, and one of all rows, whose part is `ALL`.
    """
    coded = _coded_sql(query, f"SELECT * FROM ({rows}) AS here {fence}", beside)
    names = [f"f{number}" for number in range(len(query.wide))]
    places = [
        f"{_place_sql(query.sizes, clique)} AS {name}"
        for name, clique in zip(names, query.wide, strict=True)
    ]
    line = " + ".join(f"c{place} * {weight}" for place, weight in enumerate(query.weights))
    single = query.contribution.single
    weighed = "" if single else f", {_weight_sql(query.contribution)} AS weight, {TURN}"
    # 1 + line, so that a row whose codes are all 0 has a mark. Squared below: a plain sum is the
    # same where two rows exchange a code.
    placed = (
        f"SELECT {', '.join(places)}, (1 + {line}) % {MODULUS} AS rest{weighed} "
        f"FROM ({coded} {fence}) AS coded"
    )
    count, people = (
        ("COUNT(*)", "COUNT(*)")
        if single
        else (
            # A sum of whole numbers is wider to some databases (NUMERIC, HUGEINT): another type in
            # Arrow.
            "CAST(SUM(weight) AS BIGINT)",
            f"CAST(SUM(CASE WHEN {TURN} = 0 THEN 1 ELSE 0 END) AS BIGINT)",
        )
    )
    # The database is asked for the set: a null may be a place of that set, or of another one.
    parts = " ".join(f"WHEN GROUPING({name}) = 0 THEN {i}" for i, name in enumerate(names))
    return (
        f"SELECT CASE {parts} ELSE {ALL} END AS part, COALESCE({', '.join(names)}) AS cell, "
        f"{count} AS {TALLY}, CAST(SUM(rest * rest % {MODULUS}) AS BIGINT) AS mark, "
        f"{people} AS people "
        f"FROM ({placed}) AS placed "
        f"GROUP BY GROUPING SETS ({', '.join(f'({name})' for name in names)}, ())"
    )


def _coded_sql(query: CountQuery, rows: str, beside: Mapping[str, str]) -> str:
    """The codes of every row, `c0`, `c1` ...; null where a cell came that nobody was told of."""
    outputs = []
    for place, (names, empty) in enumerate(zip(query.coded.homes, query.missing, strict=True)):
        code = f"here.c{place}"
        if names:
            told = "".join(f"told_{name}.code, " for name in names if name in beside)
            # A cell of no part is a missing one; a cell that is there was to be told of.
            nothing = " AND ".join(f"here.{name} IS NULL" for name in names)
            home = f"COALESCE({told}CASE WHEN {nothing} THEN {empty} END)"
            code = f"CASE WHEN {code} = {HOME} THEN {home} ELSE {code} END"
        outputs.append(f"CAST({code} AS BIGINT) AS c{place}")
    if not query.contribution.single:
        outputs += [f"here.{TURN}", f"here.{KEPT}"]
    joins = [
        f"LEFT JOIN {source} AS told_{name} ON here.{name} = told_{name}.cell"
        for name, source in beside.items()
    ]
    return f"SELECT {', '.join(outputs)} FROM ({rows}) AS here {' '.join(joins)}"


def _weight_sql(contribution: Contribution) -> str:
    """What a row counts, by how many of its person's rows are kept."""
    if not contribution.shared:
        return "1"
    shares = range(1, contribution.max_rows + 1)
    cases = " ".join(f"WHEN {kept} THEN {contribution.weight(kept)}" for kept in shares)
    return f"CASE {KEPT} {cases} END"


def _place_sql(sizes: Sequence[int], clique: Sequence[int]) -> str:
    # In the order of NumPy's flat index: what comes home is reshaped by the same sizes.
    text = "0"
    for place in clique:
        text = f"c{place}" if text == "0" else f"({text}) * {sizes[place]} + c{place}"
    return text


def tally_sql(inner: str, names: Sequence[str], fence: str = "") -> str:
    """A query of how often each different value of these columns is there, in one pass.

    Args:
        inner: a query with these columns.
        names: of columns; of a row of the answer all but one are null.
        fence: see `count_sql`.
    """
    # A row without any such cell would come home as one more line of nulls.
    there = " OR ".join(f"{name} IS NOT NULL" for name in names)
    sets = ", ".join(f"({name})" for name in names)
    return (
        f"SELECT {', '.join(names)}, COUNT(*) AS {TALLY} "
        f"FROM (SELECT * FROM ({inner}) AS here {fence}) AS coded WHERE {there} "
        f"GROUP BY GROUPING SETS ({sets})"
    )
