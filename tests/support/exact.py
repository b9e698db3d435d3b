"""The optimum of a small fit by a solver that knows nothing of graphs."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import nnls


def indicator(sizes, clique):
    """Matrix that sums the joint, flattened, into a marginal."""
    cells = list(itertools.product(*(range(size) for size in sizes.values())))
    at = [list(sizes).index(name) for name in clique]
    shape = [sizes[name] for name in clique]
    rows = [np.ravel_multi_index([cell[i] for i in at], shape) for cell in cells]
    found = np.zeros((math.prod(shape), len(cells)))
    found[rows, np.arange(len(cells))] = 1.0
    return found


def asked(sizes, m):
    """Matrix from the joint, flattened, to what a measurement is of, in units of 1."""
    found = indicator(sizes, m.clique)
    return found if m.query is None else m.query.matrix / m.query.grid @ found


def exact(sizes, n, measurements):
    """Least loss and a joint that reaches it: non-negative least squares over all cells.

    A heavy row holds the sum of the joint at 1.
    """
    rows = [asked(sizes, m) * n / m.unit_sigma for m in measurements]
    wanted = [m.unit_values.ravel() / m.unit_sigma for m in measurements]
    matrix, target = np.vstack(rows), np.concatenate(wanted)
    heavy = 1e4 * np.abs(matrix).max()
    joint, _ = nnls(np.vstack([matrix, np.full(matrix.shape[1], heavy)]), np.append(target, heavy))
    joint /= joint.sum()
    return 0.5 * float(((matrix @ joint - target) ** 2).sum()), joint
