"""What this epsilon buys, and for whom, in one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.state import project
from dashboard.widgets import plain
from prism_core.planning.meaning import meaning
from prism_core.planning.scenario import figures
from prism_core.planning.words import count_text, delta_text, eps_text, error_text, sigma_text

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan

_NAMED = 6


def section(plan: Plan) -> None:
    """The figures that a budget is judged by."""
    found = figures(plan)
    task = [query for query in plan.queries if query.pool == "task"]
    first, second, third, fourth = st.columns(4)
    first.metric(
        "Epsilon", eps_text(plan.budget.epsilon), border=True,
        help=f"With delta = {delta_text(plan.delta)}.",
    )  # fmt: skip
    second.metric(
        "Noise, σ in rows", sigma_text(max(query.noise for query in task)),
        border=True, help="Largest standard deviation of one cell of a marginal with the target, "
        "in counts of rows.",
    )  # fmt: skip
    third.metric(
        "Task error", error_text(found.mean_error), border=True,
        help="Mean expected l1 error of the marginals with the target, over n: an expectation of "
        f"the noise, not a guarantee. The largest is {error_text(found.largest_error)}.",
    )  # fmt: skip
    guess = meaning(plan).guess(project().guess)
    fourth.metric(
        f"Guess of {guess.before_words}", f"≤ {guess.after_words}", border=True,
        help=f"What an attacker could gain: {guess.sentence} More under *What it means*.",
    )  # fmt: skip
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
