"""Enlargement of a junction tree: its size at most once one more clique is laid into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.tree.junction_tree import Clique, JunctionTree

_AT_ONCE = 4_096  # cliques, so that the arrays stay small
_MOST = 30_000_000  # numbers of all ways together (240 MB)


def enlarged_cells(
    tree: JunctionTree, sizes: Mapping[str, int], cliques: Sequence[Clique]
) -> NDArray[np.float64]:
    """Cells of a junction tree that holds this tree and one of the cliques, for each of them.

    Every column of a clique is carried from where it stands to one clique of the tree, into all
    cliques on the way, so that they meet: the columns stay connected, what was covered stays
    covered, and the new clique is covered too. Of the topmost cliques of its columns the place to
    meet is the cheapest. Roots hang on an empty clique of one cell. A triangulation made anew
    (`forecast`) is usually smaller; it takes about a thousand times as long.

    A clique that the tree covers leaves it as it is: the lowest of its columns' topmost cliques
    holds the others, as they reach from above to where all of them stand together.

    Args:
        tree: over all columns, parents first.
        sizes: codes per column.
        cliques: of any number of columns.

    Returns:
        Cells, one number per clique; exact products below 2^53. Infinite where columns and cliques
        are so many that the ways between them would fill the memory.
    """
    if len(sizes) * (len(tree.cliques) + 1) ** 2 > _MOST:
        return np.full(len(cliques), np.inf)
    place = {name: index for index, name in enumerate(sizes)}
    cells = np.ones(len(tree.cliques) + 1)
    for index, names in enumerate(tree.cliques):
        cells[index] = float(np.prod([sizes[name] for name in names], dtype=np.float64))
    # Worked out once: the candidates of a round are many, the columns few.
    homes, factors = _carried(tree, sizes)
    width = max((len(clique) for clique in cliques), default=0)
    # Shorter cliques are filled up with their first column, which is carried once.
    members = np.empty((len(cliques), width), dtype=np.intp)
    for row, clique in enumerate(cliques):
        members[row] = place[clique[0]]
        members[row, : len(clique)] = [place[name] for name in clique]
    found = np.full(len(cliques), np.inf)
    for start in range(0, len(cliques), _AT_ONCE):
        some = members[start : start + _AT_ONCE]
        for meeting in homes[some].T:
            wider = np.broadcast_to(cells, (len(some), len(cells)))
            for at, column in enumerate(some.T):
                once = (column != some[:, 0]) | (at == 0)
                wider = wider * np.where(once[:, None], factors[column, meeting], 1.0)
            here = found[start : start + _AT_ONCE]
            # The empty clique is part of the tree only where a column is carried through it.
            empty = wider[:, -1] == 1.0
            np.minimum(here, wider.sum(axis=1) - empty, out=here)
    return found


def _carried(
    tree: JunctionTree, sizes: Mapping[str, int]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Where each column stands topmost, and what carrying it anywhere does to every clique.

    The second, of shape (columns, cliques + 1, cliques + 1), is the column's size at
    [column, to, clique] where the clique is on the way and does not hold it, else 1.
    """
    top = len(tree.cliques)  # the empty clique that roots hang on
    parents = [top if parent is None else parent for parent in tree.parents]
    homes = np.full(len(sizes), top, dtype=np.intp)
    factors = np.ones((len(sizes), top + 1, top + 1))
    for column, (name, size) in enumerate(sizes.items()):
        held = [index for index, names in enumerate(tree.cliques) if name in names]
        homes[column] = at = held[0]
        done = set(held)
        while at != top:  # up: each from the one below
            below, at = at, parents[at]
            factors[column, at] = factors[column, below]
            factors[column, at, at] = size
            done.add(at)
        for index in range(top):  # down: each from the one above
            if index not in done:
                factors[column, index] = factors[column, parents[index]]
                factors[column, index, index] = size
    return homes, factors
