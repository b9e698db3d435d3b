"""Checks of a charge inside the transaction that writes it: the file, the approval, the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.errors import LedgerError, OverspentError
from prism_core.privacy.accountants.conversions import rho_to_epsilon
from prism_core.privacy.ledger import audit, composition
from prism_core.privacy.ledger.queries import used

if TYPE_CHECKING:
    from prism_core.privacy.ledger.composition import Item
    from prism_core.privacy.ledger.records import Asset, Consent
    from prism_core.privacy.ledger.store import Connection


def check_whole(db: Connection) -> None:
    """Refuse to charge to a file that is not as the program wrote it.

    Raises:
        LedgerError: in that case.
    """
    found = audit.verify_ledger(db)
    if not found.ok:
        raise LedgerError(
            f"The ledger is not as this program wrote it. {found.findings[0]} Nothing was charged. "
            "Keep the file as it is; `prism ledger verify` lists what is wrong.",
            field="workspace",
        )


def check_approval(db: Connection, plan: str, asset: str, approval: Consent) -> None:
    """Refuse an approval that is not of this plan and this asset, or was used before.

    Raises:
        LedgerError: when it names no asset or was used before.
        PlanError: when it is of another plan or asset.
    """
    if not approval.asset.strip():
        raise LedgerError(
            "The approval names no data asset, so that it could be used for any. Have the plan "
            "approved for the asset that is to be charged. Nothing was run.",
            field="asset",
        )
    approval.check(plan, asset)
    earlier = used(db, plan, approval.marks)
    if earlier is not None:
        raise LedgerError(f"{earlier.used_sentence} Nothing was run.", field="protocol")


def check_budget(asset: Asset, items: list[Item], new: Item) -> None:
    """Refuse a charge that the asset's lifetime budget does not cover.

    Args:
        asset: that is to be charged.
        items: its charges that count.
        new: the charge.

    Raises:
        OverspentError: in that case.
    """
    after = composition.compose(asset, [*items, new])
    # Compared as rho, which adds up over charges; epsilons do not.
    if after.spent_rho <= after.total_rho:
        return
    # Said first: without any delta left there is no epsilon to speak of.
    if after.spent_delta >= asset.delta:
        raise OverspentError(
            f"The asset {asset.name!r} has a lifetime delta of {asset.delta:.3g}, and the steps "
            f"with a delta of their own would take {after.spent_delta:.3g} of it. Choose the "
            "features in another way, or plan with a smaller delta.",
            field="delta",
        )
    before = composition.compose(asset, items)
    raise OverspentError(
        f"The asset {asset.name!r} has a lifetime epsilon of {asset.epsilon:g}; "
        f"{before.left_epsilon:.3g} is left and this release needs "
        f"{rho_to_epsilon(new.rho, asset.delta):.3g}. Lower epsilon or stop here.",
        field="epsilon",
    )
