"""Rows per person: what using more rows of each person costs in noise and brings in rows.

From public facts alone: the plan, and a guess of how many rows people have. No row is read.

A person with up to m rows moves m times as many counts, so the noise of a count is m times that of
one row. What it buys is rows. The rows that are kept never grow as fast as m, so noise alone would
always take one row; more pay only while the sample is what errs. `table_error` holds both.
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
        sigmas: of every measurement that is known beforehand, by its label.
        noise_error: mean expected l1 error of the marginals of the task over the rows, from noise
            alone.
        error: the same with what the rows are a sample of; at most so much, see `table_error`.
    """

    max_rows: int
    rows: float
    sigma: float
    sigmas: tuple[tuple[str, float], ...]
    noise_error: float
    error: float


def table_error(cells: float, rows: float, noise: float) -> float:
    """Expected l1 error of the shares of a table of counts: noise and sample together, at most.

    Proof. The error of a share is noise of variance s^2 = (noise / rows)^2 and a sampling error of
    variance p (1 - p) / rows, independent, and about normal: its mean is sqrt(2 / pi) times the
    root of their sum. Over C cells, by Cauchy-Schwarz, these roots add up to at most
    sqrt(C (C s^2 + (1 - sum of p^2) / rows)), and 1 - sum of p^2 is at most (C - 1) / C. Rows of
    one person are taken to be as unlike as those of two.

    Args:
        cells: C.
        rows: that are counted.
        noise: standard deviation of a cell's noise, in rows.
    """
    # C (C s^2 + (1 - 1 / C) / rows) of the proof, multiplied out.
    spread = (cells * noise / rows) ** 2 + (cells - 1.0) / rows
    return math.sqrt(2.0 / math.pi * spread)


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
        found.append(_choice(plan, mean))
    return tuple(found)


def used_rows(persons: int, most: int, mean: float) -> float:
    """Expected number of rows that are used, at most `most` of each person.

    Everybody has one row and a further one with chance q = 1 - 1 / mean, again and again. So k rows
    or more has q^(k-1) of all, and min(rows, m) is on average the sum of these for k = 1 to m.
    """
    more = 1.0 - 1.0 / mean
    return persons * math.fsum(more**k for k in range(most))


def _distinct(plan: Plan, mean: float) -> float:
    """Rows that would tell as much, each by itself, as the weighted ones do: n^2 / sum of 1 / j.

    Everybody weighs one, so the shares are a mean over persons, and that of somebody with j rows
    has a j-th of the variance of one row.
    """
    more, most = 1.0 - 1.0 / mean, plan.schema.max_rows
    # Whoever has m rows or more keeps m: one term for all of them.
    last = more ** (most - 1) / most
    inverse = math.fsum((1.0 - more) * more ** (k - 1) / k for k in range(1, most)) + last
    return plan.n / inverse


def _choice(plan: Plan, mean: float) -> RowsChoice:
    rows = used_rows(plan.n, plan.schema.max_rows, mean)
    queries = [query for query in plan.queries if query.pool == "task"]
    unit = plan.contribution.least
    # Where every person weighs one the counts add up to the persons, however many rows there are.
    shared = plan.contribution.shared
    total, told = (plan.n, _distinct(plan, mean)) if shared else (rows, rows)
    # `relative_error` is over `mass`, the least that counts may add up to, in `unit` a row or
    # person; here noise is over what they are expected to add up to.
    noise = [query.relative_error * plan.mass / unit / total for query in queries]
    sample = [table_error(query.cells, told, 0.0) for query in queries]
    # Noise and draw are independent, so their squares add up (`table_error`).
    both = [math.hypot(*parts) for parts in zip(noise, sample, strict=True)]
    return RowsChoice(
        max_rows=plan.schema.max_rows,
        rows=rows,
        sigma=math.fsum(query.sigma for query in queries) / len(queries) / unit,
        sigmas=tuple((query.label, query.noise / unit) for query in plan.queries),
        noise_error=math.fsum(noise) / len(queries),
        error=math.fsum(both) / len(queries),
    )
