"""How far the synthetic rows are from the real ones: shares, pairs, the task, correlations.

All of it reads private rows without noise: it spends nothing and gives no guarantee, so it
is outside epsilon and for the curator only. Distances are between shares of codes, missing
included: l1 = sum |p - q| (0 to 2), TV = l1 / 2 (0 to 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.counts import marginal_counts
from prism_core.evaluation.records import ColumnShape, MetricRow, PairTv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable

MAX_JOINT_CELLS = 20_000
"""The joint (S, Y) is compared up to this many cells; beyond it the distance is mostly
sampling error and says little."""

_DENSE_CELLS = 2**21
_REFERENCE = "Ceiling: distance between the real training and holdout rows."


@dataclass(frozen=True, kw_only=True)
class Comparison:
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
        self, name: str, subject: str, value: float | None, ceiling: float | None, note: str = ""
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
            floor=None,
            ceiling=ceiling,
            note=" ".join(part for part in parts if part),
        )

    def distance(self, clique: Sequence[str]) -> tuple[float | None, float | None]:
        """TV of synthetic against real, and of real against other real rows."""
        value = total_variation(self.synthetic, self.real, clique)
        ceiling = total_variation(*self.reference, clique) if self.reference else None
        return value, ceiling


def total_variation(a: EncodedTable, b: EncodedTable, clique: Sequence[str]) -> float | None:
    """TV distance of the marginals over `clique`, 0 to 1; None when a side has no rows.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.
    """
    if not a.n or not b.n:
        return None
    if a.schema.cells(clique) <= _DENSE_CELLS:
        p, q = marginal_counts(a, clique), marginal_counts(b, clique)
    else:
        p, q = _sparse_counts(a, b, clique)
    return min(1.0, float(np.abs(p / a.n - q / b.n).sum()) / 2.0)


def _sparse_counts(
    a: EncodedTable, b: EncodedTable, clique: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts over the cells that occur in either table, for marginals too large to lay out."""
    names = list(clique)
    both = np.concatenate(
        [np.stack([table.column(name) for name in names], axis=1) for table in (a, b)]
    )
    _, cell = np.unique(both, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    size = int(cell.max()) + 1
    return (
        np.bincount(cell[: a.n], minlength=size),
        np.bincount(cell[a.n :], minlength=size),
    )


def column_shapes(comparison: Comparison) -> tuple[ColumnShape, ...]:
    """Shares of every column. Outside epsilon, for the curator only."""
    synthetic, real = comparison.synthetic, comparison.real
    shapes: list[ColumnShape] = []
    for column in real.schema.columns:
        tv = total_variation(synthetic, real, (column.name,))
        shapes.append(
            ColumnShape(
                name=column.name,
                labels=column.labels(),
                real=_shares(real, column.name),
                synthetic=_shares(synthetic, column.name),
                l1=None if tv is None else 2.0 * tv,
            )
        )
    return tuple(shapes)


def _shares(table: EncodedTable, name: str) -> tuple[float, ...]:
    return tuple((marginal_counts(table, (name,)) / max(1, table.n)).tolist())


def column_rows(comparison: Comparison) -> list[MetricRow]:
    """`l1_1way` of every column and their mean (subject "all columns")."""
    rows: list[MetricRow] = []
    for name in comparison.real.schema.names:
        value, ceiling = comparison.distance((name,))
        rows.append(comparison.row("l1_1way", name, _twice(value), _twice(ceiling)))
    values, ceilings = [r.value for r in rows], [r.ceiling for r in rows]
    rows.append(comparison.row("l1_1way", "all columns", _mean(values), _mean(ceilings)))
    return rows


def pair_tv(a: EncodedTable, b: EncodedTable) -> PairTv:
    """TV of every 2-way marginal; empty when a side has no rows.

    Outside epsilon: it spends nothing, and the numbers are for the curator only.
    """
    if not a.n or not b.n:
        return PairTv()
    names = a.schema.names
    matrix = np.zeros((len(names), len(names)))
    for i, first in enumerate(names):
        for j in range(i + 1):
            clique = (first,) if i == j else (names[j], first)
            matrix[i, j] = matrix[j, i] = total_variation(a, b, clique) or 0.0
    return PairTv(names=names, matrix=tuple(tuple(row) for row in matrix.tolist()))


def pair_rows(comparison: Comparison, distances: PairTv) -> list[MetricRow]:
    """`tv_2way`: the mean over pairs, and the worst pair (subject "pair A × B")."""
    if comparison.obstacle:
        return [comparison.row("tv_2way", "mean over pairs", None, None)]
    size = len(distances.names)
    if size < 2:
        note = "There is only one column, so there are no pairs."
        return [comparison.row("tv_2way", "mean over pairs", None, None, note)]
    upper = np.triu_indices(size, k=1)
    values = np.array(distances.matrix)[upper]
    worst = int(values.argmax())
    i, j = int(upper[0][worst]), int(upper[1][worst])
    mean_ceiling = worst_ceiling = None
    if comparison.reference:
        sampling = np.array(pair_tv(*comparison.reference).matrix)
        mean_ceiling, worst_ceiling = float(sampling[upper].mean()), float(sampling[i, j])
    pair = f"pair {distances.names[i]} × {distances.names[j]}"
    return [
        comparison.row("tv_2way", "mean over pairs", float(values.mean()), mean_ceiling),
        comparison.row("tv_2way", pair, float(values[worst]), worst_ceiling),
    ]


def task_rows(
    comparison: Comparison, *, target: str, features: Sequence[str], s: Sequence[str] = ()
) -> list[MetricRow]:
    """`task_tv` of every (X_j, Y), its mean and largest, and `task_tv_joint` of (S, Y)."""
    rows: list[MetricRow] = []
    for name in features:
        rows.append(comparison.row("task_tv", name, *comparison.distance((name, target))))
    values, ceilings = [r.value for r in rows], [r.ceiling for r in rows]
    rows.append(comparison.row("task_tv_mean", "all columns", _mean(values), _mean(ceilings)))
    if not comparison.obstacle:
        worst = max(rows[:-1], key=lambda row: row.value or 0.0)
        rows.append(comparison.row("task_tv_max", worst.subject, worst.value, worst.ceiling))
    if s:
        rows.append(_joint_row(comparison, target, s))
    return rows


def _joint_row(comparison: Comparison, target: str, s: Sequence[str]) -> MetricRow:
    clique = tuple(dict.fromkeys((*s, target)))
    subject = " × ".join(clique)
    cells = comparison.real.schema.cells(clique)
    if cells > MAX_JOINT_CELLS:
        note = (
            f"The joint table has {cells:,} cells; up to {MAX_JOINT_CELLS:,} are compared, "
            "because beyond that sampling error hides the rest."
        )
        return comparison.row("task_tv_joint", subject, None, None, note)
    return comparison.row("task_tv_joint", subject, *comparison.distance(clique))


def correlation_row(comparison: Comparison) -> MetricRow:
    """`correlation_difference`: mean |difference| of Pearson correlations of codes, 0 to 2.

    Over the pairs of columns that vary in all tables that are compared.
    """
    name, subject = "correlation_difference", "all pairs"
    if comparison.obstacle:
        return comparison.row(name, subject, None, None)
    names = comparison.real.schema.names
    tables = (comparison.synthetic, comparison.real, *(comparison.reference or ())[1:])
    varies = np.all([np.ptp(table.codes, axis=0) > 0 for table in tables], axis=0)
    constant = [name for name, keep in zip(names, varies, strict=True) if not keep]
    note = ""
    if constant:
        shown = ", ".join(constant[:5]) + (" and others" if len(constant) > 5 else "")
        note = f"Left out, because constant in one of the tables: {shown}."
    if varies.sum() < 2:
        note = f"Fewer than two columns vary, so there is no correlation. {note}".strip()
        return comparison.row(name, subject, None, None, note)
    upper = np.triu_indices(int(varies.sum()), k=1)
    found = [
        np.asarray(np.corrcoef(table.codes[:, varies], rowvar=False))[upper] for table in tables
    ]
    value = float(np.abs(found[0] - found[1]).mean())
    ceiling = float(np.abs(found[1] - found[2]).mean()) if len(found) == 3 else None
    return comparison.row(name, subject, value, ceiling, note)


def _twice(value: float | None) -> float | None:
    return None if value is None else 2.0 * value


def _mean(values: Sequence[float | None]) -> float | None:
    """Mean of numbers that are there all or not at all."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
