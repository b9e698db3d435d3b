"""Marginals as integer counts over the declared domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.data.encoding import EncodedTable


def marginal_counts(table: EncodedTable, clique: Sequence[str]) -> NDArray[np.int64]:
    """Counts of the marginal over `clique`, in the shape of the declared domain.

    Reads private rows; spends nothing by itself and must not be shown or stored without noise.

    Shape is that of the declared domain, whatever the rows hold: unseen cells are zeros.
    Sensitivity under replace-one: sqrt(2) in l2, 2 in l1 (`privacy.events`).
    """
    schema = table.schema
    shape = schema.shape(clique)
    flat = np.zeros(table.n, dtype=np.int64)
    for name, size in zip(clique, shape, strict=True):
        flat *= size
        flat += table.column(name)
    return np.bincount(flat, minlength=schema.cells(clique)).reshape(shape)
