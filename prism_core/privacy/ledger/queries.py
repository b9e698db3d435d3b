"""Queries: rows of the file as assets and charges. All take a connection in a transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prism_core.errors import LedgerError
from prism_core.privacy.ledger.composition import Item
from prism_core.privacy.ledger.records import Asset, Charge, Correction, StateChange, canonical
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.privacy.ledger.store import Connection


_COUNTS = (
    # COALESCE: without a state the comparison would be NULL, and the charge would not count.
    "COALESCE((SELECT state FROM states s WHERE s.charge = c.id ORDER BY s.id DESC LIMIT 1), '') "
    "<> 'void'"
)
"""Of a charge c: whether it counts, which it does whatever is not recorded as void."""


def events_of(text: str) -> tuple[dict[str, Any], ...]:
    """The events of a charge as they stand in the file.

    Raises:
        LedgerError: when they cannot be read.
    """
    try:
        found = json.loads(text)
    # A deep nesting ends the parser by recursion, not by a ValueError.
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(event, dict) for event in found):
        raise LedgerError(
            "The ledger holds a charge whose events cannot be read. Nothing was charged. Keep the "
            "file as it is; `prism ledger verify` says which charge.",
            field="workspace",
        )
    return tuple(found)


def all_assets(db: Connection) -> list[tuple[int, Asset]]:
    """Row number and asset, in the order of registration."""
    rows = db.execute("SELECT id, name, epsilon, delta FROM assets ORDER BY id").fetchall()
    return [(key, Asset(name=name, epsilon=e, delta=d)) for key, name, e, d in rows]


def find_asset(db: Connection, name: str) -> tuple[int, Asset] | None:
    """The asset of that name in any spelling; the exact one first."""
    known = all_assets(db)
    exact = [entry for entry in known if entry[1].name == name.strip()]
    alike = [entry for entry in known if canonical(entry[1].name) == canonical(name)]
    return next(iter([*exact, *alike]), None)


def the_asset(db: Connection, name: str) -> tuple[int, Asset]:
    """The asset of that name.

    Raises:
        LedgerError: when there is none.
    """
    found = find_asset(db, name)
    if found is None:
        raise LedgerError(
            f"There is no asset {name!r} in the ledger. Register it with a lifetime budget first."
            f"{suggestion(name, [asset.name for _, asset in all_assets(db)])}",
            field="asset",
        )
    return found


def counted(db: Connection, asset: int) -> list[Item]:
    """Charges of an asset that count: whatever is not recorded as void."""
    rows: list[Any] = db.execute(
        "SELECT c.epsilon, c.delta, c.rho, c.events FROM charges c "
        f"WHERE c.asset = ? AND {_COUNTS} ORDER BY c.id",
        (asset,),
    ).fetchall()
    return [
        Item(epsilon=epsilon, delta=delta, rho=rho, events=events_of(events))
        for epsilon, delta, rho, events in rows
    ]


def receipted(db: Connection, asset: int) -> dict[str, list[dict[str, Any]]]:
    """By receipt the events of the charges of an asset that count and hold it."""
    rows = db.execute(
        "SELECT r.receipt, c.events FROM receipts r JOIN charges c ON c.id = r.charge "
        f"WHERE c.asset = ? AND {_COUNTS} ORDER BY r.id",
        (asset,),
    ).fetchall()
    found: dict[str, list[dict[str, Any]]] = {}
    for receipt, events in rows:
        # Several charges may hold one receipt: each that took over a part of what it paid for.
        found.setdefault(receipt, []).extend(events_of(events))
    return found


def used(db: Connection, plan: str, marks: Sequence[str]) -> Charge | None:
    """The charge that counts, of this plan, that was written with one of the marks beside it."""
    for charge in all_charges(db):
        noted = any(mark in correction.note for correction in charge.corrections for mark in marks)
        if noted and charge.plan == plan and charge.counts:
            return charge
    return None


def all_charges(db: Connection) -> tuple[Charge, ...]:
    """Charges in order, with their states and corrections."""
    rows = db.execute(
        "SELECT c.id, a.name, c.plan, c.accountant, c.epsilon, c.delta, c.rho, c.who, c.why, "
        "c.created, c.events FROM charges c JOIN assets a ON a.id = c.asset ORDER BY c.id"
    ).fetchall()
    history: dict[int, list[StateChange]] = {}
    for charge, state, created in db.execute(
        "SELECT charge, state, created FROM states ORDER BY id"
    ):
        history.setdefault(charge, []).append(StateChange(state=state, created=created))
    notes: dict[int, list[Correction]] = {}
    for charge, note, who, created in db.execute(
        "SELECT charge, note, who, created FROM corrections ORDER BY id"
    ):
        notes.setdefault(charge, []).append(Correction(note=note, who=who, created=created))
    keys = ("id", "asset", "plan", "accountant", "epsilon", "delta", "rho", "who", "why", "created")
    return tuple(
        Charge(
            **dict(zip(keys, row[:-1], strict=True)),
            events=events_of(row[-1]),
            history=tuple(history.get(row[0], ())),
            corrections=tuple(notes.get(row[0], ())),
            # Without a state it is taken as spent, the safe side.
            state=history[row[0]][-1].state if row[0] in history else "reserved",
        )
        for row in rows
    )
