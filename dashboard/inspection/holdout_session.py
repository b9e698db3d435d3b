"""Holdout sessions: one charge, then questions, and what each one was told."""

from __future__ import annotations

import json

import streamlit as st

from dashboard.common import asset_entry, confirmation, spend_form
from dashboard.common.fields import number_entry
from dashboard.common.widgets import mistakes
from dashboard.inspection.figure import table
from dashboard.inspection.results import inspection
from dashboard.key import access
from dashboard.session.shelf import project
from prism_core.errors import PrismError
from prism_core.evaluation import LEARNER_LABELS, LEARNERS
from prism_core.evaluation.inside_epsilon.holdout import (
    ask_holdout,
    entry_dict,
    sessions_of,
    status,
)
from prism_core.evaluation.inside_epsilon.holdout_plan import (
    MOST_ANSWERS,
    HoldoutPlan,
    design_holdout,
)
from prism_core.evaluation.inside_epsilon.holdout_question import METRICS, most_frequent, question
from prism_core.evaluation.inside_epsilon.holdout_state import HOLDOUT, Entry, Session
from prism_core.runs.charged_evaluation import run_open_holdout
from prism_core.text.markdown import plain
from prism_core.text.numbers import delta_text, eps_text

_NONE = "—"


def section() -> None:
    """The sessions for these synthetic rows, and the offer to open one."""
    st.markdown(
        "People who work with synthetic rows come back with another model, and another. Here **one "
        "budget, charged when a session is opened**, answers such questions again and again: how "
        "well does a model do that was trained on the synthetic rows? As long as the rows kept "
        "aside agree with the synthetic ones within the tolerance, the value on the synthetic rows "
        "is told. Only where they do not is the value on the rows kept aside told, with noise, and "
        "one of the answers is used up. Answers may be shown to others."
    )
    if not access.granted():
        st.info(
            "Sessions are kept in the workspace of whoever started the app: they need the key.",
            icon=":material/lock:",
        )
        return
    try:
        sessions = sessions_of(access.workspace(), inspection().subject.synthetic)
        found = sessions.known
        if sessions.broken:
            _broken(sessions.broken)
        if found:
            _session(_chosen(found))
        with st.expander(
            "Open another session" if found else "Open a session",
            expanded=not found,
            icon=":material/lock_open:",
        ):
            _offer(len(found))
    except PrismError as error:
        st.error(plain(str(error)), icon=":material/error:")


def _broken(numbers: tuple[str, ...]) -> None:
    """Sessions without a readable file; they may have been opened for other rows."""
    one = len(numbers) == 1
    st.warning(
        f"The {'file' if one else 'files'} of session{'' if one else 's'} {', '.join(numbers)} of "
        f"this workspace {'is' if one else 'are'} not as this program writes "
        f"{'it' if one else 'them'}. Nothing more is answered from {'it' if one else 'them'}; what "
        "was charged stands.",
        icon=":material/warning:",
    )


def _chosen(found: tuple[Session, ...]) -> Session:
    newest = tuple(reversed(found))
    if len(newest) == 1:
        return newest[0]
    names = {session.name: session for session in newest}
    name = st.selectbox(
        "Session",
        list(names),
        key="holdout_session",
        format_func=lambda name: (
            f"{name}: {names[name].left} of {names[name].plan.answers} answers left"
        ),
    )
    return names[name]


def _session(session: Session) -> None:
    plan = session.plan
    say, icon = (
        (st.success, ":material/verified:")
        if session.charge is not None
        else (st.warning, ":material/warning:")
    )
    say(
        f"**Session {session.name}** · epsilon {eps_text(plan.spent.epsilon)}, delta "
        f"{delta_text(plan.delta)}"
        + (
            " · a rehearsal on public rows: not charged, and what is told is not private"
            if session.charge is None
            else f" · charge number {session.charge} in the ledger"
        ),
        icon=icon,
    )
    first, second, third = st.columns(3)
    first.metric(
        "Answers left",
        f"{session.left} of {plan.answers}",
        border=True,
        help="Answers that may still come from the rows kept aside. Questions on which "
        "both sides agree use up none.",
    )
    limit = "" if plan.questions is None else f" of {plan.questions:,}"
    second.metric("Questions asked", f"{session.count}{limit}", border=True)
    third.metric(
        "Noise of an answer (95%)",
        f"± {1.96 * plan.answer_error:.3f}",
        border=True,
        help="As a share of the metric's range. The comparison has noise of "
        f"± {1.96 * plan.comparing_error:.3f}; the tolerance is {plan.tolerance:g}.",
    )
    if session.open:
        _ask(session)
    else:
        st.info(
            "Nothing more is answered in this session. What was told stands below.",
            icon=":material/lock:",
        )
    _told(session)


def _ask(session: Session) -> None:
    plan = session.plan
    others = [name for name in plan.schema.names if name != plan.target]
    # A form: each question may use an answer up, so none is asked while it is being put together.
    with st.form("holdout_question", border=True):
        left, right = st.columns(2)
        metric = left.selectbox(
            "Metric",
            list(METRICS),
            format_func=METRICS.__getitem__,
            key="holdout_metric",
            help="Means over rows. An AUC compares pairs of rows and cannot be asked.",
        )
        learner = right.selectbox(
            "Learner", list(LEARNERS), format_func=LEARNER_LABELS.__getitem__, key="holdout_learner"
        )
        features = st.multiselect(
            "Columns it learns from (none chosen: all)", others, key="holdout_features"
        )
        sent = st.form_submit_button("Ask", type="primary", icon=":material/contact_support:")
    if not sent:
        return
    with st.spinner("Training on the synthetic rows, comparing …"), mistakes():
        subject = inspection().subject
        asked = question(
            plan.schema, plan.target, metric=metric, learner=learner, features=features or None
        )
        ask_holdout(session.place, asked, subject.synthetic, subject.holdout.one_row_each)
        # The answers that are left stand above the form.
        st.rerun()


def _told(session: Session) -> None:
    if not session.entries:
        return
    # By the synthetic rows: those kept aside answer for the charge of the session alone.
    floor = most_frequent(inspection().subject.synthetic, session.plan.target)
    rows = [_row(session, number, entry, floor) for number, entry in enumerate(session.entries, 1)]
    charged = session.charge is not None
    badge = ":green-badge[inside epsilon]" if charged else ":orange-badge[not covered]"
    st.markdown(f"{badge} What was told in session {session.name}")
    table(rows, f"holdout_{session.name}", inside=charged)
    st.caption(
        "The same question gets the same answer again, for nothing. Came from *synthetic*: the "
        "value on the synthetic rows, within the tolerance of that on the rows kept aside "
        f"(± {session.plan.tolerance:g} of the metric's range), as far as the noise of the "
        "comparison lets one see; no noise was added to it. Came from *holdout*: the value on the "
        "rows kept aside, with noise. *Most frequent class* is the accuracy of always naming the "
        "class that is most frequent among the synthetic rows, on these rows: a model that does "
        "no better has learned nothing."
    )
    st.download_button(
        "What was told (JSON)",
        json.dumps(status(session), indent=2, ensure_ascii=False).encode(),
        f"holdout-session-{session.name}.json",
        "application/json",
        key=f"holdout_entry_{session.name}",
        icon=":material/download:",
        on_click="ignore",
    )


def _row(session: Session, number: int, entry: Entry, floor: float) -> dict[str, object]:
    """A question and what it was told; the long texts come last, where the screen may cut."""
    found = entry_dict(session, entry)
    noisy = entry.source == HOLDOUT
    return {
        "question": number,
        "metric": METRICS[entry.question.metric],
        "told": found["value"],
        "noise, 95% ±": f"{1.96 * found['noise_deviation']:.3g}" if noisy else _NONE,
        "came from": entry.source,
        "on synthetic rows": entry.synthetic,
        "most frequent class": f"{floor:.4g}" if entry.question.metric == "accuracy" else _NONE,
        "learner": LEARNER_LABELS[entry.question.learner],
        "columns": ", ".join(entry.question.features),
    }


def _offer(number: int) -> None:
    entries, cost = st.columns([1, 1.4], gap="large")
    with entries:
        number_entry(
            inspection(), "session_epsilon", "holdout_epsilon", "Epsilon of the whole session"
        )
        confirmation.tick_above_maximum(inspection().session_epsilon, "holdout_above_limit")
        answers = st.number_input(
            "Answers from the rows kept aside",
            1,
            MOST_ANSWERS,
            10,
            key="holdout_answers",
            help="More answers: more noise in each.",
        )
        number_entry(
            inspection(),
            "session_tolerance",
            "holdout_tolerance",
            "Tolerance",
            help="By how much both sides may differ and still count as agreeing, as a share of "
            "the metric's range (1 for accuracy, 3 nats for the clipped log loss).",
        )
    plan = _plan(inspection().session_epsilon, int(answers), inspection().session_tolerance)
    with cost:
        _cost(plan)
    spend_form.spend_form(
        spend_form.Spending(
            kind="holdout",
            key="holdout",
            step="This session",
            on=" now, whatever is asked later",
            label="Spend and open",
            rehearsal_label="Open with known noise (rehearsal)",
            button="holdout_open",
            # A session that was opened makes the next one another, to be confirmed by itself.
            attempt=number,
            busy="Charging, opening …",
            # Without a test file these rows are a part of the open table, which is remembered for
            # None.
            rows=project().data.test,
        ),
        plan,
        lambda: _open(plan),
        place=entries,
    )


def _plan(epsilon: float, answers: int, tolerance: float) -> HoldoutPlan:
    now = inspection()
    return design_holdout(
        now.subject.holdout.one_row_each.schema,
        now.subject.target,
        now.subject.holdout.people,
        epsilon,
        now.certificate.get("guarantee", {}).get("delta"),
        answers=answers,
        tolerance=tolerance,
        release=str(now.certificate.get("plan_sha256", "")),
        above_limit=confirmation.above_maximum(epsilon),
    )


def _cost(plan: HoldoutPlan) -> None:
    first, second, third = st.columns(3)
    first.metric(
        "Spends, ε",
        eps_text(plan.spent.epsilon),
        border=True,
        help=f"By itself, at delta {delta_text(plan.delta)}. As pure differential "
        f"privacy (delta 0): {eps_text(plan.scales.pure_epsilon)}.",
    )
    second.metric("Comparison, noise (95%)", f"± {1.96 * plan.comparing_error:.3f}", border=True)
    third.metric("Answer, noise (95%)", f"± {1.96 * plan.answer_error:.3f}", border=True)
    spend_form.cautions(plan)
    st.caption(
        f"Shares of the metric's range, from the {plan.n:,} rows kept aside and epsilon alone; no "
        "row is read before you confirm. The number of questions is not limited."
    )


def _open(plan: HoldoutPlan) -> None:
    """Charge and open."""
    subject = inspection().subject
    account = asset_entry.registered(plan.delta)
    run_open_holdout(
        plan, subject.synthetic, subject.holdout.one_row_each, access.workspace(), account
    )
