"""Fine counts: the parts that follow from them, what they say of parts, and values inside parts.

All of it is post-processing of counts that were measured with noise; no row is read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.decoding import decode
from prism_core.data.schema.fine_grid import declared_codes, fine_column
from prism_core.learning.bins import piecewise
from prism_core.planning.coarsening import MOST_PARTS, ColumnParts, is_ordered
from prism_core.synthesis.measure import Measurement, combined
from prism_core.synthesis.partition import ordered_parts, unordered_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.plan import Plan


@dataclass(frozen=True, kw_only=True)
class FoundParts:
    """A column's fine grid with what was counted on it, and its parts. Covered by epsilon.

    Attributes:
        name: of the column.
        level: label of the target's level that `share` is of.
        cells: labels of the fine cells, those of a part side by side.
        counts: noisy rows of each cell.
        parts: each cell's part, 0 for the first, then 1, and so on.
        share: of each part the noisy share of rows that have the level; None where no more rows
            are counted than noise alone gives.
        deviation: standard deviation of each share's noise; None likewise.
    """

    name: str
    level: str
    cells: tuple[str, ...]
    counts: tuple[int, ...]
    parts: tuple[int, ...]
    share: tuple[float | None, ...]
    deviation: tuple[float | None, ...]


def fine_of(measurements: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """The fine counts among measurements."""
    return tuple(m for m in measurements if m.fine)


def parts_of(plan: Plan, measurements: Sequence[Measurement]) -> tuple[ColumnParts, ...]:
    """The parts of every coarsened column.

    Args:
        plan: says which columns; all public.
        measurements: the fine counts, in the plan's order.
    """
    coarsening = plan.coarsening
    assert coarsening is not None
    found: list[ColumnParts] = []
    alike = plan.contribution.max_rows
    for name, m in zip(coarsening.names, fine_of(measurements), strict=True):
        column = plan.schema[name]
        levels = fine_column(column).level_count
        # Special values and missing have codes after the levels; each stays a cell of its own.
        counts = _by_class(m, name)[:levels]
        if is_ordered(column):
            fill = min(column.level_count, MOST_PARTS)
            parts = ordered_parts(counts, m.sigma, MOST_PARTS, fill, alike)
        else:
            parts = unordered_parts(counts, m.sigma, MOST_PARTS, alike)
        found.append(ColumnParts(name=name, parts=tuple(parts.tolist())))
    return tuple(found)


def found_parts(
    schema: Schema, parts: Sequence[ColumnParts], measurements: Sequence[Measurement]
) -> tuple[FoundParts, ...]:
    """What every coarsened column was cut by, to be drawn. Post-processing, spends nothing.

    Args:
        schema: the declared domain.
        parts: as they were found.
        measurements: those of the run; their fine counts are looked at.
    """
    pairs = zip(parts, fine_of(measurements), strict=True)
    return tuple(_found(schema, one, m) for one, m in pairs)


def _found(schema: Schema, parts: ColumnParts, m: Measurement) -> FoundParts:
    target = schema[next(name for name in m.clique if name != parts.name)]
    place = target.level_count - 1
    column = fine_column(schema[parts.name])
    counts = _by_class(m, parts.name)[: len(parts.parts)]
    order = np.argsort(parts.parts, kind="stable")
    sums, cells = _summed(counts, np.asarray(parts.parts, dtype=np.int32))
    shares: list[float | None] = []
    deviations: list[float | None] = []
    for of_part, many in zip(sums, cells, strict=True):
        whole, classes = float(of_part.sum()), len(of_part)
        # Twice the deviation of a sum of so many noisy cells: less may be noise and no row at all.
        if whole <= 2.0 * m.sigma * math.sqrt(many * classes):
            shares.append(None)
            deviations.append(None)
            continue
        share = min(1.0, max(0.0, float(of_part[place]) / whole))
        # To first order of a ratio, whose noise in the numerator is part of the denominator's.
        spread = many * ((1.0 - share) ** 2 + (classes - 1) * share**2)
        shares.append(share)
        deviations.append(m.sigma * math.sqrt(spread) / whole)
    names = column.code_names()
    return FoundParts(
        name=parts.name,
        level=target.labels()[place],
        cells=tuple(names[place] for place in order),
        counts=tuple(int(counts[place].sum()) for place in order),
        parts=tuple(parts.parts[place] for place in order),
        share=tuple(shares),
        deviation=tuple(deviations),
    )


def column_maps(plan: Plan) -> dict[str, NDArray[np.int32]]:
    """Of every column the code in the plan's domain for each of its fine codes."""
    assert plan.parts is not None
    # Columns that were not coarsened keep their declared codes.
    found = {column.name: declared_codes(column) for column in plan.schema.columns}
    return found | {
        one.name: one.codes(fine_column(plan.schema[one.name]).size) for one in plan.parts
    }


def _by_class(m: Measurement, name: str) -> NDArray[np.int64]:
    """Fine counts of shape (fine codes, classes)."""
    return m.values if m.clique[0] == name else m.values.T


def known_marginals(plan: Plan, measurements: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """What was measured, each marginal once; fine counts go into those of the same column.

    A part's sum of m fine cells has the variance m sigma^2, and is averaged with the count of the
    part by the inverse of the variances, cell by cell: of all unbiased averages the one of least
    variance. The scale written down is the root of the mean variance. Of a feature outside S the
    counts without Y are taken, so that Y is tied to S only.
    """
    found = list(combined([m for m in measurements if not m.fine]))
    if plan.parts is None:
        return tuple(found)
    places = {m.clique: place for place, m in enumerate(found) if m.query is None}
    parts = {one.name: one for one in plan.parts}
    for m in fine_of(measurements):
        name = next(name for name in m.clique if name in parts)
        pair = m.clique in places
        place = places.get(m.clique if pair else (name,))
        if place is None:  # S and Y are measured at once, which leaves nothing to add it to
            continue
        counts = _by_class(m, name)
        # Without Y the counts of all classes are added up, and so is their noise.
        classes = 1 if pair else counts.shape[1]
        sums, cells = _summed(counts, parts[name].codes(len(counts)))
        variance = cells * classes * m.sigma**2
        if not pair:
            values = sums.sum(axis=1)
        elif m.clique[0] == name:
            values, variance = sums, variance[:, None]
        else:
            values = sums.T
        found[place] = _averaged(found[place], values, variance)
    return tuple(found)


def _summed(
    counts: NDArray[np.int64], codes: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sums of fine counts by part, and how many cells each sums."""
    sums = np.zeros((int(codes.max()) + 1, counts.shape[1]), dtype=np.int64)
    # Not `sums[codes] += counts`: of the cells of one part that would add the last alone.
    np.add.at(sums, codes, counts)
    return sums, np.bincount(codes).astype(np.float64)


def _averaged(
    m: Measurement, values: NDArray[np.int64], variance: NDArray[np.float64]
) -> Measurement:
    # By the inverse of the variances: the weight of one is the other's variance over both.
    weight = variance / (variance + m.sigma**2)
    mean = weight * m.values + (1.0 - weight) * values
    whole = float(np.broadcast_to(weight * m.sigma**2, m.values.shape).mean())
    return replace(m, values=np.rint(mean).astype(np.int64), sigma=math.sqrt(whole))


def values_of(
    plan: Plan,
    codes: NDArray[np.int32],
    measurements: Sequence[Measurement],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int32], pd.DataFrame]:
    """Rows of the plan's domain as declared codes, and as values.

    A row's fine cell is drawn within its part, by the noisy counts of the part's cells; the value
    uniformly within the cell.

    Args:
        plan: holds the parts.
        codes: as the model draws them, shape (rows, columns).
        measurements: those of the run; their fine counts are looked at.
        rng: draws cells and values.
    """
    if plan.parts is None:
        return codes, decode(plan.schema, codes, rng)
    schema, columns = plan.schema, list(plan.schema.columns)
    fine, declared = codes.copy(), codes.copy()
    for parts, m in zip(plan.parts, fine_of(measurements), strict=True):
        place = schema.index(parts.name)
        column = columns[place]
        counts = _by_class(m, parts.name)
        groups = parts.codes(len(counts))
        # The cells are summed over the classes, which adds up the noise of so many counts.
        scale = m.sigma * math.sqrt(counts.shape[1])
        law = _law(counts.sum(axis=1), scale, groups, smooth=is_ordered(column))
        fine[:, place] = _drawn(law, groups, codes[:, place], rng)
        declared[:, place] = declared_codes(column)[fine[:, place]]
        columns[place] = fine_column(column)
    return declared, decode(replace(schema, columns=tuple(columns)), fine, rng)


def _law(
    counts: NDArray[np.int64], scale: float, groups: NDArray[np.int32], *, smooth: bool
) -> NDArray[np.float64]:
    """Weight of every fine code within its part, 1 in all."""
    law = np.zeros(len(counts))
    for group in range(int(groups.max()) + 1):
        inside = np.flatnonzero(groups == group)
        own = counts[inside]
        # Cells that noise alone may have filled get nothing: half of all empty cells are above 0.
        weights = piecewise(own, scale) if smooth else np.maximum(own - scale, 0.0)
        whole = float(weights.sum())
        law[inside] = weights / whole if whole > 0.0 else 1.0 / len(inside)
    return law


def _drawn(
    law: NDArray[np.float64],
    groups: NDArray[np.int32],
    codes: NDArray[np.int32],
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """A fine code of every row's part."""
    drawn = np.empty(len(codes), dtype=np.int32)
    spots = rng.random(len(codes))
    for group in range(int(groups.max()) + 1):
        inside, rows = np.flatnonzero(groups == group), np.flatnonzero(codes == group)
        ends = np.cumsum(law[inside])
        # Exactly 1 from the last cell with weight on, so that none without weight is drawn.
        ends = np.where(ends >= ends[-1], 1.0, ends / ends[-1])
        drawn[rows] = inside[np.searchsorted(ends, spots[rows], side="right")]
    return drawn
