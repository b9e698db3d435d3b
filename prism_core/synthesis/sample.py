"""Sampling rows from calibrated clique marginals along a junction tree."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING

import numpy as np

from prism_core.planning.tree.junction_tree import JunctionTree, rooted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.wishes.task import SamplingRule


def publishable_seed(rng: np.random.Generator) -> int:
    """A seed that may be published: by a one-way function, as `rng` may have chosen rows before."""
    return int.from_bytes(hashlib.sha256(rng.bytes(32)).digest()[:8], "big") >> 2


def sample_tree(
    tree: JunctionTree,
    tables: Sequence[NDArray[np.float64]],
    sizes: Mapping[str, int],
    rows: int,
    rng: np.random.Generator,
    rule: SamplingRule,
    spread: Sequence[str] = (),
) -> NDArray[np.int32]:
    """Draw rows clique by clique, each given its separator.

    Of the rows that share a separator state, so many go to every cell: by `iid` a multinomial
    draw, by `rounded` the conditional distribution up to one row (systematic sampling), which has
    less variance. Which rows go where is a fresh random order for every clique, so that rows
    are exchangeable and cliques hanging on the same separator stay independent given it. By
    `rounded` that order also takes the classes of `spread` evenly (`_evenly`): a feature that the
    model makes independent of Y given its separator is then nearly so in the rows as well, where
    drawing at random leaves a learner as many chance relations as there are columns.

    Args:
        tree: cliques, parents first, with separators.
        tables: marginal of every clique, in its column order; need not be normalised.
        sizes: codes per column, in schema order.
        rows: number of rows.
        rng: where the randomness comes from.
        rule: `iid` or `rounded`.
        spread: the target, or several: with `rounded` their classes are spread over every column.

    Returns:
        int32 codes in schema order, shape (rows, columns), in random row order.
    """
    drawn: dict[str, NDArray[np.int32]] = {}
    # `iid` promises independent draws, which the bound on excess risk needs: nothing may be evened
    # out.
    late = spread if rule == "rounded" else ()
    for index, separator in rooted(tree, late):
        clique, table = tree.cliques[index], tables[index]
        fresh = tuple(name for name in clique if name not in separator)
        axes = [clique.index(name) for name in (*separator, *fresh)]
        states = _states(separator, sizes)
        conditional = np.transpose(table, axes).reshape(states, -1)
        state = _flat(drawn, separator, sizes, rows)
        order = rng.permutation(rows)
        over = tuple(name for name in late if name in drawn and name not in separator)
        # With fewer rows than classes of all states there is nothing to space evenly.
        if over and _states((*separator, *over), sizes) <= rows:
            both = _flat(drawn, (*separator, *over), sizes, rows)
            order = _evenly(order, state, both, rng)
        elif states > 1:  # state by state, at random within
            order = order[np.argsort(state[order], kind="stable")]
        counts = _counts(conditional, np.bincount(state, minlength=states), rng, rule)
        cells = np.unravel_index(np.arange(counts.shape[1]), [sizes[name] for name in fresh])
        for name, codes in zip(fresh, cells, strict=True):
            column = np.empty(rows, dtype=np.int32)
            # Cells state by state, each as often as rows go to it: the order in which `order` lists
            # rows.
            column[order] = np.repeat(np.tile(codes.astype(np.int32), states), counts.ravel())
            drawn[name] = column
    return np.stack([drawn[name] for name in sizes], axis=1)


def _evenly(
    order: NDArray[np.int64],
    state: NDArray[np.unsignedinteger],
    both: NDArray[np.unsignedinteger],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Rows state by state, in an order in which those of every class stand evenly spaced.

    Of a state's M rows those of class y, m_y of them in their random order, are put at
    (i + u_y) / m_y on a circle, u_y uniform; their ranks are then turned by a uniform whole number.
    Any row thus stands at any place of its state with the same chance, whatever its class, so its
    cell follows the conditional distribution exactly. An arc of the circle holds its share of a
    class up to one row, so c neighbouring places hold c m_y / M rows of class y up to 1 + K m_y / M
    of K classes: chance moves the relation of class and cell by a few rows, not by their root.

    Args:
        order: rows in random order.
        state: of every row, its separator's.
        both: of every row, state and class as one number.
        rng: where the randomness comes from.
    """
    sizes = np.bincount(both)
    # Stable: rows of a class keep their random order.
    order = order[np.argsort(both[order], kind="stable")]
    both = both[order]
    # i of the docstring: the place of a row within its state and class.
    rank = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[both]
    # (i + u_y) / m_y of the docstring; u_y is one draw for each state and class.
    place = (rank + rng.random(len(sizes))[both]) / sizes[both]
    # Sixteen bits are sorted in linear time; more rows than that need finer places.
    fine = np.uint16 if len(order) <= 2**16 else np.uint32
    order = order[np.argsort((place * (np.iinfo(fine).max + 1.0)).astype(fine), kind="stable")]
    # Stable again: within a state the order by place stays.
    order = order[np.argsort(state[order], kind="stable")]
    members = np.bincount(state)
    # States without rows draw, too, and numpy wants an upper end above 0.
    turn = rng.integers(0, np.maximum(members, 1))
    end = np.cumsum(members)
    # Ranks within a state, turned by its whole number; what runs over the end begins anew.
    place = np.arange(len(order)) + np.repeat(turn, members)
    place -= np.repeat(members, members) * (place >= np.repeat(end, members))
    turned = np.empty_like(order)
    turned[place] = order
    return turned


def _states(names: Sequence[str], sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[name] for name in names)


def _flat(
    drawn: Mapping[str, NDArray[np.int32]],
    names: Sequence[str],
    sizes: Mapping[str, int],
    rows: int,
) -> NDArray[np.unsignedinteger]:
    # Sixteen bits or fewer are sorted in linear time.
    flat = np.zeros(rows, dtype=np.min_scalar_type(_states(names, sizes)))
    for name in names:
        flat *= flat.dtype.type(sizes[name])
        flat += drawn[name].astype(flat.dtype)
    return flat


def _counts(
    conditional: NDArray[np.float64],
    rows: NDArray[np.int64],
    rng: np.random.Generator,
    rule: SamplingRule,
) -> NDArray[np.int64]:
    """How many of the rows of every state go to each cell, shape (states, cells)."""
    mass = np.clip(conditional, 0.0, None)
    total = mass.sum(axis=1, keepdims=True)
    # A separator state without mass cannot be drawn but by rounding; spread it evenly.
    mass = np.where(total > 0.0, mass, 1.0)
    if rule == "iid":
        return _multinomial(rows, mass / mass.sum(axis=1, keepdims=True), rng)
    cumulative = np.cumsum(mass, axis=1)
    # The last one is then 1 to the digit, so that the counts of a state add up to its rows.
    cumulative /= cumulative[:, -1:]
    # Points (r + offset) / rows, r = 0, 1, ...: evenly spaced, one shared offset per state.
    offset = rng.random(len(rows))
    # So many r have (r + offset) / rows below a bound; the differences go to the cells.
    below = np.ceil(cumulative * rows[:, None] - offset[:, None]).astype(np.int64)
    return np.diff(below, axis=1, prepend=0)


def _multinomial(
    rows: NDArray[np.int64], share: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    counts = rng.multinomial(rows, share)
    stray = np.where(share > 0.0, 0, counts)  # a rounding error of the shares' sum, if any
    if stray.any():
        counts -= stray
        counts[np.arange(len(rows)), share.argmax(axis=1)] += stray.sum(axis=1)
    return counts
