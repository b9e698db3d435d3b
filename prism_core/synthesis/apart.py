"""The model in which every column stands alone, from what noisy tables say of single columns."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.synthesis.measure import Measurement
from prism_core.synthesis.pgm import Pgm, fit_pgm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prism_core.planning.junction_tree import Clique

_LEAST = 1e-9
"""Share of a level that noise has put at 0 or below: it may come back where a table says so."""


def model_apart(
    sizes: Mapping[str, int], targets: Sequence[str], n: int, measurements: Sequence[Measurement]
) -> Pgm:
    """Columns independent of each other, as near as can be to the totals of all tables.

    Post-processing, spends nothing. Its potentials are those of the measured sets, so that a fit
    to the tables can begin at it or be held near it.

    Args:
        sizes: codes per column, in schema order.
        targets: Y, or several.
        n: training rows.
        measurements: noisy tables, none of them a linear query; every column stands in one.
    """
    totals = [_totals(m, axis) for m in measurements for axis in range(len(m.clique))]
    apart = fit_pgm(sizes, targets, n, totals, engine="fast")
    new = set(sizes)  # columns that no set before has told of
    potentials: dict[Clique, np.ndarray] = {}
    for m in measurements:
        names = tuple(name for name in sizes if name in m.clique)
        if names in potentials:
            continue
        potential = np.zeros([sizes[name] for name in names])
        for axis, name in enumerate(names):
            if name in new:
                shares = np.maximum(apart.marginal((name,)) / n, _LEAST)
                along = [-1 if place == axis else 1 for place in range(len(names))]
                potential = potential + np.log(shares).reshape(along)
                new.discard(name)
        potentials[names] = potential
    return replace(apart, potentials=potentials)


def _totals(m: Measurement, axis: int) -> Measurement:
    """What a table says of one of its columns."""
    others = tuple(place for place in range(m.values.ndim) if place != axis)
    return Measurement(
        clique=(m.clique[axis],), values=m.values.sum(axis=others),
        sigma=m.sigma * math.sqrt(m.values.size / m.values.shape[axis]),
    )  # fmt: skip
