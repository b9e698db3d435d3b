"""Committee: what waits for a decision, and what was decided?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.common.committee_view import STATE_BADGES, steps_section
from dashboard.common.widgets import cached, heading, mistakes
from dashboard.key import access
from dashboard.session.committee_room import committee
from dashboard.session.project_files import from_file, with_sample
from prism_core.errors import PrismError
from prism_core.explain.meaning import meaning
from prism_core.hosting import audit_log
from prism_core.hosting.committee import LONGEST_COMMENT
from prism_core.hosting.submission import READERS, SubmittedProtocol
from prism_core.planning.design import design
from prism_core.planning.search.comparison import figures
from prism_core.privacy.ledger.records import STATE_WORDS
from prism_core.text.markdown import plain
from prism_core.text.numbers import delta_text, eps_text, error_text

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan

_CHOSEN = "protocol"
_AUDIT_LINES = 500
_TALL = 700  # pixels of the window on the protocol
_GUESS = 10  # an attacker who guessed right once in so many times before
_LEAST, _MOST = 0.1, 2.0  # of the protocol's epsilon


def _decision(found: SubmittedProtocol) -> None:
    """One protocol, from its figures to the decision."""
    st.subheader(f"{plain(found.title)}: protocol {found.number}", anchor=False)
    st.markdown(
        f"{STATE_BADGES[found.state]} Submitted by **{plain(found.name)}** ({plain(found.subject)})"
        f" on {found.at[:16].replace('T', ' ')} UTC, for the asset **{plain(found.asset)}**. "
        f"{len(found.votes)} of {found.quorum} approved."
    )
    plan = _plan(found)
    if plan is None:
        st.info(
            "Figures and what-if are not shown: this version of the program makes another plan of "
            "these entries. The protocol below holds the figures that were submitted.",
            icon=":material/info:",
        )
    else:
        _figures(found, plan)
    with st.expander("Read the protocol", icon=":material/article:", expanded=True):
        st.iframe(
            committee().page(found.number),
            height=_TALL,
            alt=f"The protocol {found.number}, in full",
        )
    left, right = st.columns([1.2, 1], gap="large")
    with left:
        st.markdown("**Comments and decisions**")
        if not found.steps:
            st.caption("Nobody has written anything yet.")
        steps_section(found)
    with right:
        _answer(found)


def _plan(found: SubmittedProtocol) -> Plan | None:
    """The plan that was submitted, from what was entered; None where it is another one now."""

    def make() -> Plan | None:
        file = committee().entered(found.number)
        try:
            plan = with_sample(from_file(file), file.sample).plan()
        except PrismError:
            return None
        # Figures of another plan than the one submitted must not be decided on.
        return plan if plan.hash == found.plan_sha256 else None

    # By its number alone: what was submitted does not change.
    return cached("committee_plan", (found.number,), make)


def _figures(found: SubmittedProtocol, plan: Plan) -> None:
    """Four figures; beside them those of another epsilon."""
    epsilon = plan.budget.epsilon
    with st.container(border=True):
        chosen = st.slider(
            "What if epsilon were another one? Free: no row is read.",
            round(epsilon * _LEAST, 3),
            round(epsilon * _MOST, 3),
            epsilon,
            # Each protocol has a slider of its own, which begins at its own epsilon.
            key=f"what_if_{found.number}",
            format="%.3g",
        )
        other = None if chosen == epsilon else _other(plan, chosen)
        here = _values(plan)
        there = [""] * len(here) if other is None else [value for _, value, _ in _values(other)]
        for column, (title, value, words), what_if in zip(
            st.columns(len(here)), here, there, strict=True
        ):
            column.metric(
                title,
                value,
                f"what if: {what_if}" if what_if else None,
                delta_color="off",
                delta_arrow="off",
                border=True,
                help=words,
            )


def _other(plan: Plan, epsilon: float) -> Plan | None:
    """The same wishes for another epsilon; what it may not do is said."""
    brief = plan.brief
    # The limit on epsilon is for who spends; here nothing is spent.
    budget = replace(brief.budget, epsilon=epsilon)
    try:
        return design(brief.with_wishes(brief.task, budget, brief.synthesis))
    except PrismError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None


def _values(plan: Plan) -> tuple[tuple[str, str, str], ...]:
    found, guess = figures(plan), meaning(plan).guess(_GUESS)
    return (
        (
            "Privacy budget, ε",
            eps_text(plan.budget.epsilon),
            f"With delta = {delta_text(plan.delta)}, for {plan.n:,} people.",
        ),
        (
            "Expected error",
            error_text(found.mean_error),
            "Mean expected error (l1) of the tables with the target, relative to n: an average of "
            f"the noise, not a guarantee. The largest is {error_text(found.largest_error)}.",
        ),
        (f"Guess of {guess.before_words}", f"≤ {guess.after_words}", guess.sentence),
        ("Synthetic rows", f"{plan.rows:,}", "How many rows leave."),
    )


def _answer(found: SubmittedProtocol) -> None:
    """The form of who may say something; who only reads sees none."""
    if not access.granted("reviewer"):
        st.caption("You may read; reviewers decide.")
        return
    room = committee()
    hindrance = room.hindrance(found)
    # No key submits it: an approval has to be meant. A text that is refused stays to be mended.
    with st.form("decision", border=True, clear_on_submit=False, enter_to_submit=False):
        st.markdown("**Your answer**")
        # Another field after each step, so that what was said is not said twice.
        key = f"comment_{found.number}_{len(found.steps)}"
        text = st.text_area("Comment", key=key, max_chars=LONGEST_COMMENT)
        st.caption(
            "An approval is signed with your login and the time, for exactly this plan and asset. "
            "To send it back, write why."
            if not hindrance
            else f"{hindrance} You may still comment on it."
        )
        with st.container(horizontal=True):
            approve = st.form_submit_button(
                "Approve", type="primary", icon=":material/how_to_reg:", disabled=bool(hindrance)
            )
            back = st.form_submit_button(
                "Send back", icon=":material/reply:", disabled=bool(hindrance)
            )
            comment = st.form_submit_button("Comment", icon=":material/chat:")
    with mistakes():
        # A button that was disabled may be sent all the same; the room checks the role and the
        # state again.
        if approve:
            room.approve(found.number, text)
        elif back:
            room.send_back(found.number, text)
        elif comment:
            room.comment(found.number, text)
        else:
            return
        st.rerun()


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
    st.markdown(f"**Audit log:** the newest {_AUDIT_LINES} lines")
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
                for one in audit_log.entries(workspace, _AUDIT_LINES)
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
        _decision(committee().get(chosen))
else:
    with mistakes():
        _list()
