"""The check of the whole file: is it as the program wrote it, and do its figures add up?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.errors import PrismError
from prism_core.privacy.ledger.composition import TOLERANCE, cost
from prism_core.privacy.ledger.queries import events_of
from prism_core.privacy.ledger.store import COLUMNS, digest, row_of, triggers

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from prism_core.privacy.ledger.chain_head import Head


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


def verify_ledger(
    db: sqlite3.Connection, head: str = "", noted: Head | None = None
) -> Verification:
    """Check the file, the chain, the triggers, every charge's events and its states.

    Args:
        db: a connection inside a transaction.
        noted: the entry that was noted beside the file.
        head: a digest noted earlier, whole or its first 12 letters or more; it must be in the
            chain. "" for none.
    """
    chain = db.execute("SELECT id, kind, row, digest FROM chain ORDER BY id").fetchall()
    findings = [*_file(db), *_chain(db, chain), *_rows(db, chain), *_triggers(db), *_charges(db)]
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


def _file(db: sqlite3.Connection) -> Iterator[str]:
    if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        yield "The file is damaged (SQLite's integrity check)."
    if db.execute("PRAGMA foreign_key_check").fetchall():
        yield "A row refers to another that is not there."


def _chain(db: sqlite3.Connection, chain: list[tuple[Any, ...]]) -> Iterator[str]:
    before = ""
    for place, (number, kind, row, noted) in enumerate(chain, start=1):
        found = row_of(db, kind, row) if kind in COLUMNS else None
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


def _rows(db: sqlite3.Connection, chain: list[tuple[Any, ...]]) -> Iterator[str]:
    known = {(kind, row) for _, kind, row, _ in chain}
    for table in COLUMNS:
        for (number,) in db.execute(f"SELECT id FROM {table} ORDER BY id").fetchall():
            if (table, number) not in known:
                yield f"Row {number} of {table} was added behind the program's back."


def _triggers(db: sqlite3.Connection) -> Iterator[str]:
    found = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
    # The text is compared: a trigger of the right name could do nothing.
    for name, text in triggers().items():
        if found.get(name) != text:
            yield f"The guard {name} against edits is missing or changed."


def _charges(db: sqlite3.Connection) -> Iterator[str]:
    states: dict[int, list[str]] = {}
    for charge, state in db.execute("SELECT charge, state FROM states ORDER BY id"):
        states.setdefault(charge, []).append(state)
    for number, rho, events in db.execute("SELECT id, rho, events FROM charges ORDER BY id"):
        try:
            known = cost(events_of(events)).rho
        except PrismError:
            yield f"The events of charge {number} cannot be read."
        else:
            if not known <= rho * (1.0 + TOLERANCE):
                yield f"Charge {number} is smaller than what its events cost."
        if not _legal(states.get(number, [])):
            yield f"The states of charge {number} are not in a possible order."


def _legal(states: list[str]) -> bool:
    """Reserved first, then at most one end."""
    counts = Counter(states[1:])
    ends = all(state in ("done", "failed", "void") for state in counts)
    return states[:1] == ["reserved"] and len(states) <= 2 and ends
