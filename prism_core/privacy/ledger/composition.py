"""zCDP of stored events, and composition over the charges of an asset.

The figures are computed again from the events as they stand in the file, by formulas of its own
and not by the code that wrote them, so that a charge that does not match its events is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.errors import LedgerError
from prism_core.privacy.accountants.conversions import epsilon_to_rho, rho_to_epsilon
from prism_core.privacy.ledger.records import Asset, Balance
from prism_core.privacy.parameters import positive

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TOLERANCE = 1e-9
"""Relative difference between a charge and its events that is rounding."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """(delta, rho)-approximate zCDP: rho-zCDP except with probability delta. Costs add up."""

    rho: float
    delta: float = 0.0


def cost(events: Iterable[Mapping[str, Any]]) -> Cost:
    """What events cost together: both parts add up (Bun and Steinke 2016, Lemmas 2.3 and 8.2).

    Raises:
        LedgerError: for an event this program does not know; nothing is guessed.
    """
    costs = [_cost(event) for event in events]
    return Cost(rho=math.fsum(c.rho for c in costs), delta=math.fsum(c.delta for c in costs))


def _cost(event: Mapping[str, Any]) -> Cost:
    """Of one event. `count` repeats it.

    Gaussian: sensitivity^2 / (2 sigma^2). Exponential mechanism: epsilon^2 / 8 (bounded range).
    Laplace, a round of the sparse vector technique, and anything that is epsilon-DP: epsilon^2 / 2
    (Bun and Steinke 2016, Proposition 1.4). Approximate, any (epsilon, delta)-DP step: the same
    but for delta. Reserve: as it says.
    """
    try:
        count = positive(event.get("count", 1), "count")
        match event["event"]:
            case "gaussian":
                ratio = positive(event["sensitivity"], "s") / positive(event["sigma"], "sigma")
                found = Cost(rho=ratio**2 / 2.0)
            case "stable histogram":
                ratio = positive(event["sensitivity"], "s") / positive(event["sigma"], "sigma")
                found = Cost(rho=ratio**2 / 2.0, delta=positive(event["delta"], "delta"))
            case "exponential":
                found = Cost(rho=positive(event["epsilon"], "epsilon") ** 2 / 8.0)
            case "laplace":
                found = Cost(rho=_laplace_epsilon(event) ** 2 / 2.0)
            case "above threshold":
                found = Cost(rho=_above_threshold_epsilon(event) ** 2 / 2.0)
            case "reserve":
                found = Cost(rho=positive(event["rho"], "rho"))
            case "approximate":
                rho = positive(event["epsilon"], "epsilon") ** 2 / 2.0
                found = Cost(rho=rho, delta=positive(event["delta"], "delta"))
            case "composed":
                found = cost(event["events"])
            case _:
                raise LedgerError(_UNKNOWN, field="events")
    except (KeyError, TypeError, AttributeError):
        raise LedgerError(_UNKNOWN, field="events") from None
    return Cost(rho=count * found.rho, delta=count * found.delta)


_UNKNOWN = "The ledger holds an event that this version cannot account for. Update the program."


def _laplace_epsilon(event: Mapping[str, Any]) -> float:
    if "scale" in event:
        return positive(event["sensitivity"], "sensitivity") / positive(event["scale"], "scale")
    return positive(event["epsilon"], "epsilon")


def _above_threshold_epsilon(event: Mapping[str, Any]) -> float:
    """The threshold moves by the sensitivity, the one comparison above it by twice that.

    Comparisons below it cost nothing (Dwork and Roth 2014, Theorem 3.23).
    """
    sensitivity = positive(event["sensitivity"], "sensitivity")
    threshold = positive(event["threshold_scale"], "threshold_scale")
    question = positive(event["question_scale"], "question_scale")
    return sensitivity / threshold + 2.0 * sensitivity / question


def with_reserve(events: Sequence[dict[str, Any]], rho: float) -> list[dict[str, Any]]:
    """The events, and what the charge holds beyond them as an event of its own.

    A plan is charged its whole amount before choices at run time share it out; with the rest
    written down, the events of a charge always add up to it.

    Raises:
        LedgerError: when the events cost more than `rho`; nothing may be charged below its cost.
    """
    known = cost(events).rho
    # `not <=`, so that NaN is refused.
    if not known <= rho * (1.0 + TOLERANCE):
        raise LedgerError("The events cost more than the charge; nothing was run.", field="events")
    rest = rho - known
    # What rounding leaves over is no reserve.
    if not rest > rho * TOLERANCE:
        return list(events)
    label = "kept for choices made at run time"
    return [*events, {"event": "reserve", "rho": rest, "label": label}]


@dataclass(frozen=True, kw_only=True)
class Item:
    """One charge that counts, as composition needs it."""

    epsilon: float
    delta: float
    rho: float
    events: tuple[dict[str, Any], ...]

    @property
    def cost(self) -> Cost:
        """From the events; never below what was written as the charge."""
        found = cost(self.events)
        return Cost(rho=max(self.rho, found.rho), delta=found.delta)


def compose(asset: Asset, items: Sequence[Item]) -> Balance:
    """The balance of an asset: costs add as (delta, rho)-approximate zCDP, converted once.

    (d, rho)-approximate zCDP gives (epsilon, d + d')-DP with rho-zCDP's epsilon at d' (Bun and
    Steinke 2016, Lemma 8.8 with the tight conversion), so d' is the asset's delta less d. The
    naive sum adds epsilons and deltas (basic composition) and is for comparison only.
    """
    costs = [item.cost for item in items]
    rho = math.fsum(c.rho for c in costs)
    delta = math.fsum(c.delta for c in costs)
    rest = asset.delta - delta
    open_ = rest > 0.0
    return Balance(
        asset=asset,
        spent_rho=rho,
        spent_epsilon=rho_to_epsilon(rho, rest) if open_ else math.inf,
        total_rho=epsilon_to_rho(asset.epsilon, rest) if open_ else 0.0,
        spent_delta=delta,
        naive_epsilon=math.fsum(item.epsilon for item in items),
        naive_delta=math.fsum(item.delta for item in items),
        charges=len(items),
    )
