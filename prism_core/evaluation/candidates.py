"""Candidates: several sets of synthetic rows for one task, compared in one table.

A rival of another kind (another synthesizer) takes part as a `Candidate` like every release.
Outside epsilon: read from private rows without noise, for the curator only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from prism_core.errors import EvaluationError
from prism_core.evaluation.fidelity import distances
from prism_core.evaluation.tstr.attempts import difference_interval
from prism_core.evaluation.tstr.prediction import Prediction, predict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prism_core.data.encoding import EncodedTable
    from prism_core.evaluation.results import MetricRow
    from prism_core.evaluation.subject import Subject
    from prism_core.evaluation.tstr.intervals import Interval

CHOOSING = (
    "Choosing among releases by their scores on real rows is itself a leak: the choice depends on "
    "the private rows, and no epsilon covers it. Decide by the plans and by rehearsals; use this "
    "table to understand, or spend budget on private numbers."
)
"""What everyone who compares has to read."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One set of synthetic rows.

    Attributes:
        name: what it is called in the table.
        synthetic: its rows, in the schema of the inspection.
        epsilon: what it spent; None when it gives no guarantee or none is known.
        stamp: what kind of run it was.
        regime: how the protected features were found, "" where that means nothing.
        method: which synthesizer made them.
        neighbours: the relation under which epsilon holds.
        charge: number of the ledger's charge, None where there was none.
    """

    name: str
    synthetic: EncodedTable = field(repr=False)
    epsilon: float | None
    stamp: str
    regime: str = ""
    method: str = "PRISM"
    neighbours: str = ""
    charge: int | None = None


@dataclass(frozen=True, kw_only=True)
class CandidateScores:
    """One line of the comparison. Outside epsilon.

    Attributes:
        name, epsilon, stamp, regime, method, neighbours, charge: of the candidate.
        rows: its synthetic rows.
        score: TSTR with its ceiling and floor: the AUC, or R^2 of a numeric target.
        rmse: of the same model of a numeric target, else None.
        calibration_error: of the same model; None for a numeric target.
        difference: its score less that of the first line; None on the first line.
        difference_interval: its 95% interval, on the same resamples of the test rows.
        task_distance: mean total variation distance over the pairs with the target.
        column_distance: mean l1 distance over columns.
        outside_epsilon: True: read from private rows without noise.
    """

    name: str
    epsilon: float | None
    stamp: str
    regime: str
    rows: int
    score: MetricRow
    calibration_error: MetricRow | None
    task_distance: float | None
    column_distance: float | None
    method: str = "PRISM"
    neighbours: str = ""
    charge: int | None = None
    rmse: MetricRow | None = None
    difference: float | None = None
    difference_interval: Interval | None = None
    outside_epsilon: bool = True

    @property
    def told_apart(self) -> bool | None:
        """Whether the test rows tell its score from that of the first line.

        They do where 0 lies outside the interval of the difference; None where there is none.
        """
        if self.difference_interval is None:
            return None
        low, high = self.difference_interval
        return not low <= 0.0 <= high


def compare_candidates(
    subject: Subject,
    candidates: Sequence[Candidate],
    progress: Callable[[float, str], None] = lambda _share, _text: None,
) -> tuple[CandidateScores, ...]:
    """Score every candidate on the same holdout, with the default learner and all columns.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only. Keeping the
    best of several releases by these numbers is itself a leak (`CHOOSING`).

    Every line but the first comes with its difference from the first, on the same resamples of the
    test rows.

    Raises:
        EvaluationError: when a candidate has other columns than the inspection.
    """
    found: list[CandidateScores] = []
    first: Prediction | None = None
    for place, candidate in enumerate(candidates):
        progress(place / len(candidates), f"scoring {place + 1:,} of {len(candidates):,}")
        if candidate.synthetic.schema.columns != subject.schema.columns:
            raise EvaluationError(
                f"{candidate.name} has other columns than this release. Compare releases of the "
                "same schema.",
                field="candidates",
            )
        # S is of this release alone: rivals are compared by what all columns say.
        own = replace(subject, synthetic=candidate.synthetic, s=(), s_alone=False)
        # Without a generator: the same resamples for every candidate, so that scores can be
        # subtracted.
        scored = predict(own)
        found.append(_standing(own, candidate, scored, first))
        first = scored if first is None else first
    return tuple(found)


def _standing(
    subject: Subject, candidate: Candidate, scored: Prediction, first: Prediction | None
) -> CandidateScores:
    comparison = subject.comparison
    task = distances.task_rows(comparison, target=subject.target, features=subject.features)
    columns = distances.column_rows(comparison)
    score, difference = scored.row(scored.score), None
    if first is not None and score.value is not None:
        other = first.row(first.score).value
        difference = None if other is None else score.value - other
    return CandidateScores(
        name=candidate.name,
        epsilon=candidate.epsilon,
        stamp=candidate.stamp,
        regime=candidate.regime,
        rows=candidate.synthetic.n,
        score=score,
        rmse=scored.row("rmse") if scored.numeric else None,
        calibration_error=None if scored.numeric else scored.row("calibration_error"),
        difference=difference,
        difference_interval=None
        if first is None or difference is None
        else difference_interval(scored.made, first.made, scored.score),
        task_distance=next(row.value for row in task if row.name == "task_tv_mean"),
        # The last row is the mean over the columns.
        column_distance=columns[-1].value,
        method=candidate.method,
        neighbours=candidate.neighbours,
        charge=candidate.charge,
    )
