"""Accountants turn (epsilon, delta) into an amount to share out, and events into what was spent.

An amount is a float: rho for `zcdp`, epsilon for `basic`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from prism_core.errors import BudgetError
from prism_core.privacy.conversions import epsilon_to_rho, gaussian_sigma, rho_to_epsilon
from prism_core.privacy.events import (
    L2_SENSITIVITY,
    Event,
    ExponentialEvent,
    GaussianEvent,
    StableHistogramEvent,
    approximation_delta,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

AccountantName: TypeAlias = Literal["zcdp", "basic"]

_HEADROOM = 1.0 - 1e-12
"""Shared out instead of 1, so that float sums of the parts stay below the whole."""


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a list of events costs.

    Attributes:
        epsilon: at `delta`.
        delta: the delta it is stated at.
        rho: the same under zCDP, whatever the accountant; composes across releases.
    """

    epsilon: float
    delta: float
    rho: float


class Accountant(Protocol):
    """The surface every accountant shares."""

    @property
    def name(self) -> AccountantName:
        """Its name in configurations."""
        ...

    @property
    def exponent(self) -> float:
        """Exponent of the closed form: amounts are proportional to cost ** exponent."""
        ...

    def amount(self, epsilon: float, delta: float) -> float:
        """The amount that (epsilon, delta) buys, rounded down."""
        ...

    def gaussian(self, amount: float, delta: float, label: str) -> GaussianEvent:
        """The event that measures one marginal for `amount` (and `delta`, basic only)."""
        ...

    def exponential(self, amount: float, count: int, label: str) -> ExponentialEvent:
        """`count` rounds of the exponential mechanism for `amount` together."""
        ...

    def spent(self, events: Iterable[Event], delta: float) -> Spent:
        """What the events cost, rounded up."""
        ...


class Zcdp:
    """zCDP composition with the tight conversion of Canonne, Kamath and Steinke (2020)."""

    name: AccountantName = "zcdp"
    exponent = 2.0 / 3.0

    def amount(self, epsilon: float, delta: float) -> float:
        """rho, rounded down."""
        return epsilon_to_rho(epsilon, delta) * _HEADROOM

    def gaussian(self, amount: float, delta: float, label: str) -> GaussianEvent:  # noqa: ARG002
        """Sigma = sensitivity / sqrt(2 rho), rounded up."""
        sigma = L2_SENSITIVITY / math.sqrt(2.0 * amount)
        while (L2_SENSITIVITY / sigma) ** 2 / 2.0 > amount:
            sigma = math.nextafter(sigma, math.inf)
        return GaussianEvent(sigma=sigma, label=label)

    def exponential(self, amount: float, count: int, label: str) -> ExponentialEvent:
        """Epsilon = sqrt(8 rho / count) a round, rounded down."""
        epsilon = math.sqrt(8.0 * amount / count)
        while count * epsilon**2 / 8.0 > amount:
            epsilon = math.nextafter(epsilon, 0.0)
        return ExponentialEvent(epsilon=epsilon, count=count, label=label)

    def spent(self, events: Iterable[Event], delta: float) -> Spent:
        """Sum of rho, converted once at the delta that stable histograms leave.

        delta1-approximate rho-zCDP gives (epsilon, delta1 + delta2)-DP where rho-zCDP gives
        (epsilon, delta2): the events that fail have probability delta1 at most.
        """
        listed = list(events)
        rho = math.fsum(event.rho for event in listed)
        rest = delta - approximation_delta(listed)
        return Spent(epsilon=rho_to_epsilon(rho, rest), delta=delta, rho=rho)


class Basic:
    """Basic composition, as in the paper (Theorem 5.1): epsilons and deltas add."""

    name: AccountantName = "basic"
    exponent = 1.0 / 2.0

    def amount(self, epsilon: float, delta: float) -> float:  # noqa: ARG002
        """Epsilon itself."""
        return epsilon * _HEADROOM

    def gaussian(self, amount: float, delta: float, label: str) -> GaussianEvent:
        """The paper's classic sigma where verified for integer noise, else a larger one."""
        return GaussianEvent(
            sigma=gaussian_sigma(amount, delta),
            delta=delta,
            epsilon=amount,
            label=label,
        )

    def exponential(self, amount: float, count: int, label: str) -> ExponentialEvent:
        """Epsilon / count a round."""
        return ExponentialEvent(epsilon=amount / count, count=count, label=label)

    def spent(self, events: Iterable[Event], delta: float) -> Spent:  # noqa: ARG002
        """Sums of the epsilons and deltas the events were made for."""
        listed = list(events)
        if any(isinstance(event, StableHistogramEvent) for event in listed):
            raise BudgetError("A learned domain is accounted for under zcdp.", field="accountant")
        epsilon = math.fsum(
            event.count * event.epsilon if isinstance(event, ExponentialEvent) else event.epsilon
            for event in listed
            if not isinstance(event, StableHistogramEvent)
        )
        deltas = math.fsum(e.delta for e in listed if isinstance(e, GaussianEvent))
        return Spent(epsilon=epsilon, delta=deltas, rho=math.fsum(event.rho for event in listed))


ACCOUNTANTS: dict[str, Accountant] = {"zcdp": Zcdp(), "basic": Basic()}


def accountant(name: str) -> Accountant:
    """The accountant of that name.

    Raises:
        BudgetError: when there is none.
    """
    if name not in ACCOUNTANTS:
        raise BudgetError(
            f"accountant must be one of {', '.join(ACCOUNTANTS)}.", field="accountant"
        )
    return ACCOUNTANTS[name]
