"""A second opinion on the privacy loss: composition over Rényi orders, written for itself.

Nothing here uses `prism_core.privacy`; it reads the events as plain values. Where dp-accounting is
installed, its Rényi accountant is asked, too.

Rényi divergence of order a (Mironov 2017; Bun and Steinke 2016): a Gaussian on values of l2
sensitivity D costs a D^2 / (2 sigma^2), and so does the discrete Gaussian (Canonne, Kamath and
Steinke 2020, Theorem 4); an exponential mechanism a epsilon^2 / 8 (Cesar and Rogers 2021); an
epsilon-DP step a epsilon^2 / 2. Orders compose by sums. At delta the loss is at most

    r(a) + ln((a - 1) / a) - (ln delta + ln a) / (a - 1)

for every a > 1 (Canonne, Kamath and Steinke 2020, Proposition 12). Steps with a delta of their own
have it subtracted first.
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.errors import BundleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_FIRST, _LAST = 1e-6, 1e9  # a - 1 lies between them


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What events cost: Rényi divergence `slope` times the order, and a chance to fail."""

    slope: float
    failing: float = 0.0


def loss(events: Iterable[Mapping[str, Any]]) -> Loss:
    """The sum over events as plain values.

    Raises:
        BundleError: for an event that is not known or has unusable numbers.
    """
    parts = [_loss(event) for event in events]
    return Loss(
        slope=math.fsum(part.slope for part in parts),
        failing=math.fsum(part.failing for part in parts),
    )


def _loss(event: Mapping[str, Any]) -> Loss:
    kind = event.get("event")
    if kind == "gaussian":
        return Loss(slope=(_number(event, "sensitivity") / _number(event, "sigma")) ** 2 / 2.0)
    if kind == "stable histogram":
        slope = (_number(event, "sensitivity") / _number(event, "sigma")) ** 2 / 2.0
        return Loss(slope=slope, failing=_number(event, "delta"))
    if kind == "exponential":
        return Loss(slope=_count(event) * _number(event, "epsilon") ** 2 / 8.0)
    if kind == "approximate":
        return Loss(slope=_number(event, "epsilon") ** 2 / 2.0, failing=_number(event, "delta"))
    raise BundleError(f"An event of the kind {kind!r} is not known.", field="events")


def _number(event: Mapping[str, Any], key: str) -> float:
    value = event.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < math.inf:
        raise BundleError(f"An event has no usable {key}.", field="events")
    return float(value)


def _count(event: Mapping[str, Any]) -> int:
    count = event.get("count")
    if type(count) is not int or count < 1:
        raise BundleError("An event has no usable count.", field="events")
    return count


def renyi_epsilon(events: Iterable[Mapping[str, Any]], delta: float) -> float:
    """Epsilon of all events at `delta`, by a search over the orders; infinite when delta is gone.

    The bound is quasi-convex in ln(a - 1), so a golden-section search finds its least value.
    """
    whole = loss(events)
    left = delta - whole.failing
    if not 0.0 < left < 1.0:
        return math.inf

    def bound(exponent: float) -> float:
        above = math.exp(exponent)
        order = 1.0 + above
        return whole.slope * order + math.log(above / order) - (math.log(left * order)) / above

    low, high = math.log(_FIRST), math.log(_LAST)
    for _ in range(200):
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if bound(first) < bound(second):
            high = second
        else:
            low = first
    return max(0.0, bound((low + high) / 2.0))


def library_epsilon(events: Sequence[Mapping[str, Any]], delta: float) -> float | None:
    """The same by dp-accounting's Rényi accountant; None where it is not installed.

    It is told what each event is under its own relation: a Gaussian by its noise over its
    sensitivity, a choice by its zCDP.
    """
    if importlib.util.find_spec("dp_accounting") is None:
        return None
    from dp_accounting import dp_event, privacy_accountant
    from dp_accounting.rdp import RdpAccountant

    left = delta - loss(events).failing
    if not 0.0 < left < 1.0:
        return math.inf
    orders = [1.0 + math.exp(step / 10.0) for step in range(-40, 121)]
    ledger = RdpAccountant(orders, privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE)
    for event in events:
        if event.get("event") == "gaussian":
            ratio = _number(event, "sigma") / _number(event, "sensitivity")
            ledger.compose(dp_event.GaussianDpEvent(ratio))
        else:
            ledger.compose(dp_event.ZCDpEvent(_loss(event).slope))
    return float(ledger.get_epsilon(left))


def normal_epsilon(events: Iterable[Mapping[str, Any]], delta: float) -> float:
    """Epsilon of Gaussian events by the closed form for normal losses.

    Losses of Gaussians add up to one that is normal with mean r and variance 2 r, r the sum of
    D^2 / (2 sigma^2), so delta(e) = Q((e - r) / s) - exp(e) Q((e + r) / s) with s = sqrt(2 r)
    (Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2022, Corollary 1).
    """
    spread = math.sqrt(2.0 * loss(events).slope)
    low, high = 0.0, spread**2 / 2.0 + 40.0 * spread + 1.0
    for _ in range(200):
        middle = (low + high) / 2.0
        if normal_delta(middle, spread) > delta:
            low = middle
        else:
            high = middle
    return high


def normal_delta(epsilon: float, spread: float) -> float:
    """Delta at `epsilon` of a Gaussian whose sensitivity is `spread` times its sigma."""
    first = _upper(epsilon / spread - spread / 2.0)
    second = _upper(epsilon / spread + spread / 2.0)
    return first - (math.exp(min(epsilon, 700.0)) * second if second > 0.0 else 0.0)


def _upper(value: float) -> float:
    return math.erfc(value / math.sqrt(2.0)) / 2.0


def basic_sum(events: Iterable[Mapping[str, Any]]) -> tuple[float, float]:
    """Epsilons and deltas added up, each Gaussian's checked against the closed form.

    Raises:
        BundleError: when a Gaussian's noise is too small for the epsilon and delta it was given.
    """
    epsilons, deltas = [], []
    for event in events:
        if event.get("event") == "gaussian":
            epsilon, delta = _number(event, "epsilon"), _number(event, "delta")
            spread = _number(event, "sensitivity") / _number(event, "sigma")
            if not normal_delta(epsilon, spread) <= delta * (1.0 + 1e-6):
                raise BundleError(
                    "A marginal has less noise than its share of epsilon and delta needs.",
                    field="events",
                )
            epsilons.append(epsilon)
            deltas.append(delta)
        elif event.get("event") == "exponential":
            epsilons.append(_count(event) * _number(event, "epsilon"))
        elif event.get("event") == "approximate":
            epsilons.append(_number(event, "epsilon"))
            deltas.append(_number(event, "delta"))
        else:
            raise BundleError("An event is not known to basic composition.", field="events")
    return math.fsum(epsilons), math.fsum(deltas)
