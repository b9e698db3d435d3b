"""The check of the whole ledger, and what is looked at before a charge is written.

Is the ledger as the program wrote it, and do its figures add up? A charge is checked inside the
transaction that writes it: the file, the approval, the budget.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from prism_core.errors import LedgerError, OverspentError, PrismError
from prism_core.privacy.accountants.conversions import rho_to_epsilon
from prism_core.privacy.ledger import composition
from prism_core.privacy.ledger.composition import TOLERANCE, Item, cost
from prism_core.privacy.ledger.queries import events_of, used
from prism_core.privacy.ledger.store import COLUMNS, Connection, chain_of, digest, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.privacy.ledger.chain_head import Head
    from prism_core.privacy.ledger.records import Asset, Consent

Tables: TypeAlias = "dict[str, dict[int, tuple[Any, ...]]]"
"""By table and number the rows of a ledger."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What the check found.

    Attributes:
        findings: what is wrong, one sentence each; empty when nothing is.
        rows: number of entries in the chain.
        head: the newest digest. Noted outside the workspace, it shows later whether entries
            were cut off.
        accepted: what was said of older copies that were put in place on purpose.
    """

    findings: tuple[str, ...]
    rows: int
    head: str
    accepted: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "ok": self.ok,
            "rows": self.rows,
            "head": self.head,
            "findings": list(self.findings),
            "accepted": list(self.accepted),
        }


def verify_ledger(db: Connection, head: str = "", noted: Head | None = None) -> Verification:
    """Check the store, the chain, the guards, every charge's events and its states.

    Args:
        db: a connection inside a transaction.
        noted: the entry that was noted beside the file.
        head: a digest noted earlier, whole or its first 12 letters or more; it must be in the
            chain. "" for none.
    """
    chain = chain_of(db)
    # A table at once: a server is asked five times, and not once for every entry.
    rows = {table: {row[0]: row for row in rows_of(db, table)} for table in COLUMNS}
    findings = [
        *db.damage(),
        *_chain(rows, chain),
        *_rows(rows, chain),
        *db.missing_guards(),
        *_charges(db),
    ]
    # 12 hexadecimal digits: fewer could be met by chance.
    if head and not (len(head) >= 12 and any(entry[3].startswith(head) for entry in chain)):
        findings.append("The noted digest is not in the chain: entries were removed or rewritten.")
    if noted is not None and noted.missing(db):
        findings.append(
            f"The file is not the one that was used last: entry {noted.rows}, which the workspace "
            "noted, is missing or another one."
        )
    return Verification(
        accepted=() if noted is None else noted.accepted,
        findings=tuple(findings),
        rows=len(chain),
        head=chain[-1][3] if chain else "",
    )


def _chain(rows: Tables, chain: list[tuple[Any, ...]]) -> Iterator[str]:
    before = ""
    for place, (number, kind, row, noted) in enumerate(chain, start=1):
        found = rows.get(kind, {}).get(row)
        if number != place:
            yield f"Entry {place} of the chain is missing."
            # After a gap every later entry would be a finding, too.
            return
        if found is None:
            yield f"Row {row} of {kind} is missing."
        elif digest(before, kind, found) != noted:
            yield f"Row {row} of {kind} is not as it was written (entry {place} of the chain)."
        # From what stands there, so that one edited row is one finding and not all that follow.
        before = noted


def _rows(rows: Tables, chain: list[tuple[Any, ...]]) -> Iterator[str]:
    known = {(kind, row) for _, kind, row, _ in chain}
    for table, entries in rows.items():
        for number in entries:
            if (table, number) not in known:
                yield f"Row {number} of {table} was added behind the program's back."


def _charges(db: Connection) -> Iterator[str]:
    states: dict[int, list[str]] = {}
    for charge, state in db.execute("SELECT charge, state FROM states ORDER BY id"):
        states.setdefault(charge, []).append(state)
    for number, rho, events in db.execute("SELECT id, rho, events FROM charges ORDER BY id"):
        try:
            known = cost(events_of(events)).rho
        except PrismError:
            yield f"The events of charge {number} cannot be read."
        else:
            # `not <=`, so that NaN is a finding.
            if not known <= rho * (1.0 + TOLERANCE):
                yield f"Charge {number} is smaller than what its events cost."
        if not _legal(states.get(number, [])):
            yield f"The states of charge {number} are not in a possible order."


def _legal(states: list[str]) -> bool:
    """Reserved first, then at most one end."""
    counts = Counter(states[1:])
    ends = all(state in ("done", "failed", "void") for state in counts)
    return states[:1] == ["reserved"] and len(states) <= 2 and ends


def check_whole(db: Connection) -> None:
    """Refuse to charge to a file that is not as the program wrote it.

    Raises:
        LedgerError: in that case.
    """
    found = verify_ledger(db)
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
