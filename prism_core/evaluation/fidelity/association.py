"""How strongly two columns go together beyond chance: Cramér's V without its small-sample bias.

In a table of r times c levels and n rows, chi-square over n of two independent columns is expected
to be (r - 1)(c - 1) / (n - 1), not 0: with 20 levels each and 400 rows the plain V comes to .22.
Bergsma (2013) takes that off and corrects the numbers of levels in the same way:

    phi~^2 = max(0, chi^2 / n - (r - 1)(c - 1) / (n - 1)),   r~ = r - (r - 1)^2 / (n - 1),
    V~ = sqrt(phi~^2 / min(r~ - 1, c~ - 1)),   levels counted that occur.

Two things stand beside it. Its 95% interval: phi^2 is asymptotically normal with the variance
of the delta method, sum p g^2 / n with g the gradient, which is 0 at independence; there the
variance of the chi-square law, 2 (r - 1)(c - 1) / n^2, is what moves it, so both are added. And its
chance level: what V~ of two independent columns stays below in 19 of 20 tables (chi-square law).

Distances have the same bias: two samples of one population are some distance apart, the more so
the more cells are compared; `distance_by_chance` is how much. All of it is outside epsilon where
the tables are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.tstr.intervals import Z95

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEVEL = 0.95
"""Share of tables of independent columns whose V~ lies below the chance level."""


@dataclass(frozen=True, kw_only=True)
class Associations:
    """Cramér's V~ of many pairs, matrices of one shape. Outside epsilon.

    Attributes:
        v: bias-corrected, 0 (nothing beyond chance) to 1; 0 where a side is flat.
        low, high: its 95% interval.
        chance: what independent columns stay below in 19 of 20 tables; 0 where a side is flat.
        outside_epsilon: True: read from private rows without noise.
    """

    v: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    chance: NDArray[np.float64]
    outside_epsilon: bool = True

    @classmethod
    def of_columns(cls, count: int) -> Associations:
        """A square for so many columns: 1 on the diagonal, nothing elsewhere yet."""
        one = np.eye(count)
        return cls(v=one, low=one.copy(), high=one.copy(), chance=np.zeros((count, count)))

    def put(self, down: Sequence[int], across: Sequence[int], part: Associations) -> None:
        """Write a part into a square, mirrored, too; a column with itself stays 1."""
        for name in ("v", "low", "high", "chance"):
            whole, found = getattr(self, name), getattr(part, name)
            whole[np.ix_(down, across)] = found
            whole[np.ix_(across, down)] = found.T
            np.fill_diagonal(whole, 0.0 if name == "chance" else 1.0)

    def take(self, places: Sequence[int]) -> Associations:
        """The square of some columns, in that order."""
        grid = np.ix_(places, places)
        return Associations(
            v=self.v[grid], low=self.low[grid], high=self.high[grid], chance=self.chance[grid]
        )

    @property
    def within_chance(self) -> NDArray[np.bool_]:
        """Where chance alone would do: V~ is not above its chance level."""
        return self.v <= self.chance


def same(one: Associations, other: Associations) -> NDArray[np.bool_]:
    """Where the difference of two independent V~ has 0 in its 95% interval.

    Its ends come from those of both sides (Zou and Donner 2008).
    """
    gap = other.v - one.v
    # The difference is least where the other side is low and this one high, and so on.
    below = np.hypot(other.v - other.low, one.high - one.v)
    above = np.hypot(other.high - other.v, one.v - one.low)
    return (gap - below <= 0.0) & (gap + above >= 0.0)


def associations(
    shares: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp], n: int
) -> Associations:
    """V~, its interval and its chance level for every table in a grid of tables.

    Args:
        shares: the tables beside and under each other, each of shares that sum to 1.
        rows: where each table starts, downwards.
        columns: where each table starts, to the right.
        n: rows that were counted, 1 or more.
    """
    from scipy.stats import chi2

    # The margins of a column are the same in all of its tables.
    first_right = columns[1] if len(columns) > 1 else shares.shape[1]
    first_down = rows[1] if len(rows) > 1 else shares.shape[0]
    down, across = shares[:, :first_right].sum(axis=1), shares[:first_down].sum(axis=0)
    levels = [
        np.add.reduceat((margin > 0).astype(int), starts)
        for margin, starts in ((down, rows), (across, columns))
    ]
    freedom = np.multiply.outer(levels[0] - 1, levels[1] - 1).astype(float)
    square, variance = _phi_squared(shares, rows, columns, down, across)
    # Both variances of the text above: the first away from independence, the second at it.
    half = Z95 * np.sqrt(variance / n + 2.0 * freedom / n**2)
    bias = freedom / max(1, n - 1)
    # Where there are about as many levels as rows nothing is left to correct by.
    room = np.minimum.outer(*(each - 1.0 - (each - 1.0) ** 2 / max(1, n - 1) for each in levels))

    def scaled(squares: NDArray[np.float64]) -> NDArray[np.float64]:
        known = np.divide(
            np.maximum(0.0, squares), room, out=np.zeros_like(squares), where=room > 0
        )
        return np.sqrt(np.minimum(1.0, known))

    # There is no chi-square of 0 degrees of freedom; such tables get 0 below.
    limit = chi2.ppf(LEVEL, np.maximum(1.0, freedom)) / n
    return Associations(
        v=scaled(square - bias),
        low=scaled(square - bias - half),
        high=scaled(square - bias + half),
        chance=np.where(freedom > 0, scaled(limit - bias), 0.0),
    )


def _phi_squared(
    shares: NDArray[np.float64],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    down: NDArray[np.float64],
    across: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """chi^2 / n of every table, and n times its variance by the delta method.

    With A = p^2 / (p_i p_j), phi^2 = sum A - 1 and its gradient is 2 A / p - sum_j A / p_i -
    sum_i A / p_j, whose mean under p is 0.
    """
    product = np.outer(down, across)
    ratio = np.divide(shares, product, out=np.zeros_like(shares), where=product > 0)
    # A of the docstring, cell by cell.
    parts = ratio * shares
    heights = np.diff([*rows, len(down)])
    widths = np.diff([*columns, len(across)])
    # Shapes (rows of all tables, tables across) and (tables down, columns of all tables).
    by_row = _over(np.add.reduceat(parts, columns, axis=1), down[:, None])
    by_column = _over(np.add.reduceat(parts, rows, axis=0), across[None, :])
    # 2 A / p of the docstring is twice the ratio.
    gradient = (
        2.0 * ratio - np.repeat(by_row, widths, axis=1) - np.repeat(by_column, heights, axis=0)
    )
    # Of independent columns it may round to below 0.
    square = np.maximum(0.0, sums(parts, rows, columns) - 1.0)
    return square, sums(shares * gradient**2, rows, columns)


def _over(values: NDArray[np.float64], margin: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(values, margin, out=np.zeros_like(values), where=margin > 0)


def sums(
    values: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.float64]:
    """The sum over every table in a grid of tables."""
    return np.add.reduceat(np.add.reduceat(values, rows, axis=0), columns, axis=1)


def distance_by_chance(
    p: NDArray[np.float64], q: NDArray[np.float64], n: int, m: int
) -> NDArray[np.float64]:
    """What each cell adds to the total variation distance of two samples of one population.

    A permutation: of t rows of both samples in a cell, dealt out at random, X fall to the first.
    E|X / n - (t - X) / m| = (1 / n + 1 / m) E|X - t n / (n + m)|, which has a closed form where X
    is binomial (de Moivre). Drawn without replacement it is less, by sqrt(1 - t / (n + m)).

    Args:
        p: shares of the cells in the first sample.
        q: in the second, in the same shape.
        n: rows of the first sample, 1 or more.
        m: of the second, likewise.
    """
    from scipy.special import gammaln

    # Rounded back to counts: shares times rows are a hair off.
    held, part = np.rint(n * p + m * q), n / (n + m)
    above = np.floor(held * part) + 1.0
    # 2 k C(t, k) part^k (1 - part)^(t - k + 1) with k the first whole number above the mean.
    # In logarithms, as the binomial coefficients of thousands of rows overflow.
    log = (
        gammaln(held + 1.0)
        - gammaln(above + 1.0)
        # Of an empty cell it would be the pole of gammaln at 0; that cell is set to 0 below.
        - gammaln(np.maximum(0.0, held - above) + 1.0)
        + above * np.log(part)
        + (held - above + 1.0) * np.log1p(-part)
    )
    off = np.where(held > 0, 2.0 * above * np.exp(log), 0.0)
    return (1.0 / n + 1.0 / m) * off * np.sqrt(1.0 - np.minimum(1.0, held / (n + m))) / 2.0


def correlation_by_chance(n: int, pairs: int) -> float:
    """What the largest |Pearson correlation| of independent pairs stays below, 19 of 20 times.

    By Fisher's z, with the level shared out over the pairs (Bonferroni): a mean over the pairs
    above it holds next to none that are independent. 1 for fewer than 4 rows.

    Args:
        n: rows.
        pairs: how many pairs are looked at.
    """
    from scipy.stats import norm

    if n < 4 or pairs < 1:
        return 1.0
    return float(np.tanh(norm.isf((1.0 - LEVEL) / (2.0 * pairs)) / np.sqrt(n - 3.0)))
