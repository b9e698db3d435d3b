"""The summary in words, the checklist, the typed confirmation, and the start of a run."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import streamlit as st

from dashboard import access, worker
from dashboard.parts import (
    asset,
    confirm,
    release_checklist,
    release_protocol,
    release_summary,
    report_said,
)
from dashboard.project_rows import Parted, part
from dashboard.state import project
from dashboard.widgets import mistakes, plain
from prism_core.errors import PrismError
from prism_core.pipeline import price_of
from prism_core.planning.approval import same_asset
from prism_core.planning.words import eps_text
from prism_core.workspace import recognise

if TYPE_CHECKING:
    from dashboard.state import Project
    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan


def section() -> None:
    """Everything before the run."""
    state = project()
    if state.finished is not None:
        st.info(
            "Your finished release is kept: show it again to inspect it, or to read its report. "
            "What follows prepares **another** one, with a charge and an approval of its own.",
            icon=":material/inventory_2:",
        )
        st.button(
            "Show the finished release again", key="release_back", icon=":material/undo:",
            on_click=state.show_finished,
        )  # fmt: skip
    plan = release_checklist.planned(state)
    left, right = st.columns([1.25, 1], gap="large")
    with right:
        st.subheader("Checklist", anchor=False)
        listed = st.container(gap="xsmall")
        budget_left = plan is not None and _budget_left(state, plan)
    with left:
        st.subheader("What will be done", anchor=False)
        if plan is None:
            st.markdown("There is no plan yet: the checklist says what is missing.")
        else:
            release_summary.section(state, plan)
    approval = None if plan is None else release_protocol.check(plan)
    found = release_checklist.checks(state, budget_left=budget_left, approval=approval)
    with listed:
        release_checklist.show(found)
    if plan is None:
        return
    release_protocol.section(plan)
    report_said.before(state)
    st.divider()
    _confirmation(state, plan, green=all(check.done for check in found))


def _confirmation(state: Project, plan: Plan, *, green: bool) -> None:
    confirmed = state.public
    if state.public:
        st.caption("These rows are public: a rehearsal with known noise. Nothing is charged.")
    else:
        st.markdown(_promise(state, plan))
        confirmed = confirm.typed_word(
            "release_confirm", "To confirm, type the name of the asset",
            confirm.subject(plan.hash, asset.owing(plan.prior)),
            lambda typed: bool(typed.strip()) and same_asset(typed, state.asset),
            disabled=not state.asset.strip(), width=420,
        )  # fmt: skip
    label = "Run the rehearsal" if state.public else "Run the release"
    wanted = st.button(
        label, type="primary", icon=":material/play_arrow:", key="release_run", disabled=not green
    )
    if not wanted:
        return
    if not confirmed:
        st.error(
            f"Type “{plain(state.asset)}” into the field above to confirm; nothing was run.",
            icon=":material/keyboard:",
        )
        return
    with st.spinner("Encoding the rows in the declared domain …"), mistakes():
        _start(state, plan)
        st.rerun()


def _promise(state: Project, plan: Plan) -> str:
    charged_before = plan.prior is not None and asset.owing(plan.prior) is None
    amount = plan.spent.epsilon if charged_before else plan.budget.epsilon
    return (
        f"**Spend epsilon {eps_text(amount)} of “{plain(state.asset or 'the asset')}”.** This "
        "cannot be undone, even if the run fails after its first measurement."
    )


def _budget_left(state: Project, plan: Plan) -> bool:
    """Entries of the ledger, or the seed; True when the run may be started."""
    if state.public:
        asset.seed("release_seed")
        return True
    price = price_of(plan)
    return asset.section(price.spent, price.spent.rho, plan.delta, "This release", prior=plan.prior)


def _recognised(state: Project, table: Rows, plan: Plan) -> str:
    """A notice for this screen when the same rows were charged under another name."""
    assert state.raw is not None and state.schema is not None
    return recognise(access.ledger(), state.asset, state.schema, state.raw, table, plan.hash)


def _start(state: Project, plan: Plan) -> None:
    """Start the run; a second tab of the same project does not start another one meanwhile."""
    if state.starting:
        raise PrismError("This project's run is being started already, in another tab.")
    state.starting = True
    try:
        _launch(state, plan)
    finally:
        state.starting = False


def _launch(state: Project, plan: Plan) -> None:
    assert state.raw is not None and state.schema is not None
    how = Parted(schema=state.schema, kept=state.holdout_rows, seed=secrets.randbits(256))
    table, train, holdout = part(state, how)
    if train.schema != plan.schema or train.n != plan.n:
        raise PrismError(
            "The columns or the number of training rows changed. Open the page Data again."
        )
    notice = "" if state.public else _recognised(state, table, plan)
    job = worker.start(
        plan, train, asset.chosen(), state.seed, state.usable(state.scenarios.others),
        key=state.key, name=state.name, approval=release_protocol.given(plan),
        said=report_said.said(state),
    )  # fmt: skip
    state.forget_results()
    state.finished = state.put_away = None  # its rows kept aside are replaced
    state.notice = notice
    state.train, state.holdout, state.parted = train, holdout, how
    state.job = job
