"""Coarsening: columns whose bins or groups of levels a run finds privately, by what they say of Y.

A part of the budget counts each such column on its public fine grid with Y, once. What follows is
post-processing of these noisy counts: neighbouring cells, or like levels, become one part
(`synthesis.partition`), all other marginals are measured over parts, and a synthetic value is drawn
in a fine cell of its part. The noisy fine counts go into the model as sums by part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.data.schema.column import Column
from prism_core.data.schema.fine_grid import fine_column
from prism_core.errors import PlanError
from prism_core.planning.numeric_queries import bases
from prism_core.planning.queries import Query, expected_relative_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.frame import Frame
    from prism_core.planning.wishes.task import Budget, Task

MOST_PARTS = 12
"""Parts of a column, at most."""

SHARE = 0.1
"""Part of the whole budget that counts all columns on their fine grids."""

MOST_FINE = 1_000
"""Cells of a fine grid, at most: parts of so many are found in a second, of 10,000 in hours."""

LONG = 24
"""An unordered column with so many levels is coarsened."""

NOISE_LIMIT = 0.5
"""Largest expected l1 error over n of a column's counts by parts, summed out of the fine ones.

With more noise than that it says nothing that bins could follow."""


@dataclass(frozen=True, kw_only=True)
class ColumnParts:
    """The parts of one column.

    Attributes:
        name: of the column.
        parts: part of every bin or level of the fine grid, from 0 on; special values and missing
            are always parts of their own, and not listed.

    Raises:
        PlanError: when a number is left out.
    """

    name: str
    parts: tuple[int, ...]

    def __post_init__(self) -> None:
        # By type: a true in a file would pass for 1.
        whole = self.parts and all(type(part) is int for part in self.parts)
        if not whole or set(self.parts) != set(range(max(self.parts) + 1)):
            raise PlanError(f"The parts of {self.name!r} are not numbered.", field="coarsen")

    @property
    def count(self) -> int:
        """How many parts there are."""
        return max(self.parts) + 1

    def codes(self, size: int) -> NDArray[np.int32]:
        """The coarse code of every fine code of a column of that size."""
        # Special values and missing stand behind the parts, as they stand behind the fine cells.
        extra = self.count + np.arange(size - len(self.parts))
        return np.concatenate([self.parts, extra]).astype(np.int32)


@dataclass(frozen=True, kw_only=True)
class Coarsening:
    """Fine counts that are measured first, one marginal (fine column, Y) for each column.

    Attributes:
        queries: of the fine counts; each has the sensitivity of a marginal (`Contribution.l2`).
        share: of the whole budget, for all of them.
        target: Y.
    """

    queries: tuple[Query, ...]
    share: float
    target: str

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.column_of(query) for query in self.queries)

    def column_of(self, query: Query) -> str:
        """The column that a query counts on its fine grid."""
        return next(name for name in query.clique if name != self.target)

    def sentence(self, schema: Schema) -> str:
        """What is counted, and what it costs, in words."""
        grids = [f"{name} ({fine_column(schema[name]).level_count} cells)" for name in self.names]
        return (
            f"Bins or groups of levels are found from noisy counts with {self.target} on public "
            f"fine grids, which take {self.share:.0%} of the budget: {', '.join(grids)}."
        )

    def to_dict(self, schema: Schema, parts: Sequence[ColumnParts] | None) -> dict[str, Any]:
        """Plain values for the plan's document.

        Args:
            schema: the declared domain.
            parts: what was found; None before the run.
        """
        found = {} if parts is None else {one.name: list(one.parts) for one in parts}
        return {
            "share": self.share,
            "most_parts": MOST_PARTS,
            "columns": [
                {
                    "name": name,
                    "fine_cells": fine_column(schema[name]).level_count,
                    "sigma": query.sigma,
                    **({"parts": found[name]} if name in found else {}),
                }
                for name, query in zip(self.names, self.queries, strict=True)
            ],
        }


def coarsening_of(frame: Frame) -> Coarsening | None:
    """The coarsening of a plan; None where none is wished, or the noise would outweigh it.

    It follows from the schema, n, the budget and the features: from public facts.
    """
    # The declared schema and no other: `Frame.schema` and its sizes wait for this answer.
    schema, task = frame.brief.schema, frame.task
    features = {name for aim in frame.aims for name in aim.s}
    names = [
        name
        for name in may_be_coarsened(schema, task, frame.budget)
        # S may be chosen after these counts: then any column may come to be in it.
        if name in features or task.regime == "predictive"
    ]
    target = schema.size(task.target)
    while names:
        amount = frame.total * SHARE / len(names)
        sigma = frame.accountant.gaussian(amount, 0.0, "").sigma
        # A part sums fine / parts cells, so its noise is sigma sqrt(fine / parts); over target x
        # parts such sums the l1 error grows by target sqrt(parts fine).
        errors = {
            name: expected_relative_error(1.0, sigma, frame.mass)
            * target
            * math.sqrt(min(MOST_PARTS, (fine := fine_column(schema[name]).level_count)) * fine)
            for name in names
        }
        worst = max(names, key=lambda name: errors[name])
        if errors[worst] <= NOISE_LIMIT:
            break
        # One at a time: each that goes leaves its share to the others, which may fit then.
        names.remove(worst)
    if not names:
        return None
    return Coarsening(
        queries=tuple(_fine_query(frame, name, SHARE / len(names)) for name in names),
        share=SHARE,
        target=task.target,
    )


def may_be_coarsened(schema: Schema, task: Task, budget: Budget) -> tuple[str, ...]:
    """Columns that are coarsened where S and the noise allow it."""
    if (
        task.coarsen == "never"
        # Parts are told apart by what they say of one target.
        or task.further
        or budget.accountant != "zcdp"
        # Coarser codes are counted row by row, where rows that share a weight have others.
        or schema.contribution.shared
        or bases(schema, task)
    ):
        return ()
    return tuple(
        column.name
        for column in schema.columns
        if column.name != task.target
        and (column.open_bins or task.coarsen == "auto")
        and _worth_it(column)
    )


def _worth_it(column: Column) -> bool:
    fine = fine_column(column).level_count
    if fine > MOST_FINE:
        return False
    if column.binned:
        # Where the grid is hardly finer than the bins there is little to find.
        return fine >= 2 * min(column.level_count, MOST_PARTS)
    return column.level_count >= (MOST_PARTS + 1 if column.kind == "ordinal" else LONG)


def _fine_query(frame: Frame, name: str, share: float) -> Query:
    schema, target = frame.brief.schema, frame.task.target
    clique = schema.canonical((name, target))
    label = f"{name} on its fine grid × {target}"
    event = frame.accountant.gaussian(frame.total * share, 0.0, label)
    cells = fine_column(schema[name]).size * schema.size(target)
    return Query(
        clique=clique,
        kind="fine",
        pool="task",
        cells=cells,
        weight=1.0,
        share=share,
        event=event,
        relative_error=expected_relative_error(cells, event.sigma, frame.mass),
    )


def parts_text(column: Column, parts: ColumnParts) -> str:
    """The parts that were found of a column, in words."""
    names = coarse_column(column, parts).code_names()[: parts.count]
    texts = names if column.binned else part_texts(column, parts)
    many = "part" if parts.count == 1 else "parts"
    return f"measured in {parts.count} {many}, found privately: {'; '.join(texts)}"


def widest_parts(schema: Schema, coarsening: Coarsening) -> tuple[ColumnParts, ...]:
    """As many parts as there may be: what a plan is sized for before they are known."""
    found = []
    for name in coarsening.names:
        cells = fine_column(schema[name]).level_count
        most = min(MOST_PARTS, cells)
        # Runs of neighbours: such parts an ordered column may have, too.
        parts = tuple(cell * most // cells for cell in range(cells))
        found.append(ColumnParts(name=name, parts=parts))
    return tuple(found)


def check_parts(schema: Schema, coarsening: Coarsening, parts: Sequence[ColumnParts]) -> None:
    """Refuse parts that no run of the plan could have found.

    Raises:
        PlanError: naming the column.
    """
    if tuple(one.name for one in parts) != coarsening.names:
        raise PlanError("The parts are not of the columns that are coarsened.", field="coarsen")
    for one in parts:
        _check_column(schema[one.name], one)


def _check_column(column: Column, parts: ColumnParts) -> None:
    # Parts are numbered along an ordered column, so they are runs where the numbers never fall.
    runs = not is_ordered(column) or list(parts.parts) == sorted(parts.parts)
    fits = len(parts.parts) == fine_column(column).level_count
    if not fits or not runs or parts.count > MOST_PARTS:
        raise PlanError(
            f"The parts of {column.name!r} are no partition of its fine grid.", field="coarsen"
        )


def is_ordered(column: Column) -> bool:
    """Whether only neighbouring cells become one part."""
    return column.binned or column.kind == "ordinal"


def coarse_schema(schema: Schema, parts: Sequence[ColumnParts]) -> Schema:
    """The schema that is measured: coarsened columns by their parts, all others as declared."""
    found = {one.name: coarse_column(schema[one.name], one) for one in parts if one.name in schema}
    return replace(schema, columns=tuple(found.get(c.name, c) for c in schema.columns))


def coarse_column(column: Column, parts: ColumnParts) -> Column:
    """A column with a bin or level for each part of its fine grid.

    Raises:
        PlanError: when they are no partition of it.
    """
    _check_column(column, parts)
    fine = fine_column(column)
    if column.binned:
        # Not strict: n fine cells have n - 1 edges between them.
        pairs = zip(fine.edges, parts.parts, parts.parts[1:], strict=False)
        edges = tuple(edge for edge, one, other in pairs if one != other)
        return replace(fine, edges=edges, open_bins=False)
    # Numbered: two parts may begin with texts that look alike.
    labels = [f"{number + 1}: {text}" for number, text in enumerate(part_texts(column, parts))]
    return Column(
        name=column.name, kind=column.kind, levels=tuple(labels), nullable=column.nullable
    )


def part_texts(column: Column, parts: ColumnParts) -> list[str]:
    """What each part holds, in words."""
    names = fine_column(column).code_names()
    found = []
    for number in range(parts.count):
        # Not strict: names go on with special values and missing, which are in no part.
        inside = [name for name, part in zip(names, parts.parts, strict=False) if part == number]
        more = len(inside) - 1
        found.append(inside[0] if not more else f"{inside[0]} and {more} more")
    return found
