"""Many columns and many levels: what they cost, which column is to blame, and the way out.

All of it follows from the declared schema and the plan; no row is read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prism_core.planning.together import draws_together

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.data.column import Column
    from prism_core.data.schema import Schema
    from prism_core.planning.plan import Plan, Query

MANY_LEVELS = 100
"""From here on a column is looked at; fewer levels drown only where the budget is tiny."""

DROWNED = 0.5
"""Expected error over n from which little but noise is left of a column."""

_NAMED = 3

# Processor seconds on one core (2.5 GHz), measured on tables of 30 to 200 columns and 5,000 to
# 50,000 rows (`tests/benchmarks/wide.py`); right within a factor of about three.
_START = 3.0
_PER_PAIR = 60e-6
_PER_PAIR_AND_ROW = 3e-9
_PER_CELL = 12e-6
_PER_VALUE = 0.5e-6


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
    worst: dict[str, float] = {}
    for query in queries:
        name = max(query.clique, key=schema.size)
        if schema.size(name) >= MANY_LEVELS and query.relative_error > DROWNED:
            worst[name] = max(worst.get(name, 0.0), query.relative_error)
    names = sorted(worst, key=lambda name: -worst[name])
    found = tuple(_drowned(schema[name], worst[name]) for name in names[:_NAMED])
    more = len(names) - _NAMED
    return (*found, f"{more} more columns are as large.") if more > 0 else found


def _drowned(column: Column, error: float) -> str:
    return (
        f"The noise on {sized(column)} is expected to come to {error:.0%} of the rows: little of "
        f"the column will be left. To keep more of it, {way_out(column)}."
    )


def run_seconds(plan: Plan) -> float:
    """Roughly how long a run takes on one core, in seconds; from the plan alone.

    Adaptive rounds fit again and again and count as one fit each of the largest model; so does
    what is expected of every pair with a target (see `synthesis.drawn`).
    """
    pairs = 0 if plan.tree is None else len(plan.tree.candidates)
    if plan.selection is not None:
        pairs += len(plan.selection.candidates) * plan.selection.steps
    three = plan.three_way
    expected = len(plan.s) if draws_together(plan) else 0
    fits = 1 + expected + (three.rounds if three is not None and three.rule == "adaptive" else 0)
    if three is not None:
        pairs += len(three.candidates) * (three.rounds if three.rule == "adaptive" else 1)
    values = len(plan.schema.columns) * (plan.n + plan.rows)
    return math.fsum(
        (
            _START,
            pairs * (_PER_PAIR + _PER_PAIR_AND_ROW * plan.n),
            fits * _PER_CELL * typical_cells(plan),
            _PER_VALUE * values,
        )
    )


def typical_cells(plan: Plan) -> float:
    """Cells of the model as it will probably be: pairs still to be chosen count as typical ones."""
    if plan.forecast.exact:
        return float(plan.forecast.cells)
    known = math.fsum(query.cells for query in plan.queries)
    target = plan.schema.size(plan.task.target)
    later = math.fsum(
        choice.rounds * choice.cells for choice in (plan.tree, plan.three_way) if choice is not None
    )
    return min(float(plan.forecast.cells), known + target * later)


def size_text(plan: Plan) -> str:
    """The forecast in a line: cells, memory, time."""
    size = plan.forecast
    most = "" if size.exact else " at most"
    time = run_seconds(plan)
    about = f"{time:,.0f} seconds" if time < 100.0 else f"{time / 60.0:,.0f} minutes"
    return (
        f"{size.cells:,} cells{most}, the largest clique {size.largest_clique:,}{most}; about "
        f"{max(1.0, size.megabytes):,.0f} MiB{most} and {about} on one core"
    )
