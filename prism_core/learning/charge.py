"""The charge of a step beside the release: written before its first mechanism, closed after."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from prism_core.errors import LedgerError
from prism_core.privacy.conversions import rho_to_epsilon
from prism_core.privacy.events import failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prism_core.learning.graph_plan import GraphPlan
    from prism_core.learning.plan import DomainPlan
    from prism_core.privacy.accountants import Spent
    from prism_core.privacy.events import Event
    from prism_core.privacy.ledger import Ledger
    from prism_core.privacy.prior import Prior

LearningStamp: TypeAlias = Literal[
    "learned", "learned without a ledger", "rehearsal, not learned", "learned from public rows"
]


class Priced(Protocol):
    """A plan of another room whose cost is known before it runs."""

    @property
    def spent(self) -> Spent:
        """What it costs."""
        ...

    @property
    def events(self) -> Sequence[Event]:
        """The same, event by event."""
        ...

    @property
    def hash(self) -> str:
        """SHA-256 of the plan."""
        ...


@dataclass
class Charge:
    """An open charge.

    Attributes:
        number: in the ledger, None where there is none.
        touched: whether a mechanism may have run; set it before the first one.
    """

    number: int | None = None
    touched: bool = False


@contextmanager
def charged(
    plan: DomainPlan | GraphPlan | Priced,
    ledger: Ledger | None,
    asset: str,
    why: str,
    *,
    rehearsal: bool,
    prior: Prior | None = None,
) -> Iterator[Charge]:  # fmt: skip
    """Write and sync the charge, then run the block; it stands unless no mechanism ran.

    Args:
        plan: what is spent.
        ledger: the workspace's ledger, None where nothing is charged.
        asset: the data asset's name in it.
        why: purpose, for the ledger.
        rehearsal: on public rows with known noise; nothing is charged.
        prior: what was spent before and the plan builds on; charged where the asset lacks it.

    Raises:
        LedgerError: when the asset has no name.
        OverspentError: when its lifetime budget is too small; the block is not entered.
    """
    if ledger is None or rehearsal:
        yield Charge()
        return
    if not asset:
        raise LedgerError("Name the data asset that is to be charged.", field="asset")
    spent, events = with_prior(ledger, asset, plan.spent, plan.events, prior)
    number = ledger.charge(
        asset, spent=spent, events=events, plan=plan.hash, accountant="zcdp", why=why
    )
    charge = Charge(number)
    try:
        yield charge
    except BaseException:
        ledger.mark(number, "failed" if charge.touched else "void")
        raise
    ledger.mark(number, "done")


def with_prior(
    ledger: Ledger, asset: str, spent: Spent, events: Sequence[Event], prior: Prior | None,
    epsilon: float | None = None,
) -> tuple[Spent, tuple[Event, ...]]:  # fmt: skip
    """What to charge for a step, with the learning before it that this asset does not hold.

    Learning has charges of its own. Where they stand in another workspace or under another name,
    or there was no ledger then, they are charged here. Spends nothing, writes nothing.

    Args:
        ledger: the workspace's ledger.
        asset: the data asset's name in it.
        spent: what the step costs by itself.
        events: the same, event by event.
        prior: what was spent before, None where nothing was.
        epsilon: of both together, where an accountant tells it; by zCDP when None.
    """
    missing = () if prior is None else ledger.lacking(asset, prior.events)
    if not missing:
        return spent, tuple(events)
    rho = math.fsum([spent.rho, *(event.rho for event in missing)])
    if epsilon is None:
        epsilon = rho_to_epsilon(rho, spent.delta - failure((*missing, *events)))
    return replace(spent, epsilon=epsilon, rho=rho), (*missing, *events)


def stamp(*, rehearsal: bool, ledger: Ledger | None) -> LearningStamp:
    """What kind of run it was."""
    if rehearsal:
        return "rehearsal, not learned"
    return "learned without a ledger" if ledger is None else "learned"
