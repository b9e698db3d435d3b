"""The plan of one step: what the seven kinds of plans share, and what all ask before a row is read.

A release, a learned domain, a learned graph, private numbers, a reusable holdout, a comparator and
the package of others are each planned as a value of their own. Its hash names it in the ledger,
in approvals and in bundles, so what goes into a kind's `document` stays as it is for good.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from prism_core.errors import BudgetError, PlanError, PrivacyError, TaskError
from prism_core.privacy.accountants.accountant import Spent, accountant
from prism_core.privacy.ledger.charging import Price
from prism_core.privacy.parameters import about_budget
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prism_core.data.schema.schema import Schema
    from prism_core.privacy.events import Event
    from prism_core.privacy.learning_charge import LearningCharge


@dataclass(frozen=True, kw_only=True)
class StepPlan(ABC):
    """A plan, complete before a row is read; every field is public.

    Attributes:
        n: rows (persons) that the step reads.
        delta: in force, the default filled in.
    """

    n: int
    delta: float

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; hold no fact about the rows but their number."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """What the hash is of: the plan, and what it is read with."""

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the plan, for the ledger and the certificate."""
        return digest(self.document())


class Costed(Protocol):
    """What of a plan the gate has to know."""

    @property
    def n(self) -> int:
        """Rows (persons)."""
        ...

    @property
    def epsilon(self) -> float:
        """Of the budget that the step is a part of."""
        ...

    @property
    def delta(self) -> float:
        """Likewise."""
        ...

    @property
    def above_limit(self) -> float | None:
        """The workspace's maximum of epsilon that is exceeded on purpose, if one is."""
        ...

    @property
    def events(self) -> tuple[Event, ...]:
        """What the step spends."""
        ...

    @property
    def spent(self) -> Spent:
        """What that comes to, stated at delta."""
        ...

    @property
    def owing(self) -> LearningCharge | None:
        """Learning before the step that it pays for where nobody has."""
        ...

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the plan."""
        ...


@dataclass(frozen=True, kw_only=True)
class ZcdpPlan(StepPlan):
    """A plan with an epsilon of its own, accounted under zCDP; its kinds say `events`.

    Attributes:
        epsilon: of the step, or of the whole release that it is a part of.
        above_limit: the workspace's maximum of epsilon that the curator chose to exceed, or None.
    """

    epsilon: float
    above_limit: float | None = None

    @property
    # `Costed`, as `events` is left to the kinds: a field of some, worked out by others.
    def spent(self: Costed) -> Spent:
        """What the step costs by itself, stated at delta."""
        return accountant("zcdp").spent(self.events, self.delta)

    @property
    def owing(self) -> LearningCharge | None:
        """Learning before the step that it pays for where nobody has; None for most kinds."""
        return None

    @property
    def price(self: Costed) -> Price:
        """What the gate charges for the step."""
        return Price(
            spent=self.spent,
            events=self.events,
            plan=self.hash,
            prior=self.owing,
            declared=self.epsilon,
            above_limit=self.above_limit,
        )

    @property
    def about_budget(self) -> tuple[str, ...]:
        """What the curator should know about its epsilon and delta."""
        return about_budget(self.epsilon, self.delta, self.n, above_limit=self.above_limit)

    @property
    def above_limit_entry(self) -> dict[str, float]:
        """The entry of `to_dict` that most plans do without."""
        return {} if self.above_limit is None else {"above_limit": self.above_limit}


class DeclaredPeople(Protocol):
    """A schema or an outline: whose rows they are."""

    @property
    def one_row_per_person(self) -> bool:
        """Whether a row is a person."""
        ...

    @property
    def person_id(self) -> str | None:
        """The column that names the person, if one does."""
        ...

    @property
    def persons(self) -> int | None:
        """How many there are, where that is declared."""
        ...


def digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of plain values, whatever the order of their entries."""
    # These options are for good: with others no hash in a ledger or a bundle would fit any more.
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, default=list)
    return hashlib.sha256(text.encode()).hexdigest()


def delta_in_force(delta: float | None, n: int) -> float:
    """Delta as declared, or 1/n².

    Args:
        delta: as declared; not checked here.
        n: rows (persons).

    Returns:
        NaN, which every check of a delta refuses, where it would follow from no number of rows.
    """
    if delta is not None:
        return delta
    return 1.0 / n**2 if isinstance(n, int) and n > 1 else math.nan


def check_rows(n: object, sentence: str = "The table needs at least 2 rows.") -> None:
    """Refuse fewer than two rows.

    Raises:
        BudgetError: with the sentence.
    """
    # True is an int to Python, and no number of rows.
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise BudgetError(sentence, field="n")


def check_counts(n: object, rows: object) -> None:
    """Refuse fewer than two rows to read, or none to make.

    Raises:
        PlanError: naming which.
    """
    for name, value, least in (("n", n, 2), ("rows", rows, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise PlanError(f"{name} must be a whole number of at least {least}.", field=name)


def check_people(declared: DeclaredPeople) -> None:
    """Refuse a declaration that does not say how rows and people relate.

    Raises:
        PrivacyError: in that case; the guarantee would be of rows.
    """
    if not declared.one_row_per_person and declared.person_id is None:
        raise PrivacyError(
            "The guarantee protects one row. Declare that every person has one row, or name the "
            "person-ID column.",
            field="one_row_per_person",
        )


def check_one_row(schema: Schema, what: str) -> None:
    """Refuse several rows a person for a step whose proof is of one.

    Raises:
        PrivacyError: in that case, before a row is read.
    """
    if not schema.contribution.single:
        raise PrivacyError(
            f"{what} for one row a person, which is drawn from all that she has. Use the same "
            "schema with max_rows = 1 for this step; the release may use more.",
            field="max_rows",
        )


def check_persons(declared: DeclaredPeople, n: int) -> None:
    """Refuse an n that is not the number of persons, where that is declared.

    Raises:
        BudgetError: in that case.
    """
    if declared.persons is not None and declared.persons != n:
        raise BudgetError("n must be the declared number of persons.", field="n")


def check_declared(target: str, schema: Schema) -> None:
    """Refuse a target that is no column.

    Raises:
        TaskError: in that case, with a name that is close.
    """
    if target not in schema:
        raise TaskError(
            f"The target {target!r} is not a column of the schema."
            f"{suggestion(target, schema.names)}",
            field="target",
        )
