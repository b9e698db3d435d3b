"""Distances of synthetic from real rows: shares, pairs, the task, correlations.

All of it reads private rows without noise: it spends nothing and gives no guarantee, so it
is outside epsilon and for the curator only. Distances are between shares of codes, missing
included: l1 = sum |p - q| (0 to 2), TV = l1 / 2 (0 to 1). Two samples of one population are some
distance apart, the more so the more cells there are and the fewer rows: beside each stands what
chance gives for samples of these sizes (its floor; `association.distance_by_chance`), and what is
called the farthest is so beyond chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.counts import marginal_counts
from prism_core.evaluation.fidelity.association import correlation_by_chance, distance_by_chance
from prism_core.evaluation.results import ColumnShape, MetricRow, PairTv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable

MAX_JOINT_CELLS = 20_000
"""The joint (S, Y) is compared up to this many cells; beyond it the distance is mostly
sampling error and says little."""

# 16 MB of counts; beyond it only the cells that occur are laid out.
_DENSE_CELLS = 2**21
_REFERENCE = "Ceiling: distance between the real training and holdout rows."


@dataclass(frozen=True, kw_only=True)
class RowComparison:
    """The tables of one comparison.

    Attributes:
        synthetic: the synthetic rows.
        real: the rows they are compared with: real training rows when given, else holdout.
        other: the holdout rows when `real` are training rows: what sampling alone does.
    """

    synthetic: EncodedTable
    real: EncodedTable
    other: EncodedTable | None = None

    @property
    def obstacle(self) -> str:
        """Why nothing can be compared, or ""."""
        for name, table in (("synthetic", self.synthetic), ("real", self.real)):
            if not table.n:
                return f"There are no {name} rows, so no distance is defined."
        return ""

    @property
    def reference(self) -> tuple[EncodedTable, EncodedTable] | None:
        """The two real tables, when there are two with rows."""
        if self.other is None or not self.other.n or not self.real.n:
            return None
        return self.real, self.other

    def row(
        self,
        name: str,
        subject: str,
        value: float | None,
        ceiling: float | None,
        note: str = "",
        floor: float | None = None,
    ) -> MetricRow:
        """A metric row; the obstacle becomes the note of a missing value."""
        parts = [self.obstacle if value is None and not note else note]
        if ceiling is not None:
            parts.append(_REFERENCE)
        return MetricRow(
            name=name,
            learner=None,
            subject=subject,
            value=value,
            floor=floor,
            ceiling=ceiling,
            note=" ".join(part for part in parts if part),
        )

    def distance(self, name: str, subject: str, clique: Sequence[str], unit: float) -> MetricRow:
        """The distance over a clique as a row: TV times `unit`, with ceiling and chance."""
        if self.obstacle:
            return self.row(name, subject, None, None)
        found = variation(self.synthetic, self.real, clique)
        ceiling = variation(*self.reference, clique).distance * unit if self.reference else None
        return self.row(name, subject, found.distance * unit, ceiling, floor=found.by_chance * unit)

    def mean(self, name: str, subject: str, rows: Sequence[MetricRow]) -> MetricRow:
        """The mean of rows, each part where all have it."""
        parts = [[getattr(row, part) for row in rows] for part in ("value", "ceiling", "floor")]
        value, ceiling, floor = map(_mean, parts)
        return self.row(name, subject, value, ceiling, floor=floor)


@dataclass(frozen=True)
class Variation:
    """How far two tables are apart in one marginal. Outside epsilon.

    Attributes:
        distance: total variation, 0 to 1.
        by_chance: what two samples of these sizes from one population are apart on average.
    """

    distance: float
    by_chance: float

    @property
    def beyond(self) -> float:
        """What is farther apart than chance puts it; below 0 where it is nearer."""
        return self.distance - self.by_chance


def variation(a: EncodedTable, b: EncodedTable, clique: Sequence[str]) -> Variation:
    """How far the marginals over `clique` are apart; both tables have rows.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.
    """
    if a.schema.cells(clique) <= _DENSE_CELLS:
        p, q = marginal_counts(a, clique), marginal_counts(b, clique)
    else:
        p, q = _sparse_counts(a, b, clique)
    # Cells that neither table shows add nothing, and most cells of a large marginal are such.
    held = p + q > 0
    p, q = p[held] / p.sum(), q[held] / q.sum()
    return Variation(
        # A sum of shares may round to above 1.
        min(1.0, float(np.abs(p - q).sum()) / 2.0),
        min(1.0, float(distance_by_chance(p, q, a.n, b.n).sum())),
    )


def _sparse_counts(
    a: EncodedTable, b: EncodedTable, clique: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts over the cells that occur in either table, for marginals too large to lay out."""
    names = list(clique)
    both = np.concatenate(
        [np.stack([table.column(name) for name in names], axis=1) for table in (a, b)]
    )
    _, cell = np.unique(both, axis=0, return_inverse=True)
    # numpy 2.0, unlike those before and after, gives the inverse a second axis here.
    cell = cell.reshape(-1)
    size = int(cell.max()) + 1
    return (np.bincount(cell[: a.n], minlength=size), np.bincount(cell[a.n :], minlength=size))


def column_shapes(comparison: RowComparison) -> tuple[ColumnShape, ...]:
    """Shares of every column. Outside epsilon, for the curator only."""
    synthetic, real = comparison.synthetic, comparison.real
    both = bool(synthetic.n and real.n)
    shapes: list[ColumnShape] = []
    for column in real.schema.columns:
        apart = variation(synthetic, real, (column.name,)) if both else None
        shapes.append(
            ColumnShape(
                name=column.name,
                labels=column.labels(),
                real=_shares(real, column.name),
                synthetic=_shares(synthetic, column.name),
                l1=None if apart is None else 2.0 * apart.distance,
                by_chance=None if apart is None else 2.0 * apart.by_chance,
            )
        )
    return tuple(shapes)


def _shares(table: EncodedTable, name: str) -> tuple[float, ...]:
    return tuple((marginal_counts(table, (name,)) / max(1, table.mass)).tolist())


def column_rows(comparison: RowComparison) -> list[MetricRow]:
    """`l1_1way` of every column and their mean (subject "all columns")."""
    rows = [
        comparison.distance("l1_1way", name, (name,), 2.0) for name in comparison.real.schema.names
    ]
    return [*rows, comparison.mean("l1_1way", "all columns", rows)]


def pair_tv(a: EncodedTable, b: EncodedTable) -> PairTv:
    """TV of every 2-way marginal; empty when a side has no rows.

    Outside epsilon: it spends nothing, and the numbers are for the curator only.
    """
    if not a.n or not b.n:
        return PairTv()
    names = a.schema.names
    matrix, chance = np.zeros((2, len(names), len(names)))
    for i, first in enumerate(names):
        for j in range(i + 1):
            clique = (first,) if i == j else (names[j], first)
            found = variation(a, b, clique)
            matrix[i, j] = matrix[j, i] = found.distance
            chance[i, j] = chance[j, i] = found.by_chance
    return PairTv(
        names=names,
        matrix=tuple(tuple(row) for row in matrix.tolist()),
        by_chance=tuple(tuple(row) for row in chance.tolist()),
    )


def pair_rows(comparison: RowComparison, distances: PairTv) -> list[MetricRow]:
    """`tv_2way`: the mean over pairs, and the pair farthest beyond chance ("pair A × B")."""
    if comparison.obstacle:
        return [comparison.row("tv_2way", "mean over pairs", None, None)]
    size = len(distances.names)
    if size < 2:
        note = "There is only one column, so there are no pairs."
        return [comparison.row("tv_2way", "mean over pairs", None, None, note)]
    upper = np.triu_indices(size, k=1)
    values, chance = (np.array(matrix)[upper] for matrix in (distances.matrix, distances.by_chance))
    # Beyond chance: by the distance alone it would be the pair with most cells.
    worst = int((values - chance).argmax())
    i, j = int(upper[0][worst]), int(upper[1][worst])
    mean_ceiling = worst_ceiling = None
    if comparison.reference:
        sampling = np.array(pair_tv(*comparison.reference).matrix)
        mean_ceiling, worst_ceiling = float(sampling[upper].mean()), float(sampling[i, j])
    pair = f"pair {distances.names[i]} × {distances.names[j]}"
    return [
        comparison.row(
            "tv_2way",
            "mean over pairs",
            float(values.mean()),
            mean_ceiling,
            floor=float(chance.mean()),
        ),
        comparison.row(
            "tv_2way", pair, float(values[worst]), worst_ceiling, floor=float(chance[worst])
        ),
    ]


def task_rows(
    comparison: RowComparison, *, target: str, features: Sequence[str], s: Sequence[str] = ()
) -> list[MetricRow]:
    """`task_tv` of every (X_j, Y), its mean and largest, and `task_tv_joint` of (S, Y)."""
    rows = [comparison.distance("task_tv", name, (name, target), 1.0) for name in features]
    found = [*rows, comparison.mean("task_tv_mean", "all columns", rows)]
    if not comparison.obstacle:
        # As in `pair_rows`: by the distance alone the pair with most cells would win.
        worst = max(rows, key=lambda row: (row.value or 0.0) - (row.floor or 0.0))
        found.append(replace(worst, name="task_tv_max"))
    if s:
        found.append(_joint_row(comparison, target, s))
    return found


def _joint_row(comparison: RowComparison, target: str, s: Sequence[str]) -> MetricRow:
    clique = tuple(dict.fromkeys((*s, target)))
    subject = " × ".join(clique)
    cells = comparison.real.schema.cells(clique)
    if cells > MAX_JOINT_CELLS:
        note = (
            f"The joint table has {cells:,} cells; up to {MAX_JOINT_CELLS:,} are compared, "
            "because beyond that sampling error hides the rest."
        )
        return comparison.row("task_tv_joint", subject, None, None, note)
    return comparison.distance("task_tv_joint", subject, clique, 1.0)


def correlation_rows(comparison: RowComparison) -> list[MetricRow]:
    """How far Pearson correlations of codes are apart, |difference| from 0 to 2.

    `correlation_difference`: the mean over the pairs that have a correlation to keep, which is
    above `association.correlation_by_chance` in the real rows. Pairs with nothing to say would
    only dilute it: with 50 independent columns beside one pair that was lost it would be a
    thousandth of what was lost.
    `correlation_difference_max`: the largest of all pairs, named; a correlation that only the
    synthetic rows have is found there.

    Over the columns that vary in all tables that are compared. Special values are no numbers: in a
    column that declares some, rows without a number are left out of its correlations.
    """
    name, subject = "correlation_difference", "correlated pairs"
    if comparison.obstacle:
        return [comparison.row(name, subject, None, None)]
    names = comparison.real.schema.names
    # The first table of the reference is the real one, which is there already.
    tables = (comparison.synthetic, comparison.real, *(comparison.reference or ())[1:])
    # The correlation of a constant column is 0 / 0.
    varies = np.all([_varies(table) for table in tables], axis=0)
    constant = [name for name, keep in zip(names, varies, strict=True) if not keep]
    note = ""
    if constant:
        shown = ", ".join(constant[:5]) + (" and others" if len(constant) > 5 else "")
        note = f"Left out, because constant in one of the tables: {shown}."
    if varies.sum() < 2:
        note = f"Fewer than two columns vary, so there is no correlation. {note}".strip()
        return [comparison.row(name, subject, None, None, note)]
    kept = [name for name, keep in zip(names, varies, strict=True) if keep]
    if any(comparison.real.schema[name].special for name in kept):
        note = f"Over rows with a number where a column has special values. {note}".strip()
    upper = np.triu_indices(len(kept), k=1)
    made, real, *others = (
        _correlations(table.codes[:, varies], table.ordered[:, varies])[upper] for table in tables
    )
    gap, apart = np.abs(made - real), [np.abs(real - other) for other in others]
    limit = correlation_by_chance(comparison.real.n, len(gap))
    said = np.abs(real) > limit
    about = (
        f"{int(said.sum()):,} of {len(gap):,} pairs have a correlation beyond chance "
        f"({limit:.3f}) in the real rows. {note}"
    ).strip()
    worst = int(gap.argmax())
    pair = f"pair {kept[upper[0][worst]]} × {kept[upper[1][worst]]}"
    mean = float(gap[said].mean()) if said.any() else None
    ceiling = float(apart[0][said].mean()) if apart and said.any() else None
    largest = float(apart[0][worst]) if apart else None
    return [
        comparison.row(name, subject, mean, ceiling, about),
        comparison.row(f"{name}_max", pair, float(gap[worst]), largest, note),
    ]


def _varies(table: EncodedTable) -> NDArray[np.bool_]:
    known = table.ordered
    # A cell without a number must be neither the greatest nor the least.
    high = np.where(known, table.codes, -1).max(axis=0)
    return high > np.where(known, table.codes, np.iinfo(np.int32).max).min(axis=0)


def _correlations(codes: NDArray[np.int32], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Pearson correlations of every pair over the rows that have both, 0 where there is none."""
    if known.all():
        return np.asarray(np.corrcoef(codes, rowvar=False))
    here = known.astype(float)
    x = np.where(known, codes - np.where(known, codes, 0).sum(axis=0) / here.sum(axis=0), 0.0)
    rows = here.T @ here
    # Two columns that no row has both of give 0 / 0, which counts as no correlation below.
    with np.errstate(divide="ignore", invalid="ignore"):
        # Entry (i, j): over the rows that have both, of column i.
        means = (x.T @ here) / rows
        spread = np.sqrt((x**2).T @ here / rows - means**2)
        found = (x.T @ x / rows - means * means.T) / (spread * spread.T)
    # Rounding may carry a correlation a hair beyond 1.
    return np.clip(np.nan_to_num(found, posinf=0.0, neginf=0.0), -1.0, 1.0)


def _mean(values: Sequence[float | None]) -> float | None:
    """Mean of numbers that are there all or not at all."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
