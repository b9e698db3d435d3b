"""The charge of learning a domain or a graph before a plan is made; the plan deducts it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from prism_core.errors import PrivacyError
from prism_core.privacy.accountants.accountant import Accountant, Spent, accountant
from prism_core.privacy.events import Event, event_dict, event_from_dict, failure
from prism_core.privacy.parameters import delta_value

_RECEIPT = re.compile(r"(?:[0-9a-f]{32})?")

LEARNING_LABEL = "learning "
"""First word of the label of an event that learns something; what it learns follows."""

ROWS_SUBJECT = "rows per person"
"""What is learned where no column is: how many rows people have."""


@dataclass(frozen=True, kw_only=True)
class LearningCharge:
    """An earlier charge on the same rows; travels with the schema or graph it paid for.

    Attributes:
        events: what was spent.
        delta: the delta at which its epsilon is stated.
        plan: SHA-256 of the plan it was made with.
        charge: its number in the ledger, None where there was none.
        person_id: the column of which one row per person was counted; None where a row was a
            person. The cost is per this unit and no other.
        receipts: for every event what tells the charge that paid for it from any other, "" where
            that is not known; empty where it is known for none.
    """

    events: tuple[Event, ...]
    delta: float
    plan: str = ""
    charge: int | None = None
    person_id: str | None = None
    receipts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        delta_value(self.delta)
        if self.receipts and (
            len(self.receipts) != len(self.events)
            or not all(isinstance(r, str) and _RECEIPT.fullmatch(r) for r in self.receipts)
        ):
            raise PrivacyError(
                "The entry 'receipts' must have one text for every event: 32 digits from 0 to f, "
                'or "" where none is known.',
                field="learned",
            )
        if not self.events or not self.failing < self.delta:
            raise PrivacyError(
                "What learning cost must list its events, and leave a part of delta.",
                field="learned",
            )

    @property
    def event_receipts(self) -> tuple[str, ...]:
        """The receipt of every event, "" where none is known."""
        return self.receipts or ("",) * len(self.events)

    @property
    def failing(self) -> float:
        """The part of delta that is gone before epsilon becomes rho."""
        return failure(self.events)

    @property
    def subjects(self) -> tuple[str, ...]:
        """What was learned, by the events' labels: names of columns, the blanket of a target."""
        return tuple(event.label.removeprefix(LEARNING_LABEL) for event in self.events)

    @property
    def spent(self) -> Spent:
        """What learning costs by itself."""
        # zCDP whatever the plan's accountant is: the ledger composes rho.
        return accountant("zcdp").spent(self.events, self.delta)

    @property
    def rho(self) -> float:
        """ZCDP of the events."""
        return self.spent.rho

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the schema or graph, the plan and the certificate."""
        spent = self.spent
        return {
            "epsilon": spent.epsilon,
            "delta": spent.delta,
            "rho": spent.rho,
            "delta_of_histograms": self.failing,
            "charge": self.charge,
            "person_id": self.person_id,
            "plan_sha256": self.plan,
            "events": [event_dict(event) for event in self.events],
            **({"receipts": list(self.receipts)} if any(self.receipts) else {}),
        }

    @classmethod
    def from_dict(cls, document: object) -> LearningCharge:
        """What `to_dict` wrote; the sums are computed anew from the events.

        Raises:
            PrivacyError: when it is not usable.
        """
        events = document.get("events") if isinstance(document, dict) else None
        if (
            not isinstance(document, dict)
            or not isinstance(events, list)
            or not all(isinstance(event, dict) for event in events)
        ):
            raise PrivacyError(
                "The entry 'learned' must list the events of its charge.", field="learned"
            )
        receipts = document.get("receipts", [])
        return cls(
            # No receipt reads like that, so the check above refuses it with its own sentence.
            receipts=tuple(receipts) if isinstance(receipts, list) else ("not a list",),
            events=tuple(event_from_dict(event) for event in events),
            # 0 is no delta, so an entry without one is refused.
            delta=document.get("delta", 0.0),
            plan=str(document.get("plan_sha256", "")),
            charge=document.get("charge"),
            person_id=document.get("person_id"),
        )


def combined_charge(*parts: LearningCharge | None) -> LearningCharge | None:
    """All that was spent before a plan, as one; None when nothing was.

    It has no plan and no charge of its own; the parts are listed beside it where that matters.
    Its events keep their receipts.
    """
    known = [part for part in parts if part is not None]
    if not known:
        return None
    events = tuple(event for part in known for event in part.events)
    receipts = tuple(receipt for part in known for receipt in part.event_receipts)
    return LearningCharge(
        events=events,
        # What holds at a delta holds at a larger one, too.
        delta=max(part.delta for part in known),
        receipts=receipts if any(receipts) else (),
    )


def amount_left(
    spender: Accountant, epsilon: float, delta: float, prior: LearningCharge | None
) -> float:
    """What (epsilon, delta) still buys after learning; 0 when nothing is left.

    The delta of stable histograms goes before epsilon becomes rho; then the rho that was spent
    goes off. So prior.rho plus what is returned converts to at most epsilon at delta, the
    delta of the histograms included.
    """
    if prior is None:
        return spender.amount(epsilon, delta)
    rest = delta - prior.failing
    return max(0.0, spender.amount(epsilon, rest) - prior.rho) if rest > 0.0 else 0.0
