"""The one gate: every step that spends on rows opens its charge here, and closes it here.

The gate names the account (`account`), applies the workspace's rules, adds what learning before
the step still owes, writes and syncs the charge before the first mechanism, sets the stamp, and
marks the charge as done, failed or void at the end. Nothing else writes a charge.
"""

from __future__ import annotations

import math
import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from prism_core.errors import LedgerError, PrivacyError
from prism_core.privacy.accountants.conversions import rho_to_epsilon
from prism_core.privacy.events import Event, failure
from prism_core.privacy.ledger.ledger import Ledger
from prism_core.privacy.ledger.records import Balance, Consent, canonical
from prism_core.privacy.ledger.rules import CHARGED_STEPS, Step
from prism_core.privacy.ledger.store_choice import present

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from prism_core.privacy.accountants.accountant import Spent
    from prism_core.privacy.learning_charge import LearningCharge
    from prism_core.privacy.noise import NoiseSource


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a step costs.

    Attributes:
        spent: the amount; `spent.rho` may lie above what the events cost, never below.
        events: the same, event by event.
        plan: SHA-256 of the plan.
        accountant: its accountant.
        prior: what learning before it cost, None where nothing was learned.
        whole: epsilon of learning and step together, where an accountant tells it; by zCDP when
            None.
        declared: epsilon of the budget that the step is a part of, where it is larger.
        above_limit: the workspace's maximum of epsilon that the plan says it exceeds on purpose.
    """

    spent: Spent
    events: tuple[Event, ...]
    plan: str
    accountant: str = "zcdp"
    prior: LearningCharge | None = None
    whole: float | None = None
    declared: float = 0.0
    above_limit: float | None = None

    def with_owed(self, owed: Owed | None) -> Price:
        """The same with the learning that is still to be charged."""
        if owed is None:
            return self
        rho = math.fsum([self.spent.rho, *(event.rho for event in owed.events)])
        events = (*owed.events, *self.events)
        epsilon = self.whole
        if epsilon is None:
            # The delta of learned names is gone before rho becomes epsilon.
            epsilon = rho_to_epsilon(rho, self.spent.delta - failure(events))
        # Without the prior: it is among the events now, and would be owed a second time.
        return replace(
            self, spent=replace(self.spent, epsilon=epsilon, rho=rho), events=events, prior=None
        )


@dataclass(frozen=True, kw_only=True)
class Owed:
    """Learning that an asset's ledger does not hold the charge of.

    Attributes:
        events: what it cost.
        receipts: of the charges elsewhere that paid for it, where they are known. Once it is
            charged here, too, they are kept with that charge, so that it is not charged again.
        delta: at which its epsilon is stated.
    """

    events: tuple[Event, ...]
    receipts: tuple[str, ...]
    delta: float

    @property
    def sentence(self) -> str:
        """For the curator, before she spends."""
        rho = math.fsum(event.rho for event in self.events)
        epsilon = rho_to_epsilon(rho, self.delta - failure(self.events))
        return (
            f"The domain or graph was learned with epsilon {epsilon:.3g}, and this ledger holds no "
            "charge for that under this asset. The cost of learning is charged with this step. "
            "The reason may be another workspace, another asset, an older copy of the ledger, or "
            "a file from before charges had receipts."
        )


def owed(ledger: Ledger | None, asset: str, prior: LearningCharge | None) -> Owed | None:
    """What of earlier learning an asset has not been charged for, None where nothing is owed.

    An event is paid for where a charge of this asset that counts has its receipt and holds the
    event. Events that look alike are not enough: the same columns may have been learned twice,
    once here and once elsewhere, and both were spent. Spends nothing, writes nothing.

    Args:
        ledger: the workspace's ledger; None where there is none yet.
        asset: the data asset's name in it; it need not be registered yet.
        prior: what was spent before, None where nothing was.
    """
    if prior is None:
        return None
    receipted = list(zip(prior.events, prior.event_receipts, strict=True))
    missing = receipted if ledger is None else ledger.lacking(asset, receipted)
    if not missing:
        return None
    known = dict.fromkeys(receipt for _, receipt in missing if receipt)
    return Owed(
        events=tuple(event for event, _ in missing), receipts=tuple(known), delta=prior.delta
    )


class AssetRequest(Protocol):
    """A data asset as a configuration or a form names it."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def lifetime_epsilon(self) -> float:
        """Its lifetime budget, for an asset that the ledger does not know yet."""
        ...

    @property
    def lifetime_delta(self) -> float | None:
        """The delta at which that is stated; the plan's where None."""
        ...


def account(
    wanted: AssetRequest | None,
    delta: float,
    *,
    public: bool,
    workspace: Path | None = None,
    ledger: Ledger | None = None,
    known: str | None = None,
) -> tuple[Ledger | None, str]:
    """Whom a step charges: the ledger with the asset registered in it; nobody for public rows.

    Args:
        wanted: the asset.
        delta: at which a new asset's lifetime is stated where `wanted` does not say.
        public: whether the rows are public.
        workspace: folder of the ledger; the default one when None.
        ledger: an open one, instead.
        known: the name of an asset that the ledger holds already, instead of `wanted`.

    Raises:
        PrivacyError: when no asset is named for private rows.
        LedgerError: when it cannot be registered, or is not known.
    """
    if known is not None:
        ledger = ledger or Ledger(workspace)
        return ledger, ledger.balance(known).asset.name
    if public:
        return None, ""
    wanted = _named(wanted)
    ledger = ledger or Ledger(workspace)
    at = delta if wanted.lifetime_delta is None else wanted.lifetime_delta
    asset = ledger.register(wanted.name, epsilon=wanted.lifetime_epsilon, delta=at)
    return ledger, asset.name


def check_account(wanted: AssetRequest | None, delta: float, workspace: Path) -> None:
    """Refuse for private rows what `account` would, before they are read; writes nothing.

    Args:
        wanted: the asset.
        delta: at which a new asset's lifetime is stated where `wanted` does not say.
        workspace: folder of the ledger.

    Raises:
        PrivacyError: when no asset is named.
        BudgetError: when its lifetime is not usable.
        LedgerError: when it is registered with another one.
    """
    wanted = _named(wanted)
    _, balance = asset_balance(wanted, delta, workspace)
    balance.asset.check_lifetime(wanted.lifetime_epsilon)


def _named(wanted: AssetRequest | None) -> AssetRequest:
    if wanted is None:
        raise PrivacyError(
            "A private table needs a data asset with a name and a lifetime_epsilon, the entries of "
            "[asset], so that its releases are charged.",
            field="asset",
        )
    return wanted


def asset_balance(
    wanted: AssetRequest, delta: float, workspace: Path
) -> tuple[Ledger | None, Balance]:
    """What an asset has left, as it is or would be registered; writes nothing.

    Args:
        wanted: the asset, in any spelling of its name.
        delta: at which a new asset's lifetime is stated where `wanted` does not say.
        workspace: folder of the ledger.

    Returns:
        The ledger where it holds the asset, and the balance.

    Raises:
        BudgetError: when the lifetime is not usable.
        LedgerError: when the ledger cannot be read.
    """
    # Opening a ledger makes its file, and nothing may be written here.
    if present(workspace):
        ledger = Ledger(workspace)
        if any(canonical(known.name) == canonical(wanted.name) for known in ledger.assets()):
            return ledger, ledger.balance(wanted.name)
    at = delta if wanted.lifetime_delta is None else wanted.lifetime_delta
    return None, Ledger.prospect(wanted.name, epsilon=wanted.lifetime_epsilon, delta=at)


@dataclass
class OpenCharge:
    """A step that may run now.

    Attributes:
        stamp: what kind of run it is.
        number: of the charge in the ledger, None where nothing is charged.
        entry: digest of that charge's entry in the ledger's chain, "" where there is none.
        workspace: where the ledger stands, None where nothing is charged.
        receipt: what tells this charge from any other, in any ledger; random. Learned schemas
            and graphs carry it. "" for rehearsals, which can be repeated.
        touched: whether a mechanism may have run; set it before the first one.
    """

    stamp: str
    number: int | None = None
    entry: str = ""
    workspace: Path | None = None
    receipt: str = ""
    touched: bool = False

    def touch(self) -> None:
        """Say that a mechanism follows."""
        self.touched = True


@dataclass
class ChargeProgress:
    """Reports a share before each mechanism, and remembers that one follows.

    Attributes:
        charge: the open charge.
        total: number of mechanisms.
        report: told the share that is done; may raise to stop.
    """

    charge: OpenCharge
    total: int
    report: Callable[[float], None] = lambda _: None
    done: int = field(default=0, init=False)

    def __call__(self) -> None:
        """A mechanism follows."""
        self.report(min(1.0, self.done / self.total))
        self.charge.touch()
        self.done += 1


@contextmanager
def charging(
    step: Step,
    price: Price,
    ledger: Ledger | None,
    asset: str,
    *,
    public: bool,
    noise: NoiseSource,
    why: str = "",
    approval: Consent | None = None,
) -> Iterator[OpenCharge]:
    """Write and sync the charge, then run the block; the charge stands unless no mechanism ran.

    Public rows under known noise are a rehearsal, which charges nobody.

    Args:
        step: its kind.
        price: what is spent.
        ledger: the workspace's ledger; None has to be asked for and shows in the stamp.
        asset: the data asset's name in it.
        public: whether the rows are public.
        noise: that the step will use.
        why: purpose, for the ledger.
        approval: of the plan, where there is one.

    Raises:
        LedgerError: when the asset has no name, or the approval was used before.
        OverspentError: when its lifetime budget is too small; the block is not entered.
        PlanError: when the approval is of another plan or asset.
        PrivacyError: when the workspace's rules refuse the step.
        BudgetError: when epsilon is above the workspace's maximum, and the plan does not say so.
    """
    kind = CHARGED_STEPS[step]
    rehearsal = public and not noise.secure
    # For rehearsals, too: an approval of another plan is refused wherever it is given.
    if approval is not None:
        approval.check(price.plan, asset)
    if ledger is None or rehearsal:
        stamp = kind.rehearsed if rehearsal else kind.uncharged
        yield OpenCharge(stamp=stamp, receipt="" if rehearsal else _receipt())
        return
    if not asset:
        raise LedgerError("Name the data asset that is to be charged.", field="asset")
    # Read before the transaction of the charge: learning that another process charges in between is
    # paid twice at worst, and never by nobody.
    earlier = owed(ledger, asset, price.prior)
    price = price.with_owed(earlier)
    receipt = _receipt()
    number = ledger.charge(
        asset,
        step=step,
        spent=price.spent,
        events=price.events,
        plan=price.plan,
        accountant=price.accountant,
        why=why,
        approval=approval,
        declared=price.declared,
        above_limit=price.above_limit,
        receipts=(receipt, *(() if earlier is None else earlier.receipts)),
    )
    charge = OpenCharge(
        stamp=kind.charged,
        number=number,
        workspace=ledger.folder,
        receipt=receipt,
        entry=ledger.own_entry(number),
    )
    try:
        yield charge
    # An interrupt ends a step, too, and must not leave its charge open.
    except BaseException:
        ledger.mark(number, "failed" if charge.touched else "void")
        raise
    # Behind the block: where this fails the charge stays reserved, which counts as spent.
    ledger.mark(number, "done")


def close_broken(ledger: Ledger, charge: int) -> None:
    """Close a charge whose process was killed after it had measured something: it is spent."""
    if ledger.get(charge).state == "reserved":
        ledger.mark(charge, "failed")


def _receipt() -> str:
    # 128 random bits: two charges, in whatever ledgers, do not meet by chance.
    return secrets.token_hex(16)
