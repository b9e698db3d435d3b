"""Marginal counts over the declared domain as integers, all of a list in one pass.

A marginal that lies inside another is summed out of it: counts are integers, so the result is the
same cell for cell, and a wider table that still fits the processor's cache costs no more to fill
than a narrow one. Rows are taken in chunks that fit the cache, too.

Pairs of narrow columns are counted as one product of matrices: a table of zeros and ones with a
column for every code of every column, multiplied with itself, holds the counts of all pairs. A
processor multiplies matrices so much faster than it fills tables that this wins where columns are
narrow, however many of the products nobody asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema
    from prism_core.data.source import Rows

CHUNK = 65_536
"""Rows counted at a time: the codes of one clique stay in the second-level cache."""

WIDE = 4_096
"""Most cells of a table that several marginals are summed out of."""

ONE_BY_ONE = 100_000
"""Fewer rows than this are counted without looking for the best wider tables."""

MANY = 500
"""More marginals than this lie inside wider tables that are found without comparing them."""

_MOST = 2**24  # cells of all wider tables together: 128 MiB


def marginal_counts(table: Rows, clique: Sequence[str]) -> NDArray[np.int64]:
    """Counts of the marginal over `clique`, in the shape of the declared domain.

    Reads private rows; spends nothing by itself and must not be shown or stored without noise.

    Shape is that of the declared domain, whatever the rows hold: unseen cells are zeros.
    Sensitivity under replace-one: sqrt(2) in l2, 2 in l1 (`privacy.events`).
    """
    return table.counts([clique])[0]


@dataclass
class MarginalCounter:
    """Adds up the marginals of a list over chunks of rows.

    Its state is as private as the rows. The order of the rows does not matter: only whole
    numbers are added.

    Attributes:
        schema: the domain.
        cliques: the marginals wanted, each with its axes in the order given.
        merge: whether to look for wider tables to sum narrow marginals out of; done for more
            than `MANY` marginals in any case.
    """

    schema: Schema
    cliques: Sequence[Sequence[str]]
    merge: bool = True
    _tables: dict[tuple[str, ...], NDArray[np.int64]] = field(init=False, repr=False)
    _wide: dict[tuple[str, ...], tuple[str, ...]] = field(init=False, repr=False)
    _pairs: PairProducts | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for clique in self.cliques:
            self.schema.shape(clique)  # refuses a name that is not declared
            if len(set(clique)) != len(clique):
                raise ValueError("a clique must name each of its columns once")
        wanted = [self.schema.canonical(clique) for clique in self.cliques]
        self._pairs = products_for(self.schema, wanted) if len(wanted) > MANY else None
        if self._pairs is not None:
            wanted = [clique for clique in wanted if not self._pairs.holds(clique)]
        if self.merge or len(wanted) > MANY:
            self._wide = wider(self.schema, wanted)
        else:
            self._wide = {clique: clique for clique in wanted}
        self._tables = {
            clique: np.zeros(self.schema.cells(clique), dtype=np.int64)
            for clique in dict.fromkeys(self._wide.values())
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed."""
        needed = {name for clique in self._tables for name in clique}
        return self.schema.canonical(needed.union(self._pairs.columns if self._pairs else ()))

    def add(self, codes: Mapping[str, NDArray[np.integer]], rows: int) -> None:
        """Count more rows.

        Args:
            codes: the codes of every column needed, shape (rows,).
            rows: how many.
        """
        for start in range(0, rows, CHUNK):
            stop = min(start + CHUNK, rows)
            part = {name: _narrow(codes[name][start:stop]) for name in self.columns}
            if self._pairs is not None:
                self._pairs.add(part, stop - start)
            for clique, table in self._tables.items():
                table += self._flat_counts(part, clique, stop - start)

    def _flat_counts(
        self, part: Mapping[str, NDArray[np.integer]], clique: tuple[str, ...], rows: int
    ) -> NDArray[np.int64]:
        cells = self.schema.cells(clique)
        # Narrow numbers are faster, and hold every cell number that is smaller than their range.
        kind = np.int16 if cells <= np.iinfo(np.int16).max else np.int64
        flat = np.zeros(rows, dtype=kind)
        for name in clique:
            flat *= kind(self.schema.size(name))
            flat += part[name].astype(kind, copy=False)
        return np.bincount(flat, minlength=cells)

    def results(self) -> list[NDArray[np.int64]]:
        """The counts of every clique, in the order and with the axes that were asked for."""
        return [self._marginal(tuple(clique)) for clique in self.cliques]

    def _marginal(self, clique: tuple[str, ...]) -> NDArray[np.int64]:
        if self._pairs is not None and self._pairs.holds(clique):
            return self._pairs.counts(clique)
        wide = self._wide[self.schema.canonical(clique)]
        return summed_out(self._tables[wide].reshape(self.schema.shape(wide)), wide, clique)


def summed_out(
    counts: NDArray[np.int64], wide: Sequence[str], clique: Sequence[str]
) -> NDArray[np.int64]:
    """A marginal out of the counts of a wider one, with its axes in the order asked for.

    Args:
        counts: in the shape of `wide`.
        wide: columns of the wider marginal.
        clique: some of them.
    """
    drop = tuple([axis for axis, name in enumerate(wide) if name not in clique])
    kept = [name for name in wide if name in clique]
    summed = np.add.reduce(counts, axis=drop)
    return np.ascontiguousarray(summed.transpose([kept.index(name) for name in clique]))


def _narrow(codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Codes as 16 bits (a column has at most 10,001), once for all the marginals they are in."""
    return codes.astype(np.int16, copy=False)


def wider(
    schema: Schema, cliques: Sequence[tuple[str, ...]]
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """For every clique a table that it is summed out of; few tables for many cliques.

    Depends on the declared domain alone.
    """
    if len(cliques) > MANY:
        return by_blocks(schema, cliques)
    return inside(schema, cliques, covering(schema, cliques))


def covering(schema: Schema, cliques: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Tables of at most `WIDE` cells, or single cliques, that every clique lies inside of.

    Greedy: the largest clique not yet covered grows by the clique that shares most columns
    with it as long as it fits. Depends on the declared domain alone.
    """
    # Equal sizes go by name, as a set has no order: the same tables in every run.
    left = sorted(set(cliques), key=lambda clique: (-schema.cells(clique), clique))
    found: list[tuple[str, ...]] = []
    while left:
        wide = set(left.pop(0))
        while True:
            left = [clique for clique in left if not wide.issuperset(clique)]
            fits = [clique for clique in left if schema.cells(wide.union(clique)) <= WIDE]
            if not fits:
                break
            wide.update(min(fits, key=lambda clique: schema.cells(wide.union(clique))))
        found.append(schema.canonical(wide))
    return found


def inside(
    schema: Schema, cliques: Iterable[tuple[str, ...]], wide: Sequence[tuple[str, ...]]
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """For every clique the smallest of these tables that it lies inside of."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for clique in cliques:
        holders = (names for names in wide if set(clique).issubset(names))
        found[clique] = min(holders, key=schema.cells)
    return found


def by_blocks(
    schema: Schema, cliques: Iterable[tuple[str, ...]]
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """For every clique a table that it lies inside of, without comparing cliques.

    Columns are packed into blocks, and a clique lies inside the blocks of its columns: of all
    pairs of a wide table a handful each share one. Where these have more than `WIDE` cells
    together, the clique stands alone. Depends on the declared domain.
    """
    home = _packed(schema, schema.canonical(name for clique in cliques for name in clique))
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for clique in cliques:
        wide = schema.canonical(name for member in clique for name in home[member])
        found[clique] = wide if schema.cells(wide) <= WIDE else clique
    if sum(map(schema.cells, set(found.values()))) > _MOST:
        return {clique: clique for clique in found}
    return found


def _packed(schema: Schema, names: Sequence[str]) -> dict[str, list[str]]:
    """Columns in blocks of at most sqrt(`WIDE`) cells, largest first, each where least is left."""
    # Two blocks together then stay within WIDE.
    most = math.isqrt(WIDE)
    blocks: list[list[str]] = []
    home: dict[str, list[str]] = {}
    for name in sorted(names, key=schema.size, reverse=True):
        fits = [block for block in blocks if schema.cells(block) * schema.size(name) <= most]
        if not fits:
            fits.append([])
            blocks.append(fits[0])
        home[name] = max(fits, key=schema.cells)
        home[name].append(name)
    return home


def count_chunks(
    schema: Schema,
    cliques: Sequence[Sequence[str]],
    chunks: Callable[[Sequence[str]], Iterable[tuple[Mapping[str, NDArray[np.integer]], int]]],
    rows: int,
) -> list[NDArray[np.int64]]:
    """Count rows that come in chunks.

    Reads private rows; spends nothing by itself.

    Args:
        schema: the domain.
        cliques: the marginals wanted.
        chunks: given the columns needed, yields (codes by column, number of rows).
        rows: how many there are in all; public.
    """
    counter = MarginalCounter(schema, cliques, merge=rows >= ONE_BY_ONE)
    if not cliques:
        return []
    for codes, size in chunks(counter.columns):
        counter.add(codes, size)
    return counter.results()


NARROW = 16
"""Most codes of a column that is counted so; a wider one costs more here than by itself."""

_PRODUCT_LEVELS = 4_096  # of all columns together: 128 MiB of counts, 128 MiB of ones
_PRODUCT_ROWS = (
    8_192  # at a time; fewer than 2^24, up to where 32-bit floats hold every whole number
)


class PairProducts:
    """Adds up the pairs of these columns over chunks of rows; as private as the rows.

    Args:
        schema: the domain.
        names: the columns.
    """

    def __init__(self, schema: Schema, names: Sequence[str]) -> None:
        ends = np.cumsum([schema.size(name) for name in names])
        self._span = {
            name: slice(int(end) - schema.size(name), int(end))
            for name, end in zip(names, ends, strict=True)
        }
        self._counts = np.zeros((int(ends[-1]), int(ends[-1])), dtype=np.int64)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed."""
        return tuple(self._span)

    def add(self, codes: Mapping[str, NDArray[np.integer]], rows: int) -> None:
        """Count more rows; codes by column, shape (rows,)."""
        for start in range(0, rows, _PRODUCT_ROWS):
            size = min(_PRODUCT_ROWS, rows - start)
            # Floats: NumPy multiplies matrices of integers without the fast library (BLAS).
            ones = np.zeros((size, len(self._counts)), dtype=np.float32)
            every = np.arange(size)
            for name, span in self._span.items():
                ones[every, span.start + codes[name][start : start + size]] = 1.0
            self._counts += (ones.T @ ones).astype(np.int64)

    def holds(self, clique: Sequence[str]) -> bool:
        """Whether it is a pair of these columns."""
        return len(clique) == 2 and clique[0] in self._span and clique[1] in self._span

    def counts(self, clique: Sequence[str]) -> NDArray[np.int64]:
        """Counts of a pair, axes in its order."""
        first, second = clique
        return np.ascontiguousarray(self._counts[self._span[first], self._span[second]])


def products_for(schema: Schema, cliques: Iterable[Sequence[str]]) -> PairProducts | None:
    """What counts the pairs of narrow columns among these marginals, where that is faster.

    Depends on the declared domain alone.
    """
    pairs = [
        clique for clique in cliques if len(clique) == 2 and max(schema.shape(clique)) <= NARROW
    ]
    names = schema.canonical(name for pair in pairs for name in pair)
    levels = sum(map(schema.size, names))
    # Half of all pairs at least, or most of the product is for nothing.
    few = not pairs or 4 * len(pairs) < len(names) * (len(names) - 1)
    return None if few or levels > _PRODUCT_LEVELS else PairProducts(schema, names)
