"""What was spent, as data. Accountants read events; events know nothing of accountants.

All events are for replace-one neighbours with n fixed and public.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from prism_core.errors import PrivacyError
from prism_core.privacy.checks import delta_value, positive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

L1_SENSITIVITY = 2.0
"""l1 sensitivity of one marginal's counts under replace-one: one cell loses a row, another gains
one, so the count vector moves by 1 + 1 = 2 at most (0 when the row stays in its cell)."""

L2_SENSITIVITY = math.sqrt(2.0)
"""l2 sensitivity of one marginal's counts under replace-one: sqrt(1 + 1)."""


@dataclass(frozen=True, kw_only=True)
class GaussianEvent:
    """One marginal measured with integer discrete Gaussian noise.

    Attributes:
        sigma: scale of the noise, in counts.
        sensitivity: l2 sensitivity of the counts, sqrt(2) under replace-one.
        delta: the share of delta this query was given (basic composition only).
        label: what was measured, for people.
    """

    sigma: float
    sensitivity: float = L2_SENSITIVITY
    delta: float = 0.0
    epsilon: float = 0.0
    label: str = ""

    def __post_init__(self) -> None:
        positive(self.sigma, "sigma")
        positive(self.sensitivity, "sensitivity")

    @property
    def rho(self) -> float:
        """The zCDP of the event: sensitivity^2 / (2 sigma^2).

        Bun and Steinke 2016; for the discrete Gaussian Canonne, Kamath and Steinke 2020,
        Theorem 4.
        """
        return (self.sensitivity / self.sigma) ** 2 / 2.0


@dataclass(frozen=True, kw_only=True)
class ExponentialEvent:
    """`count` rounds of the exponential mechanism, each epsilon-DP and epsilon^2/8-zCDP.

    The factor 1/8 is that of a bounded-range mechanism (Cesar and Rogers 2021); it does not
    hold for permute-and-flip.
    """

    epsilon: float
    count: int = 1
    label: str = ""

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        positive(self.count, "count")

    @property
    def rho(self) -> float:
        """ZCDP of all rounds together."""
        return self.count * self.epsilon**2 / 8.0


@dataclass(frozen=True, kw_only=True)
class LaplaceEvent:
    """Laplace noise (continuous or on integers): pure differential privacy.

    Attributes:
        scale: of the noise, in the unit of the query.
        sensitivity: l1 sensitivity of the query; 2 for counts under replace-one.
        label: what was measured, for people.
    """

    scale: float
    sensitivity: float = L1_SENSITIVITY
    label: str = ""

    def __post_init__(self) -> None:
        positive(self.scale, "scale")
        positive(self.sensitivity, "sensitivity")

    @property
    def epsilon(self) -> float:
        """Sensitivity over scale, rounded up (Dwork, McSherry, Nissim, Smith 2006)."""
        return math.nextafter(self.sensitivity / self.scale, math.inf)

    @property
    def rho(self) -> float:
        """epsilon^2 / 2: Bun and Steinke 2016, Proposition 1.4; holds for any pure mechanism."""
        return self.epsilon**2 / 2.0


@dataclass(frozen=True, kw_only=True)
class ApproximateEvent:
    """Any (epsilon, delta)-DP step, for example a stable histogram.

    It is delta-approximately (epsilon^2 / 2)-zCDP (Bun and Steinke 2016, section 8): with
    probability 1 - delta it behaves like a pure epsilon-DP step. So accountants subtract its delta
    first and compose the rest.
    """

    epsilon: float
    delta: float
    label: str = ""

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        delta_value(self.delta)

    @property
    def rho(self) -> float:
        """ZCDP of the part that holds with probability 1 - delta."""
        return self.epsilon**2 / 2.0


@dataclass(frozen=True, kw_only=True)
class ComposedEvent:
    """Several events, all of them `count` times; they may nest."""

    events: tuple[Event, ...]
    count: int = 1
    label: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 1:
            raise PrivacyError("count must be a whole number above 0.", field="count")

    @property
    def rho(self) -> float:
        """Sum over the parts."""
        return self.count * math.fsum(event.rho for event in self.events)


Leaf: TypeAlias = GaussianEvent | ExponentialEvent | LaplaceEvent | ApproximateEvent
Event: TypeAlias = Leaf | ComposedEvent


def leaves(events: Iterable[Event]) -> Iterator[tuple[Leaf, int]]:
    """The events without nesting, each with how often it happens."""
    for event in events:
        if isinstance(event, ComposedEvent):
            for leaf, times in leaves(event.events):
                yield leaf, times * event.count
        else:
            yield event, 1


def failure(events: Iterable[Event]) -> float:
    """Sum of the deltas that have to be subtracted before the rest composes; rounded up."""
    parts = [
        times * leaf.delta for leaf, times in leaves(events) if isinstance(leaf, ApproximateEvent)
    ]
    return math.nextafter(math.fsum(parts), math.inf) if parts else 0.0


def event_dict(event: Event) -> dict[str, Any]:
    """Plain values for the ledger and the certificate."""
    kinds: dict[type, tuple[str, tuple[str, ...]]] = {
        GaussianEvent: ("gaussian", ("sigma", "sensitivity", "delta", "epsilon")),
        ExponentialEvent: ("exponential", ("epsilon", "count")),
        LaplaceEvent: ("laplace", ("scale", "sensitivity", "epsilon")),
        ApproximateEvent: ("approximate", ("epsilon", "delta")),
        ComposedEvent: ("composed", ("count",)),
    }
    name, keys = kinds[type(event)]
    found = {"event": name} | {key: getattr(event, key) for key in keys} | {"label": event.label}
    if isinstance(event, ComposedEvent):
        found["events"] = [event_dict(part) for part in event.events]
    return found
