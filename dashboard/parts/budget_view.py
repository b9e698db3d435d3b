"""What the budget buys: figures of the plan, before a row is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.state import project
from dashboard.widgets import PLOTLY, plain
from prism_core.figures import budget_figure, error_figure
from prism_core.planning.summary import PlanLine, lines

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan


def section() -> None:
    """The right column of the page Budget."""
    plan = project().plan()
    for warning in plan.warnings:
        st.warning(plain(warning), icon=":material/warning:")
    _figures(plan)
    _deducted(plan)
    found = lines(plan)
    measured = [line for line in found if line.measured]
    table, share, error = st.tabs(["Per marginal", "Share of the budget", "Expected error"])
    with table:
        _table(plan, found)
    with share:
        st.plotly_chart(budget_figure(measured), config=PLOTLY, key="budget_chart")
    with error:
        st.plotly_chart(error_figure(measured), config=PLOTLY, key="error_chart")
        st.caption(
            "Expected l1 error of each noisy marginal over n: an expectation of the noise, not a "
            "guarantee, and before the model smooths it."
        )


def _figures(plan: Plan) -> None:
    task = [query for query in plan.queries if query.pool == "task"]
    first, second, third, fourth = st.columns(4)
    first.metric("Epsilon", f"{plan.budget.epsilon:g}", border=True)
    second.metric("Delta", f"{plan.delta:.2g}", border=True)
    third.metric(
        "Noise, σ in rows", f"{max(query.sigma for query in task):,.3g}",
        border=True, help="Largest standard deviation of one cell of a marginal with the target, "
        "in counts of rows.",
    )  # fmt: skip
    fourth.metric(
        "Task error", f"{max(query.relative_error for query in task):.1%}",
        border=True, help="Largest expected l1 error of a marginal with the target, over n: an "
        "expectation of the noise, not a guarantee.",
    )  # fmt: skip
    if not plan.s_is_final:
        st.caption(
            "The features are chosen when the release runs. Shown is the worst case: the "
            f"{plan.task.k} columns with most levels."
        )


def _deducted(plan: Plan) -> None:
    """What learning spent of the declared epsilon, and what this plan has."""
    prior = plan.prior
    if prior is None:
        return
    st.info(
        f"Of epsilon {plan.budget.epsilon:g}, learning has spent "
        f"**{prior.spent.epsilon:.3g}**. This plan has what is left: epsilon "
        f"**{plan.spent.epsilon:.3g}**. All together stay within {plan.budget.epsilon:g}, because "
        "losses add up to less than their sum.",
        icon=":material/school:",
    )


def _table(plan: Plan, found: tuple[PlanLine, ...]) -> None:
    frame = pd.DataFrame(
        {
            "marginal": [line.label for line in found],
            "pool": [line.pool for line in found],
            "cells": pd.array([line.cells for line in found], dtype="Int64"),
            "share": [line.share for line in found],
            "sigma": [line.sigma for line in found],
            "expected error": [line.relative_error for line in found],
        }
    )
    st.dataframe(
        frame, hide_index=True, width="stretch", placeholder="–",
        height=min(560, 38 + 35 * len(frame)),
        column_config={
            "share": st.column_config.ProgressColumn(
                "share", format="percent", min_value=0.0, max_value=max(frame["share"]),
            ),
            "sigma": st.column_config.NumberColumn(
                format="%.1f", help="Standard deviation of the noise in each cell, in counts"
            ),
            "expected error": st.column_config.NumberColumn(
                format="percent", help="Expected l1 error of the noisy marginal, relative to n"
            ),
        },
    )  # fmt: skip
    size = plan.forecast
    st.caption(
        f"Model size: {size.cells:,} cells, largest clique {size.largest_clique:,}"
        f"{'' if size.exact else ' (at most)'}; about {max(1.0, size.megabytes):,.0f} MiB to fit."
    )
