"""Statistics of all pairs of columns at once, real and synthetic.

Outside epsilon: read from private rows without noise, for the curator only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.counts import marginal_counts
from prism_core.evaluation.fidelity.association import (
    Associations,
    associations,
    distance_by_chance,
    same,
    sums,
)
from prism_core.evaluation.tstr.learners import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable
    from prism_core.evaluation.subject import Subject

# Levels of a block: a product of two is 8 MB. Rows of a chunk: its indicators are 16 MB.
_BLOCK = 1_024
_CHUNK = 4_096


@dataclass(frozen=True, kw_only=True)
class PairStatistics:
    """Every pair of columns, as symmetric matrices of shape (columns, columns). Outside epsilon.

    Attributes:
        names: the columns, in schema order.
        real, synthetic: Cramér's V without its small-sample bias, with intervals and the level
            that chance reaches: 0 (nothing beyond chance) to 1 (one determines the other); 0 where
            a column is constant; 1 on the diagonal.
        distance: total variation distance of the pair, 0 to 1; on the diagonal that of the
            column alone.
        by_chance: what two samples of these sizes from one population would be apart on average.
        outside_epsilon: True: read from private rows without noise.
    """

    names: tuple[str, ...]
    real: Associations
    synthetic: Associations
    distance: NDArray[np.float64]
    by_chance: NDArray[np.float64]
    outside_epsilon: bool = True

    @property
    def alike(self) -> NDArray[np.bool_]:
        """Where the rows do not tell the two V apart: their difference has 0 in its interval."""
        return same(self.real, self.synthetic)

    @property
    def beyond(self) -> NDArray[np.float64]:
        """Distance less what chance gives: large tables come first in the distance itself."""
        return self.distance - self.by_chance

    def take(self, names: tuple[str, ...]) -> PairStatistics:
        """The same for some of the columns, in that order."""
        places = [self.names.index(name) for name in names]
        grid = np.ix_(places, places)
        return PairStatistics(
            names=names,
            real=self.real.take(places),
            synthetic=self.synthetic.take(places),
            distance=self.distance[grid],
            by_chance=self.by_chance[grid],
        )

    def worst(self, most: int) -> tuple[str, ...]:
        """The columns in the pairs that are farthest apart beyond chance, in schema order."""
        # Stable: columns that are equally far apart keep the schema's order.
        order = np.argsort(-self.beyond.max(axis=1), kind="stable")[:most]
        return tuple(self.names[place] for place in sorted(order.tolist()))


@dataclass(frozen=True, kw_only=True)
class JointShares:
    """One pair cell by cell: shares of all rows, shape (levels of a, levels of b). Outside epsilon.

    Attributes:
        a, b: the columns.
        labels_a, labels_b: their levels.
        real, synthetic: shares.
        by_chance: the total variation distance that two samples of these sizes from one population
            would have on average.
        outside_epsilon: True: read from private rows without noise.
    """

    a: str
    b: str
    labels_a: tuple[str, ...]
    labels_b: tuple[str, ...]
    real: NDArray[np.float64]
    synthetic: NDArray[np.float64]
    by_chance: float
    outside_epsilon: bool = True


def joint_shares(subject: Subject, a: str, b: str) -> JointShares:
    """One pair cell by cell. Spends nothing; outside epsilon, for the curator only."""
    real, made = (
        # Over the mass and not the rows: where people have several, counts add up to another total.
        marginal_counts(table, (a, b)) / max(1, table.mass)
        for table in (subject.real, subject.synthetic)
    )
    schema = subject.schema
    chance = distance_by_chance(real, made, max(1, subject.real.n), max(1, subject.synthetic.n))
    return JointShares(
        a=a,
        b=b,
        labels_a=schema[a].labels(),
        labels_b=schema[b].labels(),
        real=real,
        synthetic=made,
        by_chance=float(chance.sum()),
    )


def pair_statistics(
    subject: Subject, progress: Callable[[float, str], None] = lambda _share, _text: None
) -> PairStatistics | None:
    """Cramér's V and distance of every pair, beside chance; None when a side has no rows.

    All tables of two blocks of columns come out of one product of their indicators, so 200
    columns take seconds. Spends nothing and gives no guarantee: outside epsilon, for the curator
    only.
    """
    real, made = subject.real, subject.synthetic
    if not real.n or not made.n:
        return None
    names = subject.schema.names
    found = {side: Associations.of_columns(len(names)) for side in ("real", "made")}
    distance, chance = np.zeros((2, len(names), len(names)))
    blocks = list(_blocks(subject))
    # Half of them: the tables of the other half are these, turned round.
    pairs = [(i, j) for i in range(len(blocks)) for j in range(i + 1)]
    for step, (i, j) in enumerate(pairs):
        progress(step / len(pairs), "counting all pairs of columns")
        rows, columns = _starts(subject, blocks[i]), _starts(subject, blocks[j])
        with one_thread():
            # The tables of all pairs of two groups of columns, beside and under each other.
            p, q = (_product(table, blocks[i], blocks[j]) / table.n for table in (real, made))
        grid, mirrored = np.ix_(blocks[i], blocks[j]), np.ix_(blocks[j], blocks[i])
        apart = distance_by_chance(p, q, real.n, made.n)
        for matrix, cells in ((distance, np.abs(p - q) / 2.0), (chance, apart)):
            matrix[grid] = np.minimum(1.0, sums(cells, rows, columns))
            matrix[mirrored] = matrix[grid].T
        for side, shares, n in (("real", p, real.n), ("made", q, made.n)):
            found[side].put(blocks[i], blocks[j], associations(shares, rows, columns, n))
    return PairStatistics(
        names=names,
        real=found["real"],
        synthetic=found["made"],
        distance=distance,
        by_chance=chance,
    )


def _blocks(subject: Subject) -> Iterator[list[int]]:
    """Columns in groups of about `_BLOCK` levels."""
    block: list[int] = []
    levels = 0
    for place, column in enumerate(subject.schema.columns):
        # A column of more levels than that is a group by itself.
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
    # One entry a column and row: the code, after the levels of the columns before.
    found[np.arange(len(part))[:, None], part[:, block] + offsets] = 1.0
    return found
