"""95% intervals of scores on test rows: what a closed formula gives, and when none is given.

They say how far a score could lie from what it would be on very many test persons. The fitted
models are held fixed: another training set, or another run's noise, would move the score, too.
Read from private rows without noise, so they are outside epsilon like the scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from prism_core.evaluation.scoring import midranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Interval: TypeAlias = tuple[float, float]

Z95 = 1.959963984540054
"""The normal quantile of a two-sided 95% interval."""

TAILS = (0.025, 0.975)

FEWEST = 10
"""Test rows of a class below which there is no score: one row would move it by a tenth and more,
and no interval holds what it promises."""


def delong(positive: NDArray[np.bool_], score: NDArray[np.float64]) -> tuple[float, float]:
    """The area under the ROC curve and its variance, ties counting half.

    DeLong, DeLong and Clarke-Pearson 1988 by the midranks of Sun and Xu 2014: the share of the
    other class that each row beats has one variance a class, and the area is a mean of both.

    Args:
        positive: shape (n,), which rows are positive; at least two of either kind.
        score: shape (n,), larger means more likely positive.
    """
    high, low = score[positive], score[~positive]
    m, n = len(high), len(low)
    ranks = midranks(np.concatenate([high, low]))
    beaten = (ranks[:m] - midranks(high)) / n
    beating = 1.0 - (ranks[m:] - midranks(low)) / m
    variance = beaten.var(ddof=1) / m + beating.var(ddof=1) / n
    return float(beaten.mean()), float(variance)


def auc_interval(positive: NDArray[np.bool_], score: NDArray[np.float64]) -> Interval | None:
    """The 95% interval of an area under the ROC curve; None with fewer than two rows of a class.

    On the logit scale, so that it stays within 0 and 1 and is longer towards the middle, as the
    distribution of the estimate is.
    """
    fewer = min(int(positive.sum()), int((~positive).sum()))
    return None if fewer < 2 else area_interval(*delong(positive, score), fewer)


def area_interval(area: float, variance: float, fewer: int) -> Interval:
    """The interval of an area with its variance.

    Args:
        area: 0 to 1.
        variance: of the estimate.
        fewer: rows of the smaller class. Where all rows of one class are above all of the other
            the variance is 0 and says nothing: so many independent pairs were all in that order,
            which bounds the chance of the order from below (Clopper and Pearson).
    """
    bound = TAILS[0] ** (1.0 / fewer)
    if area >= 1.0 - 1e-12:
        return bound, 1.0
    if area <= 1e-12:
        return 0.0, 1.0 - bound
    middle, half = np.log(area / (1.0 - area)), Z95 * np.sqrt(variance) / (area * (1.0 - area))
    low, high = 1.0 / (1.0 + np.exp(-(middle + np.array([-half, half]))))
    return float(low), float(high)


def share_interval(hits: float, rows: int) -> Interval:
    """The 95% interval of a share of independent rows (Wilson 1927); it is never of length 0."""
    share, z = hits / rows, Z95**2 / rows
    middle = (share + z / 2.0) / (1.0 + z)
    half = Z95 * np.sqrt(share * (1.0 - share) / rows + z / (4.0 * rows)) / (1.0 + z)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def percentiles(draws: NDArray[np.float64]) -> Interval | None:
    """The 95% percentile interval of resampled values; None where a tail of them is not defined."""
    if np.isfinite(draws).mean() < 1.0 - TAILS[0]:
        return None
    low, high = np.nanquantile(np.where(np.isfinite(draws), draws, np.nan), TAILS)
    return float(low) + 0.0, float(high) + 0.0


def rare_classes(y: NDArray[np.integer], classes: int) -> tuple[int, ...]:
    """Codes of the classes with fewer than `FEWEST` rows; of more than two those that appear."""
    counts = np.bincount(y, minlength=classes)
    few = counts < FEWEST
    return tuple(np.flatnonzero(few if classes == 2 else few & (counts > 0)).tolist())


def enough(name: str, y: NDArray[np.integer], classes: int) -> bool:
    """Whether the test rows are enough for a score of classes.

    The AUC is a mean over classes and needs `FEWEST` rows of each that appears. The others are
    means over rows: two classes of that size are enough for them.

    Args:
        name: of the score.
        y: shape (n,), class codes of the test rows.
        classes: number of declared classes.
    """
    large = int((np.bincount(y, minlength=classes) >= FEWEST).sum())
    return large >= 2 and (name != "auc" or not rare_classes(y, classes))


def too_few(y: NDArray[np.integer], target: str, labels: Sequence[str]) -> str:
    """The sentence in place of a score for which the test rows are not `enough`."""
    rare = rare_classes(y, len(labels))
    named = ", ".join(labels[code] for code in rare[:3])
    more = f" and {len(rare) - 3:,} more" if len(rare) > 3 else ""
    what = f"have {target} = {named}{more}" if rare else f"have a known {target}"
    return f"Fewer than {FEWEST} test rows {what}: too few to score it, so there is no number."
