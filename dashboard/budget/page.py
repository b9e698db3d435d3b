"""Budget: what does this epsilon buy, and for whom?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard.budget import details, edited_design, epsilon_entry, overview, sharing
from dashboard.common.fields import keeping
from dashboard.common.steps import STEPS
from dashboard.common.widgets import cached, heading, mistakes, onward, require_earlier_steps
from dashboard.session.shelf import project
from prism_core.planning.search.rows_per_person import MOST_MEAN, RowsChoice, rows_choices
from prism_core.text.numbers import count_text, error_text, sigma_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.plan import Plan

_DATA = next(step for step in STEPS if step.title == "Data")


def _rows_of_person(plan: Plan) -> None:
    """The comparison, folded; only where a column names the person."""
    if plan.schema.person_id is None:
        return
    box = st.expander("Rows used of a person", key="rows_of_person", on_change="rerun")
    # Each of its lines is a plan of its own: nobody waits for those while it is closed.
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
                "at most": one.max_rows,
                "rows": f"{one.rows:,.0f}",
                "noise": sigma_text(one.sigma),
                "error": error_text(one.noise_error),
                "in all": error_text(one.error),
            }
            for one in found
        )
        # The panel is narrow: five columns fit if none is wider than its figures.
        narrow = {name: st.column_config.Column(width=50) for name in table.columns}
        st.dataframe(table, hide_index=True, width="stretch", column_config=narrow)
        least = min(found, key=lambda one: one.error)
        st.caption(
            "Rows used of a person at most; rows to expect; noise of a count; error of a table of "
            "counts with the target, over its rows: from noise alone, and in all, with what the "
            "rows are a sample of. By the last "
            f"**{count_text(least.max_rows, 'row')} of a person** would be best. People who come "
            "often count for less where few of their rows are used; that is not in it. The number "
            "is declared on the page Data, under *People and rows*."
        )
        _every_marginal(found)
        st.page_link(_DATA.page, label="Change it on Data", icon=_DATA.icon)


def _every_marginal(found: Sequence[RowsChoice]) -> None:
    """The noise of each measurement that is known beforehand, for every number of rows."""
    by_rows = {f"{one.max_rows}": dict(one.sigmas) for one in found}
    labels = list(dict.fromkeys(label for one in found for label, _ in one.sigmas))
    table = pd.DataFrame(
        {
            "noise (σ) of a count of": label,
            **{
                rows: sigma_text(noise[label]) if label in noise else ""
                for rows, noise in by_rows.items()
            },
        }
        for label in labels
    )
    st.dataframe(table, hide_index=True, width="stretch")


heading("Budget", "How much privacy to spend, and on what. Nothing is spent here.")
require_earlier_steps("Budget")
edited_design.section()
entries = project().designs.edited_entries
controls, view = st.columns([1, 3], gap="medium")
with view:
    # Places first: the plan stands on top, and is made of entries that come further down.
    glance, bar, tabs = st.container(), st.container(), st.container()
with bar:  # before what shows the shares
    sharing.bars(entries)
with controls:
    epsilon_entry.section(entries.budget)
    sharing.section(entries)
    details.section(entries)
with glance:
    plan = overview.glance(entries)
if plan is not None:
    with bar:
        sharing.idle(plan)
    with tabs:
        overview.tabs(entries, plan)
    with controls:
        _rows_of_person(plan)
onward("Budget")
