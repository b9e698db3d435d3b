"""Rows of a person: noise and rows for other numbers of rows that are used, before any is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.common.fields import keeping
from dashboard.common.steps import STEPS
from dashboard.common.widgets import cached, mistakes
from dashboard.session.shelf import project
from prism_core.planning.search.rows_per_person import MOST_MEAN, rows_choices
from prism_core.text.numbers import error_text, sigma_text

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan

_DATA = next(step for step in STEPS if step.title == "Data")


def section(plan: Plan) -> None:
    """The comparison, folded; only where a column names the person."""
    if plan.schema.person_id is None:
        return
    box = st.expander("Rows used of a person", key="rows_of_person", on_change="rerun")
    if not box.open:
        return
    data = project().data
    with box, mistakes():
        mean = st.number_input(
            "Rows of a person on average",
            1.0,
            MOST_MEAN,
            data.mean_rows,
            0.1,
            help="A public guess, such as last year's figure. It is not counted in the table.",
            **keeping(data, "mean_rows", "mean_rows", data.mean_rows),
        )
        found = cached("rows choices", (plan.hash, mean), lambda: rows_choices(plan.brief, mean))
        table = pd.DataFrame(
            {
                "rows used, at most": one.max_rows,
                "rows in all, about": f"{one.rows:,.0f}",
                "noise of a count": sigma_text(one.sigma),
                "error from noise": error_text(one.error),
            }
            for one in found
        )
        st.dataframe(table, hide_index=True, width="stretch")
        st.caption(
            "The error is that of a table of counts with the target, over its rows; what further "
            "rows teach a model is not in it. The number is declared on the page Data, under "
            "*People and rows*."
        )
        st.page_link(_DATA.page, label="Change it on Data", icon=_DATA.icon)
