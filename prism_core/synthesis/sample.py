"""Sampling rows from calibrated clique marginals along a junction tree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.planning.junction_tree import JunctionTree
    from prism_core.planning.task import SamplingRule


def sample_tree(
    tree: JunctionTree,
    tables: Sequence[NDArray[np.float64]],
    sizes: Mapping[str, int],
    rows: int,
    rng: np.random.Generator,
    rule: SamplingRule,
) -> NDArray[np.int32]:
    """Draw rows clique by clique, each given its separator.

    `iid` draws every row independently. `rounded` spreads the rows of each separator state
    evenly over the conditional distribution (systematic sampling), which has less variance;
    the rows of a state are put in a fresh random order for every clique, so that cliques
    hanging on the same separator stay independent given it.

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
    drawn: dict[str, NDArray[np.int64]] = {}
    for clique, separator, table in zip(tree.cliques, tree.separators, tables, strict=True):
        fresh = tuple(name for name in clique if name not in separator)
        order = [clique.index(name) for name in (*separator, *fresh)]
        states = math.prod(sizes[name] for name in separator)
        conditional = np.transpose(table, order).reshape(states, -1)
        state = _flat(drawn, separator, sizes, rows)
        picked = _draw(conditional, state, rng, rule)
        for name, codes in zip(
            fresh, np.unravel_index(picked, [sizes[name] for name in fresh]), strict=True
        ):
            drawn[name] = codes
    codes = np.column_stack([drawn[name] for name in sizes]).astype(np.int32)
    return codes[rng.permutation(rows)]


def _flat(
    drawn: Mapping[str, NDArray[np.int64]],
    names: Sequence[str],
    sizes: Mapping[str, int],
    rows: int,
) -> NDArray[np.int64]:
    flat = np.zeros(rows, dtype=np.int64)
    for name in names:
        flat = flat * sizes[name] + drawn[name]
    return flat


def _draw(
    conditional: NDArray[np.float64],
    state: NDArray[np.int64],
    rng: np.random.Generator,
    rule: SamplingRule,
) -> NDArray[np.int64]:
    """One cell per row from conditional[state], by the inverse distribution function."""
    states, cells = conditional.shape
    mass = np.clip(conditional, 0.0, None)
    total = mass.sum(axis=1, keepdims=True)
    # A separator state without mass cannot be drawn but by rounding; spread it evenly.
    mass = np.where(total > 0.0, mass, 1.0)
    cumulative = np.cumsum(mass, axis=1)
    cumulative /= cumulative[:, -1:]
    u = _uniforms(state, states, rng, rule)
    # One search for all rows: state s lives in the interval [s, s + 1).
    steps = (cumulative + np.arange(states)[:, None]).ravel()
    found = np.searchsorted(steps, state + u, side="right") - state * cells
    return np.clip(found, 0, cells - 1)


def _uniforms(
    state: NDArray[np.int64], states: int, rng: np.random.Generator, rule: SamplingRule
) -> NDArray[np.float64]:
    rows = len(state)
    noise = rng.random(rows)
    if rule == "iid":
        return noise
    order = np.lexsort((rng.random(rows), state))
    counts = np.bincount(state, minlength=states)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    ranks = np.empty(rows, dtype=np.int64)
    ranks[order] = np.arange(rows) - starts[state[order]]
    # One shared offset per state keeps the points evenly spaced.
    return (ranks + rng.random(states)[state]) / counts[state]
