"""Noisy gradient descent: private logistic regression over declared codes, in whole numbers.

Each step sends one vector of integers through discrete Gaussian noise, so the cost is that of the
steps' Gaussian events and nothing else. Margins, residuals and gradients are integers in parts of
`GRID`: a row's part of a gradient depends on that row and on public numbers alone, to the last
digit, in every engine and whatever stands around it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import PrivacyError
from prism_core.privacy.mechanisms import check_noise_of_table
from prism_core.privacy.parameters import positive

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from prism_core.privacy.contribution import Contribution
    from prism_core.privacy.events import GaussianEvent
    from prism_core.privacy.noise import NoiseSource
    from prism_core.privacy.private_rows import PrivateRows

GRID = 1_024
"""What stands for 1 in margins, residuals and gradients. Its square has an even half."""

_CHUNK = 65_536  # rows looked at at a time
_WEIGHT = 2.0**20
# exp(-margin) as whole numbers, down to 1, so that no level is without a chance: looked up, never
# computed for a row, as a processor's exp of a vector may differ by the place in it.
_WEIGHTS = np.rint(_WEIGHT * np.exp(-np.arange(14 * GRID + 1) / GRID)).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Regression:
    """A logistic regression of one column on others, with a coefficient a cell. All public.

    Attributes:
        target: the column Y.
        levels: codes of Y, 2 or more.
        cells: by feature, the cell of every code; cells count from 0 on.
        steps: of the descent.
        rate: length of a step, over the number of features and the intercept.
    """

    target: str
    levels: int
    cells: Mapping[str, NDArray[np.int64]]
    steps: int
    rate: float

    def __post_init__(self) -> None:
        positive(self.rate, "rate")
        positive(self.steps, "steps")
        if self.levels < 2 or not self.cells or self.target in self.cells:
            raise PrivacyError("A regression needs features and a Y of two levels.", field="target")

    @property
    def parts(self) -> int:
        """Coefficients a cell: one a level of Y; of two levels one, as the other is its mirror."""
        return 1 if self.levels == 2 else self.levels

    @cached_property
    def spans(self) -> dict[str, slice]:
        """By feature, where its cells stand in a gradient; the intercept stands behind them."""
        ends = np.cumsum([0, *(int(cells.max()) + 1 for cells in self.cells.values())]).tolist()
        return dict(zip(self.cells, map(slice, ends, ends[1:]), strict=False))

    @property
    def width(self) -> int:
        """Cells of all features, and the intercept."""
        return max(span.stop for span in self.spans.values()) + 1

    @property
    def sensitivity(self) -> float:
        """l2 sensitivity of one step's gradient under replace-one, in parts of `GRID`.

        Proof. The coefficients that a step starts from are public: 0, or computed from earlier
        noisy gradients. Given them a row (x, y) adds its integer residual R, a vector of `parts`
        numbers that is a function of (x, y), to the cell of each of its d features and to the
        intercept, and adds nothing elsewhere. `_residuals` clips: |R|^2 <= B, with B = GRID^2 / 4
        for two levels and GRID^2 / 2 for more; as R is clipped after it is rounded, or rounded
        towards 0 after it is clipped, rounding adds nothing. Put (x', y') with R' in its place.
        In a feature where both rows lie in one cell that cell moves by R' - R, of squared length
        at most (|R| + |R'|)^2 <= 4 B; where they do not, one cell moves by -R and one by R', by at
        most 2 B together. The intercept is a cell that all rows share. So the whole gradient moves
        by at most sqrt(4 B (d + 1)), and reaches that where only y changes. The sums are of int64
        and exact, for `coefficients` refuses tables of 2^42 rows or more.
        """
        return math.sqrt((len(self.cells) + 1) * 4 * _squared_bound(self.parts))

    def moved(self, contribution: Contribution) -> float:
        """`sensitivity` for people of up to m rows, whatever these weigh in counts: m times it.

        Proof. A gradient sums the rows as they are. A row adds a vector of squared length at most
        (d + 1) B, half of `sensitivity` long, so m rows or fewer one of at most m times that. One
        person's goes and another's comes: by the triangle inequality m times `sensitivity`.
        """
        if contribution.single:
            return self.sensitivity
        return math.nextafter(contribution.max_rows * self.sensitivity, math.inf)


def _squared_bound(parts: int) -> int:
    """Largest squared length of a residual, in parts of GRID: B of `Regression.sensitivity`."""
    # Twice its root is how far y alone moves a residual, from one level's to another's: 1 for one
    # part, sqrt(2) for more. Without the clip two rows with other features could move it further.
    return GRID * GRID // 4 if parts == 1 else GRID * GRID // 2


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """What a private regression found; noisy, so free to use.

    Attributes:
        values: by feature, shape (cells, parts).
        noise: standard deviation of the noise in one of them: the sum of all steps' noise.
    """

    values: Mapping[str, NDArray[np.float64]]
    noise: float


def coefficients(
    table: PrivateRows,
    regression: Regression,
    event: GaussianEvent,
    noise: NoiseSource,
    step: Callable[[], None] = lambda: None,
) -> Coefficients:
    """Coefficients of a logistic regression, by full-batch noisy gradient descent from 0.

    Spends: `event` once a step: rho = steps sensitivity^2 / (2 sigma^2).

    Proof. A step's gradient is a vector of integers that moves by at most
    `Regression.moved` (proof there) whatever the earlier noisy gradients were, so with
    integer discrete Gaussian noise it is sensitivity^2 / (2 sigma^2)-zCDP given them (Canonne,
    Kamath and Steinke 2020, Theorem 4). zCDP composes under such adaptive choices (Bun and Steinke
    2016, Lemma 2.3); what is done with noisy gradients is post-processing. Source: Bassily, Smith
    and Thakurta 2014, with all rows in every step.

    Args:
        table: the private rows.
        regression: what is fitted, and how.
        event: of one step; declares the sensitivity.
        noise: where the randomness comes from.
        step: called before each step; may raise to stop.

    Raises:
        PrivacyError: for an unusable sigma, a declared sensitivity below that of the gradient, too
            many rows, or known noise on a private table.
    """
    positive(event.sigma, "sigma")
    # As `not >=`, so that a NaN is refused, too.
    if not event.sensitivity >= regression.moved(table.contribution):
        raise PrivacyError(
            "The gradient moves by more than its declared sensitivity; nothing was measured.",
            field="sensitivity",
        )
    # Sums of residuals pass through 64-bit floats, which hold whole numbers below 2^53.
    if not table.people * table.contribution.max_rows < 2**42:
        raise PrivacyError("The table has too many rows for a regression.", field="n")
    check_noise_of_table(table, noise)
    theta = np.zeros((regression.width, regression.parts), dtype=np.int64)
    # Over persons, which are public, and not over rows.
    rate = regression.rate / (len(regression.cells) + 1) / table.people
    for _ in range(regression.steps):
        step()
        noisy = noise.add_discrete_gaussian(_gradient(table, regression, theta), event.sigma)
        # Back to whole numbers, so that the next step adds up no floats of a row either.
        theta -= np.rint(rate * noisy).astype(np.int64)
    return Coefficients(
        values={name: theta[span] / GRID for name, span in regression.spans.items()},
        noise=rate * event.sigma * math.sqrt(regression.steps) / GRID,
    )


def _gradient(
    table: PrivateRows, regression: Regression, theta: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The sum of all rows' parts, shape (width, parts). Reads private rows: for noise only."""
    total = np.zeros((regression.width, regression.parts), dtype=np.int64)
    for codes, size in table.batches((*regression.cells, regression.target)):
        for start in range(0, size, _CHUNK):
            part = {name: column[start : start + _CHUNK] for name, column in codes.items()}
            total += _part(part, regression, theta)
    return total


def _part(
    codes: Mapping[str, NDArray[np.integer]], regression: Regression, theta: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The same of some rows."""
    places = {name: cells[codes[name]] for name, cells in regression.cells.items()}
    labels = codes[regression.target]
    margins = np.repeat(theta[-1:], len(labels), axis=0)
    for name, place in places.items():
        margins += theta[regression.spans[name]][place]
    residuals = _residuals(margins, labels)
    total = np.empty_like(theta)
    for name, place in places.items():
        span = regression.spans[name]
        for part, weights in enumerate(residuals.T):
            # Floats that hold whole numbers: exact, whatever the order of the rows.
            sums = np.bincount(place, weights=weights, minlength=span.stop - span.start)
            total[span, part] = np.rint(sums).astype(np.int64)
    total[-1] = residuals.sum(axis=0)
    return total


def _residuals(margins: NDArray[np.int64], labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """Chance of each level less the level itself, in parts of GRID, clipped; (rows, parts).

    Every operation here is on whole numbers, or one that IEEE floats round in one way.
    """
    parts = margins.shape[1]
    if parts == 1:
        # The first level's margin is 0.
        margins = np.concatenate([np.zeros_like(margins), margins], axis=1)
    below = margins.max(axis=1, keepdims=True) - margins
    weights = _WEIGHTS[np.minimum(below, len(_WEIGHTS) - 1)]
    found = GRID * weights // weights.sum(axis=1, keepdims=True)
    found[np.arange(len(labels)), labels] -= GRID
    if parts == 1:
        return np.clip(found[:, 1:], -(GRID // 2), GRID // 2)
    squared = (found * found).sum(axis=1, keepdims=True)
    bound = math.sqrt(_squared_bound(parts))
    shrink = np.minimum(1.0, bound / np.sqrt(np.maximum(squared, 1).astype(np.float64)))
    # Towards 0: a float's last digit cannot lift a whole squared length above the whole bound.
    return np.trunc(found * shrink).astype(np.int64)
