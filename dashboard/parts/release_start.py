"""The checklist, the summary in words, and the start of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import worker
from dashboard.parts import asset
from dashboard.state import project
from dashboard.widgets import mistakes, plain, provenance_words
from prism_core.errors import PrismError
from prism_core.privacy.ledger import Ledger
from prism_core.workspace import encode_holdout, fresh_rng, ready, recognise, split

if TYPE_CHECKING:
    from dashboard.state import Project
    from prism_core.data.source import Rows
    from prism_core.planning.plan import Plan


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
        ready = _budget_left(state, plan)
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
        f"The whole run{_learned(plan)} is ({plan.budget.epsilon:g}, {plan.delta:.2g})-"
        "differentially private for the replacement of one person."
    )


def _learned(plan: Plan) -> str:
    return "" if plan.prior is None else ", with the learning before it,"


def _promise(state: Project, plan: Plan) -> str:
    if state.public:
        return "These rows are public: run a rehearsal with known noise. Nothing is charged."
    amount = plan.budget.epsilon if plan.prior is None else plan.spent.epsilon
    return (
        f"Spend epsilon {amount:.3g} of “{plain(state.asset or 'the asset')}”. This "
        "cannot be undone, even if the run fails after its first measurement."
    )


def _budget_left(state: Project, plan: Plan) -> bool:
    """Entries of the ledger, or the seed; True when the run may be started."""
    if state.public:
        asset.seed("release_seed")
        return True
    return asset.section(plan.spent, plan.total, plan.delta, "This release")


def _checklist(state: Project, plan: Plan, *, budget_left: bool) -> None:
    assert state.schema is not None
    unit = (
        "one row per person declared"
        if state.schema.one_row_per_person
        else f"one row kept per {plain(state.schema.person_id or '')}"
    )
    kept = state.test.rows if state.test is not None else state.holdout_rows
    items = [
        (True, f"Schema of {len(state.schema.columns)} columns ({provenance_words(state.schema)})"),
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
    rng = fresh_rng()
    table = ready(state.schema, state.raw, public=state.public, rng=rng)
    if state.test is not None:
        train = table
        holdout = encode_holdout(state.schema, state.test, rng=rng, public=state.public)
    else:
        train, holdout = split(table, state.holdout_rows, rng)
    if train.schema != plan.schema or train.n != plan.n:
        raise PrismError(
            "The columns or the number of training rows changed. Open the page Data again."
        )
    state.forget_results()
    state.notice = "" if state.public else _recognised(state, table)
    state.train, state.holdout = train, holdout
    state.job = worker.start(
        plan, train, asset.chosen(), state.seed, state.usable(state.scenarios.others)
    )
