"""Protocol to take to a committee, or to submit to it, and its approval of exactly this plan."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common import asset_entry, attribution, rehearsal_run, uploads
from dashboard.common.committee_view import STATE_BADGES, steps_section
from dashboard.common.fields import keep, language_entry
from dashboard.common.plan_changes import change_table
from dashboard.common.widgets import cached, mistakes
from dashboard.key import access, identity
from dashboard.release.checklist import ChecklistLine
from dashboard.session import committee_room
from dashboard.session.shelf import project
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.errors import ConfigError, LedgerError, PrismError
from prism_core.planning.wishes.curator_statement import blank_text
from prism_core.privacy.ledger import rules
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.session.project import Project
    from prism_core.bundle.protocol.approval_file import ApprovedPlan
    from prism_core.hosting.submission import SubmittedProtocol
    from prism_core.planning.plan import Plan

_TALL = 700  # pixels of the window on the protocol
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_FORMATS = (
    ("For reading (HTML)", "html", "text/html"),
    ("For comments (Word)", "docx", _WORD),
    ("For machines (JSON)", "json", "application/json"),
)


def given(plan: Plan) -> ApprovedPlan | None:
    """The approval that goes with the run.

    Raises:
        PrismError: when it is of another plan or asset, or one is needed and there is none.
    """
    state = project()
    _take_decision(state, plan)
    if state.release.approved is not None:
        state.release.approved.check(plan, state.account.asset)
    elif _needed(state):
        raise PrismError("This release needs an approval. Record it under Protocol and approval.")
    return state.release.approved


def check(plan: Plan) -> ChecklistLine | None:
    """The line of the checklist, None where nobody is asked."""
    state = project()
    refused = _take_decision(state, plan)
    if refused:
        return ChecklistLine(done=False, text=plain(refused))
    try:
        needed = _needed(state)
    except ConfigError as error:
        return ChecklistLine(done=False, text=plain(str(error)))
    if state.release.approved is None:
        text = "Have the plan approved: under Protocol and approval, below"
        if needed and identity.hosted():
            text = _submission_standing(state, plan) or text
        return ChecklistLine(done=False, text=text) if needed else None
    approval = state.release.approved.approval
    if not (state.data.public or approval.asset):
        text = "The approval names no data asset: name it above, and have the plan approved for it"
        return ChecklistLine(done=False, text=text)
    if state.release.approved.covers(plan, state.account.asset):
        # An approval is for one run: once used, it covers nothing more.
        used = _used(state, plan)
        if used:
            return ChecklistLine(done=False, text=plain(used))
        return ChecklistLine(
            done=True, text=f"A{plain(approval.sentence[1:])}, for exactly this plan"
        )
    # Without the asset it says which of the two differs.
    what = "asset is another one" if state.release.approved.covers(plan) else "plan changed"
    return ChecklistLine(
        done=False, text=f"The {what} since it was approved: see below what changed"
    )


def _take_decision(state: Project, plan: Plan) -> str:
    """In the hosted form the committee's approval is the only one; why it does not count, or ""."""
    if state.data.public or not identity.hosted():
        return ""
    return committee_room.take_approval(state, plan)


def section(plan: Plan) -> None:
    """The protocol to read and to take along, the record of an approval, what changed since."""
    state = project()
    with st.expander("Read the protocol", icon=":material/article:"), mistakes():
        st.iframe(
            _protocol(state, plan)["html"].decode("utf-8"),
            height=_TALL,
            alt="The protocol, in full",
        )
    if not access.granted():  # who approves does it for the workspace
        return
    label = "Protocol and approval: what a committee decides on before anything is spent"
    changed = state.release.approved is not None and not state.release.approved.covers(
        plan, state.account.asset
    )
    with st.expander(label, icon=":material/gavel:", expanded=changed), mistakes():
        st.markdown(
            "The protocol follows from the plan, the rehearsals and the ledger; no row is read for "
            "it. An approval holds for exactly this plan, and goes into the certificate."
        )
        blank = attribution.said(state).blank
        if blank:
            st.warning(
                f"This is a draft, and is stamped as one. Say under *{attribution.TITLE}*: "
                f"{blank_text(blank)}.",
                icon=":material/edit_note:",
            )
        protocol = _protocol(state, plan)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            language_entry("protocol_language")
            for title, ending, mime in _FORMATS:
                st.download_button(
                    title,
                    protocol[ending],
                    f"protocol.{ending}",
                    mime,
                    on_click="ignore",
                    key=f"protocol_{ending}",
                    icon=":material/download:",
                )
        _asked(state)
        if identity.hosted():
            _decided(state, plan)
        elif state.release.approved is None:
            _record(state, plan)
        else:
            _recorded(state, state.release.approved, plan)


def _decided(state: Project, plan: Plan) -> None:
    """The committee's decision, which nobody types here; rehearsals need none."""
    if state.data.public:
        st.caption("The rows are public: nothing is spent, and no committee is asked.")
        return
    found = state.release.approved
    if found is not None:
        _recorded(state, found, plan)
    _submission(
        state,
        plan,
        lambda: _made(state, plan),
        blank=bool(attribution.said(state).blank),
        approved=found is not None
        and found.covers(plan, state.account.asset)
        and not _used(state, plan),
    )


def _used(state: Project, plan: Plan) -> str:
    """Why the recorded approval is used up, "" while it is not; rehearsals use none up."""
    if state.data.public or state.release.approved is None:
        return ""
    try:
        charge = access.ledger().used(plan.hash, state.release.approved.approval)
    except LedgerError:
        return ""  # the checklist says that there is no ledger to charge
    return "" if charge is None else charge.used_sentence


def _rule() -> bool:
    return rules.approval_required(access.workspace())


def _needed(state: Project) -> bool:
    return not state.data.public and (state.release.approval_needed or _rule())


def _asked(state: Project) -> None:
    if state.data.public:
        return
    rule = _rule()
    st.checkbox(
        "Release only with an approval",
        value=state.release.approval_needed or rule,
        disabled=rule,
        key="approval_needed",
        on_change=keep,
        args=(state.release, "approval_needed", "approval_needed"),
        help="This workspace's settings ask for one." if rule else None,
    )


def _protocol(state: Project, plan: Plan) -> dict[str, bytes]:
    """The protocol in every format, by the endings of files."""
    made = _made(state, plan)
    return cached(
        "protocol_kept",
        (made,),
        lambda: {ending: made.content(f".{ending}") for _, ending, _ in _FORMATS},
    )


def _made(state: Project, plan: Plan) -> Protocol:
    return Protocol(
        plan=plan,
        asset=_line(state.account.asset),
        statement=attribution.said(state),
        balance=None if state.data.public else asset_entry.balance(plan.delta),
        charges=asset_entry.charges(plan.delta),
        owed=asset_entry.owing(plan.prior),
        rehearsal=rehearsal_run.of_plan(),
        holdout=_holdout(state),
        # An approval of another plan must not stand on the paper of this one.
        approval=state.release.approved.approval
        if state.release.approved is not None
        and state.release.approved.covers(plan, state.account.asset)
        else None,
        language=state.release.language,
    )


def _holdout(state: Project) -> int | None:
    """Rows to evaluate on; None while a test file of its own is not there yet."""
    if state.data.test is not None:
        # Where a person may have several rows their number is private, and a committee is handed
        # this.
        return state.data.test.rows if state.data.people.person_id is None else None
    return None if state.data.test_file else state.data.holdout_rows


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _record(state: Project, plan: Plan) -> None:
    typed, file = st.columns(2, gap="large")
    # Enter records nothing: an approval has to be meant.
    with typed, st.form("approval_form", border=True, enter_to_submit=False):
        st.markdown("**Record an approval**")
        st.caption("What is typed here is your word: nobody checks who approved.")
        by = st.text_input("Who approved (names)", key="approval_by")
        role = st.text_input("Role", "privacy committee", key="approval_role")
        day = st.date_input("On", dt.date.today(), max_value=dt.date.today(), key="approval_date")
        nameless = not (state.data.public or state.account.asset.strip())
        said = attribution.said(state)
        if nameless:
            st.caption(":orange[Name the data asset first:] an approval is for one asset.")
        if st.form_submit_button(
            "Record the approval of this plan",
            icon=":material/how_to_reg:",
            disabled=nameless or bool(said.blank),
        ):
            protocol = Protocol(plan=plan, asset=_line(state.account.asset), statement=said)
            with mistakes():
                access.require()
                date = day.isoformat() if isinstance(day, dt.date) else ""
                state.release.approved = protocol.approve(
                    by=by.strip(), role=role.strip(), date=date
                )
                st.rerun()
    with file, st.container(border=True):
        st.markdown("**Or use the file of one**")
        upload = st.file_uploader(
            "approval.json",
            type=["json"],
            key="approval_upload",
            max_upload_size=uploads.TEXT_MEGABYTES,
        )
        if st.button("Use this approval", disabled=upload is None, key="approval_use"):
            assert upload is not None
            with mistakes():
                access.require()
                state.release.approved = approval_file.loads(_text(upload.getvalue()))
                st.rerun()


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError("The file is not readable as JSON.", field="protocol") from None


def _recorded(state: Project, found: ApprovedPlan, plan: Plan) -> None:
    approval = found.approval
    if found.covers(plan, state.account.asset):
        st.success(
            f"**A{plain(approval.sentence[1:])}**, for exactly this plan "
            f"({approval.plan_sha256[:12]}…).",
            icon=":material/how_to_reg:",
        )
    else:
        _changed(state, found, plan)
    with st.container(horizontal=True):
        st.download_button(
            "Download the approval",
            found.dumps(),
            "approval.json",
            "application/json",
            key="approval_download",
            icon=":material/download:",
            on_click="ignore",
        )
        if not identity.hosted() and st.button(
            "Forget this approval", key="approval_forget", icon=":material/delete:"
        ):
            state.release.approved = None
            st.rerun()


def _changed(state: Project, found: ApprovedPlan, plan: Plan) -> None:
    approval = found.approval
    if not approval.fits(state.account.asset):
        st.error(
            f"It was approved for the asset “{plain(approval.asset)}”, not for "
            f"“{plain(state.account.asset)}”.",
            icon=":material/block:",
        )
    changes = found.changes(plan)
    if approval.plan_sha256 == plan.hash and not changes:
        return
    st.error(
        f"The plan changed since it was {plain(approval.sentence)}. Go back to the approved one, "
        "or have this one approved.",
        icon=":material/block:",
    )
    if not changes:
        st.caption(
            "No entry differs: figures differ in their last digits, as by another version of the "
            "program or on another machine. Have the plan approved from this machine's protocol."
        )
        return
    st.dataframe(
        change_table(changes, "approved"), hide_index=True, width="stretch", key="approval_changes"
    )


def _submission(
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
        _submitted(one, plan)


def _submission_standing(state: Project, plan: Plan) -> str:
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


def _submitted(found: SubmittedProtocol, plan: Plan) -> None:
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
