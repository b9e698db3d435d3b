"""Overview of a plan before a row is read: its headline figures and the tabs below them."""

from __future__ import annotations

from contextlib import suppress
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
    "Tables of counts",
    "Shares",
    "Error and epsilon",
    "Compare A and B",
    "What it means",
    "Bounds",
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
        # Other mistakes are corrected in the entries on the left, which are there without a plan.
        if error.field != "locks":
            return None
        return _without_locks(entries)
    confirmation.show_warnings(plan.warnings)
    headline(plan, _beside())
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
    st.caption("What follows is without the locks. Correct them under *Tables of counts*.")
    return plan


def tabs(entries: Entries, plan: Plan) -> None:
    """The views of a plan; only the one that is looked at is drawn."""
    found = st.tabs(TABS, on_change="rerun", key="budget_tabs")
    views = (
        lambda: marginals_table.section(entries, plan),
        lambda: charts.shares(plan),
        lambda: charts.error(entries, plan),
        comparison.section,
        lambda: meaning_panel.section(plan),
        lambda: bounds_panel.section(entries, plan),
    )
    for tab, view in zip(found, views, strict=True):
        # Curves and bounds take their time, and five of six tabs are not looked at.
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


_NAMED = 4


def _beside() -> tuple[str, Plan] | None:
    """The design beside the one that is edited, and its plan; None where there is none."""
    designs = project().designs
    letter = designs.compared
    if letter is None:
        return None
    with suppress(PrismError):  # its mistake is shown where it is edited
        return letter, project().plan(designs.entries(letter))
    return None


def headline(plan: Plan, beside: tuple[str, Plan] | None = None) -> None:
    """The figures that a budget is judged by, and those of the design beside it."""
    found = _figures_of(plan)
    others = [""] * len(found)
    if beside is not None:
        others = [f"{beside[0]}: {value}" for _, value, _ in _figures_of(beside[1])]
    for column, (title, value, words), other in zip(st.columns(4), found, others, strict=True):
        column.metric(
            title,
            value,
            other or None,
            delta_color="off",
            delta_arrow="off",
            border=True,
            help=words,
        )
    st.markdown(_for_whom(plan))


def _figures_of(plan: Plan) -> tuple[tuple[str, str, str], ...]:
    """Title, value and explanation of each figure."""
    found = figures(plan)
    task = [query for query in plan.queries if query.pool == "task"]
    guess = meaning(plan).guess(project().designs.guess)
    return (
        (
            "Privacy budget, ε",
            eps_text(plan.budget.epsilon),
            f"With delta = {delta_text(plan.delta)}.",
        ),
        (
            "Noise, σ in rows",
            sigma_text(max(query.noise for query in task)),
            "Largest standard deviation of the noise in one cell of a table with the target, in "
            "rows.",
        ),
        (
            "Expected error",
            error_text(found.mean_error),
            "Mean expected error (l1) of the tables with the target, relative to n: an average of "
            f"the noise, not a guarantee. The largest is {error_text(found.largest_error)}.",
        ),
        (
            f"Guess of {guess.before_words}",
            f"≤ {guess.after_words}",
            f"What an attacker could gain: {guess.sentence} More under *What it means*.",
        ),
    )


def _for_whom(plan: Plan) -> str:
    """A sentence about the features that the budget is spent on."""
    target = f"**{plain(plan.task.target_text)}**"
    shares = plan.budget.shares
    given = shares.task + shares.selection + shares.choice
    lead = "Most" if given > 0.5 else f"{given:.0%}"
    if not plan.s_is_final:
        k = plan.task.k or 0
        return (
            f"{lead} of it goes to what predicts {target}: {count_text(k, 'feature')}, chosen when "
            f"the release runs. Shown is the worst case, the {count_text(k, 'column')} with most "
            "levels."
        )
    names = ", ".join(f"**{plain(name)}**" for name in plan.s[:_NAMED])
    more = f" and {len(plan.s) - _NAMED} more" if len(plan.s) > _NAMED else ""
    return f"{lead} of it goes to what {names}{more} say about {target}."
