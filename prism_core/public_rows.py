"""The one check of rows that somebody calls public: are they known here as private?

Public rows are measured with known noise, shown, and charged to nobody. So whoever takes a file as
public asks here: does this session, this configuration or this workspace know the same file, or the
same rows, as private? The answer depends on the rows. It is a refusal on the curator's own screen,
before anything is done with them; she may overrule it, and nothing else follows from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.data.marks import marks
from prism_core.errors import KnownPrivateError
from prism_core.privacy.ledger import Ledger, default_workspace, fingerprint
from prism_core.privacy.ledger.book import FILE

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from prism_core.data.big import BigTable
    from prism_core.data.tables import RawTable

OVERRULED = "although_charged"
"""The entry of a configuration's [table], and the option, by which the curator overrules."""


def check_public(
    raw: RawTable | BigTable,
    *,
    private: AbstractSet[str] = frozenset(),
    said: AbstractSet[str] = frozenset(),
    workspace: Path | None = None,
    how: str = f"state it: {OVERRULED} = true under [table], or --{OVERRULED.replace('_', '-')}",
) -> frozenset[str]:
    """Refuse rows as public that are known as private; gives their marks. Spends nothing.

    Args:
        raw: the rows that somebody calls public.
        private: marks of what the session or the configuration holds as private.
        said: marks of what the curator said to be public nevertheless.
        workspace: whose memory of charged rows is asked; by default the ledger's folder.
        how: she may overrule the refusal, as the end of a sentence.

    Raises:
        KnownPrivateError: saying as what the rows are known, and never a cell.
    """
    found = marks(raw)
    if found & said:
        return found
    where = ""
    if found & private:
        where = "were loaded as private before"
    else:
        folder = default_workspace() if workspace is None else workspace
        charges = Ledger(folder).charges() if (folder / FILE).is_file() else None
        assets = fingerprint.assets_of(folder, found, charges)
        if assets:
            where = f"were charged as private, under {', '.join(f'“{name}”' for name in assets)}"
    if where:
        raise KnownPrivateError(
            f"{raw.name!r} is to be taken as public, and the same file or the same rows "
            f"{where}. Public rows are protected by nothing. Choose rows that everybody may see; "
            f"if everybody may see these, {how}. Nothing was done with them.",
            field="public",
        )
    return found


def remember_private(ledger: Ledger, asset: str, raw: RawTable | BigTable, plan: str = "") -> None:
    """Remember what is to be charged to an asset, so that it does not pass for public later.

    It counts once a charge of the plan follows. Spends nothing: what is remembered of the rows
    stays in the workspace, under its key.

    Args:
        ledger: the workspace's ledger.
        asset: the name the rows are to be charged under.
        raw: the rows.
        plan: SHA-256 of the plan that is to be charged; "" counts at once.

    Raises:
        LedgerError: when the workspace cannot be written.
    """
    ledger.remember(asset, marks(raw), plan)
