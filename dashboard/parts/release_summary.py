"""What a run would do, spend, leave and write, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import access
from dashboard.parts import asset
from dashboard.widgets import plain, spent_besides
from prism_core.bundle.protocol import LEAKAGE
from prism_core.bundle.report_said import LABELS
from prism_core.errors import LedgerError
from prism_core.pipeline import price_of
from prism_core.planning.words import count_text, delta_text, eps_text, left_text
from prism_core.privacy.events import failure

if TYPE_CHECKING:
    from dashboard.state import Project
    from prism_core.planning.plan import Plan


def section(state: Project, plan: Plan) -> None:
    """All of it, in the order in which it happens."""
    st.markdown(_measured(state, plan))
    st.markdown("**What is spent, and what stays**")
    st.markdown(_spent(state, plan))
    spent_besides()
    st.markdown("**What will be written**")
    st.markdown(_written(state, plan))
    earlier = _earlier(state, plan)
    if earlier:
        st.warning(earlier, icon=":material/history:")


def _chosen_later(plan: Plan) -> str:
    three = plan.three_way
    if three is None:
        return ""
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
    return (
        f"From **{plan.n:,}** training rows of *{plain(state.name)}*, measure with noise\n"
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
    if state.public:
        return "Nothing: the rows are public, the noise is known, and the run is a rehearsal."
    balance = asset.balance(plan.delta)
    price = price_of(plan).with_owed(asset.owing(plan.prior))
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
    beside = ", ".join(one.name for one in state.usable(state.scenarios.others))
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
    """What its report says of who and why."""
    named = [LABELS[name][0] for name in LABELS if state.said.get(name, "").strip()]
    if not named:
        return (
            " Its report names no organisation, purpose or contact yet: enter them below, under "
            "*Who, what and why*."
        )
    return f" Its report says what you entered below of: {', '.join(named)}."


def _earlier(state: Project, plan: Plan) -> str:
    """A sentence where the asset was released for this target before."""
    if state.public or not state.asset.strip():
        return ""
    try:
        charges = access.ledger().charges(state.asset)
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
