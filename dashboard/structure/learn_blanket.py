"""Learning of the target's blanket with a part of the budget, where there is no graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common import asset_entry, confirmation, job_view, spend_form
from dashboard.common.fields import epsilon_entry, from_percent, keep
from dashboard.jobs import folders, worker
from dashboard.session.shelf import project
from prism_core.errors import PrismError
from prism_core.runs.inputs import fresh_rng, ready
from prism_core.structure import formats
from prism_core.text.markdown import plain
from prism_core.text.numbers import delta_text, eps_text, left_text

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.learning.graph.graph_plan import GraphPlan


def section() -> None:
    """The panel below the drawing: what was learned, the step under way, or its start."""
    state = project()
    if state.structure.blanket.job is not None:
        words = f"the blanket of {plain(state.structure.blanket.job.plan.target)}"
        job_view.section("blanket", lambda found: found.structure.blanket, words, _take)
        return
    state.structure.blanket.table = None  # its files may go
    if state.structure.graph.provenance != "declared":
        _learned()
        _bring_back()
        return
    # Where there are edges again the button would throw them away.
    if not state.structure.graph.edges:
        _bring_back()
    # A learned graph has no causes in it, so only the regime that needs none is offered one.
    if state.designs.plan.regime != "graphical" or state.structure.graph.edges:
        return
    if state.data.awaits_table:
        st.caption(
            ":material/hourglass_empty: Learning the blanket with budget waits for the table: it "
            "measures rows. Draw or upload the graph, or choose another regime."
        )
    elif state.data.raw is not None:
        with st.expander("No graph? Learn the blanket with budget", icon=":material/school:"):
            _start()


def _learned() -> None:
    graph = project().structure.graph
    cost = (
        "from public rows"
        if graph.prior is None
        else (
            f"with epsilon = {eps_text(graph.prior.spent.epsilon)}, delta = "
            f"{delta_text(graph.prior.delta)}"
        )
    )
    text, button = st.columns([4, 1])
    text.success(
        f"Learned {cost}, **not causal**: the direction of its edges means nothing, and the causal "
        "regime refuses it. It may be edited. As long as it is used, what it cost is deducted from "
        "the release; if you stop using it, that is spent besides.",
        icon=":material/school:",
    )
    if button.button(
        "Start again from knowledge",
        key="graph_forget",
        width="stretch",
        help="Removes the learned edges. What was charged to the ledger stays charged.",
    ):
        graph.forget()
        st.rerun()


def _bring_back() -> None:
    """The graph that was drawn before a learned one took its place."""
    state = project()
    kept = len(state.structure.graph.drawn_before)
    if not kept or state.data.schema is None:
        return
    st.button(
        f"Bring back the graph drawn before ({kept} edge{'' if kept == 1 else 's'})",
        key="graph_bring_back",
        icon=":material/restore:",
        on_click=state.structure.graph.bring_back,
        args=(state.data.schema.names,),
        help="It takes the place of the learned edges. What was charged to the ledger stays "
        "charged.",
    )


def _start() -> None:
    state = project()
    st.markdown(
        f"Columns that predict **{plain(state.structure.target or '')}** are looked for "
        "**with noise**, one at a time, each beyond what the ones before explain. This "
        "spends a part of the privacy budget now; the release uses the rest. What comes out says "
        "nothing about causes. It takes the place of the drawing and ends its undo history; a "
        "graph drawn before is kept and can be brought back."
    )
    if state.structure.blanket.message:
        st.error(plain(state.structure.blanket.message), icon=":material/error:")
    _entries()
    try:
        plan = state.graph_plan()
    except PrismError as error:
        st.info(plain(str(error)), icon=":material/info:")
        return
    _cost(plan)
    spend_form.spend_form(
        spend_form.Spending(
            kind="graph",
            key="blanket",
            step="Learning",
            on=" on learning the blanket",
            begun="the search has begun",
            tick=True,
            label="Learn the blanket",
            rehearsal_label="Learn the blanket (rehearsal)",
            icon=":material/school:",
            attempt=state.structure.blanket.attempt,
        ),
        plan,
        lambda: _run(plan),
    )


def _entries() -> None:
    state = project()
    first, second, third = st.columns(3)
    with first:
        epsilon_entry(
            state.designs.plan.budget,
            "blanket_epsilon",
            "Epsilon of learning and release together",
            help="The same entry as on the page Budget.",
        )
        confirmation.tick_above_maximum(state.designs.plan.budget.epsilon, "blanket_above_limit")
    second.slider(
        "Part of the budget for learning",
        1,
        50,
        round(state.structure.blanket.share * 100),
        format="%d %%",
        key="blanket_share",
        on_change=keep,
        args=(state.structure.blanket, "share", "blanket_share", from_percent),
        help="The rest is for the release.",
    )
    third.number_input(
        "Most columns in the blanket",
        1,
        50,
        state.structure.blanket.members,
        key="blanket_members",
        on_change=keep,
        args=(state.structure.blanket, "members", "blanket_members"),
        help="As many rounds are paid for, even if the search ends before.",
    )


def _cost(plan: GraphPlan) -> None:
    first, second, third = st.columns(3)
    first.metric("Learning spends, ε", eps_text(plan.spent.epsilon), border=True)
    second.metric("Left for the release, ε", left_text(plan.left_epsilon), border=True)
    third.metric(
        "Least association found",
        f"{plan.threshold:.3f}",
        border=True,
        help="Of 1: weaker columns do not stand out of the noise.",
    )
    spend_form.cautions(plan)
    st.caption(
        f"Computed from what is declared and the {plan.n:,} rows (persons) alone; no row is read "
        "before you press the button. Rows kept aside for evaluation are counted, too."
    )


def _run(plan: GraphPlan) -> None:
    """Start the step in a process of its own."""
    state = project()
    assert state.data.schema is not None and state.data.raw is not None
    table = ready(state.data.schema, state.data.raw, public=state.data.public, rng=fresh_rng())
    # Part of the key of the confirmation: this tick must not confirm the next step.
    state.structure.blanket.attempt += 1
    state.structure.blanket.message = ""
    state.structure.blanket.table = table  # a table behind files stays open for the step
    state.structure.blanket.job = worker.learn_graph(
        plan, table, asset_entry.chosen(), state.account.seed
    )


def _take(result: Path) -> None:
    """The blanket becomes the graph."""
    state = project()
    assert state.data.schema is not None
    found = formats.read(result / folders.GRAPH)
    # The file holds the columns that were found; the graph on the page is over all of them.
    state.structure.graph.load(found.over(state.data.schema.names))
