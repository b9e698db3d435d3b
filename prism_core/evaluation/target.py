"""How a target is predicted: as a number by squared loss, or as one of its classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.evaluation.learners import LEARNERS
from prism_core.evaluation.regressors import REGRESSORS

if TYPE_CHECKING:
    from prism_core.data.column import Column


def by_squared_loss(column: Column, *, as_classes: bool = False) -> bool:
    """Whether a target is predicted as a number: it has at least three declared bins.

    Args:
        column: the target; a fact of the schema, no row is looked at.
        as_classes: the curator wants its bins told apart as classes instead.
    """
    return column.is_number and not as_classes


def ordered_classes(column: Column) -> bool:
    """Whether classes far from the true one are worse than its neighbours."""
    return column.is_number or (column.kind == "ordinal" and column.level_count > 2)


def learners_of(column: Column, *, as_classes: bool = False) -> tuple[str, ...]:
    """The learners of a target, the default first."""
    return REGRESSORS if by_squared_loss(column, as_classes=as_classes) else LEARNERS
