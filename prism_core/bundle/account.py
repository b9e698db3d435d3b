"""Account of the people whom releases are about: every charge as a part of their lifetime limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.bundle.verify.ledger_check import made_here
from prism_core.errors import BundleError
from prism_core.privacy.events import failure
from prism_core.privacy.ledger import Balance, Ledger

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from prism_core.bundle.certificate import Facts
    from prism_core.planning.plan import Plan
    from prism_core.privacy.ledger.charging import Owed
    from prism_core.privacy.ledger.records import Charge

MOST = 12
"""Charges that have a bar of their own; older ones share one."""


@dataclass(frozen=True, kw_only=True)
class AccountLine:
    """One bar of the account.

    Attributes:
        charges: how many charges it stands for.
        number: of the charge in the ledger, of the last one where they are several; None where
            nothing is charged yet.
        day: of the charge, or of the first one; "" where nothing is charged yet.
        epsilon: of that charge by itself; None where the bar stands for several.
        share: of the limit, by rho, which adds up as epsilon does not.
        own: whether it is the release that the paper is about.
    """

    charges: int = 1
    number: int | None
    day: str
    epsilon: float | None
    share: float
    own: bool = False


@dataclass(frozen=True, kw_only=True)
class Account:
    """Every charge on the same people, and what is left.

    Attributes:
        ceiling: lifetime epsilon of the asset.
        lines: charges in order; together with `left` their shares are 1, unless a release is more
            than what is left.
        left: share of the limit that nobody has spent.
        spent, after: epsilon spent before the release of the paper, and with it.
        room: epsilon of one more release now.
    """

    ceiling: float
    lines: tuple[AccountLine, ...]
    left: float
    spent: float
    after: float
    room: float

    @property
    def earlier(self) -> bool:
        """Whether anything was charged besides the release of the paper."""
        return any(not line.own for line in self.lines)


def account_of(
    plan: Plan, balance: Balance, owed: Owed | None, charges: Iterable[Charge]
) -> Account:
    """The account with a plan's price; learning that is still owed is charged with the release."""
    price = plan.price.with_owed(owed)
    after = balance.after(price.spent.rho, failure(price.events))
    own = AccountLine(
        number=None,
        day="",
        epsilon=price.spent.epsilon,
        share=_share(price.spent.rho, balance.total_rho),
        own=True,
    )
    return Account(
        ceiling=balance.asset.epsilon,
        lines=(*_lines(charges, balance.total_rho), own),
        left=_share(after.left_rho, balance.total_rho),
        spent=balance.spent_epsilon,
        after=after.spent_epsilon,
        room=after.left_epsilon,
    )


def account_after(workspace: Path, facts: Facts) -> Account:
    """The account as the ledger has it now, with the charge of a release among the others.

    Reads the ledger alone.

    Args:
        workspace: the folder of the ledger.
        facts: of the release's bundle.

    Raises:
        BundleError: when the ledger holds no charge for it.
    """
    if facts.charge is None or not made_here(workspace, facts):
        raise BundleError(
            "The ledger of this workspace holds no charge for this release. Name the workspace "
            "that it was made in.",
            field="account",
        )
    ledger = Ledger(workspace)
    asset = ledger.get(facts.charge).asset
    balance, charges = ledger.balance(asset), ledger.charges(asset)
    return Account(
        ceiling=balance.asset.epsilon,
        lines=_lines(charges, balance.total_rho, own=facts.charge),
        left=_share(balance.left_rho, balance.total_rho),
        spent=balance.spent_epsilon,
        after=balance.spent_epsilon,
        room=balance.left_epsilon,
    )


def _share(rho: float, total: float) -> float:
    # Where learned names took all of delta, the limit is no number, and nothing is left of it.
    return rho / total if total > 0.0 else 0.0


def _lines(
    charges: Iterable[Charge], total: float, own: int | None = None
) -> tuple[AccountLine, ...]:
    """A bar for each charge that counts; the oldest share one where there are many."""
    found = [
        AccountLine(
            number=one.id,
            day=one.created[:10],
            epsilon=one.epsilon,
            share=_share(one.rho, total),
            own=one.id == own,
        )
        for one in sorted(charges, key=lambda one: one.id)
        if one.counts
    ]
    many = len(found) - MOST
    # The release of the paper keeps its own bar, however long ago it was.
    old = [line for line in found[: many + 1] if not line.own] if many > 0 else []
    # One charge alone keeps its day, its number and its epsilon.
    if len(old) < 2:
        return tuple(found)
    together = AccountLine(
        charges=len(old),
        number=old[-1].number,
        day=old[0].day,
        epsilon=None,
        share=sum(line.share for line in old),
    )
    return (together, *(line for line in found if line not in old))
