"""Tests of memorisation that people ask for: nearest record, and one attack on membership.

Both compare synthetic rows with the rows that they were made from and with as many rows kept aside.
A release that has copied nobody is as near to the one as to the other.

The distance of two rows is the number of columns in which their codes differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.score_text import ends, percent, three
from prism_core.evaluation.tstr.intervals import Interval, area_interval, delong

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from prism_core.evaluation.subject import Subject

MOST_ROWS = 2_000
"""Rows taken of each table at most: the test compares every row with every other."""

FEWEST_ROWS = 20
_AT_ONCE = 100  # rows compared with all others in one step, to bound memory

STRONGER = (
    "Epsilon is the stronger answer: it bounds every attack on every person, also attacks that "
    "nobody has thought of. These tests try two simple attacks and average over people. They can "
    "find a leak. They cannot show that there is none."
)
"""What has to stand beside such a test."""


@dataclass(frozen=True, kw_only=True)
class Memorisation:
    """What both tests found. Outside epsilon.

    Attributes:
        closer: share of synthetic rows whose nearest training row is nearer than their nearest row
            kept aside, ties counting half; 0.5 where nothing was copied.
        closer_interval: 95% interval, the real rows held fixed.
        copies: share of synthetic rows that equal a training row in every column.
        copies_aside: the same for the rows kept aside: what equals by chance.
        membership: AUC of an attacker who takes a person for a member the nearer a synthetic row
            is; 0.5 is guessing.
        membership_interval: 95% interval (DeLong).
        rows: taken of each table.
        outside_epsilon: True: read from private rows without noise.
    """

    closer: float
    closer_interval: Interval
    copies: float
    copies_aside: float
    membership: float
    membership_interval: Interval
    rows: int
    outside_epsilon: bool = True

    @property
    def sentence(self) -> str:
        """Both tests in words."""
        low, high = self.membership_interval
        guess = (
            "0.5 is guessing, and lies in the interval"
            if low <= 0.5 <= high
            else "0.5 is guessing, and lies outside the interval"
        )
        return (
            f"{percent(self.closer)} of synthetic rows ({ends(self.closer_interval, percent)}) are "
            "nearer to a row they were made from than to a row kept aside; 50% means that nothing "
            f"was copied. An attacker who goes by the nearest synthetic row tells who was in the "
            f"table with an AUC of {three(self.membership)} "
            f"({ends(self.membership_interval)}): {guess}."
        )


def memorisation(
    subject: Subject,
    rng: np.random.Generator,
    progress: Callable[[float, str], None] = lambda _share, _text: None,
) -> Memorisation | None:
    """Both tests on equally many rows of each table.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.

    Args:
        subject: what is inspected.
        rng: draws the rows.
        progress: called with the share done and what comes next; may raise to stop.

    Returns:
        None without training rows, or with fewer than `FEWEST_ROWS` in a table.
    """
    if subject.train is None:
        return None
    tables = (subject.synthetic, subject.train, subject.holdout)
    # As many of each: of more training rows the nearest one would be nearer by their number alone.
    size = min(MOST_ROWS, *(table.n for table in tables))
    if size < FEWEST_ROWS:
        return None
    made, train, aside = (table.codes[rng.choice(table.n, size, replace=False)] for table in tables)
    progress(0.0, "looking for the nearest rows")
    to_train, member = _nearest(made, train)
    progress(0.5, "looking for the nearest rows kept aside")
    to_aside, stranger = _nearest(made, aside)
    half = np.sign(to_aside - to_train) / 2.0 + 0.5
    # What the attacker goes by: the nearer a synthetic row, the more likely a member.
    near = -np.concatenate([member, stranger]).astype(float)
    area, variance = delong(np.repeat([True, False], size), near)
    return Memorisation(
        closer=float(half.mean()),
        closer_interval=_mean_interval(half),
        copies=float((to_train == 0).mean()),
        copies_aside=float((to_aside == 0).mean()),
        membership=area,
        membership_interval=area_interval(area, variance, size),
        rows=size,
    )


def _nearest(
    made: NDArray[np.integer], real: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distance of every synthetic row to its nearest real one, and the other way round."""
    of_made = np.empty(len(made), dtype=np.int64)
    of_real = np.full(len(real), made.shape[1], dtype=np.int64)
    for start in range(0, len(made), _AT_ONCE):
        part = made[start : start + _AT_ONCE]
        apart = np.zeros((len(part), len(real)), dtype=np.int64)
        for column in range(made.shape[1]):  # one column at a time: rows x rows x columns is large
            apart += part[:, column, None] != real[None, :, column]
        of_made[start : start + _AT_ONCE] = apart.min(axis=1)
        np.minimum(of_real, apart.min(axis=0), out=of_real)
    return of_made, of_real


def _mean_interval(values: NDArray[np.float64]) -> Interval:
    """The 95% interval of a mean of values from 0 to 1, never of length 0."""
    n = len(values)
    # As Wilson's with the variance that was seen: ties, counted half, vary less than a coin.
    half = 1.96 * float(np.sqrt((values.var() + 0.25 / n) / n))
    middle = float(values.mean())
    return max(0.0, middle - half), min(1.0, middle + half)
