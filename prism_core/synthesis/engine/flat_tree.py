"""Flat tree: a junction tree and what is measured on it, as a few flat arrays.

The kernels see nothing else, so one compiled set serves every graph. The cells of all cliques stand
one after the other; so do the states of all separators and the cells of all measured marginals.
Every cell knows its states; see the classes. `Overlap` says where measured marginals must agree.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.tree.junction_tree import Clique, JunctionTree


class Layout(NamedTuple):
    """What the kernels walk over; all arrays are one-dimensional.

    A *separator* is a set of columns that a clique shares with some of its children; children
    that share the same columns share one. Every root has a separator of its own with one state.

    Attributes:
        cells: int64, cliques + 1. Where the cells of a clique start.
        root: int64, cliques. 1 for the root of a component, else 0.
        own: int64, cliques. The separator above a clique.
        state: int32, cells. The state of the separator above, for every cell.
        states: int64, separators + 1. Where the states of a separator start.
        below: int64, cliques + 1. Where a clique's entries in `hung` start.
        hung: int64. Separators below cliques, clique by clique.
        hung_at: int64. Where their maps start in `hung_map`.
        hung_map: int32. The state of a separator below, for every cell of its clique.
        asked: int64, cliques + 1. Where a clique's entries in `asked_at` start.
        asked_at: int64. Where the maps of its measured marginals start in `asked_map`.
        asked_map: int32. The cell of a measured marginal, for every cell of its clique.
    """

    cells: NDArray[np.int64]
    root: NDArray[np.int64]
    own: NDArray[np.int64]
    state: NDArray[np.int32]
    states: NDArray[np.int64]
    below: NDArray[np.int64]
    hung: NDArray[np.int64]
    hung_at: NDArray[np.int64]
    hung_map: NDArray[np.int32]
    asked: NDArray[np.int64]
    asked_at: NDArray[np.int64]
    asked_map: NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class FlatTree:
    """A junction tree with measured marginals, as arrays.

    Attributes:
        tree: the tree.
        shapes: of its cliques.
        asked: the measured sets of columns, each within a clique.
        starts: int64, where the cells of each measured set start; one more than there are sets.
        layout: for the kernels.
    """

    tree: JunctionTree
    shapes: tuple[tuple[int, ...], ...]
    asked: tuple[Clique, ...]
    starts: NDArray[np.int64]
    layout: Layout


def flatten(sizes: Mapping[str, int], tree: JunctionTree, asked: Sequence[Clique]) -> FlatTree:
    """Lay a tree out; every measured set goes to the smallest clique that holds it.

    Args:
        sizes: codes per column.
        tree: cliques, parents first.
        asked: sets of columns in schema order, each within a clique of the tree.
    """
    shapes = tuple(tuple(sizes[name] for name in clique) for clique in tree.cliques)
    volumes = [math.prod(shape) for shape in shapes]
    starts = starts_of(math.prod(sizes[name] for name in clique) for clique in asked)
    own, separators = _separators(tree)
    states = starts_of(math.prod(sizes[name] for name in names) for names, _ in separators)
    # States are numbered across all separators, as cells are across all cliques.
    above = [
        positions(clique, sizes, separators[index][0]) + states[index]
        for clique, index in zip(tree.cliques, own, strict=True)
    ]
    hung: list[list[int]] = [[] for _ in shapes]
    # A separator hangs below its parent once, however many children share it.
    for index, (_, parent) in enumerate(separators):
        if parent is not None:
            hung[parent].append(index)
    homes = homes_of(tree.cliques, volumes, asked)
    measured: list[list[int]] = [[] for _ in shapes]
    for index, home in enumerate(homes):
        measured[home].append(index)
    hung_maps = [
        positions(tree.cliques[clique], sizes, separators[index][0]) + states[index]
        for clique, some in enumerate(hung)
        for index in some
    ]
    asked_maps = [
        positions(tree.cliques[clique], sizes, asked[index]) + starts[index]
        for clique, some in enumerate(measured)
        for index in some
    ]
    layout = Layout(
        cells=starts_of(volumes),
        root=np.array([parent is None for parent in tree.parents], dtype=np.int64),
        own=np.array(own, dtype=np.int64),
        state=_joined(above),
        states=states,
        below=starts_of(map(len, hung)),
        hung=np.array([index for some in hung for index in some], dtype=np.int64),
        hung_at=starts_of(map(len, hung_maps)),
        hung_map=_joined(hung_maps),
        asked=starts_of(map(len, measured)),
        asked_at=starts_of(map(len, asked_maps)),
        asked_map=_joined(asked_maps),
    )
    return FlatTree(tree=tree, shapes=shapes, asked=tuple(asked), starts=starts, layout=layout)


def positions(clique: Clique, sizes: Mapping[str, int], names: Sequence[str]) -> NDArray[np.int32]:
    """For every cell of a clique, its position in the marginal over `names` (in their order)."""
    strides = dict.fromkeys(clique, 0)
    step = 1
    # The last column runs fastest, as in numpy: tables need no transposing.
    for name in reversed(names):
        strides[name] = step
        step *= sizes[name]
    # 32 bits: these maps are most of what the kernels read, and no clique nears 2^31 cells.
    found = np.zeros(1, dtype=np.int32)
    for name in clique:
        axis = np.arange(sizes[name], dtype=np.int32) * np.int32(strides[name])
        found = (found[:, None] + axis).ravel()
    return found


def homes_of(
    cliques: Sequence[Clique], volumes: Sequence[int], asked: Sequence[Clique]
) -> list[int]:
    """The smallest clique that holds each set; the first among equals."""
    holders: dict[str, list[int]] = {}
    # Small cliques first: the first one that holds a set is then the smallest.
    for index in sorted(range(len(cliques)), key=volumes.__getitem__):
        for name in cliques[index]:
            holders.setdefault(name, []).append(index)
    sets = [frozenset(clique) for clique in cliques]
    found = []
    for clique in asked:
        # Only a clique with the rarest column can hold the set, and there are fewest of these.
        rarest = min((holders[name] for name in clique), key=len)
        found.append(next(index for index in rarest if sets[index].issuperset(clique)))
    return found


def _separators(tree: JunctionTree) -> tuple[list[int], list[tuple[Clique, int | None]]]:
    """The separator above each clique, and for each separator its columns and its parent."""
    index: dict[tuple[Clique, int | None, int], int] = {}
    own: list[int] = []
    for root, (names, parent) in enumerate(zip(tree.separators, tree.parents, strict=True)):
        # Roots have the same empty separator; by their index each gets a state of its own.
        key = (names, parent, root if parent is None else -1)
        own.append(index.setdefault(key, len(index)))
    return own, [(names, parent) for names, parent, _ in index]


def starts_of(lengths: Iterable[int]) -> NDArray[np.int64]:
    """Where each of consecutive pieces starts, and where the last one ends."""
    return np.cumsum([0, *lengths], dtype=np.int64)


def _joined(parts: Sequence[NDArray[np.integer]]) -> NDArray[np.int32]:
    if not parts:
        return np.zeros(0, dtype=np.int32)
    return np.concatenate(parts).astype(np.int32)


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
            # Intersections of what was found before, too: three marginals may share less than any
            # two.
            found |= {tuple(name for name in names if name in met) for names in list(found)}
    return found - {()}
