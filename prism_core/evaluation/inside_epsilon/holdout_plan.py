"""The plan of a reusable holdout: its cost, and how finely it tells. No row is read here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prism_core.data.schema import schema_file
from prism_core.errors import BudgetError, TaskError
from prism_core.planning.step_plan import (
    ZcdpPlan,
    check_declared,
    check_one_row,
    check_people,
    check_rows,
    delta_in_force,
)
from prism_core.privacy.accountants.accountant import HEADROOM, accountant
from prism_core.privacy.events import ComposedEvent, event_dict
from prism_core.privacy.parameters import delta_value, epsilon_value
from prism_core.privacy.sparse_vector import SparseVector

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema

UNITS = 10_000
"""A row's score is a whole number of these parts of the metric's range: accuracy is exact, a loss
is off by a twenty-thousandth of its range at most. One replaced row moves a total by this much."""

TOLERANCE = 0.04
"""Share of a metric's range by which synthetic and held-out rows may differ and still count as
agreeing, by default."""

MOST_ANSWERS = 1_000
MOST_QUESTIONS = 100_000

COMPARING = 0.8
"""Part of rho for the comparisons. Their noise is about twice that of a number that is told."""

_QUESTION = 2.0 ** (2.0 / 3.0)
"""Epsilon of a comparison over that of the threshold: with it the two noises together have the
least variance (Lyu, Su and Li 2017, section 4.2)."""


@dataclass(frozen=True, kw_only=True)
class HoldoutPlan(ZcdpPlan):
    """A session of questions to the n rows kept aside; epsilon is of the whole session.

    Attributes:
        schema: the declared domain.
        target: the column that is predicted.
        tolerance: how far apart both sides may be, as a share of a metric's range.
        questions: most questions, None for no limit.
        release: SHA-256 of the plan of the release whose rows are trained on.
        scales: of the noise, with the number of answers from the held-out rows.
    """

    schema: Schema = field(repr=False)
    target: str
    tolerance: float
    questions: int | None
    release: str
    scales: SparseVector

    @property
    def answers(self) -> int:
        """Answers that may come from the held-out rows."""
        return self.scales.answers

    @property
    def events(self) -> tuple[ComposedEvent, ...]:
        """All that the session spends; charged in full when it is opened."""
        return (self.scales.event,)

    @property
    def margin(self) -> int:
        """The tolerance in the unit of totals, rounded down."""
        # Whole, as the proof in `sparse_vector` compares whole numbers.
        return math.floor(self.tolerance * self.whole)

    @property
    def whole(self) -> int:
        """The largest total: every row scores all units."""
        return self.n * UNITS

    @property
    def comparing_error(self) -> float:
        """Standard deviation of the noise in a comparison, as a share of the range; data-free."""
        return (
            math.hypot(
                _deviation(self.scales.threshold_scale), _deviation(self.scales.question_scale)
            )
            / self.whole
        )

    @property
    def answer_error(self) -> float:
        """Standard deviation of the noise in an answer that is told, as a share; data-free."""
        return _deviation(self.scales.answer_scale) / self.whole

    @property
    def warning(self) -> str:
        """Why the noise would decide more than the rows do, or "". Follows from the plan alone."""
        if self.tolerance >= 2.0 * self.comparing_error:
            return ""
        return (
            f"Comparisons have noise of ± {self.comparing_error:.3f} (one standard deviation) and "
            f"the tolerance is {self.tolerance:g}: chance alone would use answers up. Raise "
            "epsilon or the tolerance, ask for fewer answers, or keep more rows aside."
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the curator; they follow from the plan alone."""
        return (*self.about_budget, self.warning) if self.warning else self.about_budget

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; holds no fact about the rows but their number."""
        return {
            "target": self.target,
            "n_holdout": self.n,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "tolerance": self.tolerance,
            "answers": self.answers,
            "questions": self.questions,
            "units": UNITS,
            "release_plan_sha256": self.release,
            "pure_epsilon": self.scales.pure_epsilon,
            **self.above_limit_entry,
            "events": [event_dict(event) for event in self.events],
        }

    def document(self) -> dict[str, Any]:
        """See `StepPlan.document`."""
        return {"plan": self.to_dict(), "schema": schema_file.to_dict(self.schema)}


def _deviation(scale: float) -> float:
    """Standard deviation of Laplace noise; of the discrete law it is smaller."""
    # The upper bound is what warnings and forecasts are to go by.
    return math.sqrt(2.0) * scale


def design_holdout(
    schema: Schema,
    target: str,
    n: int,
    epsilon: float,
    delta: float | None = None,
    *,
    answers: int = 10,
    tolerance: float = TOLERANCE,
    questions: int | None = None,
    release: str = "",
    above_limit: float | None = None,
) -> HoldoutPlan:
    """The plan of a session. Spends nothing and reads no row.

    Args:
        schema: the declared domain.
        target: the column that is predicted.
        n: number of held-out rows (persons); public.
        epsilon: of the whole session by itself.
        delta: likewise; 1/n^2 when None.
        answers: how many answers may come from the held-out rows.
        tolerance: how far apart both sides may be, as a share of a metric's range.
        questions: most questions, None for no limit; privacy needs none.
        release: SHA-256 of the plan of the release.
        above_limit: the workspace's maximum of epsilon that is exceeded on purpose, if one is.

    Raises:
        BudgetError, TaskError, PrivacyError: naming what is allowed.
    """
    epsilon_value(epsilon)
    _check(schema, target, n, tolerance)
    _whole(answers, "answers", MOST_ANSWERS)
    if questions is not None:
        _whole(questions, "questions", MOST_QUESTIONS)
    delta = delta_value(delta_in_force(delta, n))
    # A hair less, so that the float sum over rounds stays below what was bought.
    rho = accountant("zcdp").amount(epsilon, delta) * HEADROOM / answers
    return HoldoutPlan(
        schema=schema,
        target=target,
        n=n,
        epsilon=epsilon,
        delta=delta,
        tolerance=float(tolerance),
        questions=questions,
        release=release,
        scales=_scales(rho, answers),
        above_limit=above_limit,
    )


def _scales(rho: float, answers: int) -> SparseVector:
    """The noise of a round that costs rho."""
    # A pure epsilon costs epsilon^2 / 2 under zCDP (Bun and Steinke 2016, Proposition 1.4).
    comparing = math.sqrt(2.0 * rho * COMPARING)
    # Epsilon of the threshold; the question has `_QUESTION` times as much, and both are
    # `comparing`.
    threshold = comparing / (1.0 + _QUESTION)
    return SparseVector(
        sensitivity=UNITS,
        threshold_scale=UNITS / threshold,
        # Twice: a replaced row may move a question's total and the threshold it is held against.
        question_scale=2.0 * UNITS / (comparing - threshold),
        answer_scale=UNITS / math.sqrt(2.0 * rho * (1.0 - COMPARING)),
        answers=answers,
        label="questions to the holdout",
    )


def _check(schema: Schema, target: str, n: int, tolerance: float) -> None:
    check_rows(n, "A reusable holdout needs at least 2 rows kept aside.")
    check_declared(target, schema)
    if schema[target].level_count < 2:
        raise TaskError(f"The target {target!r} needs at least two levels.", field="target")
    check_people(schema)
    check_one_row(schema, "A reusable holdout is proven")
    if isinstance(tolerance, bool) or not 0.0 < tolerance < 1.0:
        raise BudgetError(
            "tolerance must lie strictly between 0 and 1: a share of the metric's range, for "
            "example 0.04.",
            field="tolerance",
        )


def _whole(value: object, name: str, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise BudgetError(
            f"{name} ({value}) must be a whole number from 1 to {most:,}.", field=name
        )
