"""Preparation of a run: three numbers, checklist, typed confirmation, start."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common import asset_entry, attribution, binding_view, spend_form, table_entry
from dashboard.common.widgets import unused_learning_notice
from dashboard.jobs import worker
from dashboard.key import access
from dashboard.release import checklist, protocol_panel
from dashboard.session.memory import RowSplit, split_rows
from dashboard.session.shelf import project
from prism_core.bundle.protocol.protocol import LEAKAGE
from prism_core.errors import LedgerError, PrismError
from prism_core.planning.wishes.curator_statement import LABELS
from prism_core.privacy.events import failure
from prism_core.runs.inputs import known_elsewhere
from prism_core.text.markdown import plain
from prism_core.text.numbers import count_text, delta_text, eps_text, left_text

if TYPE_CHECKING:
    from dashboard.session.project import Project
    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan


def section() -> None:
    """Everything before the run."""
    state = project()
    if state.release.finished is not None:
        st.info(
            "Your finished release is kept: show it again to inspect it, or to read its report. "
            "What follows prepares **another** one, with a charge and an approval of its own.",
            icon=":material/inventory_2:",
        )
        st.button(
            "Show the finished release again",
            key="release_back",
            icon=":material/undo:",
            on_click=state.show_finished,
        )
    # None where there is a mistake: the checklist says which, and nothing can be spent.
    plan = checklist.planned(state)
    if plan is not None:
        _three_numbers(state, plan)
    left, right = st.columns([1.1, 1], gap="large")
    with left:
        st.subheader("Checklist", anchor=False)
        # A place first: the list needs to know whether the asset, entered beside it, covers the
        # run.
        listed = st.container(gap="xsmall")
    with right:
        budget_left = plan is not None and bool(spend_form.pays(_spending(), plan))
        confirmed = st.container()
    approval = None if plan is None else protocol_panel.check(plan)
    found = checklist.checks(state, budget_left=budget_left, approval=approval)
    with listed:
        checklist.show(found)
    if plan is None:
        return
    _late_table(state)
    _earlier_warning(state, plan)
    with confirmed:
        spend_form.confirmed_run(
            _spending(), plan, lambda: _start(state, plan), ready=all(check.done for check in found)
        )
    with st.expander("What will be measured, spent and written", icon=":material/list_alt:"):
        summary_section(state, plan)
    protocol_panel.section(plan)
    attribution.before(state)


def _three_numbers(state: Project, plan: Plan) -> None:
    """What it spends, what stays, what comes out."""
    spends, stays = "nothing", "everything"
    if not state.data.public:
        # With learning that this asset was never charged for: it is charged together with the
        # release.
        price = plan.price.with_owed(asset_entry.owing(plan.prior))
        spends = f"ε {eps_text(price.spent.epsilon)}"
        balance = asset_entry.balance(plan.delta)
        stays = "–"
        if balance is not None:
            after = balance.after(price.spent.rho, failure(price.events))
            enough = after.spent_rho <= after.total_rho
            stays = f"ε {left_text(after.left_epsilon)}" if enough else "not enough"
    first, second, third = st.columns(3)
    first.metric(
        "Spends", spends, border=True, help="Of the lifetime budget of the people in the table."
    )
    second.metric(
        "Stays for one more release",
        stays,
        border=True,
        help="The largest epsilon that one more release may have. It can be more than the lifetime "
        "epsilon less what is spent: losses of several releases add up to less than their sum.",
    )
    third.metric("Gives synthetic rows", f"{plan.rows:,}", border=True)


def _earlier_warning(state: Project, plan: Plan) -> None:
    unused_learning_notice()
    earlier = _earlier(state, plan)
    if earlier:
        st.warning(earlier, icon=":material/history:")


def _late_table(state: Project) -> None:
    """The table of a design that was made before it: loaded here, at last."""
    if state.data.awaits_table:
        st.subheader("Load the table", anchor=False)
        st.markdown(
            f"The design is made for **{state.data.whole:,} persons** and no row has been read. "
            "Load the table when it may be opened. Its header and its number of rows are compared "
            "with the design; no cell is looked at before the run measures."
        )
        upload, place = st.tabs([":material/upload_file: Your own file", table_entry.place_tab()])
        with upload:
            table_entry.upload_section()
        with place:
            table_entry.address_section()
    binding_view.differences()


def _spending() -> spend_form.Spending:
    return spend_form.Spending(
        kind="release",
        key="release",
        step="This release",
        begun="measuring has begun",
        label="Run the release",
        rehearsal_label="Run the rehearsal",
        icon=":material/play_arrow:",
        busy="Encoding the rows in the declared domain …",
    )


def _recognised(state: Project, table: Rows, plan: Plan) -> str:
    """A notice for this screen when the same rows were charged under another name."""
    assert state.data.raw is not None and state.data.schema is not None
    return known_elsewhere(
        access.ledger(), state.account.asset, state.data.schema, state.data.raw, table, plan.hash
    )


def _start(state: Project, plan: Plan) -> None:
    """Start the run; a second tab of the same project does not start another one meanwhile."""
    if state.release.starting:
        raise PrismError("This project's run is being started already, in another tab.")
    state.release.starting = True
    try:
        _launch(state, plan)
    finally:
        state.release.starting = False


def _launch(state: Project, plan: Plan) -> None:
    assert state.data.raw is not None and state.data.schema is not None
    # The seed is kept, so that the same rows are set aside when the file is loaded again.
    how = RowSplit(
        schema=state.data.schema, kept=state.data.holdout_rows, seed=secrets.randbits(256)
    )
    table, train, holdout = split_rows(state, how)
    # Confirmed was this plan; other columns or another number of rows make another one.
    if train.schema != plan.schema or train.people != plan.n:
        raise PrismError(
            "The columns or the number of training rows changed. Open the page Data again."
        )
    notice = "" if state.data.public else _recognised(state, table, plan)
    # Asked again: the committee may have decided since the page was drawn.
    approved, said = protocol_panel.given(plan), attribution.said(state)
    access.note("release started", state.key, plan.hash)
    job = worker.start(
        plan,
        train,
        asset_entry.chosen(),
        state.account.seed,
        state.usable(state.designs.others),
        key=state.key,
        name=state.data.name,
        approval=approved,
        said=said if approved is None else approved.stated(said),
    )
    # Only now that the run has started: what fails before leaves the last release on screen.
    state.forget_results()
    state.release.finished = state.release.put_away = None  # its rows kept aside are replaced
    state.release.notice = notice
    state.release.train, state.release.holdout, state.release.parted = train, holdout, how
    state.release.job = job


def summary_section(state: Project, plan: Plan) -> None:
    """All of it, in the order in which it happens."""
    st.markdown(_measured(state, plan))
    st.markdown("**What is spent, and what stays**")
    st.markdown(_spent(state, plan))
    st.markdown("**What will be written**")
    st.markdown(_written(state, plan))


def _chosen_later(plan: Plan) -> str:
    return _looked_for(plan) + _picked_later(plan)


def _looked_for(plan: Plan) -> str:
    if plan.interactions is None:
        return ""
    return (
        "- if the private look finds some that act together, these with "
        f"{plain(plan.task.target_text)} at once; else each pair once more,\n"
    )


def _picked_later(plan: Plan) -> str:
    three = plan.three_way
    if three is None:
        return ""
    if three.bar is not None:
        return (
            f"- up to **{count_text(three.rounds, 'marginal')}** of two of them that the private "
            "rounds find to go together; each pair once more with what these leave,\n"
        )
    if three.rule == "adaptive":
        return (
            f"- up to **{count_text(three.rounds, 'marginal')}** of two of them, with or without "
            f"{plain(plan.task.target_text)}, picked privately round by round,\n"
        )
    return (
        f"- **{count_text(three.rounds, 'marginal')}** of {plain(plan.task.target_text)} with two "
        "of them, chosen privately,\n"
    )


def _measured(state: Project, plan: Plan) -> str:
    task = [query for query in plan.queries if query.pool == "task"]
    chosen = (
        f"the {count_text(plan.task.k or 0, 'feature')} chosen privately"
        if not plan.s_is_final
        else plain(", ".join(plan.s))
    )
    rest = len([query for query in plan.queries if query.pool == "background"])
    pairs = 0 if plan.tree is None else plan.tree.rounds
    triples = _chosen_later(plan)
    fine = plan.coarsening
    grids = (
        ""
        if fine is None
        else f"- **{count_text(len(fine.names), 'column')}** on fine public grids with "
        f"{plain(plan.task.target_text)}, to find bins or groups: {plain(', '.join(fine.names))},\n"
    )
    return (
        f"From **{plan.n:,}** {plan.schema.counted} of *{plain(state.data.name)}*, "
        "measure with noise\n"
        f"{grids}"
        f"- **{count_text(len(task), 'marginal')}** of "
        f"{plain(plan.task.target_text)} with {chosen} ({plan.task.regime} regime),\n"
        f"{triples}{_background(rest, pairs)}\n"
        f"fit a {'graphical model' if plan.synthesis.model == 'pgm' else 'naive Bayes model'} to "
        f"these noisy numbers alone, and draw **{plan.rows:,}** synthetic rows.\n\n"
        f"The whole run{_learned(plan)} is ({eps_text(plan.budget.epsilon)}, "
        f"{delta_text(plan.delta)})-differentially private for the replacement of one person."
    )


def _background(rest: int, pairs: int) -> str:
    """What is measured beside the task; nothing where every column is part of it."""
    lines = []
    if rest:
        lines.append(f"- **{count_text(rest, 'one-way marginal')}**")
    if pairs:
        lines.append(f"- **{count_text(pairs, 'background pair')}** chosen privately")
    return "".join(f"{line},\n" for line in lines)


def _learned(plan: Plan) -> str:
    return "" if plan.prior is None else ", with the learning before it,"


def _spent(state: Project, plan: Plan) -> str:
    if state.data.public:
        return "Nothing: the rows are public, the noise is known, and the run is a rehearsal."
    balance = asset_entry.balance(plan.delta)
    price = plan.price.with_owed(asset_entry.owing(plan.prior))
    epsilon = eps_text(price.spent.epsilon)
    if balance is None:
        return f"Epsilon {epsilon} of the lifetime budget of an asset that is still to be named."
    after = balance.after(price.spent.rho, failure(price.events))
    name = plain(balance.asset.name)
    if after.spent_rho > after.total_rho:
        return f"Epsilon {epsilon} of “{name}”, which is more than is left."
    return (
        f"Epsilon {epsilon} of “{name}”, charged before the first "
        f"measurement. Of its lifetime of {balance.asset.epsilon:g}, "
        f"{eps_text(after.spent_epsilon)} is then spent (now {eps_text(balance.spent_epsilon)}), "
        f"and there is room for one more release of {left_text(after.left_epsilon)} (now "
        f"{left_text(balance.left_epsilon)}). Losses of several releases add up to less than their "
        "sum, so that this is more than the difference."
    )


def _written(state: Project, plan: Plan) -> str:
    graph = "" if plan.dag is None else "graph, "
    beside = ", ".join(one.name for one in state.usable(state.designs.others))
    considered = (
        f" Your designs beside the plan ({plain(beside)}) go into it, too, as what else was "
        "considered: remove on the page Budget what nobody should read."
        if beside
        else ""
    )
    return (
        f"A folder to hand over: {plan.rows:,} synthetic rows, the noisy counts they come from, "
        f"schema, {graph}plan, certificate, report, data sheet and checksums.{considered} "
        f"{_named(state)} Private rows and exact counts are in none of these files. A working copy "
        "of the encoded rows, for this user only, is deleted as soon as the run has read it."
    )


def _named(state: Project) -> str:
    """What its report says about the people and the purpose."""
    named = [LABELS[name][0] for name in LABELS if state.release.said.get(name, "").strip()]
    if not named:
        return (
            " Its report names no organisation, purpose or contact yet: enter them below, under "
            "*Who, what and why*."
        )
    return f" Its report says what you entered below of: {', '.join(named)}."


def _earlier(state: Project, plan: Plan) -> str:
    """A sentence where the asset was released for this target before."""
    if state.data.public or not state.account.asset.strip():
        return ""
    try:
        charges = access.ledger().charges(state.account.asset)
    except LedgerError:
        return ""
    target = plan.task.target_text
    numbers = [
        str(c.id) for c in charges if c.counts and any(map(c.measured_with, plan.task.target_names))
    ]
    if not numbers:
        return ""
    return (
        f"The ledger holds {'an earlier release' if len(numbers) == 1 else 'earlier releases'} of "
        f"this asset with {plain(target)} (charge {', '.join(numbers)}). {LEAKAGE}"
    )
