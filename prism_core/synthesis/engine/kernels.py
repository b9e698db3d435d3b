"""The loops of exact inference, compiled once for every graph.

Arguments are one-dimensional arrays of fixed types (bundled as a `Layout` or an `Overlap`), the
signatures are written out, and the machine code is kept on disk: a new graph compiles nothing.
(What only other kernels call has no signature of its own, so that it is not loaded twice.) The
kernels hold no lock of the interpreter, so threads may run them side by side.

Potentials and messages are logarithms, scaled by their greatest entry before they are
exponentiated; a probability may underflow to 0, a normaliser never does.
"""

# The signatures of the decorators are the types; Python's annotations could not say more.
# ruff: noqa: ANN001, ANN201, ANN202, D417
from __future__ import annotations

import numba
import numpy as np

from prism_core.synthesis.engine.flat_tree import Layout, Overlap

_I32 = numba.int32[::1]
_I64 = numba.int64[::1]
_F64 = numba.float64[::1]
_LAYOUT = numba.types.NamedTuple(
    (_I64, _I64, _I64, _I32, _I64, _I64, _I64, _I64, _I32, _I64, _I64, _I32), Layout
)
# numba's cache knows this file only: another order of the fields has to show here, or code
# compiled for the old one would be taken.
assert Layout._fields == (
    "cells",
    "root",
    "own",
    "state",
    "states",
    "below",
    "hung",
    "hung_at",
    "hung_map",
    "asked",
    "asked_at",
    "asked_map",
)
assert Overlap._fields == ("tables", "sets", "sizes", "holder", "map_at", "map", "weight", "spread")
_OVERLAP = numba.types.NamedTuple((_I64, _I64, _I64, _I64, _I64, _I32, _F64, _F64), Overlap)
# numpy's error model: a division by 0 gives inf or NaN, which the callers check, and the loops hold
# no branch for it.
_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "boundscheck": False}


@numba.njit(**_OPTIONS)
def _gather(tree, c, asked, message, found):
    """Sum up what a clique's measured cells and the separators below it hold, cell by cell."""
    a, b = tree.cells[c], tree.cells[c + 1]
    found[a:b] = 0.0
    for k in range(tree.asked[c], tree.asked[c + 1]):
        at = tree.asked_at[k] - a
        for i in range(a, b):
            found[i] += asked[tree.asked_map[at + i]]
    for k in range(tree.below[c], tree.below[c + 1]):
        at = tree.hung_at[k] - a
        for i in range(a, b):
            found[i] += message[tree.hung_map[at + i]]


@numba.njit(**_OPTIONS)
def _scatter(tree, c, value, message, asked):
    """Sum a clique's cells into the separators below it (anew) and its measured cells (on top)."""
    a, b = tree.cells[c], tree.cells[c + 1]
    for k in range(tree.below[c], tree.below[c + 1]):
        # Anew: what went up stands here, and is used up.
        message[tree.states[tree.hung[k]] : tree.states[tree.hung[k] + 1]] = 0.0
        at = tree.hung_at[k] - a
        for i in range(a, b):
            message[tree.hung_map[at + i]] += value[i]
    for k in range(tree.asked[c], tree.asked[c + 1]):
        at = tree.asked_at[k] - a
        for i in range(a, b):
            asked[tree.asked_map[at + i]] += value[i]


@numba.njit(numba.float64(_LAYOUT, _F64, _F64, _F64, _F64, _F64, _F64, _F64), **_OPTIONS)
def infer(tree, potential, given, belief, message, top, total, mean):
    """Belief propagation, leaves to roots and back; returns log Z.

    Args:
        tree: layout of the junction tree.
        potential: log potentials of the measured cells.
        given: out, probabilities of the cells given the state of the separator above.
        belief: out, probabilities of the cells of all cliques.
        message: out, probabilities of the states of all separators.
        top, total: scratch, one entry a state.
        mean: out, probabilities of the measured cells.
    """
    log_z = 0.0
    message[:] = 0.0
    state = tree.state
    # Children stand after their parents, so backwards every child comes before its parent.
    for c in range(len(tree.cells) - 2, -1, -1):
        a, b = tree.cells[c], tree.cells[c + 1]
        # Log weights of the clique's cells, with what its children have summed up.
        _gather(tree, c, potential, message, given)
        first, last = tree.states[tree.own[c]], tree.states[tree.own[c] + 1]
        top[first:last] = -np.inf
        total[first:last] = 0.0
        for i in range(a, b):
            top[state[i]] = max(top[state[i]], given[i])
        for i in range(a, b):
            weight = np.exp(given[i] - top[state[i]])
            given[i] = weight
            total[state[i]] += weight
        for s in range(first, last):
            # Added, not set: children that share the same columns share this message.
            message[s] += top[s] + np.log(total[s])
            # One division a state, then products: states are fewer than cells.
            total[s] = 1.0 / total[s]
        for i in range(a, b):
            # Scaled to 1 within each state: P(cell | state of the separator above).
            given[i] *= total[state[i]]
        if tree.root[c]:
            log_z += message[first]
    mean[:] = 0.0
    for c in range(len(tree.cells) - 1):
        if tree.root[c]:
            # A root's separator is empty: it has one state, which is certain.
            message[tree.states[tree.own[c]]] = 1.0
        for i in range(tree.cells[c], tree.cells[c + 1]):
            # By now the parent has summed up how probable the state is.
            belief[i] = given[i] * message[state[i]]
        _scatter(tree, c, belief, message, mean)
    return log_z


@numba.njit(**_OPTIONS)
def differentiate(tree, move, given, belief, change, message, mine, mean):
    """How the measured probabilities move when the potentials do: covariance times `move`.

    Args:
        tree: layout of the junction tree.
        move: of the log potentials of the measured cells.
        given, belief: from `infer`.
        change: out, derivative of the beliefs.
        message, mine: scratch, one entry a state.
        mean: out, derivative of the measured probabilities.
    """
    message[:] = 0.0
    state = tree.state
    for c in range(len(tree.cells) - 2, -1, -1):
        a, b = tree.cells[c], tree.cells[c + 1]
        _gather(tree, c, move, message, change)
        first, last = tree.states[tree.own[c]], tree.states[tree.own[c] + 1]
        mine[first:last] = 0.0
        for i in range(a, b):
            # What a state's log normaliser moves by: the mean of what its cells move by.
            mine[state[i]] += given[i] * change[i]
        for i in range(a, b):  # now the derivative of log P(what is new | separator)
            change[i] -= mine[state[i]]
        for s in range(first, last):
            message[s] += mine[s]
    mean[:] = 0.0
    for c in range(len(tree.cells) - 1):
        if tree.root[c]:
            # The total stays 1, whatever the potentials do.
            message[tree.states[tree.own[c]]] = 0.0
        for i in range(tree.cells[c], tree.cells[c + 1]):
            # The product rule, belief being `given` times the probability of the state above.
            change[i] = belief[i] * change[i] + given[i] * message[state[i]]
        _scatter(tree, c, change, message, mean)


@numba.njit(numba.float64(_LAYOUT, _F64, _F64, _F64, _F64), **_OPTIONS)
def lowest(tree, cost, value, message, least):
    """The least total cost of any row: dynamic programming from the leaves to the roots.

    Args:
        tree: layout of the junction tree.
        cost: of the measured cells; a row pays for each that it falls into.
        value: scratch, one entry a cell.
        message, least: scratch, one entry a state.
    """
    sum_of_roots = 0.0
    message[:] = 0.0
    state = tree.state
    for c in range(len(tree.cells) - 2, -1, -1):
        _gather(tree, c, cost, message, value)
        first, last = tree.states[tree.own[c]], tree.states[tree.own[c] + 1]
        least[first:last] = np.inf
        for i in range(tree.cells[c], tree.cells[c + 1]):
            # The recursion of `infer`, with the least in the place of the sum.
            least[state[i]] = min(least[state[i]], value[i])
        for s in range(first, last):
            message[s] += least[s]
        if tree.root[c]:
            sum_of_roots += message[first]
    return sum_of_roots


@numba.njit(**_OPTIONS)
def _center(tables, values):
    """Shift every table so that it sums to 0."""
    for q in range(len(tables) - 1):
        a, b = tables[q], tables[q + 1]
        total = 0.0
        for i in range(a, b):
            total += values[i]
        total /= b - a
        for i in range(a, b):
            values[i] -= total


@numba.njit(**_OPTIONS)
def _sum_up(overlap, k, weight, values, found):
    """Add a holder's cells, times a weight, to those of the set that it shares."""
    q = overlap.holder[k]
    at = overlap.map_at[k] - overlap.tables[q]
    for i in range(overlap.tables[q], overlap.tables[q + 1]):
        found[overlap.map[at + i]] += weight * values[i]


@numba.njit(numba.void(_OVERLAP, _F64, _F64, _F64), **_OPTIONS)
def agree(overlap, values, mean, own):
    """Project tables, in place, onto those that agree where they overlap and sum to 0.

    Orthogonal in the metric of the weights: sets in the order of their size, each table is
    moved to the weighted average of what the tables say on the shared columns. Smaller sets agree
    already by then, so what moves are effects that are orthogonal to theirs.

    Args:
        overlap: which tables share what.
        values: the cells of all tables.
        mean, own: scratch, one entry for every cell of the largest shared set.
    """
    # A constant on a table moves no probability.
    _center(overlap.tables, values)
    for s in range(len(overlap.sets) - 1):
        size = overlap.sizes[s]
        mean[:size] = 0.0
        for k in range(overlap.sets[s], overlap.sets[s + 1]):
            # What the holders say together, each by its precision.
            _sum_up(overlap, k, overlap.weight[k], values, mean)
        for k in range(overlap.sets[s], overlap.sets[s + 1]):
            own[:size] = 0.0
            _sum_up(overlap, k, 1.0, values, own)
            for j in range(size):
                # A sum's correction goes to its cells in equal parts: the smallest change that
                # makes it.
                own[j] = (mean[j] - own[j]) * overlap.spread[k]
            q = overlap.holder[k]
            at = overlap.map_at[k] - overlap.tables[q]
            for i in range(overlap.tables[q], overlap.tables[q + 1]):
                values[i] += own[overlap.map[at + i]]


@numba.njit(
    numba.int64(
        _LAYOUT,
        _OVERLAP,
        _F64,
        _F64,
        _F64,
        _F64,
        _F64,
        numba.float64,
        numba.float64,
        numba.int64,
        _F64,
        _F64,
        _F64,
        _F64,
        _F64,
        _F64,
        _F64,
    ),
    **_OPTIONS,
)
def direction(
    tree,
    overlap,
    precision,
    mean,
    residual,
    given,
    belief,
    tau,
    tolerance,
    most,
    found,
    moved,
    change,
    message,
    mine,
    shared,
    own,
):
    """Solve (covariance + tau / precision) step = residual by conjugate gradients.

    The unknown is fixed but for moves that change no probability. Residuals are tables that
    agree where they overlap, and so is the preconditioned residual, divided by what the matrix
    has on its diagonal: without that projection the iteration would spend its time on moves of
    no effect.

    Args:
        tree, overlap: layouts.
        precision: weight of every measured cell.
        mean, given, belief: from `infer`.
        residual: right-hand side, agreeing tables; overwritten.
        tau, tolerance, most: regularisation; relative size of the residual at which to stop;
            the largest number of iterations.
        found: out, the step.
        moved: out, covariance times the step.
        change, message, mine, shared, own: scratch.

    Returns:
        The number of iterations.
    """
    size = len(mean)
    image = np.empty(size)
    solved = np.empty(size)
    search = np.zeros(size)
    found[:] = 0.0
    moved[:] = 0.0
    old, start, steps = 1.0, 0.0, 0
    # In the metric of precision, as is the duality gap that the caller asks for.
    for i in range(size):
        start += precision[i] * residual[i] ** 2
    left = start
    while steps < most and left > tolerance**2 * start:
        for i in range(size):
            # Jacobi's preconditioner. The mean stands for the variance mean (1 - mean), which it
            # bounds.
            solved[i] = residual[i] / (precision[i] * mean[i] + tau)
        agree(overlap, solved, shared, own)
        new = 0.0
        for i in range(size):
            solved[i] *= precision[i]
            new += solved[i] * residual[i]
        for i in range(size):
            search[i] = solved[i] + (new / old if steps else 0.0) * search[i]
        differentiate(tree, search, given, belief, change, message, mine, image)
        curvature = 0.0
        for i in range(size):
            curvature += search[i] * (image[i] + tau * search[i] / precision[i])
        # NaN as well. Along a move that changes no probability there is no curvature to divide by.
        if not curvature > 0.0:
            break
        step = new / curvature
        left = 0.0
        for i in range(size):
            found[i] += step * search[i]
            moved[i] += step * image[i]
            residual[i] -= step * (image[i] + tau * search[i] / precision[i])
            left += precision[i] * residual[i] ** 2
        old = new
        steps += 1
    return steps
