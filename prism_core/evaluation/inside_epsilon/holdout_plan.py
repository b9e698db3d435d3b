"""The plan of a reusable holdout: its cost, and how finely it tells. No row is read here."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prism_core.data.schema import schema_file
from prism_core.errors import BudgetError, PrivacyError, TaskError
from prism_core.privacy.accountants.accountant import accountant
from prism_core.privacy.events import event_dict
from prism_core.privacy.parameters import about_budget, delta_value, epsilon_value
from prism_core.privacy.sparse_vector import SparseVector
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema
    from prism_core.privacy.accountants.accountant import Spent
    from prism_core.privacy.events import ComposedEvent

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

_HEADROOM = 1.0 - 1e-12  # so that float sums of the parts stay below the whole


@dataclass(frozen=True, kw_only=True)
class HoldoutPlan:
    """A session of questions to the rows kept aside; every field is public.

    Attributes:
        schema: the declared domain.
        target: the column that is predicted.
        n: held-out rows (persons); public.
        epsilon, delta: of the whole session by itself.
        tolerance: how far apart both sides may be, as a share of a metric's range.
        questions: most questions, None for no limit.
        release: SHA-256 of the plan of the release whose rows are trained on.
        scales: of the noise, with the number of answers from the held-out rows.
        above_limit: the workspace's maximum of epsilon that the curator chose to exceed, or None.
    """

    schema: Schema = field(repr=False)
    target: str
    n: int
    epsilon: float
    delta: float
    tolerance: float
    questions: int | None
    release: str
    scales: SparseVector
    above_limit: float | None = None

    @property
    def answers(self) -> int:
        """Answers that may come from the held-out rows."""
        return self.scales.answers

    @property
    def events(self) -> tuple[ComposedEvent, ...]:
        """All that the session spends; charged in full when it is opened."""
        return (self.scales.event,)

    @property
    def spent(self) -> Spent:
        """What the session costs by itself, stated at delta."""
        return accountant("zcdp").spent(self.events, self.delta)

    @property
    def margin(self) -> int:
        """The tolerance in the unit of totals, rounded down."""
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
        found = about_budget(self.epsilon, self.delta, self.n, above_limit=self.above_limit)
        return (*found, self.warning) if self.warning else found

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
            **({} if self.above_limit is None else {"above_limit": self.above_limit}),
            "events": [event_dict(event) for event in self.events],
        }

    @property
    def hash(self) -> str:
        """SHA-256 of the plan and its schema, for the ledger."""
        document = {"plan": self.to_dict(), "schema": schema_file.to_dict(self.schema)}
        text = json.dumps(document, sort_keys=True, ensure_ascii=False, default=list)
        return hashlib.sha256(text.encode()).hexdigest()


def _deviation(scale: float) -> float:
    """Standard deviation of Laplace noise; of the discrete law it is smaller."""
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
    delta = delta_value(1.0 / n**2 if delta is None else delta)
    rho = accountant("zcdp").amount(epsilon, delta) * _HEADROOM / answers
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
    comparing = math.sqrt(2.0 * rho * COMPARING)
    threshold = comparing / (1.0 + _QUESTION)
    return SparseVector(
        sensitivity=UNITS,
        threshold_scale=UNITS / threshold,
        question_scale=2.0 * UNITS / (comparing - threshold),
        answer_scale=UNITS / math.sqrt(2.0 * rho * (1.0 - COMPARING)),
        answers=answers,
        label="questions to the holdout",
    )


def _check(schema: Schema, target: str, n: int, tolerance: float) -> None:
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise BudgetError("A reusable holdout needs at least 2 rows kept aside.", field="n")
    if target not in schema:
        raise TaskError(
            f"The target {target!r} is not a column of the schema."
            f"{suggestion(target, schema.names)}",
            field="target",
        )
    if schema[target].level_count < 2:
        raise TaskError(f"The target {target!r} needs at least two levels.", field="target")
    if not schema.people_declared:
        raise PrivacyError(
            "The guarantee protects one row. Declare that every person has one row, or name the "
            "person-ID column.",
            field="one_row_per_person",
        )
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
