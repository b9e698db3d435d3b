"""The ledger: which data asset was charged for what. One per workspace.

`charging` is the gate that every spending step passes. `ledger` holds the ledger itself, `rules`
the kinds of steps and what the workspace asks of each, `store` the tables and their chain,
`sqlite_store` and `postgres_store` what keeps them, `store_choice` which of the two, `transfer`
whole ledgers carried from one to the other, `queries` and `records` what is read from it,
`composition` the arithmetic over stored events, `audit` the check of it all and of a charge before
it is written, `chain_head` the note beside it, and `fingerprint` the keyed memory of rows in files
of its own.
"""

from prism_core.privacy.ledger.audit import Verification
from prism_core.privacy.ledger.ledger import WORKSPACE_VARIABLE, Ledger, default_workspace
from prism_core.privacy.ledger.records import (
    STATE_WORDS,
    Asset,
    Balance,
    Charge,
    Correction,
    State,
    StateChange,
)

__all__ = [
    "STATE_WORDS",
    "WORKSPACE_VARIABLE",
    "Asset",
    "Balance",
    "Charge",
    "Correction",
    "Ledger",
    "State",
    "StateChange",
    "Verification",
    "default_workspace",
]
