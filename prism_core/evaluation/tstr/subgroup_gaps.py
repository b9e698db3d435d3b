"""Gaps between subgroups: cases found and probabilities that come true, by level of a column.

Two questions of a review of fairness, for a target of two classes. Equal opportunity (Hardt, Price
and Srebro 2016): does the model find as many of the cases in every group? Calibration in the large:
are its probabilities too low or too high in one group? Both are told for the model trained on
synthetic rows and for the one trained on real rows, so that a gap of the data is not taken for one
of the synthesis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.tstr.intervals import FEWEST, Interval, share_interval
from prism_core.evaluation.tstr.subgroup_scores import LEAST, check_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prism_core.evaluation.results import Side
    from prism_core.evaluation.tstr.prediction import Prediction


@dataclass(frozen=True, kw_only=True)
class SubgroupGap:
    """What one model does in one group. Outside epsilon.

    Attributes:
        label: the level.
        trained_on: "synthetic" or "real".
        rows, cases: holdout rows, and those of the second class; None when suppressed.
        found: share of the cases that the model flags (true positive rate); it flags as many of
            all holdout rows as are cases.
        found_gap: `found` less the share among the cases of all other groups that are told.
        found_interval: 95% interval of that difference (Newcombe 1998).
        off: observed share of cases less the mean probability; above 0: the model says too little.
        off_interval: 95% interval of it over test rows (Wilson), the probabilities held fixed.
        note: a sentence in place of what is None, or "".
        outside_epsilon: True: read from private rows without noise.
    """

    label: str
    trained_on: Side
    rows: int | None = None
    cases: int | None = None
    found: float | None = None
    found_gap: float | None = None
    found_interval: Interval | None = None
    off: float | None = None
    off_interval: Interval | None = None
    note: str = ""
    outside_epsilon: bool = True


def subgroup_gaps(found: Prediction, column: str, least: int = LEAST) -> tuple[SubgroupGap, ...]:
    """Both gaps of both models for every level, in the declared order.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.

    Args:
        found: the learner's fits and their probabilities on the holdout rows.
        column: any column but the target.
        least: groups of fewer holdout rows are suppressed; their size is not said either.

    Returns:
        Nothing for a target that has not two classes.

    Raises:
        EvaluationError: when the column is unknown or the target, or `least` is below 2.
    """
    check_groups(found, column, least)
    if found.numeric or found.test.schema[found.target].level_count != 2:
        return ()
    case = found.test.column(found.target) == 1
    codes = found.test.column(column)
    # Suppressed groups are among no other levels either: the gap of the others would tell them.
    told = (np.bincount(codes) >= least)[codes]
    gaps: list[SubgroupGap] = []
    for side, made in found.sides:
        if made.proba is None:
            continue
        chance = made.proba[:, 1]
        flagged = _flagged(chance, case)
        gaps += [
            _gap(label, side, codes[told] == code, case[told], chance[told], flagged[told], least)
            for code, label in enumerate(found.test.schema[column].labels())
        ]
    return tuple(gaps)


def _flagged(chance: NDArray[np.float64], case: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The rows of the largest probabilities, as many as there are cases, ties included.

    One half as a threshold would flag nobody where the outcome is rare.
    """
    if not case.any():
        return np.zeros(len(case), dtype=bool)
    threshold = np.sort(chance)[len(chance) - int(case.sum())]
    return chance >= threshold


def _gap(
    label: str,
    side: Side,
    inside: NDArray[np.bool_],
    case: NDArray[np.bool_],
    chance: NDArray[np.float64],
    flagged: NDArray[np.bool_],
    least: int,
) -> SubgroupGap:
    rows = int(inside.sum())
    if rows < least:
        return SubgroupGap(
            label=label, trained_on=side, note=f"Fewer than {least:,} rows: suppressed."
        )
    cases, others = int((inside & case).sum()), int((~inside & case).sum())
    observed, low, high = cases / rows, *share_interval(cases, rows)
    mean = float(chance[inside].mean())
    hits = int((inside & case & flagged).sum())
    other_hits = int((~inside & case & flagged).sum())
    # A rate of a handful of cases is chance, and close to single people.
    scored = min(cases, others) >= FEWEST
    return SubgroupGap(
        label=label,
        trained_on=side,
        rows=rows,
        cases=cases,
        found=hits / cases if cases >= FEWEST else None,
        found_gap=hits / cases - other_hits / others if scored else None,
        found_interval=difference_interval((hits, cases), (other_hits, others)) if scored else None,
        off=observed - mean,
        off_interval=(low - mean, high - mean),
        note="" if scored else f"Fewer than {FEWEST} cases in the group or outside it.",
    )


def difference_interval(one: tuple[int, int], other: tuple[int, int]) -> Interval:
    """The 95% interval of a difference of two shares of independent rows (Newcombe 1998, no. 10).

    Args:
        one: hits and rows of a share, rows at least 1.
        other: of the share that is taken off.
    """
    (low, high), (other_low, other_high) = share_interval(*one), share_interval(*other)
    share, other_share = one[0] / one[1], other[0] / other[1]
    gap = share - other_share
    # Both shares are independent, so distances to their ends add up as squares.
    below = np.hypot(share - low, other_high - other_share)
    above = np.hypot(high - share, other_share - other_low)
    return float(gap - below), float(gap + above)


def gap_words(gaps: Sequence[SubgroupGap], column: str) -> str:
    """What the rows tell of the gaps of the model trained on synthetic rows."""
    made = [gap for gap in gaps if gap.trained_on == "synthetic"]
    apart = [
        f"{gap.label} ({100 * gap.found_gap:+.0f} points, "
        f"{100 * gap.found_interval[0]:+.0f} to {100 * gap.found_interval[1]:+.0f})"
        for gap in made
        if gap.found_gap is not None
        and gap.found_interval is not None
        and not gap.found_interval[0] <= 0.0 <= gap.found_interval[1]
    ]
    if not any(gap.found_gap is not None for gap in made):
        return f"No level of {column} has enough cases to compare."
    if not apart:
        return (
            f"The model trained on synthetic rows finds cases about as often at every level of "
            f"{column}: no gap that the test rows tell from 0."
        )
    return (
        f"Cases that the model trained on synthetic rows finds, against all other levels of "
        f"{column}: {'; '.join(apart)}."
    )
