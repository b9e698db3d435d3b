"""Submission of a protocol to the committee, and where it stands; in the hosted form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.committee_view import STATE_BADGES, steps_section
from dashboard.common.widgets import mistakes
from dashboard.session import committee_room
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.session.project import Project
    from prism_core.bundle.protocol.protocol import Protocol
    from prism_core.hosting.submission import SubmittedProtocol
    from prism_core.planning.plan import Plan


def section(
    state: Project, plan: Plan, make: Callable[[], Protocol], *, blank: bool, approved: bool
) -> None:
    """The protocols of this project, and the button that submits another one.

    Args:
        state: the project.
        plan: what is entered now.
        make: gives the protocol of that plan.
        blank: whether the statement has blanks.
        approved: whether an approval of this plan counts, and was used for no run yet.
    """
    found = committee_room.submitted(state)
    # The same plan is not put before the committee twice; a changed one may be.
    waits = any(one.plan_sha256 == plan.hash and one.state == "waiting" for one in found)
    if not (waits or approved):
        _submit(state, make, blank=blank)
    for one in found:
        _standing(one, plan)


def standing(state: Project, plan: Plan) -> str:
    """Where this plan's newest protocol stands, for the checklist; "" where none was submitted."""
    same = [one for one in committee_room.submitted(state) if one.plan_sha256 == plan.hash]
    if not same:
        return ""
    # None is submitted while another of the same plan waits, so the newest speaks.
    newest = same[0]
    if newest.state == "waiting":
        return (
            f"Protocol {newest.number} waits for the committee: {len(newest.votes)} of "
            f"{newest.quorum} approved"
        )
    return f"Protocol {newest.number} is {newest.state}: see below, and submit it again"


def _submit(state: Project, make: Callable[[], Protocol], *, blank: bool) -> None:
    nameless = not state.account.asset.strip()
    if nameless:
        st.caption(":orange[Name the data asset first:] an approval is for one asset.")
    if st.button(
        "Submit this protocol to the committee",
        type="primary",
        icon=":material/send:",
        key="protocol_submit",
        disabled=nameless or blank,
    ):
        with mistakes():
            committee_room.submit(state, make())
            st.rerun()


def _standing(found: SubmittedProtocol, plan: Plan) -> None:
    with st.container(border=True):
        about = "this plan" if found.plan_sha256 == plan.hash else "an earlier plan"
        st.markdown(
            f"{STATE_BADGES[found.state]} **Protocol {found.number}** of {about}, submitted "
            f"{found.at[:16].replace('T', ' ')} UTC by {plain(found.name)}. "
            f"{len(found.votes)} of {found.quorum} approved."
        )
        steps_section(found)
        if found.state == "waiting" and st.button(
            "Withdraw it", key=f"withdraw_{found.number}", icon=":material/undo:"
        ):
            with mistakes():
                committee_room.committee().withdraw(found.number)
                st.rerun()
