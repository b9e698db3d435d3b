"""Empirical Bayes: noisy pairs with the target, shrunk towards what their levels share.

A level of few rows says little about Y beside its own noise, and a learner with a coefficient for
every level follows that noise. Empirical Bayes (Morris 1983, "Parametric empirical Bayes
inference") keeps of every level's deviation what the pair as a whole shows to be more than noise;
of levels in an order it keeps what neighbours share. Post-processing: spends nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.planning.shrinkage import FEWEST_LEVELS, target_of_pair
from prism_core.synthesis.projection import to_simplex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.synthesis.measure import Measurement

MOST_IN_ORDER = 256
"""Levels up to which neighbours are smoothed; a spectrum costs their cube. More count as without
an order."""

_FEWEST = 1e-9  # rows, where a model expects none
_VARIANCES = np.exp(np.linspace(math.log(1e-6), math.log(1e3), 64))
_ALONE = (0.0, 0.03, 0.3)  # variance of a level's own, beside what it shares with neighbours
_REACH = (1.0, 2.0, 4.0)  # levels over which neighbours share


def shrunk(
    measurements: Sequence[Measurement],
    schema: Schema,
    targets: Sequence[str],
    n: int,
    expected: Mapping[Clique, NDArray[np.float64]] | None = None,
) -> tuple[Measurement, ...]:
    """The same measurements, with the counts of pairs (X, Y) drawn together.

    With N_x rows of level x and shares pi_xy of the classes that are expected there, a pair's table
    is N_x (pi_xy + delta_xy) + noise. Without `expected` the shares are those of all rows. The
    deviations of a class get a normal prior with mean 0 and covariance a K: K is 1 on the diagonal
    for levels without an order, and also holds a trend or a common curve of neighbours for levels
    with one. a and K are those of greatest marginal likelihood, the same for all classes; the
    posterior mean takes the place of the deviation. The totals of the levels stay as measured, up
    to rounding, and sigma stays what it was.

    Left as they are: linear queries, and what `target_of_pair` leaves out.

    Args:
        measurements: noisy marginals.
        schema: says which columns are in an order.
        targets: Y, or several.
        n: training rows.
        expected: pair -> counts of a model that does not know the pair's noise, in the pair's
            order; only their shares within a level count.

    Returns:
        As many, in the same order; values are whole numbers.
    """
    return tuple(
        _shrunk_pair(m, measurements, schema, target, n, (expected or {}).get(m.clique))
        if m.query is None and (target := target_of_pair(schema, m.clique, targets)) is not None
        else m
        for m in measurements
    )


def _shrunk_pair(
    m: Measurement,
    measurements: Sequence[Measurement],
    schema: Schema,
    target: str,
    n: int,
    expected: NDArray[np.float64] | None,
) -> Measurement:
    axis = 1 - m.clique.index(target)
    feature = m.clique[axis]
    table = np.moveaxis(m.values, axis, 0).astype(np.float64)
    share = _margin(measurements, target, schema.size(target))
    rows = _margin(measurements, feature, schema.size(feature)) * n
    shares = share if expected is None else _shares(np.moveaxis(expected, axis, 0))
    # N_x delta_xy of the docstring and its noise; the measured total stands for N_x.
    deviation = table - table.sum(axis=1, keepdims=True) * shares
    # Of a level's noise, class y's deviation holds 1 - 2 pi + K pi^2 of a cell's variance. What is
    # kept is linear in the levels and the same for all classes, so their sum stays 0.
    scale = np.sqrt(1.0 - 2.0 * share + len(share) * share**2)
    kept = _posterior(deviation / scale, rows, m.sigma, _priors(schema, feature)) * scale
    moved = np.rint(kept - deviation).astype(np.int64)
    return replace(m, values=m.values + np.moveaxis(moved, 0, axis))


def _shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the classes within every level; a level that no row is expected in counts as even."""
    counts = np.maximum(counts, _FEWEST)
    return counts / counts.sum(axis=1, keepdims=True)


def _margin(measurements: Sequence[Measurement], name: str, levels: int) -> NDArray[np.float64]:
    """Shares of a column's levels, from all marginals that count it, by their precision."""
    total, precision = np.zeros(levels), 0.0
    for m in measurements:
        if m.query is None and name in m.clique:
            place = m.clique.index(name)
            # One over the variance of a level's total, which sums size / levels cells.
            weight = levels / (m.sigma**2 * m.values.size)
            others = tuple(axis for axis in range(m.values.ndim) if axis != place)
            total += weight * m.values.sum(axis=others)
            precision += weight
    return to_simplex(total / precision)


def _priors(schema: Schema, feature: str) -> Iterator[NDArray[np.float64] | None]:
    """Covariances of the levels' shares; None where every level is by itself."""
    yield None
    column = schema[feature]
    known = column.level_count
    if column.kind in ("categorical", "boolean") or not FEWEST_LEVELS <= known <= MOST_IN_ORDER:
        return
    place = np.arange(known, dtype=np.float64)
    # Of variance 1, so that its diagonal is 1 on average, as it is for the other shapes.
    line = (place - place.mean()) / place.std()
    shapes = [np.outer(line, line)]
    shapes += [np.exp(-0.5 * ((place[:, None] - place) / reach) ** 2) for reach in _REACH]
    for shape in shapes:
        for alone in _ALONE:
            prior = np.eye(column.size)  # special values and missing have no neighbours
            prior[:known, :known] = (1.0 - alone) * shape + alone * np.eye(known)
            yield prior


def _posterior(
    deviation: NDArray[np.float64],
    rows: NDArray[np.float64],
    sigma: float,
    priors: Iterator[NDArray[np.float64] | None],
) -> NDArray[np.float64]:
    """Posterior mean of the deviations under the prior of greatest marginal likelihood.

    Args:
        deviation: shape (levels, classes), each cell with noise of variance sigma^2.
        rows: of every level.
        sigma: of the noise.
        priors: covariances of the levels' shares, without their scale.
    """
    best, found = -math.inf, deviation
    for prior in priors:
        values, vectors = _spectrum(prior, rows)
        # In the axes of the prior, in which noise of one variance is still independent.
        seen = deviation if vectors is None else vectors.T @ deviation
        variance = sigma**2 + values[:, None] * _VARIANCES
        power = (seen**2).sum(axis=1)[:, None]
        # Classes are independent draws of one prior, so their log densities add up. What no prior
        # changes is left out.
        likelihood = -0.5 * (deviation.shape[1] * np.log(variance) + power / variance).sum(axis=0)
        place = int(np.argmax(likelihood))
        # The simplest prior comes first and is kept where a later one is no better.
        if likelihood[place] > best:
            best = float(likelihood[place])
            # Signal over signal and noise: the posterior mean in the axes in which both are
            # independent.
            kept = 1.0 - sigma**2 / variance[:, place]
            found = kept[:, None] * seen
            found = found if vectors is None else vectors @ found
    return found


def _spectrum(
    prior: NDArray[np.float64] | None, rows: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Eigenvalues and eigenvectors of the prior in counts; none of a diagonal one."""
    if prior is None:
        # Deviations of shares are counts when multiplied by a level's rows, and variances by the
        # square.
        return rows**2, None
    values, vectors = np.linalg.eigh(prior * np.outer(rows, rows))
    # A singular matrix has eigenvalues that round to below 0.
    return np.maximum(values, 0.0), vectors
