"""What a comparator has left to spend; nothing can be taken beyond it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prism_core.errors import PrivacyError
from prism_core.privacy.accountants import accountant
from prism_core.privacy.checks import positive

if TYPE_CHECKING:
    from prism_core.privacy.events import Event, ExponentialEvent, GaussianEvent


@dataclass
class Purse:
    """A zCDP filter: mechanisms are paid for before they run, and refused beyond the total.

    Amounts and the moment to stop may depend on what was released before: the composition of
    adaptively chosen mechanisms is rho-zCDP as long as the sum of their rho never exceeds rho
    (Feldman and Zrnic 2021: at every order the Rényi losses fill a filter of their own).

    Attributes:
        total: rho.
        events: what was paid for, in order.
    """

    total: float
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        positive(self.total, "rho")

    @property
    def spent(self) -> float:
        """Sum of rho of the events."""
        return math.fsum(event.rho for event in self.events)

    @property
    def left(self) -> float:
        """What may still be taken; rounded down."""
        rest = self.total - self.spent
        return max(0.0, math.nextafter(rest, 0.0)) if rest > 0.0 else 0.0

    def pay(self, event: Event) -> None:
        """Write down a mechanism that is about to run.

        Raises:
            PrivacyError: when it does not fit; the mechanism must not run.
        """
        if not math.fsum([*(known.rho for known in self.events), event.rho]) <= self.total:
            raise PrivacyError(
                "This step would spend more than the comparator was given; it was stopped.",
                field="rho",
            )
        self.events.append(event)


def gaussian(rho: float, label: str = "") -> GaussianEvent:
    """The event that measures a marginal for at most rho, l2 sensitivity sqrt(2)."""
    return accountant("zcdp").gaussian(rho, 0.0, label)


def exponential(rho: float, count: int, label: str = "") -> ExponentialEvent:
    """The event of `count` private choices for at most rho together."""
    return accountant("zcdp").exponential(rho, count, label)
