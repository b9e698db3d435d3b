"""Contribution: how many rows of one person are used, what each weighs, and how far that moves.

The one place that scales what a mechanism hides. Neighbours replace one person with all rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from prism_core.errors import SchemaError
from prism_core.privacy.events import L1_SENSITIVITY, L2_SENSITIVITY
from prism_core.text.suggestions import suggestion

Weighting: TypeAlias = Literal["rows", "persons"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)

MOST_ROWS = 100
"""Largest `max_rows` where rows weigh as they are."""

MOST_SHARED = 16
"""Largest `max_rows` where every person weighs one: the unit, 1 / lcm(1..16), is 1 / 720,720."""


@dataclass(frozen=True)
class Contribution:
    """What one person adds to the counts: 1 to `max_rows` rows, all of them or as one.

    With `rows` each kept row counts 1. With `persons` each of a person's j kept rows counts M / j
    in units of 1 / M, M = lcm(1..max_rows), so that everybody adds up to M: whole numbers, too.

    Attributes:
        max_rows: m, the most rows of a person that are kept.
        weighting: what the counts speak for.

    Raises:
        SchemaError: for an unusable number, or a weighting that there is not.
    """

    max_rows: int = 1
    weighting: Weighting = "rows"

    def __post_init__(self) -> None:
        if self.weighting not in WEIGHTINGS:
            raise SchemaError(
                f"weighting must be one of {', '.join(WEIGHTINGS)}."
                f"{suggestion(str(self.weighting), WEIGHTINGS)}",
                field="weighting",
            )
        most = MOST_ROWS if self.weighting == "rows" else MOST_SHARED
        # By type, as True is an int to Python.
        if type(self.max_rows) is not int or not 1 <= self.max_rows <= most:
            raise SchemaError(
                f"max_rows must be a whole number from 1 to {most} where "
                f"{'rows weigh as they are' if most == MOST_ROWS else 'every person weighs one'}.",
                field="max_rows",
            )

    @property
    def single(self) -> bool:
        """Whether a person is one row."""
        return self.max_rows == 1

    @property
    def shared(self) -> bool:
        """Whether a person's rows share a weight of one."""
        return self.weighting == "persons" and not self.single

    @property
    def most(self) -> int:
        """What one person adds to the counts at most: m rows, or M units."""
        return math.lcm(*range(1, self.max_rows + 1)) if self.shared else self.max_rows

    @property
    def least(self) -> int:
        """What one person adds at least: a row, or M units."""
        return self.most if self.shared else 1

    def weight(self, kept: int) -> int:
        """What one row of somebody with so many kept rows counts."""
        return self.most // kept if self.shared else 1

    @property
    def l1(self) -> float:
        """l1 sensitivity of one marginal's counts: 2 `most`.

        Proof. A row lies in one cell of the marginal, so a person's rows add a vector u of whole
        numbers, none below 0, of l1 norm at most `most`. Replacing the person takes u out and puts
        v in: |v - u|_1 <= |u|_1 + |v|_1 <= 2 most. Which rows are kept, and what each counts, is
        drawn from that person's rows alone, so nobody else's part moves; given the draws of all
        others the bound holds for every draw of hers, and mixtures of draws are no further apart.
        """
        return self.most * L1_SENSITIVITY

    @property
    def l2(self) -> float:
        """l2 sensitivity of one marginal's counts: sqrt(2) `most`, rounded up.

        Proof. With u and v as in `l1`, |v - u|_2^2 = |u|_2^2 + |v|_2^2 - 2 u.v <= |u|_1^2 +
        |v|_1^2 <= 2 most^2, as u.v >= 0. All rows of one cell replaced by as many of another
        reach it; sqrt(most) in place of `most` would hold only if a person's rows differed.
        """
        if self.single:
            return L2_SENSITIVITY
        return math.nextafter(self.most * L2_SENSITIVITY, math.inf)

    def variance(self, people: int) -> int:
        """At most the variances of a marginal's counts added up, over draws of the people.

        Where all rows of a person are alike they count as one row of weight `most`.
        """
        return self.most**2 * people

    def totals(self, people: int) -> tuple[int, int]:
        """Between what the counts of a marginal add up to; public, as the number of people is."""
        return self.least * people, self.most * people


ONE_ROW = Contribution()
"""A person is a row."""
