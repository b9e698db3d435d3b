"""The ledger for reading: what every asset has spent and has left, and all charges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard import access
from dashboard.widgets import plain
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import STATE_WORDS
from prism_core.privacy.ledger.records import COMPOSITION_SENTENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.privacy.ledger import Balance, Charge

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
        assets_table(balances), hide_index=True, width="stretch", key="ledger_assets",
        column_config=dict.fromkeys(_ASSET_FIGURES, _FIGURE),
    )  # fmt: skip
    st.caption(COMPOSITION_SENTENCE)
    st.markdown("**Charges**, newest first")
    st.dataframe(
        charges_table(charges), hide_index=True, width="stretch", key="ledger_charges",
        column_config={"epsilon": _FIGURE},
    )  # fmt: skip


_ASSET_FIGURES = (
    "lifetime epsilon", "spent, composed", "spent, as a plain sum", "left for one release",
)  # fmt: skip


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
            charge.id, charge.asset, charge.created[:19].replace("T", " "), charge.who, charge.why,
            charge.epsilon, STATE_WORDS[charge.state],
            "; ".join(correction.note for correction in charge.corrections),
        )
        for charge in reversed(charges)
    ]  # fmt: skip
    return pd.DataFrame(
        rows,
        columns=["number", "data asset", "time (UTC)", "who", "why", "epsilon", "state", "notes"],
    )
