"""Sparse vector with numeric answers (Thresholdout): many questions, few of them paid for.

A question has an expected total, which is public, and a total over the private rows. While the two
are close the expected one is told, and that is free but for its part of the noisy threshold. Only
where they are found apart is the private total told, with noise, and a round is used up.

Sources: Dwork and Roth 2014, Algorithms 1 to 3 (AboveThreshold, Sparse, NumericSparse); Dwork,
Feldman, Hardt, Pitassi, Reingold, Roth 2015 (Thresholdout). Lyu, Su and Li 2017 list published
variants that are not private or cost more than they say: telling the very number that was compared
(its noise is then known, and with it where the threshold was), no noise in the comparisons, no
limit on the answers above, noise that does not grow with their number. None of them is done here:
what is told has fresh noise, every comparison has its own, and rounds are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import PrivacyError
from prism_core.privacy.events import AboveThresholdEvent, ComposedEvent, LaplaceEvent
from prism_core.privacy.mechanisms import RowsT, check_noise_of_table
from prism_core.privacy.parameters import positive

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.privacy.noise import NoiseSource
    from prism_core.privacy.private_rows import PrivateRows

USED_UP = (
    "All answers from the private rows that this budget pays for have been given. Nothing more is "
    "compared with those rows; answers that were given can be read again."
)


@dataclass(frozen=True, kw_only=True)
class SparseVector:
    """The scales of the noise; public. Totals are whole numbers, and so is all noise.

    Attributes:
        sensitivity: by which one replaced row moves any total, at most.
        threshold_scale: of the noise in the threshold, drawn once a round.
        question_scale: of the noise in every comparison.
        answer_scale: of the noise in a total that is told.
        answers: rounds, and so totals that may be told.
        label: of the event.
    """

    sensitivity: int
    threshold_scale: float
    question_scale: float
    answer_scale: float
    answers: int
    label: str = ""

    def __post_init__(self) -> None:
        for name in ("sensitivity", "answers"):
            value = getattr(self, name)
            # True is an int to Python, and no sensitivity.
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise PrivacyError(f"{name} must be a whole number above 0.", field=name)
        for name in ("threshold_scale", "question_scale", "answer_scale"):
            positive(getattr(self, name), name)

    @property
    def round(self) -> tuple[AboveThresholdEvent, LaplaceEvent]:
        """What one round costs: the comparisons, and the number that is told."""
        above = AboveThresholdEvent(
            threshold_scale=self.threshold_scale,
            question_scale=self.question_scale,
            sensitivity=self.sensitivity,
            label=f"{self.label}: until one stands apart",
        )
        told = LaplaceEvent(
            scale=self.answer_scale, sensitivity=self.sensitivity, label=f"{self.label}: its number"
        )
        return above, told

    @property
    def event(self) -> ComposedEvent:
        """What the whole session costs, however many questions are asked.

        Every round is one AboveThreshold and one number with Laplace noise, each pure; rounds are
        chosen adaptively and have noise of their own, so all of them compose (zCDP: Bun and
        Steinke 2016, Lemma 2.3).
        """
        return ComposedEvent(events=self.round, count=self.answers, label=self.label)

    @property
    def pure_epsilon(self) -> float:
        """The session's epsilon as pure differential privacy (delta 0): the sum over rounds."""
        return self.answers * sum(event.epsilon for event in self.round)


@dataclass(frozen=True, kw_only=True)
class SparseVectorState:
    """Where a session stands. **Secret**: the noisy threshold must never be shown.

    Attributes:
        left: rounds left, the one under way among them.
        threshold: the noise in this round's threshold, 0 when no round is left.
    """

    left: int
    # Not in the repr, so that no log and no traceback tells it.
    threshold: int = field(repr=False)


def opened(scales: SparseVector, table: PrivateRows, noise: NoiseSource) -> SparseVectorState:
    """The first round's threshold. Spends nothing by itself, and reads no row.

    The session spends `scales.event` in all; charge it before this is called.

    Raises:
        PrivacyError: for known noise on private rows.
    """
    check_noise_of_table(table, noise)
    return SparseVectorState(
        left=scales.answers, threshold=_laplace(0, scales.threshold_scale, noise)
    )


def asked(
    scales: SparseVector,
    now: SparseVectorState,
    table: RowsT,
    total: Callable[[RowsT], int],
    *,
    expected: int,
    tolerance: int,
    noise: NoiseSource,
) -> tuple[int | None, SparseVectorState]:
    """None while the total is near what is expected; else the total with noise, a round being over.

    Spends: nothing beyond `scales.event`, which covers any number of questions until its rounds
    are used up.

    Proof, for one round. Let s be the sensitivity of totals. What is compared is
    g = |expected - total| - tolerance, where `expected` and `tolerance` are public: by the triangle
    inequality g moves by at most s, too. Fix a transcript: below for questions 1..k-1, above for
    k, each question a function of the transcript before it (and so the same on a neighbour). Its
    probability is

        sum_r P(R = r) prod_{i<k} P(g_i + N_i < r) P(g_k + N_k >= r),

    R being the noise in the threshold. On the neighbour (g') put r + s for r, which runs over the
    same whole numbers. P(R = r + s) >= exp(-s / threshold_scale) P(R = r). As g'_i <= g_i + s,
    every factor below is at least as large as before: these questions are free. As
    g'_k >= g_k - s, the last is at least P(N_k >= r - g_k + 2 s) >= exp(-2 s / question_scale)
    P(N_k >= r - g_k). So a round is epsilon-DP for s / threshold_scale + 2 s / question_scale; a
    round that ends without an answer above loses the first part only. The number that is told has
    noise of its own: s / answer_scale. The next round draws its threshold anew, and so is another
    mechanism on the same rows: rounds compose. (One threshold for all rounds could be private,
    too, if every comparison had noise for all rounds at once: Lyu, Su and Li 2017, Algorithm 1.
    Under zCDP rounds that compose cost less from the second one on.)

    Everything is a whole number: totals, tolerance and the discrete Laplace noise, for which the
    bounds above hold exactly. How questions relate to each other is not used.

    Args:
        scales: of the noise.
        now: where the session stands.
        table: the private rows.
        total: whole number that moves by at most `scales.sensitivity` when a row is replaced.
        expected: what the total is expected to be; public.
        tolerance: how far apart they may be, at least 0; public.
        noise: where the noise comes from.

    Returns:
        The answer, and where the session stands after it. Store the latter before telling the
        former: who asks a second time with the same standing is told the same threshold twice.

    Raises:
        PrivacyError: when no round is left, or for known noise on private rows.
    """
    check_noise_of_table(table, noise)
    if not now.left >= 1:
        raise PrivacyError(USED_UP, field="answers")
    if not tolerance >= 0:
        raise PrivacyError("tolerance must be at least 0; nothing was compared.", field="tolerance")
    found = int(total(table))
    gap = _laplace(abs(expected - found), scales.question_scale, noise)
    # Strict, as "below" is in the proof: both sides are whole numbers, and ties happen.
    if gap < tolerance + now.threshold:
        # The same threshold: one round answers any number of questions below it (first part of the
        # proof).
        return None, now
    told = _laplace(found, scales.answer_scale, noise)
    return told, over(scales, now, table, noise)


def over(
    scales: SparseVector, now: SparseVectorState, table: PrivateRows, noise: NoiseSource
) -> SparseVectorState:
    """After a round: one fewer, and a new threshold. Spends nothing beyond `scales.event`.

    Also for a question whose answer was lost (a crash): it counts as one from the private rows.
    """
    check_noise_of_table(table, noise)
    left = now.left - 1
    if left < 1:
        return replace(now, left=0, threshold=0)
    return SparseVectorState(left=left, threshold=_laplace(0, scales.threshold_scale, noise))


def _laplace(value: int, scale: float, noise: NoiseSource) -> int:
    return int(noise.add_discrete_laplace(np.array([value], dtype=np.int64), scale)[0])
