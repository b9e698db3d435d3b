"""What was spent, as data. Accountants read events; events know nothing of accountants.

All events are for replace-one neighbours with n fixed and public.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

from prism_core.privacy.checks import delta_value, positive

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
class ApproximateEvent:
    """Any (epsilon, delta)-DP step, for example a private regression.

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


Event: TypeAlias = GaussianEvent | ExponentialEvent | ApproximateEvent


def event_dict(event: Event) -> dict[str, Any]:
    """Plain values for the ledger and the certificate."""
    if isinstance(event, GaussianEvent):
        return {
            "event": "gaussian",
            "sigma": event.sigma,
            "sensitivity": event.sensitivity,
            "delta": event.delta,
            "epsilon": event.epsilon,
            "label": event.label,
        }
    if isinstance(event, ApproximateEvent):
        return {
            "event": "approximate",
            "epsilon": event.epsilon,
            "delta": event.delta,
            "label": event.label,
        }
    return {
        "event": "exponential",
        "epsilon": event.epsilon,
        "count": event.count,
        "label": event.label,
    }
