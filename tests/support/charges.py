"""What a command leaves in the ledger of a workspace, and what it notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.data.schema.looks import UNCHECKED
from prism_core.privacy.ledger import Ledger

if TYPE_CHECKING:
    from pathlib import Path

NOTE = f"prism: note: {UNCHECKED}; prism check does\n"


def charges(tmp_path: Path) -> list[str]:
    if not (tmp_path / "workspace" / "ledger.sqlite").exists():
        return []
    return [charge.state for charge in Ledger(tmp_path / "workspace").charges()]
