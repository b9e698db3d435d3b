"""A second accountant: the privacy loss over Rényi orders, beside the certificate's claim.

Nothing here uses `prism_core.privacy`; it reads the events as plain values. Where dp-accounting is
installed, its Rényi accountant is asked, too.
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.errors import BudgetError, BundleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prism_core.planning.choices import Stages

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
        # fsum rounds once, so the order of hundreds of events does not decide the last digit.
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
        # The exponential mechanism is eps^2/8-zCDP; epsilon-DP by itself gives eps^2/2 only.
        return Loss(slope=_count(event) * _number(event, "epsilon") ** 2 / 8.0)
    if kind == "approximate":
        # All that is known of it is (epsilon, delta), so the bound of any epsilon-DP mechanism.
        return Loss(slope=_number(event, "epsilon") ** 2 / 2.0, failing=_number(event, "delta"))
    raise BundleError(f"An event of the kind {kind!r} is not known.", field="events")


def _number(event: Mapping[str, Any], key: str) -> float:
    value = event.get(key)
    # JSON's true counts as 1 in Python.
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
    # Chances to fail add up; only what they leave of delta is free for the conversion.
    left = delta - whole.failing
    if not 0.0 < left < 1.0:
        return math.inf

    def bound(exponent: float) -> float:
        above = math.exp(exponent)
        order = 1.0 + above
        # The conversion of Canonne, Kamath and Steinke 2020, written with a - 1 = exp(exponent).
        return whole.slope * order + math.log(above / order) - (math.log(left * order)) / above

    low, high = math.log(_FIRST), math.log(_LAST)
    # Each step keeps 0.618 of the interval: 200 leave less than the last digit of a float.
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
    # Even steps of ln(a - 1), in which the bound is quasi-convex (`renyi_epsilon`).
    orders = [1.0 + math.exp(step / 10.0) for step in range(-40, 121)]
    ledger = RdpAccountant(orders, privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE)
    for event in events:
        if event.get("event") == "gaussian":
            # Under REPLACE_ONE its accountants differ from each other (2.07 against 1.05 for one
            # Gaussian), so what replacing a person changes is in the ratio.
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
    # Mean and deviation of the loss; 40 deviations above the mean delta underflows to 0.
    low, high = 0.0, spread**2 / 2.0 + 40.0 * spread + 1.0
    # Halved 200 times, the interval is below the last digit of a float.
    for _ in range(200):
        middle = (low + high) / 2.0
        # Delta falls as epsilon rises, so one of the halves always holds the epsilon that is looked
        # for.
        if normal_delta(middle, spread) > delta:
            low = middle
        else:
            high = middle
    # The upper end: the epsilon that is stated must not be below the true one.
    return high


def normal_delta(epsilon: float, spread: float) -> float:
    """Delta at `epsilon` of a Gaussian whose sensitivity is `spread` times its sigma."""
    # (e - r) / s of `normal_epsilon`, where r = s^2 / 2.
    first = _upper(epsilon / spread - spread / 2.0)
    second = _upper(epsilon / spread + spread / 2.0)
    # exp overflows beyond 709. A smaller second term makes delta larger, which is the safe side.
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
            # The allowance is for rounding between two computations of one formula.
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


SAME = 1e-6
"""Relative difference between two computations of one formula that is rounding."""
_GRID = 5e-3  # dp-accounting looks at a grid of orders
_NORMAL = 2e-2  # integer noise beside the normal law


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """What one accountant says the events cost at the bundle's delta."""

    accountant: str
    epsilon: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        finite = self.epsilon if math.isfinite(self.epsilon) else None
        return {"accountant": self.accountant, "epsilon": finite}


def opinions(stages: Stages, events: Sequence[Mapping[str, Any]]) -> tuple[Opinion, ...]:
    """Epsilon of the events by at least two ways that share no code.

    Args:
        stages: the plan made again; its own accountant gives the first opinion.
        events: of the certificate, as plain values, with what learning cost.

    Raises:
        BundleError: when the plan's accountant is not installed here.
    """
    plan = stages.final
    try:
        first = Opinion(accountant=plan.budget.accountant, epsilon=plan.guarantee.epsilon)
    except BudgetError as error:
        raise BundleError(str(error), field="accountant") from None
    if plan.budget.accountant == "basic":
        epsilon, delta = basic_sum(events)
        if not delta <= plan.delta:
            raise BundleError("The deltas of the events add up to more than delta.", field="delta")
        return first, Opinion(accountant="sum of the events, noise checked", epsilon=epsilon)
    if plan.budget.accountant == "pld":
        normal = Opinion(
            accountant="closed form for normal losses", epsilon=normal_epsilon(events, plan.delta)
        )
        return first, normal
    found = [first, Opinion(accountant="Rényi orders", epsilon=renyi_epsilon(events, plan.delta))]
    library = library_epsilon(events, plan.delta)
    if library is not None:
        found.append(Opinion(accountant="dp-accounting, Rényi", epsilon=library))
    return tuple(found)


def composition_findings(found: Sequence[Opinion], claimed: Mapping[str, Any]) -> list[str]:
    """What the accountants do not agree with.

    Args:
        found: what the accountants say.
        claimed: the certificate's `guarantee`.
    """
    epsilon, declared = claimed.get("epsilon"), claimed.get("declared_epsilon")
    if not isinstance(epsilon, float) or not isinstance(declared, int | float):
        return ["The certificate states no epsilon."]
    wrong = []
    own = found[0].epsilon
    for opinion in found:
        slack = {"dp-accounting, Rényi": _GRID, "closed form for normal losses": _NORMAL}.get(
            opinion.accountant, SAME
        )
        # `not <=`: of two infinite epsilons the difference is NaN, which must not pass as
        # agreement.
        if not abs(opinion.epsilon - own) <= slack * own:
            wrong.append(
                f"The accountants disagree: {opinion.accountant} gives epsilon "
                f"{opinion.epsilon:.6g}, {found[0].accountant} {own:.6g}."
            )
        if not opinion.epsilon <= epsilon * (1.0 + slack):
            wrong.append(
                f"The events cost epsilon {opinion.epsilon:.6g} ({opinion.accountant}); the "
                f"certificate claims {epsilon:.6g}."
            )
    # The last query of a plan uses up what is left, to the last digit of a float.
    if not own <= declared * (1.0 + 1e-12):
        wrong.append(f"The events cost more than the declared epsilon {declared:g}.")
    return wrong
