"""Rows per person: what using more rows of each person costs in noise and brings in rows.

From public facts alone: the plan, and a guess of how many rows people have. No row is read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prism_core.errors import PrismError, SchemaError
from prism_core.planning.design import design

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.planning.brief import Brief
    from prism_core.planning.plan import Plan

CHOICES = (1, 2, 3, 5, 10)

MEAN_ROWS = 2.3
"""Rows of a person on average where nobody says otherwise."""

MOST_MEAN = 1_000.0


@dataclass(frozen=True, kw_only=True)
class RowsChoice:
    """A plan that uses at most so many rows of each person.

    Attributes:
        max_rows: m.
        rows: expected number of rows that are used.
        sigma: noise of a count, the mean over the marginals of the task.
        error: mean expected l1 error of these marginals over the rows, from noise alone.
    """

    max_rows: int
    rows: float
    sigma: float
    error: float


def rows_choices(
    brief: Brief, mean: float, wanted: Iterable[int] = CHOICES
) -> tuple[RowsChoice, ...]:
    """Plans with other numbers of rows of a person, all else equal; what cannot be planned is out.

    Args:
        brief: with a person-ID column.
        mean: rows of a person on average, a public guess; their number follows a geometric law.
        wanted: values of `max_rows`.

    Raises:
        SchemaError: without a person-ID column, or for an unusable mean.
    """
    if brief.schema.person_id is None:
        raise SchemaError(
            "Several rows of a person need a column that names the person (person_id).",
            field="person_id",
        )
    if not 1.0 <= mean <= MOST_MEAN:
        raise SchemaError(
            f"Rows of a person on average must be a number from 1 to {MOST_MEAN:,.0f}.",
            field="mean_rows",
        )
    found: list[RowsChoice] = []
    for most in wanted:
        try:
            plan = design(replace(brief, schema=replace(brief.schema, max_rows=most)))
        except PrismError:  # an accountant, say, that is not made for several rows
            continue
        found.append(_choice(plan, used_rows(plan.n, most, mean)))
    return tuple(found)


def used_rows(persons: int, most: int, mean: float) -> float:
    """Expected number of rows that are used, at most `most` of each person.

    Everybody has one row and a further one with chance q = 1 - 1 / mean, again and again. So k rows
    or more has q^(k-1) of all, and min(rows, m) is on average the sum of these for k = 1 to m.
    """
    more = 1.0 - 1.0 / mean
    return persons * math.fsum(more**k for k in range(most))


def _choice(plan: Plan, rows: float) -> RowsChoice:
    queries = [query for query in plan.queries if query.pool == "task"]
    unit = plan.contribution.least
    # Where every person weighs one the counts add up to the persons, however many rows there are.
    total = plan.n if plan.contribution.shared else rows
    error = math.fsum(query.relative_error for query in queries) / len(queries)
    return RowsChoice(
        max_rows=plan.schema.max_rows,
        rows=rows,
        sigma=math.fsum(query.sigma for query in queries) / len(queries) / unit,
        error=error * plan.mass / unit / total,
    )
