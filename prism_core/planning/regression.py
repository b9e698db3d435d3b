"""Regression that chooses features (the paper's second choice): its constants and its cells.

All of it is public: it follows from the declared domain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prism_core.privacy.noisy_gradient import Regression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema

STEPS = 10
"""Steps of the descent. Set on generated tables; see docs/defaults.md."""

RATE = 40.0
"""Length of a step, shared by the features and the intercept."""

GROUPS = 8
"""Most cells of an ordered feature: its levels are grouped with their neighbours, so that what a
long scale says is not thinned out over its levels."""


def regression_of(schema: Schema, candidates: Sequence[str], target: str) -> Regression:
    """The regression of a target on all candidates."""
    return Regression(
        target=target,
        levels=schema.size(target),
        cells={name: cells_of(schema[name]) for name in candidates},
        steps=STEPS,
        rate=RATE,
    )


def cells_of(column: Column) -> NDArray[np.int64]:
    """The cell of every code: its own, or that of its neighbours in an ordered column."""
    count = column.level_count
    found = np.arange(column.size)
    if column.kind != "categorical" and count > GROUPS:
        found[:count] = found[:count] * GROUPS // count
        # Codes without a value keep a cell of their own, behind the groups.
        found[count:] -= count - GROUPS
    return found
