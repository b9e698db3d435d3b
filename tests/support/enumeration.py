"""Every small table of counts and every replaced row, for T-SENS."""

from __future__ import annotations

import itertools
import math

import numpy as np


def tables(cells: int, n: int):
    """All count vectors of `cells` cells that sum to n."""
    for bars in itertools.combinations(range(n + cells - 1), cells - 1):
        edges = (-1, *bars, n + cells - 1)
        yield tuple(right - left - 1 for left, right in itertools.pairwise(edges))


def moves(counts: tuple[int, ...]):
    """All neighbours: one row taken out of a cell and put into another."""
    for start, end in itertools.permutations(range(len(counts)), 2):
        if counts[start]:
            after = list(counts)
            after[start] -= 1
            after[end] += 1
            yield tuple(after)


def worst_move(shape: tuple[int, ...], n: int, score) -> float:
    """The largest change of a score over all tables of n rows and all replaced rows."""
    values = {
        counts: score(np.array(counts, dtype=np.int64).reshape(shape))
        for counts in tables(math.prod(shape), n)
    }
    return max(abs(values[a] - values[b]) for a in values for b in moves(a))
