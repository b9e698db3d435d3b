"""The checklist, the summary in words, and the start of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import worker
from dashboard.keep import keep
from dashboard.state import project
from dashboard.widgets import mistakes, plain
from prism_core.config import AssetConfig
from prism_core.errors import LedgerError, PrismError
from prism_core.privacy.ledger import Ledger
from prism_core.workspace import encode_holdout, fresh_rng, ready, recognise, split

if TYPE_CHECKING:
    from dashboard.state import Project
    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan
    from prism_core.privacy.ledger import Balance


def section() -> None:
    """Everything before the run."""
    state = project()
    plan = state.plan()
    left, right = st.columns([1.25, 1], gap="large")
    with left:
        st.subheader("What will be done", anchor=False)
        st.markdown(_summary(state, plan))
    with right:
        st.subheader("Checklist", anchor=False)
        ready = _asset(state, plan)
        _checklist(state, plan, budget_left=ready)
    st.divider()
    confirmed = st.checkbox(_promise(state, plan), key="release_confirm")
    label = "Run the rehearsal" if state.public else "Run the release"
    if st.button(
        label, type="primary", icon=":material/play_arrow:", key="release_run",
        disabled=not (confirmed and ready),
    ):  # fmt: skip
        with st.spinner("Encoding the rows in the declared domain …"), mistakes():
            _start(state, plan)
            st.rerun()


def _summary(state: Project, plan: Plan) -> str:
    task = [query for query in plan.queries if query.pool == "task"]
    chosen = (
        f"the {plan.task.k} features chosen privately"
        if not plan.s_is_final
        else plain(", ".join(plan.s))
    )
    rest = len([query for query in plan.queries if query.pool == "background"])
    pairs = 0 if plan.tree is None else plan.tree.rounds
    triples = (
        f"- **{plan.three_way.rounds}** marginals of {plain(plan.task.target)} with two of them, "
        "chosen privately,\n"
        if plan.three_way is not None
        else ""
    )
    return (
        f"From **{plan.n:,}** training rows of *{plain(state.name)}*, measure with noise\n"
        f"- **{len(task)}** marginal{'' if len(task) == 1 else 's'} of {plain(plan.task.target)} "
        f"with {chosen} ({plan.task.regime} regime),\n"
        f"{triples}"
        f"- **{rest}** one-way marginals and **{pairs}** background pairs chosen privately,\n\n"
        f"fit a {'graphical model' if plan.synthesis.model == 'pgm' else 'naive Bayes model'} to "
        f"these noisy numbers alone, and draw **{plan.rows:,}** synthetic rows.\n\n"
        f"The whole run is ({plan.budget.epsilon:g}, {plan.delta:.2g})-differentially private for "
        "the replacement of one person."
    )


def _promise(state: Project, plan: Plan) -> str:
    if state.public:
        return "These rows are public: run a rehearsal with known noise. Nothing is charged."
    return (
        f"Spend epsilon {plan.budget.epsilon:g} of “{plain(state.asset or 'the asset')}”. This "
        "cannot be undone, even if the run fails after its first measurement."
    )


def _asset(state: Project, plan: Plan) -> bool:
    """Entries of the ledger; True when the run may be started."""
    if state.public:
        state.seed = int(
            st.number_input(
                "Seed of the rehearsal",
                0,
                2**31 - 1,
                state.seed,
                key="release_seed",
                help="The same seed gives the same synthetic rows. Only public rows have one.",
            )
        )
        return True
    st.text_input(
        "Data asset charged in the ledger",
        value=state.asset,
        key="asset_name",
        on_change=keep,
        args=(state, "asset", "asset_name"),
        help="All releases from the same people's data share one lifetime budget: use the same "
        "name for refreshed extracts.",
    )
    balance = _balance(state.asset)
    if balance is None:
        _new_asset(state)
    st.text_input(
        "Purpose, for the ledger",
        value=state.why,
        key="asset_why",
        on_change=keep,
        args=(state, "why", "asset_why"),
        placeholder="for example: readmission benchmark for external teams",
    )
    if not state.asset.strip():
        return False
    if balance is not None:
        state.lifetime = balance.asset.epsilon
        st.caption(_left(balance))
    left = state.lifetime if balance is None else balance.left_epsilon
    enough = plan.budget.epsilon <= left if balance is None else plan.total <= balance.left_rho
    if not enough:
        st.error(
            f"This release needs epsilon {plan.budget.epsilon:g}, and {left:.3g} of the lifetime "
            "budget is left. Lower epsilon on the page Budget, or stop here.",
            icon=":material/block:",
        )
    return enough


def _new_asset(state: Project) -> None:
    st.number_input(
        "Lifetime epsilon of this asset (fixed from its first release on)",
        min_value=0.01,
        value=state.lifetime,
        step=0.5,
        key="asset_lifetime",
        on_change=keep,
        args=(state, "lifetime", "asset_lifetime"),
    )
    known = [asset.name for asset in Ledger().assets()]
    if known and state.asset.strip():
        st.warning(
            f"{plain(state.asset)} is a new name in the ledger and starts a new lifetime budget. "
            "If these people's data were released before, use that asset's name: "
            f"{plain(', '.join(known))}.",
            icon=":material/warning:",
        )


def _left(balance: Balance) -> str:
    return (
        f"Lifetime epsilon {balance.asset.epsilon:g}: {balance.spent_epsilon:.3g} spent, room for "
        f"one more release of {balance.left_epsilon:.3g}. Losses of several releases add up to "
        "less than their sum, so this is more than the difference."
    )


def _balance(asset: str) -> Balance | None:
    try:
        return Ledger().balance(asset) if asset.strip() else None
    except LedgerError:
        return None


def _checklist(state: Project, plan: Plan, *, budget_left: bool) -> None:
    assert state.schema is not None
    unit = (
        "one row per person declared"
        if state.schema.one_row_per_person
        else f"one row kept per {plain(state.schema.person_id or '')}"
    )
    kept = state.test.rows if state.test is not None else state.holdout_rows
    items = [
        (True, f"Schema of {len(state.schema.columns)} columns ({state.schema.provenance})"),
        (True, f"People: {unit}"),
        (True, f"Target {plain(plan.task.target)}, {plan.task.regime} regime"),
        (True, f"Budget: epsilon {plan.budget.epsilon:g}, delta {plan.delta:.2g}"),
        (kept > 0, f"{kept:,} rows kept aside for evaluation"),
    ]
    if not state.public:
        text = (
            "Asset named, and its lifetime budget covers this release"
            if budget_left
            else "Not yet: name the asset, with a lifetime budget that covers this release"
        )
        items.append((budget_left, text))
    for done, text in items:
        mark = ":green[:material/check_circle:]" if done else ":orange[:material/pending:]"
        st.markdown(f"{mark} {text}")


def _recognised(state: Project, table: Rows) -> str:
    """A notice for this screen when the same rows were charged under another name."""
    assert state.raw is not None and state.schema is not None
    return recognise(Ledger(), state.asset, state.schema, state.raw, table)


def _start(state: Project, plan: Plan) -> None:
    assert state.raw is not None and state.schema is not None
    rng = fresh_rng()
    table = ready(state.schema, state.raw, public=state.public, rng=rng)
    if state.test is not None:
        train, holdout = table, encode_holdout(state.schema, state.test, rng=rng)
    else:
        train, holdout = split(table, state.holdout_rows, rng)
    if train.n != plan.n:
        raise PrismError("The number of training rows changed. Open the page Data again.")
    asset = None
    if not state.public:
        asset = AssetConfig(name=state.asset, lifetime_epsilon=state.lifetime, why=state.why)
    state.forget_results()
    state.notice = "" if state.public else _recognised(state, table)
    state.train, state.holdout = train, holdout
    state.job = worker.start(plan, train, asset, state.seed)
