"""Numeric queries: task marginals measured as linear queries, and what they cost."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.data.linear_queries import LinearQuery, linear_query, query_with_bases
from prism_core.errors import BudgetError
from prism_core.planning.tree.junction_tree import Clique, forecast
from prism_core.privacy.contribution import ONE_ROW, Contribution
from prism_core.privacy.events import GaussianEvent, rescaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.queries import Pool, QueryKind
    from prism_core.planning.wishes.task import Budget, NumericRule, Task


PRODUCT_CELLS = 200_000
"""Cells by which products may enlarge the junction tree."""

MOST_PRODUCTS = 66
"""Pairs that are looked at: those of 12 columns."""


def bases(schema: Schema, task: Task) -> dict[str, str]:
    """Columns that are not measured in full with the target, and by which basis.

    Numeric and date features with `task.numeric_bins` bins or more, by the rule of the task; a
    column that `task.numeric_columns` names, by its own rule, however many bins it has. Targets
    are measured level by level, each of several.
    """
    found: dict[str, str] = {}
    for column in schema.columns:
        rule = _rule(schema, task, column.name)
        if rule != "full" and column.name not in task.target_names:
            thresholds = f"thresholds {task.thresholds}"
            found[column.name] = thresholds if rule == "thresholds" else "moments"
    return found


def second_moments(schema: Schema, task: Task) -> tuple[str, ...]:
    """Columns whose products with each other are measured where they are in S together."""
    return tuple(
        name
        for name in schema.names
        if name not in task.target_names and _rule(schema, task, name) == "second_moments"
    )


def products(schema: Schema, task: Task, s: Sequence[str], known: Sequence[Clique]) -> Products:
    """Pairs of features of S by `second_moments` whose products are measured. No row is read.

    With the moments of each feature they are E[phi phi^T] and E[phi Y] of the squared loss. Every
    pair ties its two columns, bins and all, into a clique of the model with Y; so pairs are taken
    in the order of the schema, as long as the junction tree grows by `PRODUCT_CELLS` at most, and
    no clique of it beyond them or the largest that is there anyway.

    Args:
        schema: the domain.
        task: holds the rules.
        s: the features S; the regime guard holds, as a product has no column outside.
        known: cliques that are measured anyway.
    """
    multiplied = second_moments(schema, task)
    names = [name for name in s if name in multiplied]
    pairs = list(itertools.combinations(names, 2))
    sizes = {name: schema.size(name) for name in schema.names}
    before = forecast(sizes, known, last=task.target_names)
    largest, cells = max(before.largest_clique, PRODUCT_CELLS), before.cells + PRODUCT_CELLS
    kept: list[Clique] = []
    # Each pair sizes a tree, and a plan is made on every move of a slider.
    for pair in pairs[:MOST_PRODUCTS]:
        size = forecast(sizes, [*known, *kept, pair], last=task.target_names)
        if size.cells <= cells and size.largest_clique <= largest:
            kept.append(pair)
    return Products(pairs=tuple(kept), left_out=len(pairs) - len(kept))


@dataclass(frozen=True, kw_only=True)
class Products:
    """Products of two features that are measured, and how many are not."""

    pairs: tuple[Clique, ...] = ()
    left_out: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a curator has to know."""
        if not self.left_out:
            return ()
        return (
            f"{self.left_out} products of two numeric columns are not measured: the model would "
            "grow too large. Declare fewer bins for them, or give some columns another rule.",
        )


def linear_queries(
    schema: Schema, task: Task, cliques: Sequence[Clique], pool: Pool
) -> tuple[LinearQuery | None, ...]:
    """For each marginal of a pool the query of it that is measured; None for its counts.

    Only pairs (X_j, Y) of the task pool have one, and products, which hold no target.
    """
    wanted = bases(schema, task) if pool == "task" else {}
    targets = set(task.target_names)

    def query(clique: Clique) -> LinearQuery | None:
        if len(clique) != 2 or not set(clique).intersection(wanted):
            return None
        if not targets.intersection(clique):
            return linear_query(schema, clique, ("value", "value"))
        return query_with_bases(schema, clique, wanted)

    return tuple(map(query, cliques))


def _rule(schema: Schema, task: Task, name: str) -> NumericRule:
    column = schema[name]
    many = column.binned and column.level_count >= task.numeric_bins
    return task.numeric_columns.get(name, task.numeric_queries if many else "full")


def fine(schema: Schema, task: Task, s: Sequence[str]) -> tuple[Clique, ...]:
    """One-way marginals of features that are in S by a linear query only.

    Moments do not say what shape a column has. Its own counts, which the background pays for, do.
    """
    wanted = bases(schema, task)
    return tuple((name,) for name in s if name in wanted)


def check_numeric(schema: Schema, task: Task, budget: Budget) -> None:
    """What the wishes for numeric columns need. Spends nothing.

    Raises:
        PlanError: for a column that is not there or has no bins.
        BudgetError: for an accountant that linear queries are not proven for here.
    """
    for name, rule in task.numeric_columns.items():
        # Its answer is not needed: it refuses a column without bins.
        query_with_bases(
            schema, (name,), {name: f"thresholds {task.thresholds}"} if rule != "full" else {}
        )
        # Refuses a column that is not there, also where the rule is `full`.
        schema.index(name)
    if bases(schema, task) and budget.accountant != "zcdp":
        raise BudgetError(
            "Moments and thresholds are accounted for under zcdp; choose this accountant, or "
            "measure numeric columns in full.",
            field="accountant",
        )


def numbers(schema: Schema, clique: Clique, linear: LinearQuery | None) -> int:
    """How many noisy numbers a measurement is."""
    return schema.cells(clique) if linear is None else linear.rows


def cost(
    weight: float, cells: int, linear: LinearQuery | None, contribution: Contribution = ONE_ROW
) -> float:
    """A measurement's coefficient a_t in the sum of a_t sigma_t that the allocation minimises.

    For rho_t the noise of counts is sigma_t = 1 / sqrt(rho_t), as their sensitivity is sqrt(2);
    that of a query of sensitivity D (rows in units of 1) is D / sqrt(2) times it, as rho = D^2 /
    (2 sigma^2). Its expected l1 error is rows * sigma * sqrt(2 / pi), so with the weight w_t

        a_t = w_t * rows_t * D_t / sqrt(2),

    which is w_t times cells for counts, and by Lagrange rho_t is proportional to a_t^(2/3) as
    before. A row of moments counts like a cell: each is a sum over rows of a phi of at most 1.
    """
    return weight * cells * (1.0 if linear is None else linear.unit_of(contribution))


def stretched(
    event: GaussianEvent, linear: LinearQuery | None, contribution: Contribution
) -> GaussianEvent:
    """The event of a query that costs what this event of counts costs; in units of 1 / grid."""
    if linear is None:
        return event
    label = f"{event.label}, {linear.kind}, in units of one part in {linear.grid}"
    return rescaled(event, linear.moved(contribution), label)


def kind_of(kind: QueryKind, clique: Clique, linear: LinearQuery | None) -> QueryKind:
    """What the plan calls a measurement. More than two columns of the pairs are a joint."""
    if linear is not None:
        return linear.kind
    return "joint" if kind == "pair" and len(clique) > 2 else kind
