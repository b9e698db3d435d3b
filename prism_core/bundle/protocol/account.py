"""Account of the people before, with and after one release, as parts of their lifetime limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.privacy.events import failure

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan
    from prism_core.privacy.ledger import Balance
    from prism_core.privacy.ledger.charging import Owed
    from prism_core.privacy.ledger.records import Charge


@dataclass(frozen=True, kw_only=True)
class Account:
    """Shares of the limit, and the epsilons that belong to them.

    Attributes:
        ceiling: lifetime epsilon of the asset.
        before, own, left: shares of its rho, which adds up as epsilon does not; together 1, unless
            the release is more than what is left.
        spent, after: epsilon spent before, and with the release.
        room: epsilon of one more release afterwards.
        charges: earlier ones that count.
    """

    ceiling: float
    before: float
    own: float
    left: float
    spent: float
    after: float
    room: float
    charges: tuple[Charge, ...]


def account_of(
    plan: Plan, balance: Balance, owed: Owed | None, charges: tuple[Charge, ...]
) -> Account:
    """The account with a plan's price; learning that is still owed is charged with the release."""
    price = plan.price.with_owed(owed)
    after = balance.after(price.spent.rho, failure(price.events))
    return Account(
        ceiling=balance.asset.epsilon,
        before=balance.spent_rho / balance.total_rho,
        own=price.spent.rho / balance.total_rho,
        left=after.left_rho / balance.total_rho,
        spent=balance.spent_epsilon,
        after=after.spent_epsilon,
        room=after.left_epsilon,
        charges=tuple(one for one in charges if one.counts),
    )
