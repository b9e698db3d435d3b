"""What the budget buys: figures of the design that is edited, before a row is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.parts import (
    bounds_panel,
    budget_charts,
    budget_compare,
    budget_glance,
    budget_table,
    limit,
    meaning_panel,
)
from dashboard.state import project
from dashboard.widgets import plain, spent_besides
from prism_core.errors import PrismError
from prism_core.planning.words import eps_text

if TYPE_CHECKING:
    from dashboard.entries import Entries
    from prism_core.planning.plan import Plan

TABS = (
    "Per marginal", "Shares", "Error against epsilon", "Compare A and B", "Bounds",
    "What it means",
)  # fmt: skip


def glance(entries: Entries) -> Plan | None:
    """The plan's figures; without a plan, what is to be corrected.

    Returns:
        The plan. While locks are the mistake: the plan without them, so that they can be
        corrected in its table.
    """
    state = project()
    try:
        plan = state.plan(entries)
    except PrismError as error:
        st.error(plain(str(error)), icon=":material/error:")
        if error.field != "locks":
            return None
        return _without_locks(entries)
    limit.warned(plan.warnings)
    budget_glance.section(plan)
    _deducted(plan)
    spent_besides()
    return plan


def _without_locks(entries: Entries) -> Plan | None:
    bare = entries.copy()
    bare.budget.locks.clear()
    try:
        plan = project().plan(bare)
    except PrismError:
        return None
    st.caption("What follows is without the locks. Correct them in the table *Per marginal*.")
    return plan


def tabs(entries: Entries, plan: Plan) -> None:
    """The views of a plan; only the one that is looked at is drawn."""
    found = st.tabs(TABS, on_change="rerun", key="budget_tabs")
    views = (
        lambda: budget_table.section(entries, plan),
        lambda: budget_charts.shares(plan),
        lambda: budget_charts.error(entries, plan),
        budget_compare.section,
        lambda: bounds_panel.section(plan),
        lambda: meaning_panel.section(plan),
    )
    for tab, view in zip(found, views, strict=True):
        if tab.open:
            with tab:
                view()


def _deducted(plan: Plan) -> None:
    """What learning spent of the declared epsilon, and what this plan has."""
    prior = plan.prior
    if prior is None:
        return
    st.info(
        f"Of epsilon {eps_text(plan.budget.epsilon)}, learning has spent "
        f"**{eps_text(prior.spent.epsilon)}**. This plan has what is left: epsilon "
        f"**{eps_text(plan.spent.epsilon)}**. All together stay within "
        f"{eps_text(plan.budget.epsilon)}. (The two do not add up to it: noise of "
        "several measurements hides a person better than each alone, "
        "so what is added up is ρ, which grows with the square of epsilon when that is small.)",
        icon=":material/school:",
    )
