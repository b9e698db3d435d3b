"""Size of a model: its cells at worst and their limit; cells of a tree with one clique more."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import PlanError
from prism_core.planning.adaptive_rounds import GROWTH_CELLS
from prism_core.planning.candidates import (
    MAX_CLIQUE_CELLS,
    MAX_TREE_CELLS,
    Pairs,
    forest_candidates,
)
from prism_core.planning.large_columns import blame
from prism_core.planning.numeric_queries import PRODUCT_CELLS, second_moments
from prism_core.planning.regimes import free_features
from prism_core.planning.tree.junction_tree import Clique, Forecast, JunctionTree, forecast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.frame import Frame
    from prism_core.planning.queries import ThreeWayChoice, TreeChoice

_AT_ONCE = 4_096  # cliques, so that the arrays stay small
_MOST = 30_000_000  # numbers of all ways together (240 MB)


def size_of(
    frame: Frame,
    cliques: tuple[Clique, ...],
    tree: TreeChoice | None,
    three: ThreeWayChoice | None,
    *,
    other_joint: int,
    grows: bool,
    final: bool,
) -> Forecast:
    """The worst case over what is chosen at run time; exact where nothing is.

    Args:
        frame: the wishes.
        cliques: marginals known by now.
        tree: the background pairs to be chosen.
        three: the 3-way marginals to be chosen, or adaptive rounds.
        other_joint: most cells of a joint that another S may have, or a look may find.
        grows: whether this S, or another that may be chosen, has adaptive rounds.
        final: whether S is known.

    Raises:
        PlanError: when the model would not fit, naming the largest columns.
    """
    sizes = {column.name: column.size for column in frame.schema.columns}
    known = forecast(sizes, cliques, last=frame.task.target_names)
    if not final:
        known = _of_any_s(frame, known)
    if grows:
        # A clique that grows takes in known ones; it is at most twice the growth, as each of at
        # least two levels more doubles what it takes in.
        grown = min(known.cells, GROWTH_CELLS) + GROWTH_CELLS
        known = Forecast(
            largest_clique=max(known.largest_clique, grown),
            cells=known.cells + GROWTH_CELLS,
            exact=False,
        )
        # What rounds may add is in the growth above.
        if three is not None and three.rule == "adaptive":
            three = None
    if other_joint:  # what is found at run time may be measured jointly
        largest = max(known.largest_clique, other_joint)
        known = Forecast(largest_clique=largest, cells=known.cells + other_joint, exact=False)
    choices = [choice for choice in (tree, three) if choice is not None]
    if not choices:
        size = replace(known, exact=final and known.exact)
    else:  # pairs of both choices make one forest, see three_way_candidates
        rounds = sum(choice.rounds for choice in choices)
        pairs = choices[0].candidates  # of the tree: those of the 3-way marginals are among them
        if not final:  # another S ties other columns together
            loose = forest_candidates(frame.schema, frame.task.target_names, (), known.cells)
            pairs, rounds = loose.pairs, loose.rounds
        worst = _worst(frame, pairs, rounds)
        size = Forecast(
            largest_clique=max([known.largest_clique, *worst[:1]]),
            cells=known.cells + sum(worst) + _roots(frame),
            exact=False,
        )
    _check_size(frame, size)
    return size


def _of_any_s(frame: Frame, known: Forecast) -> Forecast:
    """The most that pairs with targets and products of any S come to, not of the largest alone.

    Columns of one level, which melt into other cliques, and the order of the columns can make the
    tree of the largest S smaller than that of another. Min-degree, one of the triangulations to
    choose from, takes the features first: each makes a clique with its targets, and these make
    some among themselves, of at most the cells of all targets together. With c cells per target
    and products c(A) over sets A of them, c(A | B) + c(A & B) >= c(A) + c(B), so the features'
    cliques are most where the k largest serve every target. Products make cliques within
    the features multiplied and the targets, and are kept within `PRODUCT_CELLS`.
    """
    schema, task = frame.schema, frame.task
    served = schema.cells(task.target_names)
    features = sorted(map(schema.size, free_features(schema, task)), reverse=True)
    cells = served * sum(features[: task.count]) + sum(features[task.count :])
    cells += served if task.further else 0
    largest = served * features[0]
    multiplied = sorted(map(schema.size, second_moments(schema, task)), reverse=True)
    at_once = multiplied[: task.count * len(task.target_names)]
    if len(at_once) > 1:
        within = served * math.prod(at_once)
        cells += min(PRODUCT_CELLS, within)
        largest = max(largest, min(PRODUCT_CELLS, within))
    return Forecast(
        largest_clique=max(known.largest_clique, largest),
        cells=max(known.cells, cells),
        exact=False,
    )


def _worst(frame: Frame, pairs: Sequence[Clique], count: int) -> list[int]:
    """Cells of the largest pairs together with the target, descending."""
    target = frame.schema.cells(frame.task.target_names)
    if isinstance(pairs, Pairs):
        return [target * cells for cells in pairs.largest(count)]
    return sorted((target * frame.schema.cells(pair) for pair in pairs), reverse=True)[:count]


def _roots(frame: Frame) -> int:
    """Cells that a forest may add to several targets beside its edges: a root with them all."""
    if not frame.task.further:
        return 0
    free = free_features(frame.schema, frame.task)
    return frame.schema.cells(frame.task.target_names) * sum(map(frame.schema.size, free))


def _check_size(frame: Frame, size: Forecast) -> None:
    # Here and not in the run, where memory would end after the charge.
    if size.largest_clique > MAX_CLIQUE_CELLS or size.cells > MAX_TREE_CELLS:
        raise PlanError(
            f"The model would need {size.cells:,} cells (at most {MAX_TREE_CELLS:,}; its "
            f"largest clique {size.largest_clique:,} of at most {MAX_CLIQUE_CELLS:,}) and "
            f"would not fit in memory. {blame(frame.schema)}",
            field="levels",
        )


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
