"""Privacy events: what was spent, as data, and the threshold of a stable histogram.

Accountants read events; events know nothing of accountants.
All events are for replace-one neighbours with n fixed and public. The tail of the discrete Gaussian
is rounded to the safe side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from prism_core.errors import PrivacyError
from prism_core.privacy.parameters import delta_value, positive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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
class AboveThresholdEvent:
    """One round of the sparse vector technique: questions until one is above a noisy threshold.

    The proof stands in `sparse_vector.asked`. Questions below the threshold are in it, however
    many there are; the number that is told of the one above has an event of its own.

    Attributes:
        threshold_scale: of the Laplace noise in the threshold.
        question_scale: of the Laplace noise in every comparison.
        sensitivity: by which one replaced row moves what is compared.
        label: what was asked, for people.
    """

    threshold_scale: float
    question_scale: float
    sensitivity: float
    label: str = ""

    def __post_init__(self) -> None:
        positive(self.threshold_scale, "threshold_scale")
        positive(self.question_scale, "question_scale")
        positive(self.sensitivity, "sensitivity")

    @property
    def epsilon(self) -> float:
        """Sensitivity / threshold_scale + 2 sensitivity / question_scale, rounded up.

        Dwork and Roth 2014, Theorem 3.23, with the two scales apart as in Lyu, Su, Li 2017.
        """
        parts = (
            self.sensitivity / self.threshold_scale,
            2.0 * self.sensitivity / self.question_scale,
        )
        # Above what two quotients and a sum can lose by rounding (1.1e-16 each).
        return sum(parts) * (1.0 + 1e-15)

    @property
    def rho(self) -> float:
        """epsilon^2 / 2: Bun and Steinke 2016, Proposition 1.4.

        Its loss has no bounded range, so the epsilon^2 / 8 of a choice would be wrong.
        """
        return self.epsilon**2 / 2.0


@dataclass(frozen=True, kw_only=True)
class ApproximateEvent:
    """Any (epsilon, delta)-DP step of which nothing more is known.

    No mechanism of this version makes one. Ledgers and certificates of earlier versions hold them,
    as plain values, which the ledger and the second accountant still count by the rule given here.

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
class StableHistogramEvent:
    """Counts of categories nobody declared; names come out where the noisy count is above a bar.

    It is delta-approximately rho-zCDP (Bun and Steinke 2016, Definition 8.1); the proof stands
    in `mechanisms.stable_histogram`.

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
            # To Python a bool is an int: True would be a threshold of 1.
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise PrivacyError(f"{name} must be a whole number above 0.", field=name)
        delta_value(self.delta)
        # Names come out strictly above the threshold, so noise has to reach one more than the gap.
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
        # fsum rounds once, so that the order of many small events changes nothing.
        return self.count * math.fsum(event.rho for event in self.events)


def rescaled(event: GaussianEvent, sensitivity: float, label: str) -> GaussianEvent:
    """An event of another sensitivity that costs what this one costs: rho stays, rounded down.

    Both scales are multiplied by the same, and sigma is rounded up until rho is not larger.
    """
    sigma = event.sigma / event.sensitivity * sensitivity
    found = replace(event, sigma=sigma, sensitivity=sensitivity, label=label)
    while found.rho > event.rho:
        found = replace(found, sigma=math.nextafter(found.sigma, math.inf))
    return found


Leaf: TypeAlias = (
    GaussianEvent
    | ExponentialEvent
    | LaplaceEvent
    | AboveThresholdEvent
    | ApproximateEvent
    | StableHistogramEvent
)
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
    """Sum of the deltas that have to be subtracted before the rest composes; rounded up.

    delta1-approximate rho1-zCDP and delta2-approximate rho2-zCDP compose to (delta1 + delta2)-
    approximate (rho1 + rho2)-zCDP (Bun and Steinke 2016, Lemma 8.2).
    """
    failing = (ApproximateEvent, StableHistogramEvent)
    parts = [times * leaf.delta for leaf, times in leaves(events) if isinstance(leaf, failing)]
    # One step up, as `fsum` rounds to the nearest, which may be below the sum.
    return math.nextafter(math.fsum(parts), math.inf) if parts else 0.0


_KINDS: dict[type, tuple[str, tuple[str, ...]]] = {
    GaussianEvent: ("gaussian", ("sigma", "sensitivity", "delta", "epsilon")),
    ExponentialEvent: ("exponential", ("epsilon", "count")),
    LaplaceEvent: ("laplace", ("scale", "sensitivity", "epsilon")),
    AboveThresholdEvent: (
        "above threshold",
        ("threshold_scale", "question_scale", "sensitivity", "epsilon"),
    ),
    ApproximateEvent: ("approximate", ("epsilon", "delta")),
    StableHistogramEvent: (
        STABLE_HISTOGRAM,
        ("sigma", "threshold", "least", "sensitivity", "delta"),
    ),
    ComposedEvent: ("composed", ("count",)),
}


def event_dict(event: Event) -> dict[str, Any]:
    """Plain values for the ledger and the certificate."""
    name, keys = _KINDS[type(event)]
    found = {"event": name} | {key: getattr(event, key) for key in keys} | {"label": event.label}
    if isinstance(event, ComposedEvent):
        found["events"] = [event_dict(part) for part in event.events]
    return found


def event_from_dict(document: Mapping[str, Any]) -> Event:
    """The event that `event_dict` wrote, for those of learning a domain.

    Raises:
        PrivacyError: when it is none.
    """
    made: tuple[type[Event], ...] = (GaussianEvent, ExponentialEvent, StableHistogramEvent)
    kinds = {_KINDS[kind][0]: kind for kind in made}
    rest = {key: value for key, value in document.items() if key != "event"}
    try:
        return kinds[document["event"]](**rest)
    except (KeyError, TypeError):
        raise PrivacyError(
            "An event must be written as this program writes it: its kind and its numbers.",
            field="events",
        ) from None


_SUMMED = 1_000.0  # up to this sigma the tail is summed term by term


def gaussian_tail(sigma: float, least: int) -> float:
    """P(N >= least) for discrete Gaussian noise N of scale sigma, rounded up.

    Summed term by term, over a normaliser that is bounded from below: by Poisson summation
    sum_k exp(-k^2 / (2 sigma^2)) >= sigma sqrt(2 pi), and the term k = 0 alone is 1. The terms
    left out are below exp(-72) of the first. Above `_SUMMED` the tail of the continuous law at
    `least` - 1 is used, which is never smaller (Canonne, Kamath, Steinke 2020, Proposition 25).
    """
    positive(sigma, "sigma")
    if least <= 0:
        return 1.0
    # The factors of 1 + 1e-9, here and below, outweigh the rounding of erfc, of exponentials and of
    # their sum.
    if sigma > _SUMMED:
        return min(1.0, 0.5 * math.erfc((least - 1) / (sigma * math.sqrt(2.0))) * (1.0 + 1e-9))
    steps = np.arange(math.ceil(12.0 * sigma) + 12, dtype=np.float64)
    first = -(float(least) ** 2) / (2.0 * sigma**2)
    terms = np.exp(-steps * (steps + 2.0 * least) / (2.0 * sigma**2))
    norm = max(1.0, sigma * math.sqrt(2.0 * math.pi))
    # The last term is the smallest float: a tail that underflows is not a tail of 0.
    return min(1.0, math.exp(first) * float(terms.sum()) / norm * (1.0 + 1e-9) + 5e-324)


def release_threshold(sigma: float, delta: float, least: int = 1) -> int:
    """Smallest whole threshold t with P(least + N > t) <= delta, N of scale sigma.

    Why this is what a stable histogram needs stands in `mechanisms.stable_histogram`.
    """
    delta_value(delta)
    # The tail falls as the threshold rises, so doubling and halving find the smallest.
    low, high = 0, 1
    while gaussian_tail(sigma, high) > delta:
        low, high = high, 2 * high
    while low + 1 < high:
        middle = (low + high) // 2
        if gaussian_tail(sigma, middle) <= delta:
            high = middle
        else:
            low = middle
    return high + least - 1
