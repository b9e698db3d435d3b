"""Where measured marginals overlap, and hence must agree, as flat arrays."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prism_core.synthesis.engine.flat import positions, starts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.junction_tree import Clique

_SMALL = 4
"""Up to so many columns all subsets are listed; beyond, only the intersections that occur."""


class Overlap(NamedTuple):
    """Sets of columns that two or more measured marginals share, smaller sets first.

    Attributes:
        tables: int64, marginals + 1. Where the cells of a marginal start.
        sets: int64, shared sets + 1. Where a set's entries in `holder` start.
        sizes: int64, shared sets. Cells of a set.
        holder: int64. Marginals that hold a set, set by set.
        map_at: int64. Where their maps start in `map`.
        map: int32. The cell of the shared set, for every cell of the marginal.
        weight: float64. Of what a holder says about a set; sums to 1 over a set's holders.
        spread: float64. Cells of the set over cells of the holder.
    """

    tables: NDArray[np.int64]
    sets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    holder: NDArray[np.int64]
    map_at: NDArray[np.int64]
    map: NDArray[np.int32]
    weight: NDArray[np.float64]
    spread: NDArray[np.float64]


def overlap(
    sizes: Mapping[str, int], asked: Sequence[Clique], precisions: Sequence[float]
) -> Overlap:
    """Find every set of columns that must agree.

    A sum over N cells has an N-th of a cell's precision, which gives the weights.

    Args:
        sizes: codes per column.
        asked: different sets of columns, each in schema order.
        precisions: of one cell of each.
    """
    cells = [math.prod(sizes[name] for name in clique) for clique in asked]
    holders: list[list[int]] = []
    holder: list[int] = []
    volumes, weights, spreads, maps = [], [], [], []
    for names, held in _shared(asked):
        size = math.prod(sizes[name] for name in names)
        own = [precisions[q] * size / cells[q] for q in held]
        holders.append(held)
        holder += held
        volumes.append(size)
        weights += [weight / math.fsum(own) for weight in own]
        spreads += [size / cells[q] for q in held]
        maps += [positions(asked[q], sizes, names) for q in held]
    return Overlap(
        tables=starts_of(cells),
        sets=starts_of(map(len, holders)),
        sizes=np.array(volumes, dtype=np.int64),
        holder=np.array(holder, dtype=np.int64),
        map_at=starts_of(map(len, maps)),
        map=np.concatenate([*maps, np.zeros(0, dtype=np.int32)]).astype(np.int32),
        weight=np.array(weights, dtype=np.float64),
        spread=np.array(spreads, dtype=np.float64),
    )


def _shared(asked: Sequence[Clique]) -> list[tuple[Clique, list[int]]]:
    """Shared sets with their holders, smaller sets first; the largest where holders are the same.

    When a set and a subset of it are held by the same marginals, agreeing on the set is enough.
    """
    holders: dict[Clique, list[int]] = {}
    for q, clique in enumerate(asked):
        for names in _parts(clique, asked):
            holders.setdefault(names, []).append(q)
    largest: dict[tuple[int, ...], Clique] = {}
    for names, held in holders.items():
        if len(held) > 1 and len(names) > len(largest.get(tuple(held), ())):
            largest[tuple(held)] = names
    found = [(names, list(held)) for held, names in largest.items()]
    return sorted(found, key=lambda entry: (len(entry[0]), entry[0]))


def _parts(clique: Clique, asked: Sequence[Clique]) -> set[Clique]:
    if len(clique) <= _SMALL:
        return {
            names
            for size in range(1, len(clique) + 1)
            for names in itertools.combinations(clique, size)
        }
    found: set[Clique] = {clique}
    for other in asked:
        if other is not clique:
            met = set(clique).intersection(other)
            found |= {tuple(name for name in names if name in met) for names in list(found)}
    return found - {()}
