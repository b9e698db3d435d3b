"""95% intervals of scores on test rows: closed formulas, and the bootstrap of test persons.

A bootstrap of the test persons (Efron 1979): the predictions stay as they are, the persons are
drawn anew with replacement. The same resamples serve all models that are scored on the same rows,
so differences and ratios of scores are compared pair by pair. Outside epsilon like the scores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from prism_core.evaluation.tstr.scoring import SMALLEST_PROBABILITY, midranks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Draws: TypeAlias = NDArray[np.float64]
    "A score in every resample, shape (draws,); NaN where it is not defined."
    Statistic: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]
    "From how often each row was drawn, shape (resamples, rows), to a score a resample."

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
    # A row's rank among all, less its rank among its own class, is how many of the other class it
    # beats.
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
    # One row of a class has no variance.
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
    # Rounding may leave a perfect area a hair below 1, where the logit explodes.
    if area >= 1.0 - 1e-12:
        return bound, 1.0
    if area <= 1e-12:
        return 0.0, 1.0 - bound
    # By the delta method: the logit moves by 1 / (area (1 - area)) for each step of the area.
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
    # -0.0 + 0.0 is 0.0: no end of an interval is shown as minus zero.
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


DRAWS = 1_000
"""Resamples: the ends of a 95% interval then move by about a fiftieth of its length."""

FEWEST_DRAWS = 200
# Draws times rows: of all resamples, which bounds the time, and of one block, 8 MB of weights.
_CELLS = 20_000_000
_BLOCK = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Resamples:
    """Resamples of test rows, drawn again in the same way each time they are gone through.

    Persons are drawn, and a row counts as often as its person.

    Attributes:
        rows: number of test rows, 1 or more.
        seed: what the draws follow from.
        person: whose row it is, from 0 on, shape (rows,); None where each is somebody else's.
    """

    rows: int
    seed: int
    person: NDArray[np.int64] | None = field(default=None, repr=False)

    @property
    def draws(self) -> int:
        """`DRAWS`; fewer for very many rows, whose intervals are short."""
        return max(FEWEST_DRAWS, min(DRAWS, _CELLS // max(1, self.rows)))

    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """How often each row was drawn, shape (some of the resamples, rows)."""
        rng = np.random.default_rng(self.seed)
        # Persons are drawn and not rows: rows of one person are no independent draws.
        people = self.rows if self.person is None else int(self.person.max(initial=-1)) + 1
        size, left = max(1, _BLOCK // max(1, self.rows)), self.draws
        while left:
            some = min(size, left)
            drawn = rng.integers(0, people, (some, people))
            # Every resample counts in a range of its own, so one bincount serves the block.
            drawn += np.arange(some)[:, None] * people
            counts = np.bincount(drawn.ravel(), minlength=some * people)
            times = counts.reshape(some, people).astype(np.float64)
            yield times if self.person is None else times[:, self.person]
            left -= some

    def scores(self, statistics: Mapping[str, Statistic]) -> dict[str, Draws]:
        """Every statistic in every resample."""
        found: dict[str, list[NDArray[np.float64]]] = {name: [] for name in statistics}
        if not self.rows or not statistics:
            return {}
        for weights in self.blocks():
            for name, statistic in statistics.items():
                found[name].append(statistic(weights))
        return {name: np.concatenate(parts) for name, parts in found.items()}


def resamples(
    rows: int, rng: np.random.Generator | None = None, person: NDArray[np.int64] | None = None
) -> Resamples:
    """Resamples of so many rows, or of the persons whose they are.

    Args:
        rows: number of test rows.
        person: whose each row is, from 0 on; None where each is somebody else's.
        rng: gives the seed; None for the same resamples each time, so that an evaluation of the
            same rows comes out the same.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    return Resamples(rows=rows, seed=int(rng.integers(2**63)), person=person)


def class_statistics(
    y: NDArray[np.integer], proba: NDArray[np.float64], *, ordered: bool = False
) -> dict[str, Statistic]:
    """The scores of a classifier by name, as in `predictive.METRICS` and `ORDERED_METRICS`.

    Args:
        y: shape (n,), class codes.
        proba: shape (n, classes).
        ordered: whether the classes have an order.
    """
    true, taken = proba[np.arange(len(y)), y], proba.argmax(axis=1)
    # As `scoring` has them: of two classes the score of the second alone.
    if proba.shape[1] == 2:
        squares, auc = (proba[:, 1] - y) ** 2, _auc(y == 1, proba[:, 1])
    else:
        squares, auc = (proba**2).sum(axis=1) - 2.0 * true + 1.0, _macro_auc(y, proba)
    found = {
        "auc": auc,
        "accuracy": _mean((taken == y).astype(float)),
        "log_loss": _mean(-np.log(np.maximum(true, SMALLEST_PROBABILITY))),
        "brier": _mean(squares),
    }
    if ordered:
        found["level_error"] = _mean(np.abs(taken - y).astype(float))
        found["weighted_kappa"] = _weighted_kappa(y, taken)
    return found


def number_statistics(
    y: NDArray[np.float64], predicted: NDArray[np.float64]
) -> dict[str, Statistic]:
    """R^2 and RMSE of a numeric target."""
    # Centred before they are squared: beside a large mean the difference below loses its digits.
    centred, squares = y - y.mean(), (predicted - y) ** 2
    # Shape (rows, 3): weighted sums of these give both scores in every resample at once.
    parts = np.stack([squares, centred, centred**2], axis=1)

    def r2(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        rows = weights.sum(axis=1)
        error, total, square = (weights @ parts).T
        # Around the mean of the resample, not around that of all rows.
        return 1.0 - _ratio(error, square - total**2 / rows)

    mean = _mean(squares)
    return {"r2": r2, "rmse": lambda weights: np.sqrt(mean(weights))}


def calibration_statistic(
    came_true: NDArray[np.bool_], predicted: NDArray[np.float64], group: NDArray[np.integer]
) -> Statistic:
    """What was observed less what was predicted in every group, as parts of all rows.

    Shape (resamples, groups). The groups stay as they are; the sum of the absolute values is the
    expected calibration error.
    """
    gaps = np.zeros((len(group), int(group.max(initial=0)) + 1))
    gaps[np.arange(len(group)), group] = came_true - predicted
    return lambda weights: weights @ gaps / weights.sum(axis=1, keepdims=True)


def _mean(values: NDArray[np.float64]) -> Statistic:
    return lambda weights: weights @ values / weights.sum(axis=1)


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """NaN where the denominator is not above 0."""
    good = below > 1e-12
    return np.where(good, above / np.where(good, below, 1.0), np.nan)


def _auc(positive: NDArray[np.bool_], score: NDArray[np.float64]) -> Statistic:
    """Of rows sorted by score, a positive one beats the weight of negatives below it.

    Rows of one score and class are one cell, negatives first: what is added up so far then holds
    the ties, of which half is taken off again.
    """
    order = np.lexsort((positive, score))
    sorted_score, hit = score[order], positive[order]
    starts = np.flatnonzero(
        np.r_[True, (np.diff(sorted_score) > 0) | (np.diff(hit.astype(int)) != 0)]
    )
    cell_score, cell_hit = sorted_score[starts], hit[starts]
    places = np.flatnonzero(cell_hit)
    # The cell before a positive one is negative where it has the same score.
    tied = places[(places > 0) & (cell_score[places] == cell_score[places - 1])]

    def statistic(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = np.add.reduceat(weights[:, order], starts, axis=1)
        below = np.where(cell_hit, 0.0, cells)
        n_negative = below.sum(axis=1)
        won = np.einsum("ij,ij->i", cells[:, places], np.cumsum(below, axis=1)[:, places])
        won -= 0.5 * np.einsum("ij,ij->i", cells[:, tied], cells[:, tied - 1])
        return _ratio(won, (weights.sum(axis=1) - n_negative) * n_negative)

    return statistic


def _macro_auc(y: NDArray[np.integer], proba: NDArray[np.float64]) -> Statistic:
    """The mean over the classes that appear, each against the rest."""
    areas = [_auc(y == code, proba[:, code]) for code in np.unique(y)]
    return lambda weights: np.mean([area(weights) for area in areas], axis=0)


def _weighted_kappa(y: NDArray[np.integer], taken: NDArray[np.integer]) -> Statistic:
    """Quadratic weights need the moments of both sides alone: no table of classes is counted."""
    # Both less one number: kappa stays the same, and the moments keep their digits.
    a, b = y - y.mean(), taken - y.mean()
    parts = np.stack([(a - b) ** 2, a, b, a**2, b**2], axis=1)

    def statistic(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        rows = weights.sum(axis=1)
        gap, first, second, square, other = (weights @ parts).T / rows
        # Squared distance as it is over what it would be if both sides were independent.
        return 1.0 - _ratio(gap, square + other - 2.0 * first * second)

    return statistic
