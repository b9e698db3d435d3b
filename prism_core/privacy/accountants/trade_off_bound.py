"""Trade-off bounds: the most that a test between two neighbouring tables can gain.

Whoever sees a release may try to tell whether a person's row was hers or somebody else's. A test
raises false alarms (the row was somebody else's) at some rate and finds true positives at another,
its power. The trade-off between the two says more than one (epsilon, delta) does. Only public
numbers enter here; no row is read and nothing is spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from prism_core.errors import PrivacyError
from prism_core.privacy.events import L2_SENSITIVITY, Event, GaussianEvent, failure, leaves
from prism_core.privacy.parameters import delta_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


Profile = tuple[tuple[float, float], ...]
"""Pairs (epsilon, delta) for all of which a mechanism is differentially private."""

_UP = 1.0 + 1e-9  # what a sum of rho, or of the last digits of a chosen sigma, could be short of
_ORDERS = 1.0 + np.logspace(-2.0, 4.0, 25)  # of Renyi divergence; each one gives a valid bound
_AROUND = np.logspace(-0.25, 0.25, 9)  # a closer look at orders, as factors of order - 1
_LOOK, _HALVINGS = 12, 46  # of a bisection
_EPSILONS = 320  # of a profile
_ROUNDING = 1e-12  # absolute error of the deltas of a composed loss distribution, at most


@dataclass(frozen=True, kw_only=True)
class TradeOff:
    """An upper bound on the power of every test, at every rate of false alarms.

    Attributes:
        rho: zCDP of what was spent, but for `failing`.
        failing: with this probability the rest does not hold (learned names, private regression).
        profile: pairs of the composed privacy loss distribution; empty where it was not computed.
    """

    rho: float
    failing: float = 0.0
    profile: Profile = ()

    def __post_init__(self) -> None:
        if not 0.0 <= self.rho < math.inf:
            raise PrivacyError("rho must be a finite number, at least 0.", field="rho")
        if not 0.0 <= self.failing < 1.0:
            raise PrivacyError("failing must lie in [0, 1).", field="failing")
        for epsilon, delta in self.profile:
            if not (0.0 <= epsilon < math.inf and 0.0 <= delta <= 1.0):
                raise PrivacyError("A profile holds pairs (epsilon, delta).", field="profile")

    @property
    def exact(self) -> bool:
        """Whether the composed privacy loss distribution was used, not zCDP alone."""
        return bool(self.profile)

    def power(self, rate: float) -> float:
        """Most true positives a test can find at this rate of false alarms; rounded up."""
        return float(self.powers((rate,))[0])

    def powers(self, rates: Sequence[float]) -> NDArray[np.float64]:
        """`power` at several rates.

        Args:
            rates: of false alarms, each in [0, 1].

        Returns:
            Float array of the same length, each entry in [rate, 1].

        Raises:
            PrivacyError: for a rate outside [0, 1].
        """
        asked = tuple(float(rate) for rate in rates)
        if not all(0.0 <= rate <= 1.0 for rate in asked):
            raise PrivacyError("A rate of false alarms must lie in [0, 1].", field="rates")
        found = np.asarray(_zcdp_powers(asked, self.rho, self.failing))
        if self.profile:
            # Both are valid bounds, so the smaller one is.
            found = np.minimum(found, profile_powers(asked, self.profile))
        return found


def trade_off(events: Iterable[Event], *, exact: bool = False) -> TradeOff:
    """The trade-off of the composition of `events`, replace-one.

    Args:
        events: everything that is spent, with what learning before it cost.
        exact: compose privacy loss distributions, too: sharper, and seconds for a wide plan. Only
            for Gaussian noise on counts that was all fixed beforehand, for which composing
            them is proven; the caller knows whether it was.

    Raises:
        PrivacyError: when `exact` is asked of other events.
        BudgetError: when dp-accounting, which `exact` needs, is not installed.
    """
    # Gone through three times, which an iterator would not survive.
    listed = tuple(events)
    rho = math.fsum(event.rho for event in listed) * _UP
    profile: Profile = ()
    if exact:
        if not only_counts(listed):
            raise PrivacyError(
                "Privacy loss distributions are composed for Gaussian noise on counts only.",
                field="events",
            )
        from prism_core.privacy.accountants.loss_distribution import composed_profile

        # Epsilon 0 is among them: its delta is the total variation distance.
        grid = np.concatenate([[0.0], np.geomspace(1e-3, 1.0, _EPSILONS - 1)])
        reach = rho + 9.0 * math.sqrt(2.0 * rho)  # beyond nine deviations delta is nothing
        epsilons = tuple(float(epsilon) for epsilon in grid * reach)
        deltas = composed_profile(listed, epsilons)
        # What float convolutions may lose: `composed_profile` leaves that to its caller.
        profile = tuple(
            (epsilon, min(1.0, delta * (1.0 + 1e-6) + _ROUNDING))
            for epsilon, delta in zip(epsilons, deltas, strict=True)
        )
    return TradeOff(rho=rho, failing=failure(listed), profile=profile)


def only_counts(events: Iterable[Event]) -> bool:
    """Whether all that is spent is Gaussian noise on the counts of marginals."""
    return all(
        isinstance(leaf, GaussianEvent) and leaf.sensitivity == L2_SENSITIVITY
        for leaf, _ in leaves(events)
    )


@lru_cache(maxsize=128)
def _zcdp_powers(rates: tuple[float, ...], rho: float, failing: float) -> tuple[float, ...]:
    """Power under rho-zCDP that holds but for `failing`; rounded up.

    A test with false alarms a and power b turns the two output laws into coins of chance a and b,
    and Renyi divergence does not grow on the way (data processing). So at every order alpha > 1
    D_alpha(b || a) <= alpha rho and D_alpha(a || b) <= alpha rho, the relation of neighbours
    being symmetric. Both divergences grow with b >= a: the largest b that meets them bounds the
    power. Every order gives a valid bound, so the least of a grid is one, too; the upper end of
    the bisection's last bracket is returned. For one order no conversion through (epsilon, delta)
    can be sharper, as delta at epsilon is P(T) - e^epsilon Q(T) of a single test T.

    `failing`: delta-approximate zCDP (Bun and Steinke 2016, Definition 8.1) says
    P = p P' + (1 - p) P'' with p >= 1 - delta, Q alike, and zCDP between P' and Q'. For a test T of
    false alarms a, Q'(T) <= a / (1 - delta), so P(T) <= (1 - delta) F(a / (1 - delta)) + delta
    with the bound F of the primed laws.
    """
    # The difference and the quotient round by 1.1e-16 each; the factor goes upwards.
    asked = np.array(rates) / (1.0 - failing) * (1.0 + 4e-16 if failing else 1.0)
    found = np.minimum(asked, 1.0)
    inside = (found > 0.0) & (found < 1.0)
    if rho > 0.0 and inside.any():
        found[inside] = _largest(found[inside], rho)
    if failing > 0.0:
        found = np.minimum(1.0, ((1.0 - failing) * found + failing) * (1.0 + 4e-16))
    return tuple(found.tolist())


def _largest(a: NDArray[np.float64], rho: float) -> NDArray[np.float64]:
    """The largest b >= a that both divergences allow, for rates 0 < a < 1; rounded up.

    A coarse look at all orders, then a close one around the best of them.
    """
    coarse = np.tile(_ORDERS[:, None], (1, len(a)))
    best = _ORDERS[_allowed(a, coarse, rho, _LOOK).argmin(axis=0)]
    near = 1.0 + (best - 1.0) * _AROUND[:, None]
    return _allowed(a, near, rho, _HALVINGS).min(axis=0)


def _allowed(
    a: NDArray[np.float64], order: NDArray[np.float64], rho: float, halvings: int
) -> NDArray[np.float64]:
    """The largest b at every order, by bisection on a logarithmic scale; shape (orders, rates)."""
    log_a, log_rest = np.log(a), np.log1p(-a)
    # The allowance covers the rounding of the logarithms.
    limit = order * (order - 1.0) * rho * _UP + 1e-12 * (1.0 + order)
    # A logarithmic scale keeps the digits of small rates.
    low, high = np.broadcast_to(log_a, order.shape), np.zeros(order.shape)
    for _ in range(halvings):
        log_b = (low + high) / 2.0
        # No log of 0 where b reaches 1.
        log_other = np.log(np.maximum(-np.expm1(log_b), 1e-300))
        there = np.logaddexp(
            order * log_b + (1.0 - order) * log_a, order * log_other + (1.0 - order) * log_rest
        )
        back = np.logaddexp(
            order * log_a + (1.0 - order) * log_b, order * log_rest + (1.0 - order) * log_other
        )
        fits = (there <= limit) & (back <= limit)
        low, high = np.where(fits, log_b, low), np.where(fits, high, log_b)
    return np.minimum(1.0, np.exp(high) * (1.0 + 1e-15))


def profile_powers(rates: Sequence[float], profile: Profile) -> NDArray[np.float64]:
    """Power that pairs (epsilon, delta) allow; each pair gives a valid bound, the least is taken.

    For a test T of false alarms a and power b between neighbours in either order,
    b <= e^epsilon a + delta, and 1 - a <= e^epsilon (1 - b) + delta for its complement.
    """
    a = np.array(rates, dtype=np.float64)[:, None]
    epsilon, delta = np.array(profile).T
    # For a large epsilon e^epsilon overflows. Infinity is a valid bound, and `where` mends 0 x
    # infinity.
    with np.errstate(over="ignore", invalid="ignore"):
        up = np.where(a > 0.0, np.exp(epsilon) * a, 0.0) + delta
    down = 1.0 - np.exp(-epsilon) * (1.0 - a - delta)
    least = np.minimum(up, down).min(axis=1) * (1.0 + 1e-12)
    return np.clip(least, a[:, 0], 1.0)


def loss_bound(rho: float, failing: float, delta: float) -> float:
    """A privacy loss that is passed with probability at most `delta`; rounded up.

    The loss is the logarithm of how much a release shifts the odds between two neighbouring
    tables. Under rho-zCDP P(loss > t) <= exp(-(t - rho)^2 / (4 rho)) (Bun and Steinke 2016,
    Lemma 3.5), hence t = rho + 2 sqrt(rho ln(1/delta)). It lies a little above the epsilon at this
    delta, which bounds an average and not every release.

    With `failing` > 0: delta(s) = E max(0, 1 - e^(s - loss)) >= (1 - e^(s - t)) P(loss > t) for
    s < t, with delta(s) <= failing + exp(-(s - rho)^2 / (4 rho)); the least t over a grid of s.

    Raises:
        PrivacyError: unless failing < delta < 1.
    """
    delta_value(delta)
    if not (0.0 <= failing < delta and 0.0 <= rho < math.inf):
        raise PrivacyError("delta must be larger than the part that fails anyway.", field="delta")
    if failing == 0.0:
        return (rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta))) * (1.0 + 1e-12)
    # Every gap gives a valid bound, so a grid is enough. Beyond 60, e^-gap is nothing.
    gaps = np.geomspace(1e-6, 60.0, 240)

    def enough(t: float) -> bool:
        s = t - gaps
        above = np.maximum(0.0, s - rho)
        tail = np.exp(-(above**2) / (4.0 * rho)) if rho > 0.0 else (s <= 0.0).astype(float)
        return bool(((failing + tail) / -np.expm1(-gaps)).min() <= delta)

    low, high = 0.0, 1.0
    while not enough(high):
        high *= 2.0
    while high - low > 1e-9 * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
