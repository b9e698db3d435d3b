"""Accountants: (epsilon, delta) as an amount to share out, and events as what was spent.

An amount is a float: rho for `zcdp` and `pld`, epsilon for `basic`.
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args

from prism_core.errors import BudgetError
from prism_core.privacy.accountants.conversions import (
    epsilon_to_rho,
    gaussian_sigma,
    rho_to_epsilon,
)
from prism_core.privacy.contribution import ONE_ROW, Contribution
from prism_core.privacy.events import (
    L2_SENSITIVITY,
    Event,
    ExponentialEvent,
    GaussianEvent,
    StableHistogramEvent,
    failure,
    leaves,
    rescaled,
)
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

AccountantName: TypeAlias = Literal["zcdp", "basic", "pld"]

CHARGEABLE: tuple[AccountantName, ...] = ("zcdp", "pld")
"""Accountants of plans that may be charged to an asset: the ledger composes the rho of their
events. Basic composition stays with public rows."""

HEADROOM = 1.0 - 1e-12
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
    def fixed_only(self) -> bool:
        """Whether all noise of a plan has to be known before anything is measured."""
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

    def factor(self, events: Iterable[Event], epsilon: float, delta: float) -> float:
        """What every sigma may be multiplied with so that the events still fit."""
        ...

    def spent(self, events: Iterable[Event], delta: float) -> Spent:
        """What the events cost, rounded up.

        Raises:
            BudgetError: when the deltas of approximate events use up `delta`.
        """
        ...


def _left(delta: float, lost: float) -> float:
    """Delta once the deltas of approximate events are subtracted; rounded down."""
    if lost == 0.0:
        return delta
    left = math.nextafter(delta - lost, 0.0)
    if not 0.0 < left < 1.0:
        raise BudgetError(
            "The steps with a delta of their own (learning a domain) use up all of delta. Give "
            "them less, or raise delta.",
            field="delta",
        )
    return left


class Zcdp:
    """zCDP composition with the tight conversion of Canonne, Kamath and Steinke (2020)."""

    name: AccountantName = "zcdp"
    fixed_only = False
    # The sum of a sigma, with sigma ~ rho^(-1/2), is least for rho ~ a^(2/3).
    exponent = 2.0 / 3.0

    def amount(self, epsilon: float, delta: float) -> float:
        """rho, rounded down."""
        return epsilon_to_rho(epsilon, delta) * HEADROOM

    def gaussian(self, amount: float, delta: float, label: str) -> GaussianEvent:  # noqa: ARG002
        """Sigma = sensitivity / sqrt(2 rho), rounded up."""
        sigma = L2_SENSITIVITY / math.sqrt(2.0 * amount)
        # The root may round down. The event's own expression decides, as it is what is charged.
        while (L2_SENSITIVITY / sigma) ** 2 / 2.0 > amount:
            sigma = math.nextafter(sigma, math.inf)
        return GaussianEvent(sigma=sigma, label=label)

    def exponential(self, amount: float, count: int, label: str) -> ExponentialEvent:
        """Epsilon = sqrt(8 rho / count) a round, rounded down."""
        epsilon = math.sqrt(8.0 * amount / count)
        # Downwards here: a smaller epsilon is the private side.
        while count * epsilon**2 / 8.0 > amount:
            epsilon = math.nextafter(epsilon, 0.0)
        return ExponentialEvent(epsilon=epsilon, count=count, label=label)

    def factor(self, events: Iterable[Event], epsilon: float, delta: float) -> float:  # noqa: ARG002
        """1: sigmas fit as they are made."""
        return 1.0

    def spent(self, events: Iterable[Event], delta: float) -> Spent:
        """Sum of rho, converted once; deltas of approximate events are subtracted before."""
        listed = list(events)
        rho = math.fsum(event.rho for event in listed)
        left = _left(delta, failure(listed))
        return Spent(epsilon=rho_to_epsilon(rho, left), delta=delta, rho=rho)


class Basic:
    """Basic composition, as in the paper (Theorem 5.1): epsilons and deltas add."""

    name: AccountantName = "basic"
    fixed_only = False
    # With sigma ~ 1 / epsilon the least sum has epsilon ~ a^(1/2), the paper's theorem.
    exponent = 1.0 / 2.0

    def amount(self, epsilon: float, delta: float) -> float:  # noqa: ARG002
        """Epsilon itself."""
        return epsilon * HEADROOM

    def gaussian(self, amount: float, delta: float, label: str) -> GaussianEvent:
        """The paper's classic sigma where verified for integer noise, else a larger one."""
        return GaussianEvent(
            sigma=gaussian_sigma(amount, delta), delta=delta, epsilon=amount, label=label
        )

    def exponential(self, amount: float, count: int, label: str) -> ExponentialEvent:
        """Epsilon / count a round."""
        return ExponentialEvent(epsilon=amount / count, count=count, label=label)

    def factor(self, events: Iterable[Event], epsilon: float, delta: float) -> float:  # noqa: ARG002
        """1: sigmas fit as they are made."""
        return 1.0

    def spent(self, events: Iterable[Event], delta: float) -> Spent:  # noqa: ARG002
        """Sums of the epsilons and deltas the events were made for.

        Raises:
            BudgetError: for a Gaussian event that was not given a share of epsilon and delta.
        """
        epsilons: list[float] = []
        deltas: list[float] = []
        rhos: list[float] = []
        for leaf, times in leaves(events):
            if isinstance(leaf, StableHistogramEvent):
                raise BudgetError(
                    "A learned domain is accounted for under zcdp.", field="accountant"
                )
            rounds = leaf.count if isinstance(leaf, ExponentialEvent) else 1
            lost = getattr(leaf, "delta", 0.0)
            if isinstance(leaf, GaussianEvent) and not (leaf.epsilon > 0.0 and lost > 0.0):
                raise BudgetError(
                    "Basic composition adds what every marginal was given of epsilon and delta, "
                    "and one was given nothing. Use zcdp for events made for it.",
                    field="accountant",
                )
            epsilons.append(times * rounds * leaf.epsilon)
            deltas.append(times * lost)
            rhos.append(times * leaf.rho)
        return Spent(epsilon=math.fsum(epsilons), delta=math.fsum(deltas), rho=math.fsum(rhos))


class Pld(Zcdp):
    """Privacy loss distributions: the last 5% for plans whose noise is all fixed beforehand.

    Shares are those of zCDP; then one common factor brings all sigmas down until the composed
    distribution meets (epsilon, delta). The rho of such a plan lies above the rho that zCDP gives
    for the same (epsilon, delta).
    """

    name: AccountantName = "pld"
    # Noise that is chosen along the way depends on earlier answers; that composition is not proven
    # here.
    fixed_only = True

    def factor(self, events: Iterable[Event], epsilon: float, delta: float) -> float:
        """The common factor on all sigmas, rounded to the safe side."""
        from prism_core.privacy.accountants.loss_distribution import common_factor

        return common_factor(tuple(events), epsilon, delta)

    def spent(self, events: Iterable[Event], delta: float) -> Spent:
        """Epsilon of the composed distribution; rho as under zCDP, for the ledger."""
        from prism_core.privacy.accountants.loss_distribution import composed_epsilon

        listed = tuple(events)
        rho = math.fsum(event.rho for event in listed)
        return Spent(epsilon=composed_epsilon(listed, delta), delta=delta, rho=rho)


ACCOUNTANTS: dict[str, Accountant] = {"zcdp": Zcdp(), "basic": Basic(), "pld": Pld()}


def available() -> tuple[AccountantName, ...]:
    """Names of the accountants that run here; `pld` needs the extra of that name."""
    has_library = importlib.util.find_spec("dp_accounting") is not None
    return tuple(name for name in get_args(AccountantName) if name != "pld" or has_library)


@dataclass(frozen=True)
class SeveralRows(Zcdp):
    """zCDP of people with several rows: a marginal costs what it costs, with noise for all of them.

    Attributes:
        contribution: what one person adds.
    """

    contribution: Contribution

    def gaussian(self, amount: float, delta: float, label: str) -> GaussianEvent:
        """The event of one row, with both sigma and sensitivity times what a person adds."""
        return rescaled(super().gaussian(amount, delta, label), self.contribution.l2, label)


@dataclass(frozen=True)
class BasicOfSeveral(Basic):
    """Basic composition of people with several rows: noise by zCDP instead of the classic formula.

    The classic sigma is confirmed for two cells that move by 1, and a person of several rows may
    move others.

    Attributes:
        contribution: what one person adds.
    """

    contribution: Contribution

    def gaussian(self, amount: float, delta: float, label: str) -> GaussianEvent:
        """The event of (amount, delta) by the conversion of zCDP; sigma rounded up.

        Proof. A person moves the counts by whole numbers, by at most D = `contribution.l2` in l2,
        wherever they lie. Integer noise of scale sigma is D^2 / (2 sigma^2)-zCDP for every such
        move (Canonne, Kamath and Steinke 2020, Theorem 4), which is at most the rho for which
        their Proposition 12 gives (amount, delta)-DP.
        """
        rho = epsilon_to_rho(amount, delta)
        one = Zcdp().gaussian(rho, delta, label)
        several = rescaled(one, self.contribution.l2, label)
        return replace(several, epsilon=amount, delta=delta)


def accountant(name: str, contribution: Contribution = ONE_ROW) -> Accountant:
    """The accountant of that name, for people who add so much.

    Raises:
        BudgetError: when there is none, or it is not proven for several rows a person.
    """
    if name not in ACCOUNTANTS:
        raise BudgetError(
            f"accountant must be one of {', '.join(ACCOUNTANTS)}.{suggestion(name, ACCOUNTANTS)}",
            field="accountant",
        )
    if contribution.single:
        return ACCOUNTANTS[name]
    # It composes pairs of cells that move by 1. A person of several rows may move any cells, and no
    # pair of laws is proven here to be the worst of all these moves under integer noise.
    if name == "pld":
        raise BudgetError(
            "Several rows a person are accounted for under zcdp or basic, not pld; choose one of "
            "these, or max_rows = 1.",
            field="accountant",
        )
    return SeveralRows(contribution) if name == "zcdp" else BasicOfSeveral(contribution)
