"""Records: the ledger and the audit log, for reviewers, auditors and administrators to read."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.key import access
from prism_core.hosting import audit_log
from prism_core.hosting.submission import READERS
from prism_core.privacy.ledger.records import STATE_WORDS
from prism_core.text.numbers import eps_text

_MOST = 500


def section() -> None:
    """What was charged to whom, and who did what."""
    st.markdown("**Ledger:** every charge, the newest first")
    charges = access.ledger(*READERS).charges()
    st.dataframe(
        pd.DataFrame(
            [
                (
                    one.id,
                    one.asset,
                    one.created[:19].replace("T", " "),
                    one.who,
                    eps_text(one.epsilon),
                    STATE_WORDS[one.state],
                    "; ".join(note.note for note in one.corrections),
                )
                for one in reversed(charges)
            ],
            columns=["charge", "data asset", "time (UTC)", "who", "epsilon", "state", "notes"],
        ),
        hide_index=True,
        width="stretch",
        key="records_ledger",
    )
    workspace = access.workspace(*READERS)
    st.markdown(f"**Audit log:** the newest {_MOST} lines")
    wrong = audit_log.broken(workspace)
    if wrong is not None:
        st.error(
            f"Line {wrong:,} of the audit log does not follow from the line before it: a line was "
            "changed or taken out.",
            icon=":material/warning:",
        )
    st.dataframe(
        pd.DataFrame(
            [
                (one.at[:19].replace("T", " "), one.who, one.name, one.did, one.what, one.to)
                for one in audit_log.entries(workspace, _MOST)
            ],
            columns=["time (UTC)", "who", "name", "did", "what", "to, or why"],
        ),
        hide_index=True,
        width="stretch",
        key="records_audit",
    )
