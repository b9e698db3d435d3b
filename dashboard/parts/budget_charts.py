"""The figures of the budget: shares, and error against epsilon."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.parts import budget_privacy, budget_wish
from dashboard.parts.budget_entry import key_of
from dashboard.state import project
from dashboard.widgets import chart
from prism_core.errors import PrismError
from prism_core.figures import BudgetRow, budget_figure, error_curve_figure, error_figure
from prism_core.planning.compare import against_uniform
from prism_core.planning.curve import error_curve
from prism_core.planning.words import error_text, share_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dashboard.entries import Entries
    from prism_core.planning.plan import Plan

_SAID = 5  # bars that the words for those who do not see them name
MOST_BARS = 40
"""Most marginals in a figure; all are in the table."""

_EPSILONS = (*budget_privacy.GRID[::3], budget_privacy.MOST)


def shares(plan: Plan) -> None:
    """What every marginal gets, beside the uniform split, and the error that comes of it."""
    found = sorted(against_uniform(plan), key=lambda line: -line.now.share)
    shown = found[:MOST_BARS]
    rows = [
        BudgetRow(
            label=line.label if line.times == 1 else f"{line.label} (each)", pool=line.pool,
            share=line.now.share, sigma=line.now.sigma, relative_error=line.now.relative_error,
            cells=round(line.cells),
        )
        for line in shown
    ]  # fmt: skip
    if len(found) > len(shown):
        st.caption(
            f"The {len(shown)} marginals with the largest shares of {len(found)}; all are in the "
            "table *Per marginal*."
        )
    st.markdown("**Share of the budget**: as planned, and if all marginals of a pool had the same")
    figure = budget_figure(rows, beside=[line.uniform.share for line in shown])
    chart(
        figure, key=key_of("budget_chart"),
        alt="Bars of the shares of the budget, each beside the uniform one. The largest: "
        + ", ".join(f"{row.label} {share_text(row.share)}" for row in rows[:_SAID]),
    )  # fmt: skip
    st.markdown("**Expected error** that comes of it")
    errors = [(row.relative_error, row.label) for row in rows if row.relative_error is not None]
    largest = sorted(errors, reverse=True)[:_SAID]
    chart(
        error_figure(rows), key=key_of("error_chart"),
        alt="Bars of the expected errors, relative to the number of rows. The largest: "
        + ", ".join(f"{label} {error_text(size)}" for size, label in largest),
    )  # fmt: skip
    st.caption(
        "Expected l1 error of each noisy marginal over n: an expectation of the noise, not a "
        "guarantee, and before the model smooths it."
    )


def error(entries: Entries, plan: Plan) -> None:
    """Error against epsilon, with the epsilon that is set; and epsilon from a wished error."""
    state = project()
    plans = {state.scenarios.edited: plan}
    for letter in state.scenarios.letters:
        if letter not in plans:
            with suppress(PrismError):  # its mistake is shown where it is edited
                plans[letter] = state.plan(state.design(letter))
    curves(plans)
    budget_privacy.epsilon_slider(
        entries.budget, "epsilon_chart", label="Epsilon of this design, beneath the chart"
    )
    st.caption(
        "The marked point is the epsilon that is set: move the slider beneath the chart, and all "
        "of the page follows. Mean and largest expected error of the marginals with the target; "
        "an expectation, not a guarantee."
    )
    budget_wish.section(entries)


def curves(plans: Mapping[str, Plan]) -> None:
    """Error against epsilon.

    Args:
        plans: by the letters of their designs; the first is the one that is looked at.
    """
    names = {letter: "This design" if len(plans) == 1 else letter for letter in plans}
    lines = {names[k]: error_curve(plan, _EPSILONS) for k, plan in plans.items()}
    here = {names[k]: error_curve(plan, [plan.budget.epsilon])[0] for k, plan in plans.items()}
    chart(
        error_curve_figure(lines, here), key="curve_chart",
        alt="Curves of the expected error against epsilon, falling. "
        + "; ".join(f"{n}: {error_text(p.mean)} at epsilon {p.epsilon:g}" for n, p in here.items()),
    )  # fmt: skip
