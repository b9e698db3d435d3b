"""Many pairs of columns without a list of them: a wide table has half a million."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.planning.junction_tree import Clique


@dataclass(frozen=True, kw_only=True)
class Pairs(Sequence["Clique"]):
    """The pairs of columns with few enough cells, in the order of `itertools.combinations`.

    A plan is made on every move of a slider and only asks how many there are and how large; the
    pairs themselves are made when a release walks through them.

    Attributes:
        names: columns, in schema order.
        sizes: their codes.
        most: a pair has at most so many cells.
        tied: of pairs within these columns there is none.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    most: int
    tied: frozenset[str] = frozenset()

    def _all_cells(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Cells of every pair of columns, and which pairs count; shape (columns, columns)."""
        sizes = np.array(self.sizes, dtype=np.int64)
        cells = np.multiply.outer(sizes, sizes)
        kept = cells <= self.most
        if self.tied:
            inside = np.array([name in self.tied for name in self.names])
            kept &= ~np.logical_and.outer(inside, inside)
        return cells, np.triu(kept, 1)

    @cached_property
    def _facts(self) -> tuple[int, int]:
        cells, kept = self._all_cells()
        return int(np.count_nonzero(kept)), int(cells.sum(where=kept))

    @property
    def cells(self) -> int:
        """Cells of all pairs together."""
        return self._facts[1]

    def largest(self, count: int) -> list[int]:
        """Cells of the `count` largest pairs, descending."""
        cells, kept = self._all_cells()
        sizes = cells[kept]
        count = min(count, len(sizes))
        top = np.partition(sizes, len(sizes) - count)[len(sizes) - count :] if count else sizes[:0]
        return np.sort(top)[::-1].tolist()

    def __len__(self) -> int:
        return self._facts[0]

    def __iter__(self) -> Iterator[Clique]:
        _, kept = self._all_cells()
        above = kept[np.triu_indices(len(self.names), 1)]
        return itertools.compress(itertools.combinations(self.names, 2), above.tolist())

    def __contains__(self, pair: object) -> bool:
        if not isinstance(pair, tuple) or len(pair) != 2 or self.tied.issuperset(pair):
            return False
        places = [self._places.get(name, -1) for name in pair]
        return 0 <= places[0] < places[1] and (
            self.sizes[places[0]] * self.sizes[places[1]] <= self.most
        )

    @cached_property
    def _places(self) -> dict[object, int]:
        return {name: place for place, name in enumerate(self.names)}

    @overload
    def __getitem__(self, index: int) -> Clique: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Clique]: ...
    def __getitem__(self, index: int | slice) -> Clique | Sequence[Clique]:
        return tuple(self)[index]
