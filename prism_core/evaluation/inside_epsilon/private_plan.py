"""The plan of private numbers: what they will cost, and how each is stated. No row is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.data.schema import schema_file
from prism_core.errors import TaskError
from prism_core.evaluation.tstr.intervals import Z95
from prism_core.evaluation.tstr.learners import check_learners
from prism_core.evaluation.tstr.regressors import by_squared_loss, learners_of
from prism_core.planning.step_plan import (
    ZcdpPlan,
    check_declared,
    check_one_row,
    check_people,
    check_rows,
    delta_in_force,
)
from prism_core.privacy.accountants.accountant import HEADROOM, accountant
from prism_core.privacy.events import GaussianEvent, event_dict
from prism_core.privacy.parameters import delta_value, epsilon_value

if TYPE_CHECKING:
    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema

BINS = 16
"""Cells of the histogram of scores in each class. More cells follow the curve more closely and
take up more noise."""

MAX_CLASSES = 20
"""Targets with more classes get an accuracy and no AUC: one histogram a class would drown."""

ACCURACY_SHARE = 0.2
"""Part of rho for the accuracy; the rest goes to the histograms, in equal parts."""

STEPS = 10_000
"""Whole steps in which the squared error of one row is counted: the sensitivity of their sum."""

KNOWN_SHARE = 0.1
"""Part of rho for the number of rows with a known target, where it may be missing."""

_WIDEST = 1e100
"""Widest declared range of a numeric target: beyond 1e154 a squared error is infinite."""

_ROUGH = 0.1  # an AUC with an error beyond this tells nobody anything
_TOO_ROUGH = 0.5  # so is an RMSE that could be half as large again


@dataclass(frozen=True, kw_only=True)
class PrivatePlan(ZcdpPlan):
    """What will be counted on the n holdout rows, with how much noise; epsilon is of this step.

    Attributes:
        schema: the declared domain.
        target: the column that is predicted.
        learner: trained on the synthetic rows; its scores are counted.
        release: SHA-256 of the plan of the release that is evaluated.
        classes: codes of the classes that get a histogram: the second one of two, all of up to
            `MAX_CLASSES`, none of more.
        events: a Gaussian event for every histogram, then one for the accuracy; of a numeric
            target one for the sum of squared errors, one for that of the mean and, where it may be
            missing, one for the rows that have it.
        numeric: whether the target is predicted by squared loss.
    """

    schema: Schema
    target: str
    learner: str
    release: str
    classes: tuple[int, ...]
    events: tuple[GaussianEvent, ...]
    numeric: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the curator; they follow from the plan alone."""
        found = self.about_budget
        if self.numeric:
            # As a part of the RMSE itself, which the forecast takes to be a tenth of the range.
            if 1.96 * self.expected_rmse_error() / 0.1 > _TOO_ROUGH:
                found += (
                    "At this epsilon an RMSE of a tenth of the range would drown in its noise. "
                    "Raise epsilon, or keep more rows aside.",
                )
            return found
        error = 1.96 * self.expected_auc_error()
        if self.classes and error > _ROUGH:
            found += (
                f"At this epsilon the AUC would come with an error of ± {error:.3f}: that says "
                "next to nothing, and where the noise hides a whole class there is no AUC at all, "
                "though it is paid for. Raise epsilon, or keep more rows aside.",
            )
        return found

    def expected_auc_error(self, share: float = 0.1) -> float:
        """Expected standard deviation of the noise in the AUC of one class; data-free.

        Against uniform ranks of the other side the AUC moves by sigma sqrt(cells / 12) / (rows of
        a side) for each side.

        Args:
            share: of the rows that the class is supposed to have, above 0 and below 1.
        """
        if not self.classes:
            return math.inf
        rows = (self.n * share, self.n * (1.0 - share))
        return self.events[0].sigma * math.sqrt(BINS / 12.0 * sum(1.0 / r**2 for r in rows))

    @property
    def expected_accuracy_error(self) -> float:
        """Largest expected standard deviation of the noise in the accuracy; data-free."""
        return self.events[-1].sigma / self.n

    def expected_rmse_error(self, share: float = 0.1) -> float:
        """Expected standard deviation of the noise in the RMSE, as a part of the declared range.

        The mean squared error has noise sigma / (`STEPS` n) in squared ranges; a root r has half
        of that over r. Data-free.

        Args:
            share: of the range that the RMSE is supposed to be, above 0.
        """
        return self.events[0].sigma / (STEPS * self.n) / (2.0 * share)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; holds no fact about the rows but their number."""
        how = {"squared_loss_steps": STEPS} if self.numeric else {"bins": BINS}
        return {
            "target": self.target,
            "learner": self.learner,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "n_holdout": self.n,
            **how,
            "classes": list(self.classes),
            "release_plan_sha256": self.release,
            **self.above_limit_entry,
            "events": [event_dict(event) for event in self.events],
        }

    def document(self) -> dict[str, Any]:
        """See `StepPlan.document`."""
        return {"plan": self.to_dict(), "schema": schema_file.to_dict(self.schema)}


def design_private(
    schema: Schema,
    target: str,
    n: int,
    epsilon: float,
    delta: float | None = None,
    *,
    learner: str | None = None,
    release: str = "",
    as_classes: bool = False,
    above_limit: float | None = None,
) -> PrivatePlan:
    """The plan for a private evaluation. Spends nothing and reads no row.

    Args:
        schema: the declared domain.
        target: the column that is predicted.
        n: number of holdout rows (persons); public.
        epsilon: of this step by itself.
        delta: likewise; 1/n^2 when None.
        learner: one of the target's (`learners_of`); None for the first.
        release: SHA-256 of the plan of the release.
        as_classes: tell the bins of a numeric target apart as classes (AUC and accuracy) instead
            of predicting its value (R^2 and RMSE).
        above_limit: the workspace's maximum of epsilon that is exceeded on purpose, if one is.

    Raises:
        BudgetError, TaskError, PrivacyError, EvaluationError: naming what is allowed.
    """
    epsilon_value(epsilon)
    check_rows(n, "A private evaluation needs at least 2 holdout rows.")
    check_declared(target, schema)
    allowed = learners_of(schema[target], as_classes=as_classes)
    learner = allowed[0] if learner is None else learner
    check_learners((learner,), allowed)
    levels = schema[target].level_count
    if levels < 2:
        raise TaskError(f"The target {target!r} needs at least two levels.", field="target")
    check_people(schema)
    check_one_row(schema, "Private numbers are proven")
    delta = delta_value(delta_in_force(delta, n))
    numeric = by_squared_loss(schema[target], as_classes=as_classes)
    if numeric:
        _check_range(schema[target])
    classes = () if numeric else _classes(levels)
    # HEADROOM is a hair less, so that the float sum of the parts stays within epsilon.
    total = accountant("zcdp").amount(epsilon, delta) * HEADROOM
    events = (
        _numeric_events(schema[target], total)
        if numeric
        else _class_events(schema[target], classes, total)
    )
    return PrivatePlan(
        schema=schema,
        target=target,
        learner=learner,
        epsilon=epsilon,
        delta=delta,
        n=n,
        release=release,
        classes=classes,
        events=events,
        numeric=numeric,
        above_limit=above_limit,
    )


def _check_range(column: Column) -> None:
    lower, upper = column.bounds
    if not upper - lower <= _WIDEST:
        raise TaskError(
            f"The target {column.name!r} is declared with a range above {_WIDEST:g}, whose squared "
            "errors floats cannot add up. Declare narrower bounds, or tell its bins apart as "
            "classes.",
            field="target",
        )


def _classes(levels: int) -> tuple[int, ...]:
    """Codes of the classes that get a histogram."""
    # Of two classes one is enough: their AUCs are the same number.
    return (1,) if levels == 2 else tuple(range(levels)) if levels <= MAX_CLASSES else ()


def _class_events(
    column: Column, classes: tuple[int, ...], total: float
) -> tuple[GaussianEvent, ...]:
    spender = accountant("zcdp")
    # Without a histogram all of rho goes to the accuracy.
    share = ACCURACY_SHARE if classes else 1.0
    labels = column.labels()
    events = [
        spender.gaussian(
            total * (1.0 - share) / len(classes), 0.0, f"holdout scores for {labels[code]}"
        )
        for code in classes
    ]
    events.append(spender.gaussian(total * share, 0.0, "holdout rows predicted correctly"))
    return tuple(events)


def _numeric_events(column: Column, total: float) -> tuple[GaussianEvent, ...]:
    """Equal parts for both sums; a sum has sensitivity `STEPS` where a marginal has sqrt(2)."""
    spender = accountant("zcdp")
    share = KNOWN_SHARE if column.valueless_codes else 0.0
    events: list[GaussianEvent] = []
    for label in ("squared errors on the holdout rows", "squared errors of the synthetic mean"):
        one = spender.gaussian(total * (1.0 - share) / 2.0, 0.0, label)
        # The cost depends on sigma over sensitivity alone, so both may grow together.
        sigma = one.sigma * STEPS / one.sensitivity
        events.append(GaussianEvent(sigma=sigma, sensitivity=float(STEPS), label=label))
    if column.valueless_codes:
        events.append(spender.gaussian(total * share, 0.0, "holdout rows with a known target"))
    return tuple(events)


FIRM = 4.0
"""A number comes out when what it divides by is this many standard deviations of its noise."""


@dataclass(frozen=True, kw_only=True)
class PrivateNumber:
    """One number inside epsilon, with the error that its noise causes.

    Attributes:
        name: "auc" or "accuracy"; "r2" or "rmse" of a numeric target.
        subject: the class, "mean over classes", or the target.
        value: the number; None when the noise is too large for it, and then `note` says so.
        deviation: standard deviation of the noise in it (first order); None like `value`.
        note: a sentence, or "".
        limits: smallest and largest possible value; public.
        outside_epsilon: False: differentially private. True in a rehearsal.
    """

    name: str
    subject: str
    value: float | None
    deviation: float | None
    note: str = ""
    limits: tuple[float, float] = (0.0, 1.0)
    outside_epsilon: bool = False

    @property
    def interval(self) -> tuple[float, float] | None:
        """95% interval of the noise alone, within the limits."""
        if self.value is None or self.deviation is None:
            return None
        half = Z95 * self.deviation
        return max(self.limits[0], self.value - half), min(self.limits[1], self.value + half)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "name": self.name,
            "subject": self.subject,
            "value": self.value,
            "noise_deviation": self.deviation,
            "noise_interval_95": None if self.interval is None else list(self.interval),
            "note": self.note,
            "outside_epsilon": self.outside_epsilon,
        }
