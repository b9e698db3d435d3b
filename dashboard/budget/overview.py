"""Overview of a plan before a row is read: its headline figures and the tabs below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.budget import bounds_panel, charts, comparison, marginals_table, meaning_panel
from dashboard.common import confirmation
from dashboard.common.widgets import unused_learning_notice
from dashboard.session.shelf import project
from prism_core.errors import PrismError
from prism_core.explain.meaning import meaning
from prism_core.planning.search.comparison import figures
from prism_core.text.markdown import plain
from prism_core.text.numbers import count_text, delta_text, eps_text, error_text, sigma_text

if TYPE_CHECKING:
    from dashboard.session.designs import Entries
    from prism_core.planning.plan import Plan

TABS = (
    "Per marginal",
    "Shares",
    "Error against epsilon",
    "Compare A and B",
    "Bounds",
    "What it means",
)


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
    confirmation.show_warnings(plan.warnings)
    headline(plan)
    _deducted(plan)
    unused_learning_notice()
    return plan


def _without_locks(entries: Entries) -> Plan | None:
    # A copy, because the typed locks are what has to be corrected.
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
        lambda: marginals_table.section(entries, plan),
        lambda: charts.shares(plan),
        lambda: charts.error(entries, plan),
        comparison.section,
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


_NAMED = 6


def headline(plan: Plan) -> None:
    """The figures that a budget is judged by."""
    found = figures(plan)
    task = [query for query in plan.queries if query.pool == "task"]
    first, second, third, fourth = st.columns(4)
    first.metric(
        "Epsilon",
        eps_text(plan.budget.epsilon),
        border=True,
        help=f"With delta = {delta_text(plan.delta)}.",
    )
    second.metric(
        "Noise, σ in rows",
        sigma_text(max(query.noise for query in task)),
        border=True,
        help="Largest standard deviation of one cell of a marginal with the target, "
        "in counts of rows.",
    )
    third.metric(
        "Task error",
        error_text(found.mean_error),
        border=True,
        help="Mean expected l1 error of the marginals with the target, over n: an expectation of "
        f"the noise, not a guarantee. The largest is {error_text(found.largest_error)}.",
    )
    guess = meaning(plan).guess(project().designs.guess)
    fourth.metric(
        f"Guess of {guess.before_words}",
        f"≤ {guess.after_words}",
        border=True,
        help=f"What an attacker could gain: {guess.sentence} More under *What it means*.",
    )
    st.markdown(_for_whom(plan))


def _for_whom(plan: Plan) -> str:
    """A sentence about the features that the budget is spent on."""
    target = f"**{plain(plan.task.target_text)}**"
    shares = plan.budget.shares
    given = shares.task + shares.selection + shares.choice
    lead = "Most" if given > 0.5 else f"{given:.0%}"
    if not plan.s_is_final:
        k = plan.task.k or 0
        return (
            f"{lead} of the budget goes to what predicts {target}: {count_text(k, 'feature')}, "
            f"chosen when the release runs. Shown is the worst case, the {count_text(k, 'column')} "
            "with most levels."
        )
    names = ", ".join(f"**{plain(name)}**" for name in plan.s[:_NAMED])
    more = f" and {len(plan.s) - _NAMED} more" if len(plan.s) > _NAMED else ""
    return f"{lead} of the budget goes to what {names}{more} say about {target}."
