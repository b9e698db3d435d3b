"""Sampling rows from calibrated clique marginals along a junction tree."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.junction_tree import JunctionTree
    from prism_core.planning.task import SamplingRule


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
) -> NDArray[np.int32]:
    """Draw rows clique by clique, each given its separator.

    Of the rows that share a separator state, so many go to every cell: by `iid` a multinomial
    draw, by `rounded` the conditional distribution up to one row (systematic sampling), which has
    less variance. Which rows go where is a fresh random order for every clique, so that rows
    are exchangeable and cliques hanging on the same separator stay independent given it.

    Args:
        tree: cliques, parents first, with separators.
        tables: marginal of every clique, in its column order; need not be normalised.
        sizes: codes per column, in schema order.
        rows: number of rows.
        rng: where the randomness comes from.
        rule: `iid` or `rounded`.

    Returns:
        int32 codes in schema order, shape (rows, columns), in random row order.
    """
    drawn: dict[str, NDArray[np.int32]] = {}
    for clique, separator, table in zip(tree.cliques, tree.separators, tables, strict=True):
        fresh = tuple(name for name in clique if name not in separator)
        axes = [clique.index(name) for name in (*separator, *fresh)]
        states = math.prod(sizes[name] for name in separator)
        conditional = np.transpose(table, axes).reshape(states, -1)
        state = _flat(drawn, separator, sizes, states, rows)
        order = rng.permutation(rows)
        if states > 1:  # state by state, at random within
            order = order[np.argsort(state[order], kind="stable")]
        counts = _counts(conditional, np.bincount(state, minlength=states), rng, rule)
        cells = np.unravel_index(np.arange(counts.shape[1]), [sizes[name] for name in fresh])
        for name, codes in zip(fresh, cells, strict=True):
            column = np.empty(rows, dtype=np.int32)
            column[order] = np.repeat(np.tile(codes.astype(np.int32), states), counts.ravel())
            drawn[name] = column
    return np.stack([drawn[name] for name in sizes], axis=1)


def _flat(
    drawn: Mapping[str, NDArray[np.int32]],
    names: Sequence[str],
    sizes: Mapping[str, int],
    states: int,
    rows: int,
) -> NDArray[np.unsignedinteger]:
    # Sixteen bits or fewer are sorted in linear time.
    flat = np.zeros(rows, dtype=np.min_scalar_type(states))
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
    cumulative /= cumulative[:, -1:]
    # Points (r + offset) / rows, r = 0, 1, ...: evenly spaced, one shared offset per state.
    offset = rng.random(len(rows))
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
