"""Finished releases that the workspace's ledger knows, whichever session made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard import access
from prism_core.errors import LedgerError
from prism_core.planning.words import eps_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.privacy.ledger import Charge


def section() -> None:
    """A table of them, newest first; nothing where there are none. Reads the ledger alone."""
    if not access.granted():
        return
    try:
        found = [charge for charge in access.ledger().charges() if charge.is_release]
    except LedgerError:
        return  # said where the ledger is shown
    if not found:
        return
    title = f"Finished releases in this workspace: {len(found):,}"
    with st.expander(title, icon=":material/inventory_2:"):
        st.dataframe(
            table(found), hide_index=True, width="stretch", key="finished_releases",
            height="content" if len(found) <= 20 else "auto",
        )  # fmt: skip
        st.caption(
            "From the ledger. A release made with `prism release --out` stands in the folder that "
            "was named there; one made on this page, in the folder that was shown when it ended. "
            "The certificate in a folder names its charge."
        )


def table(charges: Sequence[Charge]) -> pd.DataFrame:
    """One row per release, newest first; the plan as its certificate and protocol begin it."""
    rows = [
        (
            charge.id, charge.created[:19].replace("T", " "), charge.asset,
            eps_text(charge.epsilon), charge.plan[:12],
            "; ".join(correction.note for correction in charge.corrections),
        )
        for charge in reversed(charges)
    ]  # fmt: skip
    return pd.DataFrame(
        rows, columns=["charge", "time (UTC)", "data asset", "epsilon", "plan", "notes"]
    )
