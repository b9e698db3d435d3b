"""Budgets: what is left of the lifetime privacy budget of every data asset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.key import access
from prism_core.errors import LedgerError
from prism_core.privacy.ledger.store_choice import present
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.privacy.ledger import Balance


def section() -> None:
    """One line a data asset; nothing where none is registered. Reads the ledger alone."""
    try:
        if not present(access.workspace()):
            return  # looking must not make one
        ledger = access.ledger()
        found = [ledger.balance(asset.name) for asset in ledger.assets()]
    except LedgerError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    if not found:
        return
    st.markdown("**Privacy budget of each data set** (lifetime epsilon)")
    st.dataframe(
        table(found),
        hide_index=True,
        width="stretch",
        height="content" if len(found) <= 6 else 245,
        key="start_budgets",
        column_config={
            "spent": st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1),
            "spent epsilon": st.column_config.NumberColumn(format="%.3g"),
            "lifetime epsilon": st.column_config.NumberColumn(format="%.3g"),
            "left for one release": st.column_config.NumberColumn(format="%.3g"),
        },
    )


def table(found: Sequence[Balance]) -> pd.DataFrame:
    """One row per asset; figures are epsilons."""
    return pd.DataFrame(
        {
            "data set": [balance.asset.name for balance in found],
            "spent": [balance.spent_epsilon / balance.asset.epsilon for balance in found],
            "spent epsilon": [balance.spent_epsilon for balance in found],
            "lifetime epsilon": [balance.asset.epsilon for balance in found],
            "left for one release": [balance.left_epsilon for balance in found],
        }
    )
