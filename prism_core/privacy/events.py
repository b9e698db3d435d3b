"""What was spent, as data. Accountants read events; events know nothing of accountants.

All events are for replace-one neighbours with n fixed and public.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from prism_core.errors import PrivacyError
from prism_core.privacy.checks import delta_value, positive
from prism_core.privacy.threshold import gaussian_tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STABLE_HISTOGRAM = "stable histogram"
"""The name of its event in the ledger and the certificate."""

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
class StableHistogramEvent:
    """Counts of categories nobody declared; names come out where the noisy count is above a bar.

    It is delta-approximately rho-zCDP (Bun and Steinke 2016, Definition 8.1); the proof stands
    in `histograms.stable_histogram`.

    Attributes:
        sigma: scale of the noise, in counts.
        threshold: names with a noisy count above it come out.
        delta: what the run may not use elsewhere; at least P(least + noise > threshold).
        least: categories with a smaller true count take no part.
        sensitivity: l2 sensitivity of the counts, sqrt(2) under replace-one.
        label: what was learned, for people.

    Raises:
        PrivacyError: when delta does not cover the threshold.
    """

    sigma: float
    threshold: int
    delta: float
    least: int = 1
    sensitivity: float = L2_SENSITIVITY
    label: str = ""

    def __post_init__(self) -> None:
        positive(self.sigma, "sigma")
        positive(self.sensitivity, "sensitivity")
        for name, value in (("least", self.least), ("threshold", self.threshold)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise PrivacyError(f"{name} must be a whole number above 0.", field=name)
        delta_value(self.delta)
        if not gaussian_tail(self.sigma, self.threshold - self.least + 1) <= self.delta:
            raise PrivacyError(
                "The threshold of a stable histogram is too low for its delta; nothing was "
                "measured.",
                field="threshold",
            )

    @property
    def rho(self) -> float:
        """The zCDP of the counts that both neighbours hold: sensitivity^2 / (2 sigma^2)."""
        return (self.sensitivity / self.sigma) ** 2 / 2.0


Event: TypeAlias = GaussianEvent | ExponentialEvent | StableHistogramEvent


def approximation_delta(events: Iterable[Event]) -> float:
    """The delta that is gone before rho is converted: that of stable histograms, added up.

    delta1-approximate rho1-zCDP and delta2-approximate rho2-zCDP compose to (delta1 + delta2)-
    approximate (rho1 + rho2)-zCDP (Bun and Steinke 2016, Lemma 8.2).
    """
    return math.fsum(event.delta for event in events if isinstance(event, StableHistogramEvent))


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
    if isinstance(event, StableHistogramEvent):
        return {
            "event": STABLE_HISTOGRAM,
            "sigma": event.sigma,
            "threshold": event.threshold,
            "least": event.least,
            "sensitivity": event.sensitivity,
            "delta": event.delta,
            "label": event.label,
        }
    return {
        "event": "exponential",
        "epsilon": event.epsilon,
        "count": event.count,
        "label": event.label,
    }


def event_from_dict(document: Mapping[str, Any]) -> Event:
    """The event that `event_dict` wrote.

    Raises:
        PrivacyError: when it is none.
    """
    kinds: dict[object, type[Event]] = {
        "gaussian": GaussianEvent,
        "exponential": ExponentialEvent,
        STABLE_HISTOGRAM: StableHistogramEvent,
    }
    rest = {key: value for key, value in document.items() if key != "event"}
    try:
        return kinds[document["event"]](**rest)
    except (KeyError, TypeError):
        raise PrivacyError(
            "An event must be written as this program writes it: its kind and its numbers.",
            field="events",
        ) from None
