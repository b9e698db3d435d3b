"""Large columns and many columns: what they cost, which is to blame, and the way out.

All of it follows from the declared schema and the plan; no row is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema
    from prism_core.planning.queries import Query

MANY_LEVELS = 100
"""From here on a column is looked at; fewer levels drown only where the budget is tiny."""

DROWNED = 0.5
"""Expected error over n from which little but noise is left of a column."""

_NAMED = 3


def heaviest(schema: Schema, count: int = 2) -> tuple[Column, ...]:
    """The columns with most levels or bins, the largest first."""
    return tuple(sorted(schema.columns, key=lambda column: -column.size)[:count])


def sized(column: Column) -> str:
    """A column with its size, for messages."""
    return f"{column.name!r} ({column.size:,} {'bins' if column.binned else 'levels'})"


def way_out(column: Column) -> str:
    """What makes a column smaller."""
    if column.binned:
        return f"declare fewer bins for {column.name!r}"
    if column.kind == "boolean":
        return f"leave out {column.name!r}"
    if column.groups is not None:
        return f"group the codes of {column.name!r} into fewer groups"
    return (
        f"group the levels of {column.name!r} (`groups`: a public map, or the first characters of "
        "codes), or declare its most usual levels and `other`"
    )


def blame(schema: Schema) -> str:
    """Which columns make a model large, and what to do about it: two sentences."""
    found = heaviest(schema)
    ways = "; ".join(map(way_out, found))
    return f"The largest columns are {' and '.join(map(sized, found))}. To make it smaller: {ways}."


def blame_pair(schema: Schema, pair: Iterable[str]) -> str:
    """What to do about one marginal that is too large."""
    large = max((schema[name] for name in pair), key=lambda column: column.size)
    return f"Most of it is {sized(large)}: {way_out(large)}."


def crowded(schema: Schema, queries: Iterable[Query]) -> tuple[str, ...]:
    """A warning about columns of so many levels that the noise drowns them."""
    worst = drowning(schema, queries)
    names = sorted(worst, key=lambda name: -worst[name])
    found = tuple(_drowned(schema[name], worst[name]) for name in names[:_NAMED])
    more = len(names) - _NAMED
    return (*found, f"{more} more columns are as large.") if more > 0 else found


def drowning(schema: Schema, queries: Iterable[Query]) -> dict[str, float]:
    """Columns of many levels that the noise drowns, each with its largest expected error."""
    worst: dict[str, float] = {}
    for query in queries:
        # Cells multiply, so the largest column of a marginal is the one to make smaller.
        name = max(query.clique, key=schema.size)
        # Both: a large error alone comes of a small budget, and then no column is to blame.
        if schema.size(name) >= MANY_LEVELS and query.relative_error > DROWNED:
            worst[name] = max(worst.get(name, 0.0), query.relative_error)
    return worst


def _drowned(column: Column, error: float) -> str:
    return (
        f"The noise on {sized(column)} is expected to come to {error:.0%} of the rows: little of "
        f"the column will be left. To keep more of it, {way_out(column)}."
    )
