"""The check of the whole ledger: is it as the program wrote it, and do its figures add up?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from prism_core.errors import PrismError
from prism_core.privacy.ledger.composition import TOLERANCE, cost
from prism_core.privacy.ledger.queries import events_of
from prism_core.privacy.ledger.store import COLUMNS, Connection, chain_of, digest, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.privacy.ledger.chain_head import Head

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
