"""Committee: what waits for a decision, and what was decided?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.committee import decision, records
from dashboard.common.committee_view import STATE_BADGES
from dashboard.common.widgets import heading, mistakes
from dashboard.session.committee_room import committee
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from prism_core.hosting.submission import SubmittedProtocol

_CHOSEN = "protocol"


def _line(found: SubmittedProtocol) -> None:
    with st.container(horizontal=True, vertical_alignment="center", border=True, gap="small"):
        st.markdown(
            f"{STATE_BADGES[found.state]} **{plain(found.title)}** · asset {plain(found.asset)} · "
            f"by {plain(found.name)} · {found.at[:16].replace('T', ' ')} UTC · "
            f"{len(found.votes)} of {found.quorum} approved",
            width="stretch",
        )
        if st.button("Read", key=f"read_{found.number}", icon=":material/article:"):
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
        records.section()


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
