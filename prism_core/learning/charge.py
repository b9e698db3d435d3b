"""The charge of a step beside the release: written before its first mechanism, closed after."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from prism_core.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prism_core.learning.graph_plan import GraphPlan
    from prism_core.learning.plan import DomainPlan
    from prism_core.privacy.accountants import Spent
    from prism_core.privacy.events import Event
    from prism_core.privacy.ledger import Ledger

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
) -> Iterator[Charge]:  # fmt: skip
    """Write and sync the charge, then run the block; it stands unless no mechanism ran.

    Raises:
        LedgerError: when the asset has no name.
        OverspentError: when its lifetime budget is too small; the block is not entered.
    """
    if ledger is None or rehearsal:
        yield Charge()
        return
    if not asset:
        raise LedgerError("Name the data asset that is to be charged.", field="asset")
    number = ledger.charge(
        asset, spent=plan.spent, events=plan.events, plan=plan.hash, accountant="zcdp", why=why
    )
    charge = Charge(number)
    try:
        yield charge
    except BaseException:
        ledger.mark(number, "failed" if charge.touched else "void")
        raise
    ledger.mark(number, "done")


def stamp(*, rehearsal: bool, ledger: Ledger | None) -> LearningStamp:
    """What kind of run it was."""
    if rehearsal:
        return "rehearsal, not learned"
    return "learned without a ledger" if ledger is None else "learned"
