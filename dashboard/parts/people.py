"""Who a row is, what is kept aside, and the curator's own check of the declaration."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.state import People, project
from dashboard.widgets import mistakes, plain
from prism_core.data.encoding import rows_outside
from prism_core.workspace import people, some_rows


def section() -> None:
    """The third section of the page Data."""
    st.header("3 · People and rows")
    left, right = st.columns(2, gap="large")
    with left:
        _people()
    with right:
        _holdout()
    if project().schema is not None:
        _check()


def _people() -> None:
    state = project()
    declared = state.people
    assert state.raw is not None
    ways = {
        "row": "Every person has exactly one row",
        "id": "A column names the person (one row per person is kept)",
    }
    now = "id" if declared.person_id else "row" if declared.one_row_per_person else None
    way = st.radio(
        "The guarantee protects a person. How do rows and people relate?", list(ways),
        format_func=lambda key: ways[key], key="people_way",
        index=None if now is None else list(ways).index(now),
    )  # fmt: skip
    if way == "row" and now != "row":
        with mistakes():
            state.declare_people(People(one_row_per_person=True))
            st.rerun()
    if way != "id":
        return
    columns = _columns()
    strangers = [name for name in state.raw.header if name not in columns]
    if not strangers:
        st.info("Remove the ID column from the columns above first: an ID is never synthesised.")
        return
    chosen = st.selectbox(
        "Person-ID column",
        strangers,
        key="people_column",
        index=strangers.index(declared.person_id) if declared.person_id in strangers else 0,
    )
    persons = people(state.raw, chosen)
    st.caption(
        f"{persons:,} different IDs. The number of persons is public, like the number of rows; one "
        "row per person is kept at random and the ID is never synthesised."
    )
    if (chosen, persons) != (declared.person_id, declared.persons):
        with mistakes():
            state.declare_people(People(person_id=chosen, persons=persons))
            st.rerun()


def _columns() -> set[str]:
    """Names of the declared columns, or of the form while there is no schema."""
    state = project()
    if state.schema is not None:
        return set(state.schema.names)
    return {str(row.get("name") or "") for row in state.rows_of_form}


def _holdout() -> None:
    state = project()
    if state.test is not None:
        st.markdown(
            f"**Holdout.** This sample brings its own {state.test.rows:,} test rows; all "
            f"{state.n:,} training rows are used."
        )
        return
    share = st.slider(
        "Rows kept aside for evaluation", 5, 50, round(state.holdout_share * 100), format="%d %%",
        key="holdout_share",
        help="Drawn at random, whatever the rows hold. They are never used for the synthetic "
        "table. Only learning a column with budget counts them, too.",
    )  # fmt: skip
    state.holdout_share = share / 100
    st.caption(f"{state.n:,} rows for training, {state.holdout_rows:,} kept aside.")


def _check() -> None:
    """Counts of cells the declaration does not cover: on request, on screen, nowhere else."""
    state = project()
    with st.expander("Check the declaration against the file (only you see this)"):
        st.markdown(
            "Counts cells that the declaration does not cover. The numbers read the rows: they "
            "are shown here once, not stored, and not part of any report. If you change the "
            "declaration of a private table because of them, its provenance becomes *private "
            "rows* unless the codebook says the same. Of a table that is not in memory the first "
            "100,000 rows are looked at."
        )
        if not st.button("Count the cells outside", key="check_columns"):
            return
        assert state.schema is not None and state.raw is not None
        raw = some_rows(state.raw)
        cells = {name: raw.column(name) for name in state.schema.names}
        rows = [
            {
                "column": column.name,
                "cells outside the declaration": rows_outside(column, cells[column.name]),
                "distinct values in the file": cells[column.name].nunique(),
            }
            for column in state.schema.columns
        ]
        table = pd.DataFrame(rows)
        outside = sum(row["cells outside the declaration"] for row in rows)
        single = [row["column"] for row in rows if row["distinct values in the file"] < 2]
        st.markdown(f"**{outside:,} cells** lie outside the declaration.")
        if single:
            st.markdown(
                f"With a single value in the whole file: {plain(', '.join(single))}. Such a "
                "column carries no information; a target like this cannot be predicted."
            )
        st.dataframe(table, hide_index=True, width="stretch")
        state.checked = not state.public
