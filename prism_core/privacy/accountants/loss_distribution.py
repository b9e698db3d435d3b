"""Composition of privacy loss distributions, by dp-accounting (an optional extra).

Every distribution is a pessimistic one ("connect the dots", Doroshenko et al. 2022) on one grid;
truncated tails count as infinite loss. Epsilons come out rounded up.

dp-accounting knows neighbours that add or remove a record. A replaced person moves two cells of a
marginal by one each, which is two unit-sensitivity mechanisms under that relation; nothing is
passed under its own replace-one relation, and repetition is spelled out by self-composition.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from prism_core.errors import BudgetError
from prism_core.privacy.accountants.conversions import gaussian_delta
from prism_core.privacy.events import (
    L2_SENSITIVITY,
    ComposedEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    Leaf,
    StableHistogramEvent,
    leaves,
)
from prism_core.privacy.parameters import delta_value, epsilon_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


LEAST_DELTA = 1e-12
"""Below it the rounding of floating-point convolutions could matter."""

_ALLOWANCE = 1e-3  # of delta, for that rounding
_TAIL = 1e-18  # of probability, cut off a composition and counted as infinite loss
_STEPS = 10.0  # grid points per standard deviation of the smallest loss
_LEAST_POINTS, _POINTS = 4_000.0, 400_000.0  # of the grid (about)
_CLOSE = 2e-4  # the common factor stops this near to epsilon
_TRIES = 24


def composed_epsilon(events: Iterable[Event], delta: float) -> float:
    """Epsilon of all events together at `delta`, rounded up. Reads no row, spends nothing.

    Dominating pairs: for a marginal with integer noise two discrete Gaussians of sensitivity 1
    (exact: the two cells that a replaced row moves); for a choice or Laplace noise the pair of any
    pure epsilon-DP mechanism; for an (epsilon, delta) step that pair and infinite loss with
    probability delta.

    Raises:
        BudgetError: for a delta below `LEAST_DELTA`, for Gaussian noise on anything but counts,
            or when dp-accounting is not installed.
    """
    delta_value(delta)
    if delta < LEAST_DELTA:
        raise BudgetError(
            f"The accountant pld needs a delta of at least {LEAST_DELTA:g}. Choose zcdp.",
            field="delta",
        )
    parts = _parts(events)
    return _epsilon(parts, delta * (1.0 - _ALLOWANCE)) if parts else 0.0


def composed_profile(events: Iterable[Event], epsilons: Sequence[float]) -> tuple[float, ...]:
    """Delta of all events together at every epsilon, rounded up but for float convolutions.

    Dominating pairs and refusals as in `composed_epsilon`; deltas below `LEAST_DELTA` mean
    nothing, and the caller adds so much.
    """
    parts = _parts(events)
    if not parts:
        return tuple(0.0 for _ in epsilons)
    deltas = _composed(parts).get_delta_for_epsilon(list(epsilons))
    return tuple(float(delta) / (1.0 - _ALLOWANCE) for delta in deltas)


def _parts(events: Iterable[Event]) -> tuple[tuple[Leaf, int], ...]:
    """What is composed, equal losses together, in an order that does not depend on theirs."""
    parts: Counter[Leaf] = Counter()
    for leaf, times in leaves(events):
        if isinstance(leaf, ExponentialEvent):
            parts[replace(leaf, count=1, label="")] += times * leaf.count
        else:
            parts[_bare(leaf)] += times
    # Convolutions round by their order, and the cache is keyed by it: one order for the same
    # events.
    return tuple(sorted(parts.items(), key=lambda item: (item[0].rho, repr(item[0]))))


def common_factor(events: tuple[Event, ...], epsilon: float, delta: float) -> float:
    """The least factor (to about 0.02%) on all sigmas so that the events cost at most epsilon.

    Starts at the answer for continuous noise and moves along the nearly straight line of
    log epsilon over log factor, inside a bracket. Only a factor that was evaluated and fits is
    returned.

    Raises:
        BudgetError: when no factor up to 2 fits.
    """
    epsilon_value(epsilon)
    rho = math.fsum(leaf.rho * times for leaf, times in leaves(events))
    trial = _continuous(rho, epsilon, delta)
    low, high = 0.0, math.inf  # too little noise, enough noise
    for _ in range(_TRIES):
        found = composed_epsilon(scaled(events, trial), delta)
        if found <= epsilon:
            high = min(high, trial)
            if found >= epsilon * (1.0 - _CLOSE):
                break
        else:
            low = max(low, trial)
        if trial > 2.0 and high == math.inf:
            break
        # epsilon falls at least as fast as 1/factor; aim at the middle of the accepted range.
        aim = trial * found / (epsilon * (1.0 - _CLOSE / 2.0)) if found < math.inf else 2.0 * trial
        inside = low < aim < high
        trial = aim if inside else (low + min(high, 2.0 * trial)) / 2.0
        # Far narrower than `_CLOSE` asks for: nothing is left to gain.
        if high < math.inf and high - low <= 1e-6 * high:
            break
    if high == math.inf:
        raise BudgetError(
            "No noise was found that meets epsilon and delta with the accountant pld. Choose zcdp.",
            field="accountant",
        )
    return high


def scaled(events: Iterable[Event], factor: float) -> tuple[Event, ...]:
    """The events with every sigma multiplied."""
    found: list[Event] = []
    for event in events:
        if isinstance(event, ComposedEvent):
            found.append(replace(event, events=scaled(event.events, factor)))
        elif isinstance(event, GaussianEvent):
            found.append(replace(event, sigma=event.sigma * factor))
        else:
            found.append(event)
    return tuple(found)


def _continuous(rho: float, epsilon: float, delta: float) -> float:
    """The factor that continuous Gaussian noise of this rho would allow; a first guess only."""
    low, high = 0.0, 8.0
    while high - low > 1e-6:
        middle = (low + high) / 2.0
        if gaussian_delta(epsilon, middle / math.sqrt(2.0 * rho), 1.0) <= delta:
            high = middle
        else:
            low = middle
    return high


def _bare(leaf: Leaf) -> Leaf:
    """Without what does not matter for the loss, so that equal losses are composed at once."""
    if not isinstance(leaf, GaussianEvent):
        return replace(leaf, label="")
    if leaf.sensitivity != L2_SENSITIVITY:
        raise BudgetError(
            "The accountant pld knows Gaussian noise on marginal counts only (sensitivity √2). "
            "Choose zcdp.",
            field="accountant",
        )
    return GaussianEvent(sigma=leaf.sigma)


@lru_cache(maxsize=256)
def _epsilon(parts: tuple[tuple[Leaf, int], ...], delta: float) -> float:
    return float(_composed(parts).get_epsilon_for_delta(delta))


@lru_cache(maxsize=4)  # a distribution takes megabytes
def _composed(parts: tuple[tuple[Leaf, int], ...]) -> Any:  # noqa: ANN401
    library = _library()
    step = _grid(parts)
    whole: Any = None
    for leaf, times in parts:
        single = _distribution(library, leaf, step)
        count = 2 * times if isinstance(leaf, GaussianEvent) else times
        part = single.self_compose(count, tail_mass_truncation=_TAIL) if count > 1 else single
        whole = part if whole is None else whole.compose(part, tail_mass_truncation=_TAIL)
    return whole


def _grid(parts: tuple[tuple[Leaf, int], ...]) -> float:
    """Width of the grid: fine against the smallest loss, bounded by the size of the whole."""
    spread = math.sqrt(2.0 * math.fsum(leaf.rho * times for leaf, times in parts))
    fine = [
        1.0 / (leaf.sigma * _STEPS) if isinstance(leaf, GaussianEvent) else _pure(leaf) / 100.0
        for leaf, _ in parts
    ]
    # The whole is looked at over about 24 standard deviations.
    return max(min(min(fine), 24.0 * spread / _LEAST_POINTS), 24.0 * spread / _POINTS)


def _pure(leaf: Leaf) -> float:
    """Epsilon of a step that has one."""
    if isinstance(leaf, GaussianEvent | StableHistogramEvent):
        raise BudgetError("A learned domain is accounted for under zcdp.", field="accountant")
    return leaf.epsilon


def _distribution(library: Any, leaf: Leaf, step: float) -> Any:  # noqa: ANN401
    if isinstance(leaf, GaussianEvent):
        return library.privacy_loss_distribution.from_discrete_gaussian_mechanism(
            leaf.sigma, sensitivity=1, value_discretization_interval=step, use_connect_dots=True
        )
    delta = getattr(leaf, "delta", 0.0)
    parameters = library.common.DifferentialPrivacyParameters(_pure(leaf), delta)
    return library.privacy_loss_distribution.from_privacy_parameters(
        parameters, value_discretization_interval=step
    )


def _library() -> Any:  # noqa: ANN401  (dp-accounting ships no types)
    try:
        from dp_accounting import pld
        from dp_accounting.pld import common, privacy_loss_distribution
    except ImportError:
        raise BudgetError(
            "The accountant pld needs the package dp-accounting: pip install "
            "'prism-dashboard[pld]'. Or choose zcdp.",
            field="accountant",
        ) from None
    # Importing them makes them attributes of `pld`; their own names are not needed.
    del common, privacy_loss_distribution
    return pld
