"""Setting rows aside for evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.errors import TableError

if TYPE_CHECKING:
    import numpy as np

    from prism_core.data.encoding import EncodedTable


def set_aside(
    table: EncodedTable, rows: int, rng: np.random.Generator
) -> tuple[EncodedTable, EncodedTable]:
    """Training and holdout rows: a fresh random permutation cut at a fixed size.

    The cut depends on no value (never stratified), so sensitivities hold for the training part
    with its own public n. Spends nothing: both parts are as private as the table.

    Args:
        table: all rows.
        rows: size of the holdout.
        rng: draws the permutation; must not be predictable for private rows.

    Raises:
        TableError: when not both parts get a row.
    """
    if not 0 < rows < table.n:
        raise TableError(
            "The holdout must have at least one row and leave at least one for training.",
            field="holdout",
        )
    order = rng.permutation(table.n)
    return table.take(order[rows:]), table.take(order[:rows])
