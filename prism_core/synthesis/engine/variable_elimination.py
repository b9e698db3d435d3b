"""Variable elimination: a marginal of a junction tree, also where no clique covers it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.tree.junction_tree import Clique, JunctionTree

MAX_CELLS = 20_000_000
"""Largest table that is made on the way to a marginal (160 MB)."""


def marginal_of(
    tree: JunctionTree,
    tables: Sequence[NDArray[np.float64]],
    sizes: Mapping[str, int],
    n: float,
    clique: Sequence[str],
) -> NDArray[np.float64]:
    """Expected counts over `clique`, in its order.

    Within a clique of the tree it is a sum. Else the columns that are not asked for are summed
    out along the smallest part of the tree that holds those that are, child before parent.

    Args:
        tree: parents first.
        tables: counts of every clique.
        sizes: codes per column.
        n: the total.
        clique: different columns.

    Raises:
        PlanError: when a table on the way would have more than `MAX_CELLS` cells.
    """
    wanted = set(clique)
    fitting = [i for i, names in enumerate(tree.cliques) if wanted.issubset(names)]
    if fitting:
        home = min(fitting, key=lambda i: tables[i].size)
        return _summed(tables[home], tree.cliques[home], clique)
    # Before any work: the answer alone would be too large.
    if math.prod(sizes[name] for name in clique) > MAX_CELLS:
        raise _too_large()
    part = _part(tree, wanted)
    asked = _asked(tree, part, wanted)
    # The joint distribution is the product of these.
    pending = {i: [_conditional(tree, tables, i, asked[i])] for i in part}
    roots = []
    for index in sorted(pending, reverse=True):  # children come after their parents
        factors = pending.pop(index)
        parent = tree.parents[index]
        if parent is None or parent not in pending:
            # Columns of trees that share nothing have a root each; their tables are multiplied at
            # the end.
            roots.append(_contracted(factors, sizes, wanted))
            continue
        onward = wanted.union(tree.separators[index])
        pending[parent].append(_contracted(factors, sizes, onward))
    names, table = _contracted(roots, sizes, wanted)
    return _summed(table, names, clique) * n


def _part(tree: JunctionTree, wanted: set[str]) -> set[int]:
    """Cliques on the paths between the wanted columns: prune leaves that bring none of them."""
    home = {}
    for index, names in enumerate(tree.cliques):
        for name in wanted.intersection(names):
            home.setdefault(name, index)  # the topmost clique that holds it
    kept: set[int] = set()
    for index in home.values():
        at: int | None = index
        while at is not None and at not in kept:
            kept.add(at)
            at = tree.parents[at]
    return kept


def _asked(tree: JunctionTree, part: set[int], wanted: set[str]) -> dict[int, set[str]]:
    """Columns of each clique that matter: wanted, or shared with a neighbour in the part."""
    found = {index: wanted.union(tree.separators[index]) for index in part}
    for index in part:
        parent = tree.parents[index]
        if parent is not None and parent in part:
            found[parent].update(tree.separators[index])
    return found


def _conditional(
    tree: JunctionTree, tables: Sequence[NDArray[np.float64]], index: int, asked: set[str]
) -> tuple[Clique, NDArray[np.float64]]:
    """P(what is new in the clique | separator), of the columns asked for; no separator at a root.

    What nobody asks for is summed out first: products of what is left stay small.
    """
    names, table = _kept(tree.cliques[index], tables[index], asked)
    fresh = tuple(i for i, name in enumerate(names) if name not in tree.separators[index])
    mass = table.sum(axis=fresh, keepdims=True)
    # A state without mass is never reached; 0 keeps 0 / 0 out of the sums.
    return names, np.divide(table, mass, out=np.zeros_like(table), where=mass > 0.0)


def _contracted(
    factors: Sequence[tuple[Clique, NDArray[np.float64]]],
    sizes: Mapping[str, int],
    wanted: set[str],
) -> tuple[Clique, NDArray[np.float64]]:
    """The product of factors, summed to what is wanted; sums are taken as early as they can be."""
    names = tuple(dict.fromkeys(name for held, _ in factors for name in held))
    # numpy before 2.0 has at most 32 axes.
    if math.prod(sizes[name] for name in names) > MAX_CELLS or len(names) > 32:
        raise _too_large()
    if len(factors) == 1:
        return _kept(*factors[0], wanted)
    place = {name: axis for axis, name in enumerate(names)}
    kept = tuple(name for name in names if name in wanted)
    operands: list[Any] = []
    for held, table in factors:
        operands += [table, [place[name] for name in held]]
    return kept, np.einsum(*operands, [place[name] for name in kept], optimize=True)


def _kept(
    names: Clique, table: NDArray[np.float64], wanted: Iterable[str]
) -> tuple[Clique, NDArray[np.float64]]:
    kept = set(wanted)
    drop = tuple(i for i, name in enumerate(names) if name not in kept)
    return tuple(name for name in names if name in kept), table.sum(axis=drop)


def _summed(
    table: NDArray[np.float64], names: Sequence[str], clique: Sequence[str]
) -> NDArray[np.float64]:
    kept, reduced = _kept(tuple(names), table, clique)
    return np.transpose(reduced, [kept.index(name) for name in clique])


def _too_large() -> PlanError:
    return PlanError(
        f"This marginal needs a table of more than {MAX_CELLS:,} cells. Ask for fewer columns, "
        "or for columns that stand closer together in the model.",
        field="clique",
    )
