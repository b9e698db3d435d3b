"""All pairs of columns at once: how strongly they go together, real and synthetic.

Outside epsilon: read from private rows without noise, for the curator only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.counts import marginal_counts
from prism_core.evaluation.learners import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable
    from prism_core.evaluation.subject import Subject

_BLOCK = 1_024
_CHUNK = 4_096


@dataclass(frozen=True, kw_only=True)
class PairStatistics:
    """Every pair of columns, as symmetric matrices of shape (columns, columns). Outside epsilon.

    Attributes:
        names: the columns, in schema order.
        real, synthetic: Cramér's V, 0 (independent) to 1 (one determines the other); 0 where a
            column is constant; 1 on the diagonal.
        distance: total variation distance of the pair, 0 to 1; on the diagonal that of the
            column alone.
        outside_epsilon: True: read from private rows without noise.
    """

    names: tuple[str, ...]
    real: NDArray[np.float64]
    synthetic: NDArray[np.float64]
    distance: NDArray[np.float64]
    outside_epsilon: bool = True

    def take(self, names: tuple[str, ...]) -> PairStatistics:
        """The same for some of the columns, in that order."""
        places = [self.names.index(name) for name in names]
        grid = np.ix_(places, places)
        return PairStatistics(
            names=names, real=self.real[grid], synthetic=self.synthetic[grid],
            distance=self.distance[grid],
        )  # fmt: skip

    def worst(self, most: int) -> tuple[str, ...]:
        """The columns in the pairs that are farthest apart, at most so many, in schema order."""
        order = np.argsort(-self.distance.max(axis=1), kind="stable")[:most]
        return tuple(self.names[place] for place in sorted(order.tolist()))


@dataclass(frozen=True, kw_only=True)
class JointShares:
    """One pair cell by cell: shares of all rows, shape (levels of a, levels of b). Outside epsilon.

    Attributes:
        a, b: the columns.
        labels_a, labels_b: their levels.
        real, synthetic: shares.
        outside_epsilon: True: read from private rows without noise.
    """

    a: str
    b: str
    labels_a: tuple[str, ...]
    labels_b: tuple[str, ...]
    real: NDArray[np.float64]
    synthetic: NDArray[np.float64]
    outside_epsilon: bool = True


def joint_shares(subject: Subject, a: str, b: str) -> JointShares:
    """One pair cell by cell. Spends nothing; outside epsilon, for the curator only."""
    real, made = (
        marginal_counts(table, (a, b)) / max(1, table.n)
        for table in (subject.real, subject.synthetic)
    )
    schema = subject.schema
    return JointShares(
        a=a, b=b, labels_a=schema[a].labels(), labels_b=schema[b].labels(), real=real,
        synthetic=made,
    )  # fmt: skip


def pair_statistics(
    subject: Subject, progress: Callable[[float, str], None] = lambda _share, _text: None
) -> PairStatistics | None:
    """Cramér's V and distance of every pair; None when a side has no rows.

    All tables of two blocks of columns come out of one product of their indicators, so 200
    columns take seconds. Spends nothing and gives no guarantee: outside epsilon, for the curator
    only.
    """
    real, made = subject.real, subject.synthetic
    if not real.n or not made.n:
        return None
    names = subject.schema.names
    association = {"real": np.eye(len(names)), "made": np.eye(len(names))}
    distance = np.zeros((len(names), len(names)))
    blocks = list(_blocks(subject))
    pairs = [(i, j) for i in range(len(blocks)) for j in range(i + 1)]
    for step, (i, j) in enumerate(pairs):
        progress(step / len(pairs), "counting all pairs of columns")
        rows, columns = _starts(subject, blocks[i]), _starts(subject, blocks[j])
        with one_thread():
            p, q = (_product(table, blocks[i], blocks[j]) / table.n for table in (real, made))
        grid, mirrored = np.ix_(blocks[i], blocks[j]), np.ix_(blocks[j], blocks[i])
        distance[grid] = np.minimum(1.0, _sums(np.abs(p - q), rows, columns) / 2.0)
        distance[mirrored] = distance[grid].T
        for key, shares in (("real", p), ("made", q)):
            association[key][grid] = cramers_v(shares, rows, columns)
            association[key][mirrored] = association[key][grid].T
    for matrix in association.values():
        np.fill_diagonal(matrix, 1.0)
    return PairStatistics(
        names=names, real=association["real"], synthetic=association["made"], distance=distance
    )


def cramers_v(
    shares: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Cramér's V of every table in a grid of tables, 0 to 1 (Cramér 1946); 0 when a side is flat.

    Args:
        shares: the tables beside and under each other, each of shares that sum to 1.
        rows: where each table starts, downwards.
        columns: where each table starts, to the right.
    """
    # The margins of a column are the same in all of its tables.
    first_right = columns[1] if len(columns) > 1 else shares.shape[1]
    first_down = rows[1] if len(rows) > 1 else shares.shape[0]
    down, across = shares[:, :first_right].sum(axis=1), shares[:first_down].sum(axis=0)
    product = np.outer(down, across)
    parts = np.divide(shares**2, product, out=np.zeros_like(shares), where=product > 0)
    squares = np.maximum(0.0, _sums(parts, rows, columns) - 1.0)
    levels = [
        np.add.reduceat((margin > 0).astype(int), starts)
        for margin, starts in ((down, rows), (across, columns))
    ]
    freedom = np.minimum.outer(*levels) - 1
    found = np.divide(squares, freedom, out=np.zeros_like(squares), where=freedom > 0)
    return np.sqrt(np.minimum(1.0, found))


def _sums(
    values: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.float64]:
    """The sum over every table in a grid of tables."""
    return np.add.reduceat(np.add.reduceat(values, rows, axis=0), columns, axis=1)


def _blocks(subject: Subject) -> Iterator[list[int]]:
    """Columns in groups of about `_BLOCK` levels."""
    block: list[int] = []
    levels = 0
    for place, column in enumerate(subject.schema.columns):
        if block and levels + column.size > _BLOCK:
            yield block
            block, levels = [], 0
        block.append(place)
        levels += column.size
    yield block


def _starts(subject: Subject, block: list[int]) -> NDArray[np.intp]:
    """Where the levels of each column of a group start."""
    sizes = [subject.schema.columns[place].size for place in block]
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)


def _product(table: EncodedTable, rows: list[int], columns: list[int]) -> NDArray[np.float64]:
    """Counts of every pair of levels of two groups of columns."""
    height, width = (_levels(table, block) for block in (rows, columns))
    found = np.zeros((height, width))
    for start in range(0, table.n, _CHUNK):
        part = table.codes[start : start + _CHUNK]
        # Counts of a chunk are exact in 32 bits.
        left = _indicators(table, part, rows)
        found += left.T @ (left if rows == columns else _indicators(table, part, columns))
    return found


def _levels(table: EncodedTable, block: list[int]) -> int:
    return sum(table.schema.columns[place].size for place in block)


def _indicators(
    table: EncodedTable, part: NDArray[np.int32], block: list[int]
) -> NDArray[np.float32]:
    sizes = [table.schema.columns[place].size for place in block]
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    found = np.zeros((len(part), sum(sizes)), dtype=np.float32)
    found[np.arange(len(part))[:, None], part[:, block] + offsets] = 1.0
    return found
