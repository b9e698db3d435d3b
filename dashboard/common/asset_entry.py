"""Data asset that is charged: its entries, and whether its lifetime budget covers a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.fields import keeping, number_entry
from dashboard.key import access
from dashboard.session import offered_sources
from dashboard.session.shelf import project
from prism_core.errors import LedgerError, PrismError
from prism_core.planning.wishes.config import AssetConfig
from prism_core.privacy.ledger import Balance, Ledger
from prism_core.privacy.ledger.charging import Owed, Price, asset_balance, owed
from prism_core.runs.step_account import StepAccount, open_account
from prism_core.text.markdown import plain
from prism_core.text.numbers import eps_text, left_text

if TYPE_CHECKING:
    from prism_core.privacy.accountants.accountant import Spent
    from prism_core.privacy.learning_charge import LearningCharge
    from prism_core.privacy.ledger.records import Charge


def seed(key: str) -> None:
    """The seed of a rehearsal on public rows, which charges nobody."""
    account = project().account
    st.number_input(
        "Seed of the rehearsal",
        0,
        2**31 - 1,
        account.seed,
        **keeping(account, "seed", key, account.seed),
        help="The same seed gives the same noise. Only public rows have one.",
    )


def section(price: Price, delta: float, what: str) -> bool:
    """Entries of the ledger; True when the asset is named and its lifetime budget covers it.

    Args:
        price: what the gate charges; its prior, learning before the step, is said and counted
            where this asset's ledger holds no charge for it.
        delta: at which a new asset's lifetime is stated.
        what: the step, as the first words of a sentence.
    """
    state = project()
    try:
        offered_sources.hold(state)
    except PrismError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return False
    _text(
        "Data asset charged in the ledger",
        "asset",
        fixed=offered_sources.bound(state),
        help="All releases from the same people's "
        "data share one lifetime budget: use the same name for refreshed extracts.",
    )
    balance = _balance(state.account.asset)
    if balance is None and state.account.asset and state.account.asset == state.data.name:
        st.warning(
            "This name is only that of the file. Name the people instead, for example *stays of "
            "clinic A*: next year's file needs the same name, or their lifetime budget starts "
            "again unseen.",
            icon=":material/badge:",
        )
    if balance is None and not offered_sources.bound(state):
        _new_asset()
    _text(
        "Purpose, for the ledger",
        "why",
        placeholder="for example: readmission benchmark for external teams",
    )
    if not state.account.why.strip():
        st.caption(":orange[No purpose is written down.] The ledger keeps it; a committee asks.")
    if not state.account.asset.strip():
        return False
    if balance is not None:
        # Fixed from the first charge on, whatever was typed before.
        state.account.lifetime = balance.asset.epsilon
        st.caption(_left(balance))
    try:
        # As it would be registered: a look at the page must not register a new one.
        whole = balance or Ledger.prospect(
            state.account.asset, epsilon=state.account.lifetime, delta=delta
        )
    except PrismError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return False
    earlier = owing(price.prior)
    if earlier is not None:
        st.warning(plain(earlier.sentence), icon=":material/receipt_long:")
    spent = price.with_owed(earlier).spent
    # In rho, which adds up over releases as epsilons do not.
    if spent.rho <= whole.left_rho:
        return True
    left = left_text(whole.left_epsilon)
    st.error(
        f"{what} needs epsilon {eps_text(spent.epsilon)}, and {left} of the lifetime budget is "
        f"left. {_pld_hint(spent, whole)}Lower epsilon on the page Budget, or stop here.",
        icon=":material/block:",
    )
    return False


def owing(prior: LearningCharge | None) -> Owed | None:
    """Learning that the named asset has not been charged for, None where nothing is owed.

    Raises:
        LedgerError: when the ledger cannot be read.
    """
    state = project()
    if state.data.public or prior is None or not state.account.asset.strip():
        return None
    return owed(access.ledger(), state.account.asset, prior)


def balance(delta: float) -> Balance | None:
    """What the named asset has left, as it is or would be registered; None without a usable one.

    Args:
        delta: at which a new asset's lifetime is stated.
    """
    return _standing(delta)[1]


def charges(delta: float) -> tuple[Charge, ...]:
    """Charges of the named asset so far; none while it is new, or for public rows.

    Args:
        delta: at which a new asset's lifetime is stated.
    """
    state = project()
    ledger = None if state.data.public else _standing(delta)[0]
    return () if ledger is None else ledger.charges(state.account.asset)


def _standing(delta: float) -> tuple[Ledger | None, Balance | None]:
    """As `asset_balance` gives it, of the named asset; nothing without a usable one."""
    account = project().account
    if not account.asset.strip():
        return None, None
    wanted = AssetConfig(name=account.asset, lifetime_epsilon=account.lifetime)
    try:
        # Not the ledger itself: opening one makes its file, and nothing is to be written here.
        return asset_balance(wanted, delta, access.workspace())
    except PrismError:
        return None, None


def chosen() -> AssetConfig | None:
    """The asset that is charged; None for public rows.

    Raises:
        AccessError: when its rows are of a source that is no longer offered to this person.
    """
    state = project()
    if state.data.public:
        return None
    offered_sources.hold(state)  # whatever a page shows: the source's asset is charged
    return AssetConfig(
        name=state.account.asset, lifetime_epsilon=state.account.lifetime, why=state.account.why
    )


def registered(delta: float) -> StepAccount:
    """The account of a step, with the chosen asset registered; nobody's for public rows.

    Args:
        delta: at which a new asset's lifetime is stated.

    Raises:
        LedgerError: when it cannot be registered.
    """
    asset = chosen()
    if asset is None:
        return open_account(None, delta, public=True, seed=project().account.seed)
    return open_account(asset, delta, public=False, ledger=access.ledger())


def word() -> str:
    """What is typed to confirm a charge: the asset's name."""
    return project().account.asset.strip()


def _text(
    label: str,
    attribute: str,
    *,
    help: str | None = None,
    placeholder: str | None = None,
    fixed: bool = False,
) -> None:
    account, key = project().account, f"asset_{'name' if attribute == 'asset' else attribute}"
    if fixed:
        # Under a key of its own: the other field would still show what was typed there.
        st.text_input(label, getattr(account, attribute), disabled=True, key=f"{key}_of_source")
        return
    st.text_input(
        label,
        value=getattr(account, attribute),
        help=help,
        placeholder=placeholder,
        **keeping(account, attribute, key, getattr(account, attribute)),
    )


def _pld_hint(spent: Spent, whole: Balance) -> str:
    # Its own epsilon is more than is left: that needs no explaining.
    if spent.epsilon > whole.left_epsilon:
        return ""
    return (
        "Under the accountant pld the ledger charges the zCDP amount of the noise, which is more "
        "than the release's own epsilon. "
    )


def _new_asset() -> None:
    account = project().account
    number_entry(
        account,
        "lifetime",
        "asset_lifetime",
        "Lifetime epsilon of this asset (fixed from its first charge on)",
        help="What may ever be spent on these people's data. Usually the data owner decides it "
        "with the privacy committee or data protection officer, not the person at the screen.",
    )
    known = [asset.name for asset in access.ledger().assets()]
    if known and account.asset.strip():
        st.warning(
            f"{plain(account.asset)} is a new name in the ledger and starts a new lifetime budget. "
            "If these people's data were released before, use that asset's name: "
            f"{plain(', '.join(known))}.",
            icon=":material/warning:",
        )


def _left(balance: Balance) -> str:
    return (
        f"Lifetime epsilon {balance.asset.epsilon:g}: {eps_text(balance.spent_epsilon)} spent, "
        f"room for one more release of {left_text(balance.left_epsilon)}. Losses of several "
        "releases add up to less than their sum, so this is more than the difference."
    )


def _balance(asset: str) -> Balance | None:
    try:
        return access.ledger().balance(asset) if asset.strip() else None
    except LedgerError:
        return None
