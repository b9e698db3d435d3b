"""Targets: columns that are predicted beside the first one, and what each counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prism_core.errors import TaskError
from prism_core.planning.wishes.options import option
from prism_core.scalars import plain_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_TARGETS = 8
"""Most columns to be predicted: a clique of the model may hold all of them at once."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A column to be predicted, and what it counts.

    Attributes:
        name: the column.
        weight: beside the 1 of the first target; only the ratios matter.

    Raises:
        TaskError: when it names no column or the weight is no number above 0.
    """

    name: str = field(metadata=option("text"))
    weight: float = field(default=1.0, metadata=option("number"))

    def __post_init__(self) -> None:
        plain_fields(self)
        if not isinstance(self.name, str) or not self.name:
            raise TaskError("A further target must name a column.", field="further")
        number = isinstance(self.weight, (int, float)) and not isinstance(self.weight, bool)
        if not number or not 0.0 < self.weight < math.inf:
            raise TaskError(
                f"The weight of the target {self.name!r} must be a number above 0; the first "
                "target counts 1.",
                field="further",
            )


def check_targets(first: str, further: Sequence[Target], three_way: str) -> None:
    """What can be said of several targets without a schema.

    Raises:
        TaskError: when a target is named twice, there are too many, or marginals of two features
            are asked for.
    """
    if not all(isinstance(target, Target) for target in further):
        raise TaskError("further must list further targets with weights.", field="further")
    names = [first, *(target.name for target in further)]
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise TaskError(
            f"The target {twice[0]!r} is named twice. Name it once; the first target counts 1.",
            field="further",
        )
    if len(names) > MOST_TARGETS:
        raise TaskError(
            f"There are {len(names)} targets, and at most {MOST_TARGETS} are planned together. "
            "Leave some out.",
            field="further",
        )
    if further and three_way not in ("auto", "none"):
        raise TaskError(
            "With several targets there are no marginals of two features chosen at run time: whose "
            "target they serve would be ambiguous. Choose none, or one target.",
            field="three_way",
        )
