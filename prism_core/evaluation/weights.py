"""What one term weighs in two models, and terms of one column made comparable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Weight:
    """What one term weighs in both models. Outside epsilon.

    Attributes:
        column: the column.
        term: the level, "" for the whole column.
        class_label: the class whose log odds it changes, "" with two classes, a numeric
            target or importances.
        synthetic, real: coefficient or importance in the model trained on these rows.
        rows: real training rows that show the level; None for a whole column.
    """

    column: str
    term: str
    class_label: str
    synthetic: float
    real: float
    rows: int | None = None

    @property
    def label(self) -> str:
        """The term in words."""
        term = f"{self.column} = {self.term}" if self.term else self.column
        return f"{term} (for {self.class_label})" if self.class_label else term


def centred(
    row: NDArray[np.float64], terms: Sequence[tuple[str, str]], seen: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Coefficients less the mean of their column's: only differences between levels count.

    Args:
        row: shape (terms,).
        terms: column and level of each.
        seen: the terms that both models could learn; only these make up the mean.
    """
    columns = np.unique([name for name, _ in terms], return_inverse=True)[1]
    total = np.bincount(columns, weights=np.where(seen, row, 0.0))
    size = np.maximum(np.bincount(columns, weights=seen), 1.0)
    return row - (total / size)[columns]
