"""Learning of open columns and of rows per person with a part of the budget: its cost and start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.common import asset_entry, confirmation, job_view, spend_form
from dashboard.common.fields import epsilon_entry, from_percent, keeping
from dashboard.data import columns_form, tabs
from dashboard.jobs import folders, worker
from dashboard.session.shelf import entry_key, project
from prism_core.data.schema import column_form as data_form
from prism_core.data.schema import schema_file
from prism_core.data.schema.codebook_source import CodebookReading
from prism_core.errors import PrismError
from prism_core.learning.domain import outline_io
from prism_core.learning.domain.requests import SCALES, CategoryRequest, RowsRequest
from prism_core.text.markdown import plain
from prism_core.text.numbers import count_text, delta_text, eps_text, left_text

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.delta_generator import DeltaGenerator

    from prism_core.learning.domain.domain_plan import DomainPlan

_DETAILS = {
    "column": st.column_config.TextColumn("Column", disabled=True),
    "cells": st.column_config.NumberColumn(
        "Cells counted",
        min_value=2,
        step=1,
        help="Numbers and dates: between the lower and upper bound so many equal cells are "
        "counted. More cells give finer edges and more noise.",
    ),
    "scale": st.column_config.SelectboxColumn(
        "Scale",
        options=list(SCALES),
        help="Log for quantities of many magnitudes, such as incomes.",
    ),
    "unit": st.column_config.NumberColumn(
        "Unit of log", help="Log scale only: the smallest magnitude that matters."
    ),
    "tail": st.column_config.NumberColumn(
        "Left outside",
        min_value=0.0,
        max_value=0.1,
        step=0.001,
        format="percent",
        help="Numbers and dates: the share of the values that the bounds leave outside at each "
        "end by design; they are clipped. 0 gives the widest bounds. What the noise hides comes "
        "on top.",
    ),
    "max_levels": st.column_config.NumberColumn(
        "Most names",
        min_value=1,
        step=1,
        help="Categories: the names that most people share become levels, at most so many.",
    ),
}


def section() -> None:
    """The third tab of the page Data."""
    data = project().data
    waits = data.awaits_table
    wanted = data.anything_to_learn and (data.raw is not None or waits)
    if data.learning.job is None and not wanted:
        st.caption(
            "No column is ticked **Learn**. Tick it where the codebook does not say what a column "
            "may hold. How many rows of a person are used can be learned, too: see "
            f"*{tabs.PEOPLE}*."
        )
        return
    if data.learning.job is not None:
        # Of the step that runs: what is entered may be another one by now.
        plan = data.learning.job.plan
        words = _words(plan)
        job_view.section(
            "learn", lambda found: found.data.learning, words, lambda result: _take(result, plan)
        )
        return
    if waits:
        st.info(
            "Learning waits for the table: it measures rows. Load the table first, or type what "
            "these columns may hold and untick **Learn**: then the design goes on without it.",
            icon=":material/hourglass_empty:",
        )
        return
    if data.to_learn:
        st.markdown(
            "The ticked columns are counted **once, with noise**. Bounds, bins and names of levels "
            "that come out are protected like the release itself: they may be shown to everybody. "
            "This spends a part of the privacy budget now; the release uses the rest. Categories "
            "that few people share become *other*. Learned bounds stand where the counts rise out "
            "of the noise: **values outside are clipped to them**, about 0.5% at each end by "
            "design and more where the noise is large, as the table says. *How finely it is "
            "counted* sets both."
        )
    if data.rows_to_learn is not None:
        st.markdown(
            "How many persons have 1, 2, 3, ... rows is counted **once, with noise**; how many "
            "rows of each are used follows from it. This spends a part of the privacy budget now; "
            "the release uses the rest."
        )
    if data.learning.message:
        st.error(plain(data.learning.message), icon=":material/error:")
    _offer()


def _offer() -> None:
    """Entries, what they cost, and the form that spends it."""
    state = project()
    entries, cost = st.columns([1, 1.5], gap="large")
    charged, details = st.columns([1, 1.5], gap="large")
    # What is entered comes first, so that the cost shown is that of the entries shown.
    with entries:
        _entries()
    if _ticked():
        with details, st.expander("How finely it is counted"):
            _details()
    plan = None
    with cost:
        try:
            plan = state.domain_plan(columns_form.provenance())
        except PrismError as error:
            st.info(plain(str(error)), icon=":material/info:")
        else:
            _cost(plan)
    if plan is not None:
        _spend(plan, charged)


def _spend(plan: DomainPlan, place: DeltaGenerator) -> None:
    """The charged part: what is promised, the tick that confirms it, and the button."""
    what = _words(plan)
    thing = "these columns" if plan.outline.columns_to_learn else "the rows of a person"
    spend_form.spend_form(
        spend_form.Spending(
            kind="domain",
            key="learn",
            step="Learning",
            on=f" on learning {what}",
            begun="counting has begun",
            tick=True,
            label=f"Learn {thing}",
            rehearsal_label=f"Learn {thing} (rehearsal)",
            icon=":material/school:",
            attempt=project().data.learning.attempt,
        ),
        plan,
        lambda: _run(plan),
        place=place,
    )


def _entries() -> None:
    designs = project().designs
    epsilon_entry(
        designs.plan.budget,
        "learn_epsilon",
        "Epsilon of learning and release together",
        help="The same entry as on the page Budget.",
    )
    confirmation.tick_above_maximum(designs.plan.budget.epsilon, "learn_above_limit")
    _share("Part of the budget for learning", "share", 50, "The rest is for the release.")
    if any(_kind(row) == "categorical" for row in _ticked()):
        _share(
            "Part of delta for names of levels",
            "delta_share",
            50,
            "With this small probability a name that a single person has could come out.",
        )


def _share(label: str, attribute: str, most: int, text: str) -> None:
    learning = project().data.learning
    percent = round(getattr(learning, attribute) * 100)
    st.slider(
        label,
        1,
        most,
        percent,
        format="%d %%",
        help=text,
        **keeping(learning, attribute, f"learn_{attribute}", percent, from_percent),
    )


def _cost(plan: DomainPlan) -> None:
    first, second, third = st.columns(3)
    first.metric(
        "Learning spends, ε",
        eps_text(plan.spent.epsilon),
        border=True,
        help=f"By itself, at delta {delta_text(plan.delta)}.",
    )
    second.metric(
        "Left for the release, ε",
        left_text(plan.left_epsilon),
        border=True,
        help="Both together stay within the whole epsilon: losses add up to less than their sum.",
    )
    third.metric("Whole, ε", eps_text(plan.epsilon), border=True)
    rows = []
    for request, event in zip(plan.outline.requests, plan.events, strict=True):
        if isinstance(request, RowsRequest):
            what = f"how many rows of a person are used, 1 to {request.most}"
        elif isinstance(request, CategoryRequest):
            least = getattr(event, "threshold", 0)
            what = f"names of more than about {least:,} people, at most {request.max_levels:,}"
        else:
            what = (
                f"bounds, and at most {request.bins} bins; at each end up to about "
                f"{_share_words(plan.outside[request.name])} of the values may be clipped"
            )
        rows.append((request.name, what, event.sigma))
    noise = f"noise, σ in {'persons' if plan.outline.person_id else 'rows'}"
    st.dataframe(
        pd.DataFrame(rows, columns=["column", "what comes out", noise]),
        hide_index=True,
        width="stretch",
        column_config={noise: st.column_config.NumberColumn(format="%.1f")},
    )
    spend_form.cautions(plan, ", once the columns are learned")
    st.caption(
        f"Computed from what is declared and the {plan.n:,} "
        f"{'persons' if plan.outline.person_id else 'rows'} alone; no row is read before you press "
        "the button. Rows kept aside for evaluation are counted, too."
    )


def _words(plan: DomainPlan) -> str:
    """What is learned, for a sentence."""
    columns = len(plan.outline.columns_to_learn)
    rows = [] if plan.outline.learn_rows is None else ["the rows used of a person"]
    return " and ".join([*([count_text(columns, "column")] if columns else []), *rows])


def _ticked() -> list[dict[str, Any]]:
    return [
        row for row in project().data.rows_of_form if row.get("learn") is True and row.get("name")
    ]


def _kind(row: dict[str, Any]) -> str:
    return str(row.get("kind") or "")


def _details() -> None:
    """A grid of what the form has no place for; kept by the column's name."""
    learning = project().data.learning
    ticked = _ticked()
    # Edits are kept by the number of a row: other columns need another grid.
    ticks = hash(tuple((row["name"], _kind(row)) for row in ticked))
    key = entry_key(f"learn_details_{ticks}")
    base = f"{key}_base"
    # The editor keeps edits relative to this frame, so the frame stays as long as the widget.
    if key not in st.session_state or base not in st.session_state:
        st.session_state[base] = pd.DataFrame(
            [_detail_row(row) for row in ticked], columns=list(_DETAILS)
        ).astype({"cells": "Int64", "max_levels": "Int64"})
    edited = st.data_editor(
        st.session_state[base],
        column_config=_DETAILS,
        hide_index=True,
        width="stretch",
        key=key,
        disabled=["column"],
        placeholder="",
    )
    # As objects first: a column of numbers would turn None back into NaN.
    found = edited.astype(object).where(edited.notna(), None)
    for row in found.to_dict("records"):
        learning.details[str(row["column"])] = {name: row[name] for name in outline_io.DEFAULTS}


def _detail_row(row: dict[str, Any]) -> dict[str, Any]:
    known = {**outline_io.DEFAULTS, **project().data.learning.details.get(row["name"], {})}
    usable = (
        ("cells", "scale", "unit", "tail") if _kind(row) in outline_io.BINNED else ("max_levels",)
    )
    return {"column": row["name"], **{k: v for k, v in known.items() if k in usable}}


def _run(plan: DomainPlan) -> None:
    """Start the step in a process of its own."""
    state = project()
    assert state.data.raw is not None  # see `section`
    # Part of the key of the confirmation: this tick must not confirm the next step.
    state.data.learning.attempt += 1
    state.data.learning.message = ""
    state.data.learning.job = worker.learn(
        plan,
        state.data.raw,
        asset_entry.chosen(),
        state.account.seed,
        delta_share=state.data.learning.delta_share,
        public=state.data.public,
    )


def _share_words(share: float) -> str:
    return f"{100 * share:.2g}%"


def clipped_notice() -> None:
    """After learning: what the bounds were designed to leave outside, and how to widen them."""
    data = project().data
    schema, shares = data.schema, data.learning.clipped
    if schema is None or not shares:
        return
    named = [
        f"{name} up to about {_share_words(share)}"
        for name, share in shares.items()
        if name in schema and schema[name].binned
    ]
    if named:
        st.warning(
            "**Learned bounds may be too tight.** By the request and the noise, not by a look at "
            f"the rows, so many values may lie outside at either end: {plain('; '.join(named))}. "
            "They are clipped to the ends. To widen the bounds, type those of the codebook under "
            "Lower and Upper (this costs nothing); to learn them better, use fewer cells, a "
            "smaller share left outside, or a larger part of the budget.",
            icon=":material/compress:",
        )


def _take(result: Path, plan: DomainPlan) -> None:
    """What was learned goes into use and into the form."""
    state = project()
    # By the plan alone, not by what was counted: so it may be shown.
    state.data.learning.clipped = plan.outside
    schema = schema_file.load(result / folders.SCHEMA)
    state.use_schema(schema)
    # It is known now; left on, it would be learned and paid for again.
    state.data.learning.rows = False
    state.data.several_rows = (schema.max_rows, schema.weighting)
    state.data.show_form(data_form.to_rows(schema.columns))
    state.data.form_provenance = schema.provenance
    state.data.read = CodebookReading.of(schema)
    tabs.go_on(tabs.COLUMNS if plan.outline.columns_to_learn else tabs.PEOPLE)
