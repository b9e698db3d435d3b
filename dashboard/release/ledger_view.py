"""Ledger for reading: assets, charges, and finished releases of the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.key import access
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import STATE_WORDS, Balance, Charge
from prism_core.privacy.ledger.records import COMPOSITION_SENTENCE
from prism_core.text.markdown import plain
from prism_core.text.numbers import eps_text

if TYPE_CHECKING:
    from collections.abc import Sequence


_FIGURE = st.column_config.NumberColumn(format="%.3g")


def section() -> None:
    """Two tables and one sentence; shows the ledger, changes nothing."""
    try:
        ledger = access.ledger()
        balances = [ledger.balance(asset.name) for asset in ledger.assets()]
        charges = ledger.charges()
    except LedgerError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    if not balances:
        st.caption("The ledger holds no data asset yet. The first private release registers one.")
        return
    st.markdown("**Data assets and their lifetime budgets**")
    st.dataframe(
        assets_table(balances),
        hide_index=True,
        width="stretch",
        key="ledger_assets",
        column_config=dict.fromkeys(_ASSET_FIGURES, _FIGURE),
    )
    st.caption(COMPOSITION_SENTENCE)
    st.markdown("**Charges**, newest first")
    st.dataframe(
        charges_table(charges),
        hide_index=True,
        width="stretch",
        key="ledger_charges",
        column_config={"epsilon": _FIGURE},
    )


_ASSET_FIGURES = (
    "lifetime epsilon",
    "spent, composed",
    "spent, as a plain sum",
    "left for one release",
)


def assets_table(balances: Sequence[Balance]) -> pd.DataFrame:
    """One row per asset; figures are epsilons."""
    rows = [
        (b.asset.name, b.asset.epsilon, b.spent_epsilon, b.naive_epsilon, b.left_epsilon, b.charges)
        for b in balances
    ]
    return pd.DataFrame(rows, columns=["data asset", *_ASSET_FIGURES, "charges that count"])


def charges_table(charges: Sequence[Charge]) -> pd.DataFrame:
    """One row per charge, newest first, with its state and what was noted later in words."""
    rows = [
        (
            charge.id,
            charge.asset,
            charge.created[:19].replace("T", " "),
            charge.who,
            charge.why,
            charge.epsilon,
            STATE_WORDS[charge.state],
            "; ".join(correction.note for correction in charge.corrections),
        )
        for charge in reversed(charges)
    ]
    return pd.DataFrame(
        rows,
        columns=["number", "data asset", "time (UTC)", "who", "why", "epsilon", "state", "notes"],
    )


def releases_section() -> None:
    """A table of them, newest first; nothing where there are none. Reads the ledger alone."""
    # The page is open to who tries a sample without the key, and must not end at the ledger.
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
            releases_table(found),
            hide_index=True,
            width="stretch",
            key="finished_releases",
            height="content" if len(found) <= 20 else "auto",
        )
        st.caption(
            "From the ledger. A release made with `prism release --out` stands in the folder that "
            "was named there; one made on this page, in the folder that was shown when it ended. "
            "The certificate in a folder names its charge."
        )


def releases_table(charges: Sequence[Charge]) -> pd.DataFrame:
    """One row per release, newest first; the plan as its certificate and protocol begin it."""
    rows = [
        (
            charge.id,
            charge.created[:19].replace("T", " "),
            charge.asset,
            eps_text(charge.epsilon),
            charge.plan[:12],
            "; ".join(correction.note for correction in charge.corrections),
        )
        for charge in reversed(charges)
    ]
    return pd.DataFrame(
        rows, columns=["charge", "time (UTC)", "data asset", "epsilon", "plan", "notes"]
    )
