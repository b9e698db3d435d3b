"""The ledger of a workspace: charged before, never above, never undone.

A charge is written and synced to disk before the first mechanism runs. Rows are only ever
appended: a change of state or a correction is a new row, and nothing is edited or deleted. A
charge counts as spent in every state except `void`, which says that no mechanism ran.
"""

from __future__ import annotations

import datetime as dt
import getpass
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.errors import BudgetError, LedgerError
from prism_core.privacy.accountants.accountant import CHARGEABLE, Spent
from prism_core.privacy.events import Event, event_dict
from prism_core.privacy.ledger import audit, composition, fingerprint, rules
from prism_core.privacy.ledger import chain_head as heads
from prism_core.privacy.ledger.audit import check_approval, check_budget, check_whole
from prism_core.privacy.ledger.composition import Item
from prism_core.privacy.ledger.queries import (
    all_assets,
    all_charges,
    counted,
    find_asset,
    receipted,
    the_asset,
    used,
)
from prism_core.privacy.ledger.records import (
    COMPOSITION_SENTENCE,
    STATES,
    Asset,
    Balance,
    Charge,
    Consent,
    State,
    canonical,
)
from prism_core.privacy.ledger.sqlite_store import FILE
from prism_core.privacy.ledger.store import CHAIN, VERSION, Store, append, chain_of, check_head
from prism_core.privacy.ledger.store_choice import open_store
from prism_core.privacy.parameters import delta_value, epsilon_value, positive

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prism_core.privacy.ledger.rules import Step
    from prism_core.privacy.ledger.store import Connection
    from prism_core.privacy.private_rows import CodedRows

WORKSPACE_VARIABLE = "PRISM_WORKSPACE"


def default_workspace() -> Path:
    """Where the ledger lives: $PRISM_WORKSPACE, else ~/.prism."""
    named = os.environ.get(WORKSPACE_VARIABLE)
    return Path(named) if named else Path.home() / ".prism"


class Ledger:
    """The ledger of a workspace, in its file or in the database that it names (`store_choice`).

    Opening it creates or migrates the file. Every call is one transaction, so processes that use
    one ledger take turns.

    Attributes:
        folder: the workspace.
        path: its file, where the ledger is kept in one.
    """

    def __init__(
        self, workspace: str | Path | None = None, *, who: str = "", store: Store | None = None
    ) -> None:
        """Open it.

        Args:
            workspace: its folder; the default one when None.
            who: whom charges and corrections name: an identity that somebody else has checked.
                The user of this machine when "".
            store: what keeps it, instead of the one that the workspace names.

        Raises:
            LedgerError: when it cannot be opened.
        """
        self._by = who or _who()
        self.folder = Path(workspace) if workspace is not None else default_workspace()
        self.path = self.folder / FILE
        self._store = open_store(self.folder) if store is None else store
        self._own: dict[int, str] = {}

    def register(self, name: str, *, epsilon: float, delta: float) -> Asset:
        """Name an asset and fix its lifetime budget; naming it again changes nothing.

        Extracts of the same people's data, refreshed ones too, are one asset. The first delta
        stays in force; another one given later is not an error (the default delta follows n)
        and has no effect.

        Raises:
            LedgerError: when it is registered with another lifetime epsilon.
        """
        if not canonical(name):
            raise LedgerError("A data asset needs a name.", field="asset")
        asset = Asset(
            name=name.strip(),
            epsilon=epsilon_value(epsilon, "lifetime_epsilon"),
            delta=delta_value(delta, "lifetime_delta"),
        )
        with self._store.transaction(write=True, asset=canonical(asset.name)) as db:
            known = find_asset(db, asset.name)
            if known is None:
                append(db, "assets", asset.name, asset.epsilon, asset.delta, _now())
                return asset
        known[1].check_lifetime(asset.epsilon)
        return known[1]

    @staticmethod
    def prospect(name: str, *, epsilon: float, delta: float) -> Balance:
        """The balance that an asset registered like this would start with; writes nothing.

        Raises:
            BudgetError: when epsilon or delta is not usable.
        """
        asset = Asset(
            name=name.strip(),
            epsilon=epsilon_value(epsilon, "lifetime_epsilon"),
            delta=delta_value(delta, "lifetime_delta"),
        )
        return composition.compose(asset, ())

    def charge(
        self,
        asset: str,
        *,
        step: Step,
        spent: Spent,
        events: Sequence[Event],
        plan: str,
        accountant: str,
        why: str = "",
        approval: Consent | None = None,
        receipts: Sequence[str] = (),
        declared: float = 0.0,
        above_limit: float | None = None,
    ) -> int:
        """Write a charge in the state `reserved` and sync it; returns its number.

        For `charging.charging` alone, which calls it before the first mechanism. Charges of one
        asset compose under zCDP, from their events; what `spent.rho` holds beyond the events is
        written as an event, too. The workspace's rules are applied here, so that nobody who
        holds a ledger passes them by.

        Args:
            asset: its name, in any spelling.
            step: what is charged.
            spent: the amount.
            events: the same, event by event.
            plan: SHA-256 of the plan.
            accountant: of the plan.
            why: purpose.
            approval: of the plan, where there is one.
            receipts: what tells this charge from any other, and those of charges elsewhere whose
                cost it takes over.
            declared: epsilon of the budget that the step is a part of, where it is larger.
            above_limit: the workspace's maximum of epsilon that the plan says it exceeds; written
                beside the charge where it does.

        Raises:
            OverspentError: when the lifetime budget does not cover it; nothing is written.
            BudgetError: for a plan of an accountant that does not compose over charges, or an
                epsilon above the workspace's maximum that does not say so.
            LedgerError: when the events cost more than `spent`, or the approval was used or names
                no asset.
            PlanError: when the approval is of another plan or asset.
            PrivacyError: when the workspace's rules refuse the step.
        """
        rules.check_rules(step, self.folder, approved=approval is not None)
        if accountant not in CHARGEABLE:
            raise BudgetError(
                "Private assets are charged under zCDP, which composes over releases. Basic "
                "composition is for reproducing the paper's tables on public rows; choose zcdp.",
                field="accountant",
            )
        positive(spent.rho, "rho")
        listed = composition.with_reserve([event_dict(event) for event in events], spent.rho)
        item = Item(epsilon=spent.epsilon, delta=spent.delta, rho=spent.rho, events=tuple(listed))
        # Checks and rows in one transaction of a writer: two processes cannot both spend what is
        # left.
        turn = self._store.transaction(
            write=True,
            asset=canonical(asset),
            # First: a budget summed over an edited ledger would mean nothing.
            check=check_whole,
        )
        with turn as db:
            key, known = the_asset(db, asset)
            if approval is not None:
                check_approval(db, plan, known.name, approval)
            check_budget(known, counted(db, key), item)
            # The whole budget is held to the maximum, or its parts would pass below it one by one.
            most = max(declared, spent.epsilon)
            exceeded = rules.above_limit(most, self.folder, said=above_limit)
            number = append(
                db,
                "charges",
                key,
                plan,
                accountant,
                spent.epsilon,
                spent.delta,
                spent.rho,
                json.dumps(listed),
                self._by,
                why,
                _now(),
            )
            append(db, "states", number, "reserved", _now())
            if approval is not None:
                # By this note `used` knows an approval again, which holds for one run.
                append(db, "corrections", number, approval.note, self._by, _now())
            if exceeded is not None:
                note = f"The workspace's maximum epsilon of {exceeded:g} was exceeded on purpose."
                append(db, "corrections", number, note, self._by, _now())
            for receipt in receipts:
                append(db, "receipts", number, receipt)
            entry = _entry(db, number)
        self._own[number] = entry
        return number

    def used(self, plan: str, approval: Consent) -> Charge | None:
        """The charge that counts for which an approval of a plan was used, None while none is.

        Args:
            plan: SHA-256 of the plan.
            approval: of that plan.
        """
        with self._store.transaction() as db:
            return used(db, plan, approval.marks)

    def mark(self, charge: int, state: State) -> None:
        """Append a state to a reserved charge. `void` only where no mechanism ran.

        Raises:
            LedgerError: when the charge is unknown or already closed; a closed charge stands.
        """
        with self._store.transaction(write=True) as db:
            row = db.execute(
                "SELECT state FROM states WHERE charge = ? ORDER BY id DESC LIMIT 1", (charge,)
            ).fetchone()
            # A charge starts as reserved, and no end leads back to it.
            if row is None or row[0] != "reserved" or state not in STATES[1:]:
                raise LedgerError("This charge is closed; its state stands.", field="charge")
            append(db, "states", charge, state, _now())

    def correct(self, charge: int, note: str) -> None:
        """Add words to a charge, for example a better purpose. Its figures stand.

        Raises:
            LedgerError: when there is no such charge or no word.
        """
        if not note.strip():
            raise LedgerError("A correction needs words.", field="note")
        with self._store.transaction(write=True) as db:
            if db.execute("SELECT 1 FROM charges WHERE id = ?", (charge,)).fetchone() is None:
                raise LedgerError(f"There is no charge {charge} in the ledger.", field="charge")
            append(db, "corrections", charge, note.strip(), self._by, _now())

    def recognise(self, asset: str, table: CodedRows, plan: str = "") -> str:
        """A warning for the curator when these rows were charged under another name, else "".

        What is remembered of these rows counts once a charge of the plan follows.

        Spends nothing: the rows' keyed fingerprint stays in the workspace. The warning depends
        on private rows: show it on the curator's screen, and let nothing else depend on it.

        Args:
            asset: its name; it need not be registered yet.
            table: all rows of the asset's file, before a holdout is set aside or one row per
                person is drawn (`fingerprint.recognise`), so that the same file looks the same.
            plan: SHA-256 of the plan that is to be charged; "" counts at once.

        Raises:
            LedgerError: when the asset has no name or the workspace cannot be written.
        """
        if not asset.strip():
            raise LedgerError("A data asset needs a name.", field="asset")
        with self._store.transaction() as db:
            known = find_asset(db, asset)
            charges = all_charges(db)
        name = known[1].name if known else asset.strip()
        run = _run_of(plan, charges)
        folder = self.folder
        others = fingerprint.recognise(folder, name, table, charges, run)
        return fingerprint.warning(name, others)

    def remember(self, asset: str, marks: Iterable[str], plan: str = "") -> None:
        """Remember the marks of a table that is to be charged; they count once it is.

        Args:
            asset: its name.
            marks: of the table, see `data.table_identity`; they stay in the workspace, under its
                key.
            plan: SHA-256 of the plan that is to be charged; "" counts at once.

        Raises:
            LedgerError: when the workspace cannot be written.
        """
        run = _run_of(plan, self.charges() if plan else ())
        fingerprint.remember(self.folder, asset.strip(), marks, run)

    def lacking(
        self, asset: str, events: Sequence[tuple[Event, str]]
    ) -> tuple[tuple[Event, str], ...]:
        """Those of the events that the asset has not paid for.

        An event is paid for where a charge of the asset that counts holds its receipt and the
        event, as often as it is asked for; without a receipt it never is.

        Args:
            asset: its name; it need not be registered yet.
            events: each with the receipt of the charge that paid for it, "" where none is known.
        """
        with self._store.transaction() as db:
            known = find_asset(db, asset)
            paid = {} if known is None else receipted(db, known[0])
        missing: list[tuple[Event, str]] = []
        for event, receipt in events:
            held, wanted = paid.get(receipt, []) if receipt else [], event_dict(event)
            if wanted in held:
                # Taken out, so that one charge does not pay twice for events that look alike.
                held.remove(wanted)
            else:
                missing.append((event, receipt))
        return tuple(missing)

    def balance(self, asset: str) -> Balance:
        """What an asset has spent and has left.

        Raises:
            LedgerError: when there is no such asset, or the file is not the one used last.
        """
        noted = heads.noted(self.folder)  # before the file is looked at: it may go on
        with self._store.transaction() as db:
            check_head(db, noted)
            key, known = the_asset(db, asset)
            return composition.compose(known, counted(db, key))

    def assets(self) -> tuple[Asset, ...]:
        """All registered assets."""
        with self._store.transaction() as db:
            return tuple(asset for _, asset in all_assets(db))

    def charges(self, asset: str | None = None) -> tuple[Charge, ...]:
        """Charges in order, with their newest state."""
        with self._store.transaction() as db:
            wanted = None if asset is None else find_asset(db, asset)
            found = all_charges(db)
        if asset is None:
            return found
        return tuple(c for c in found if wanted is not None and c.asset == wanted[1].name)

    def get(self, charge: int) -> Charge:
        """One charge.

        Raises:
            LedgerError: when there is none of that number.
        """
        for found in self.charges():
            if found.id == charge:
                return found
        raise LedgerError(f"There is no charge {charge} in the ledger.", field="charge")

    def entry(self, charge: int) -> str:
        """The digest of a charge's entry in the chain; it covers every entry before it, too.

        Raises:
            LedgerError: when there is no such charge.
        """
        with self._store.transaction() as db:
            return _entry(db, charge)

    def own_entry(self, charge: int) -> str:
        """The same; of a charge that this object wrote, without asking the store.

        So what was paid for is kept though a server is gone meanwhile.

        Raises:
            LedgerError: when there is no such charge, or the store is asked and does not answer.
        """
        return self._own.get(charge) or self.entry(charge)

    def verify(self, head: str = "") -> audit.Verification:
        """Check the whole ledger; see `audit.verify_ledger`."""
        noted = heads.noted(self.folder)  # before the file is looked at: it may go on
        with self._store.transaction() as db:
            return audit.verify_ledger(db, head, noted)

    def accept(self, why: str) -> audit.Verification:
        """Say that the file as it is, an older copy for example, was put in place on purpose.

        What was charged since that copy is forgotten: charge it again by hand, or spend less.

        Args:
            why: in a few words; kept, and shown by every later check.

        Raises:
            LedgerError: when nothing is said, or the file itself is not as the program wrote it.
        """
        with self._store.transaction() as db:
            found = audit.verify_ledger(db)
            newest = heads.Head.of(db)
        if not found.ok:
            raise LedgerError(f"{found.findings[0]} That cannot be accepted.", field="ledger")
        heads.accept(self.folder, newest, why)
        return self.verify()

    def export(self) -> dict[str, Any]:
        """Everything in the ledger as plain values, for auditors.

        It holds no fingerprint and nothing else that depends on rows, but for the seconds at which
        charges were reserved and done.
        """
        noted = heads.noted(self.folder)  # before the file is looked at: it may go on
        with self._store.transaction() as db:
            # In one transaction: figures and chain are of the same moment.
            assets = all_assets(db)
            found = audit.verify_ledger(db, noted=noted)
            balances = [composition.compose(asset, counted(db, key)) for key, asset in assets]
            charges = all_charges(db)
            chain = chain_of(db)
        return {
            "ledger": {"version": VERSION, "exported": _now(), "note": COMPOSITION_SENTENCE},
            "assets": [balance.to_dict() for balance in balances],
            "charges": [charge.to_dict() for charge in charges],
            "verification": found.to_dict(),
            "chain": [dict(zip(CHAIN[1:], entry[1:], strict=True)) for entry in chain],
        }


def _run_of(plan: str, charges: Sequence[Charge]) -> fingerprint.FingerprintedRun | None:
    """A run of a plan that is still to be charged."""
    after = max((charge.id for charge in charges), default=0)
    return fingerprint.FingerprintedRun(plan=plan, after=after) if plan else None


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _entry(db: Connection, charge: int) -> str:
    found = db.execute(
        "SELECT digest FROM chain WHERE kind = 'charges' AND row = ?", (charge,)
    ).fetchone()
    if found is None:
        raise LedgerError(f"There is no charge {charge} in the ledger.", field="charge")
    return str(found[0])


def _who() -> str:
    try:
        return getpass.getuser()
    # Some containers have no name for the user; a charge must not fail for that.
    except (KeyError, OSError):
        return "unknown"
