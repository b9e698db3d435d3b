"""A few headline numbers of TSTR inside epsilon: what they will cost. No row is read here."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.data import schema_io
from prism_core.errors import BudgetError, PrivacyError, TaskError
from prism_core.evaluation.learners import LEARNERS, check_learners
from prism_core.privacy.accountants import accountant
from prism_core.privacy.checks import delta_value, epsilon_value
from prism_core.privacy.events import GaussianEvent, event_dict

if TYPE_CHECKING:
    from prism_core.data.schema import Schema
    from prism_core.privacy.accountants import Spent

BINS = 16
"""Cells of the histogram of scores in each class. More cells follow the curve more closely and
take up more noise."""

MAX_CLASSES = 20
"""Targets with more classes get an accuracy and no AUC: one histogram a class would drown."""

ACCURACY_SHARE = 0.2
"""Part of rho for the accuracy; the rest goes to the histograms, in equal parts."""

_HEADROOM = 1.0 - 1e-12  # so that float sums of the parts stay below the whole


@dataclass(frozen=True, kw_only=True)
class PrivatePlan:
    """What will be counted on the holdout rows, with how much noise; every field is public.

    Attributes:
        schema: the declared domain.
        target: the column that is predicted.
        learner: trained on the synthetic rows; its scores are counted.
        epsilon, delta: of this step by itself.
        n: holdout rows (persons); public.
        release: SHA-256 of the plan of the release that is evaluated.
        classes: codes of the classes that get a histogram: the second one of two, all of up to
            `MAX_CLASSES`, none of more.
        events: a Gaussian event for every histogram, then one for the accuracy.
    """

    schema: Schema
    target: str
    learner: str
    epsilon: float
    delta: float
    n: int
    release: str
    classes: tuple[int, ...]
    events: tuple[GaussianEvent, ...]

    @property
    def spent(self) -> Spent:
        """What the step costs by itself, stated at delta."""
        return accountant("zcdp").spent(self.events, self.delta)

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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; holds no fact about the rows but their number."""
        return {
            "target": self.target,
            "learner": self.learner,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "n_holdout": self.n,
            "bins": BINS,
            "classes": list(self.classes),
            "release_plan_sha256": self.release,
            "events": [event_dict(event) for event in self.events],
        }

    @property
    def hash(self) -> str:
        """SHA-256 of the plan and its schema, for the ledger and the certificate."""
        document = {"plan": self.to_dict(), "schema": schema_io.to_dict(self.schema)}
        text = json.dumps(document, sort_keys=True, ensure_ascii=False, default=list)
        return hashlib.sha256(text.encode()).hexdigest()


def design_private(
    schema: Schema,
    target: str,
    n: int,
    epsilon: float,
    delta: float | None = None,
    *,
    learner: str = LEARNERS[0],
    release: str = "",
) -> PrivatePlan:
    """The plan for a private evaluation. Spends nothing and reads no row.

    Args:
        schema: the declared domain.
        target: the column that is predicted.
        n: number of holdout rows (persons); public.
        epsilon: of this step by itself.
        delta: likewise; 1/n^2 when None.
        learner: one of `LEARNERS`.
        release: SHA-256 of the plan of the release.

    Raises:
        BudgetError, TaskError, PrivacyError, EvaluationError: naming what is allowed.
    """
    epsilon_value(epsilon)
    check_learners((learner,))
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise BudgetError("A private evaluation needs at least 2 holdout rows.", field="n")
    if target not in schema:
        raise TaskError(f"The target {target!r} is not a column of the schema.", field="target")
    levels = schema[target].level_count
    if levels < 2:
        raise TaskError(f"The target {target!r} needs at least two levels.", field="target")
    if not schema.people_declared:
        raise PrivacyError(
            "The guarantee protects one row. Declare that every person has one row, or name the "
            "person-ID column.",
            field="one_row_per_person",
        )
    delta = delta_value(1.0 / n**2 if delta is None else delta)
    classes = (1,) if levels == 2 else tuple(range(levels)) if levels <= MAX_CLASSES else ()
    spender = accountant("zcdp")
    total = spender.amount(epsilon, delta) * _HEADROOM
    share = ACCURACY_SHARE if classes else 1.0
    labels = schema[target].labels()
    events = [
        spender.gaussian(
            total * (1.0 - share) / len(classes), 0.0, f"holdout scores for {labels[code]}"
        )
        for code in classes
    ]
    events.append(spender.gaussian(total * share, 0.0, "holdout rows predicted correctly"))
    return PrivatePlan(
        schema=schema, target=target, learner=learner, epsilon=epsilon, delta=delta, n=n,
        release=release, classes=classes, events=tuple(events),
    )  # fmt: skip
