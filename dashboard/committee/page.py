"""Committee: what waits for a decision, and what was decided?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.committee import decision
from dashboard.common.committee_view import STATE_BADGES
from dashboard.common.widgets import heading, mistakes
from dashboard.key import access
from dashboard.session.committee_room import committee
from prism_core.hosting import audit_log
from prism_core.hosting.submission import READERS, SubmittedProtocol
from prism_core.privacy.ledger.records import STATE_WORDS
from prism_core.text.markdown import plain
from prism_core.text.numbers import eps_text

_MOST = 500
_CHOSEN = "protocol"


def _records() -> None:
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
    # At every look: a log that was changed must not be read as if it were whole.
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


def _line(found: SubmittedProtocol) -> None:
    with st.container(horizontal=True, vertical_alignment="center", border=True, gap="small"):
        st.markdown(
            f"{STATE_BADGES[found.state]} **{plain(found.title)}** · asset {plain(found.asset)} · "
            f"by {plain(found.name)} · {found.at[:16].replace('T', ' ')} UTC · "
            f"{len(found.votes)} of {found.quorum} approved",
            width="stretch",
        )
        if st.button("Read", key=f"read_{found.number}", icon=":material/article:"):
            # In the address, so that a reload or a link to a colleague opens the same protocol.
            st.query_params[_CHOSEN] = found.number
            st.rerun()


def _list() -> None:
    room = committee()
    found, damaged = room.all(), room.unreadable()
    if damaged:
        st.error(
            f"The files of protocol {', '.join(damaged)} are damaged: it counts for nothing. Tell "
            "who runs this server.",
            icon=":material/warning:",
        )
    waiting = [one for one in found if one.state == "waiting"]
    decided = [one for one in found if one.state != "waiting"]
    tabs = st.tabs([f"Waiting ({len(waiting)})", f"Decided ({len(decided)})", "Records"])
    for tab, lines, none in zip(
        tabs[:2], (waiting, decided), ("No protocol waits.", "Nothing is decided yet."), strict=True
    ):
        with tab:
            if not lines:
                st.info(none, icon=":material/inbox:")
            for one in lines:
                _line(one)
    with tabs[2]:
        _records()


heading(
    "Committee",
    "What waits for a decision, and what was decided? Nothing on this page spends anything.",
    "reviewer",
    "auditor",
    "administrator",
    about_project=False,
)
chosen = st.query_params.get(_CHOSEN, "")
if chosen:
    if st.button("All protocols", key="all_protocols", icon=":material/arrow_back:"):
        del st.query_params[_CHOSEN]
        st.rerun()
    with mistakes():
        decision.section(committee().get(chosen))
else:
    with mistakes():
        _list()
