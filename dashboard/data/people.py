"""People and rows: who a row is, what is kept aside; and the check of the declaration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.common.fields import keeping, replaced, showing
from dashboard.common.widgets import mistakes
from dashboard.data import holdout_entry
from dashboard.session.data_entries import People
from dashboard.session.shelf import entry_key, project
from prism_core.data.coverage import coverage
from prism_core.data.tables.header import check_names
from prism_core.privacy.contribution import MOST_ROWS, MOST_SHARED, WEIGHTINGS, Weighting
from prism_core.runs.inputs import people, some_rows
from prism_core.text.markdown import plain

_WEIGHTS: dict[Weighting, str] = {
    "rows": "Every row counts 1",
    "persons": "Every person counts 1, shared by their rows",
}


def section() -> None:
    """The second tab of the page Data."""
    left, right = st.columns(2, gap="large")
    with left:
        _people()
    with right:
        holdout_entry.section()


def _people() -> None:
    state = project()
    declared = state.data.people
    ways = {
        "row": "Every person has exactly one row",
        "id": "A column names the person",
    }
    named = declared.person_id or state.data.person_hint
    now = "id" if named else "row" if declared.one_row_per_person else None
    way = st.radio(
        "The guarantee protects a person. How do rows and people relate?",
        list(ways),
        format_func=lambda key: ways[key],
        key=entry_key("people_way"),
        index=None if now is None else list(ways).index(now),
    )
    # At the change alone: the radio says so in every run.
    if way == "row" and now != "row":
        with mistakes():
            # Else the column that a codebook named would be chosen again in the next run.
            state.data.person_hint = ""
            state.declare_people(People(one_row_per_person=True))
            st.rerun()
    if way != "id":
        return
    if state.data.raw is None:
        _name_person(declared, named)
        return
    columns = _columns()
    with mistakes():
        if state.data.schema is None:  # no declaration has confirmed that these are names
            check_names(state.data.raw.header, state.data.raw.name)
        _choose(declared, named, [name for name in state.data.raw.header if name not in columns])


def _name_person(declared: People, named: str | None) -> None:
    """The column that names the person, typed: there is no header to choose from yet."""
    state = project()
    typed = st.text_input(
        "Name of the person-ID column",
        value=named or "",
        key=entry_key("people_typed"),
        help="As the header of the table will have it. An ID is never synthesised, so it is none "
        "of the columns above.",
    )
    name = str(typed or "").strip()
    if name and (name != declared.person_id or declared.persons != state.data.announced):
        with mistakes():
            _declare(name, state.data.announced)
            st.rerun()
    most = 1 if declared.person_id is None else _used(declared)
    kept = "One row" if most == 1 else f"Up to {most} rows"
    st.caption(
        f"{kept} of each of the {state.data.announced or 0:,} persons, picked at random. The run "
        "counts the persons and refuses another number, before anything is charged."
    )


def _choose(declared: People, named: str | None, strangers: list[str]) -> None:
    """The column that names the person, and how many there are."""
    data = project().data
    assert data.raw is not None
    if not strangers:
        st.info("Remove the ID column from the columns above first: an ID is never synthesised.")
        return
    chosen = st.selectbox(
        "Person-ID column",
        strangers,
        key=entry_key("people_column"),
        index=strangers.index(named) if named in strangers else 0,
    )
    if chosen != declared.person_id or declared.persons is None:
        _count(chosen)
        return
    _kept(data.raw.rows, declared.persons, _used(declared))


def _count(column: str) -> None:
    """The number of persons: typed, or counted when asked for."""
    state = project()
    raw = state.data.raw
    assert raw is not None
    st.caption(
        f"How many different persons are there? The number is public, like the {raw.rows:,} rows. "
        "Type it if you know it; **counting reads this column once**. Nothing of it but the number "
        "is kept, and that you counted, which the report says."
    )
    typed, counted = st.columns([1.3, 1], vertical_alignment="bottom")
    number = typed.number_input(
        "Number of persons",
        2,
        # A table of one row would have ends that cross, for which the widget raises.
        max(2, raw.rows),
        None,
        key=entry_key("people_number"),
        placeholder="Type it",
        help="It must be the number of different IDs in the file; another number is refused when "
        "the rows are read.",
    )
    if counted.button("Count the different IDs", key="people_count", width="stretch"):
        # On record before the column is read.
        state.look("counted persons")
        number = people(raw, column)
    if number is not None:
        with mistakes():
            _declare(column, int(number))
            st.rerun()


def _declare(person_id: str, persons: int | None) -> None:
    """The column that names the person; how many rows are used is what was entered before."""
    state = project()
    most, weighting = state.data.several_rows
    state.declare_people(
        People(person_id=person_id, persons=persons, max_rows=most, weighting=weighting)
    )


def _used(declared: People) -> int:
    """Entry of how many rows of a person are used, and what each counts."""
    data = project().data
    # With one row a person the weighting is nowhere declared.
    weighting = declared.weighting if declared.max_rows > 1 else data.several_rows[1]
    data.several_rows = (declared.max_rows, weighting)
    if _learned():
        return 1
    often, counted = st.columns([1, 1.6])
    key = showing("people_max_rows", declared.max_rows)
    often.number_input(
        "Rows used of a person, at most",
        1,
        MOST_SHARED if weighting == "persons" else MOST_ROWS,
        declared.max_rows,
        key=key,
        on_change=_use,
        args=(key, 0),
        help="With 2 rows the noise is twice that of 1, as a person may change twice as many. "
        "More rows say more where people come often and the budget is large.",
    )
    if 1 < declared.max_rows <= MOST_SHARED:
        key = showing("people_weighting", declared.weighting)
        counted.radio(
            "What counts",
            WEIGHTINGS,
            WEIGHTINGS.index(declared.weighting),
            _WEIGHTS.__getitem__,
            key=key,
            on_change=_use,
            args=(key, 1),
        )
    return declared.max_rows


def _learned() -> bool:
    """Entry of whether the number of rows is learned, and up to which; True where it is."""
    data = project().data
    if data.raw is None:  # learning measures rows
        return False
    learning = data.learning
    learns = st.toggle(
        "Let a part of the budget choose how many rows are used",
        learning.rows,
        help="For when nobody knows how often people come. How many persons have 1, 2, 3, ... rows "
        "is counted once, with noise, and the number with the least expected error is taken.",
        **keeping(learning, "rows", "people_learn_rows", learning.rows),
    )
    if not learns:
        return False
    st.number_input(
        "The largest number that may come out",
        2,
        MOST_ROWS,
        learning.most_rows,
        **keeping(learning, "most_rows", "people_most_rows", learning.most_rows),
    )
    st.caption(
        "It is learned under *Learn columns*, which says what it costs. Every row counts 1: where "
        "every person counts 1, more rows cost no noise, and the number need not be learned."
    )
    return True


def _use(key: str, place: int) -> None:
    if replaced(key):
        return
    state = project()
    entered: list[Any] = list(state.data.several_rows)
    entered[place] = st.session_state[key]
    most, weighting = state.data.several_rows = tuple(entered)
    state.declare_people(replace(state.data.people, max_rows=most, weighting=weighting))


def _kept(rows: int, persons: int, most: int) -> None:
    """What one row a person means, for the size and for the outcome."""
    if project().data.rows_to_learn is not None:
        st.caption(
            f"{persons:,} persons in {rows:,} rows. The ID is never synthesised, and synthetic "
            "rows are not linked into persons."
        )
        return
    if most > 1:
        st.caption(
            f"{persons:,} persons in {rows:,} rows: up to {most} rows of each are used, picked at "
            "random. How many that are in all is private. The ID is never synthesised, and "
            "synthetic rows are not linked into persons."
        )
        return
    st.caption(
        f"{persons:,} persons in {rows:,} rows: **{persons:,} rows stay**, {rows - persons:,} are "
        "left out. One row per person is kept at random and the ID is never synthesised."
    )
    if persons < rows:
        st.info(
            "Persons with many rows count once. If the outcome comes with further rows, as a "
            "readmission comes with a further stay, its share among the kept rows is that of a "
            "random stay of each person: usually lower than among all stays. If another stay is "
            "meant, such as the first, prepare the file so that it holds that row alone.",
            icon=":material/group:",
        )


def _columns() -> set[str]:
    """Names of the declared columns, or of the form while there is no schema."""
    data = project().data
    if data.schema is not None:
        return set(data.schema.names)
    return {str(row.get("name") or "") for row in data.rows_of_form}


def check_section() -> None:
    """Counts of cells the declaration does not cover: on request, on screen, nowhere else."""
    data = project().data
    if data.awaits_table:
        st.caption(
            ":material/hourglass_empty: The check of the declaration against the file waits for "
            "the table. It reads rows."
        )
    if data.schema is None or data.raw is None:
        return
    # With a key it stays open while the field for the source of changes comes up above it.
    with st.expander(
        "Check the declaration against the file (only you see this)",
        key="check_open",
        on_change="rerun",
    ):
        st.markdown(
            "Counts cells that the declaration does not cover. The numbers read the rows: they "
            "are shown here once, not stored, and not part of any report. **That you counted is "
            "recorded**, with the file's name and the time, and plan, protocol, certificate and "
            "report of a private table say so. If you change the declaration afterwards, its "
            "provenance becomes *private rows*, unless you state the document and page that "
            "say the same. Of a table that is not in memory the first "
            "100,000 rows are looked at."
        )
        if not st.button("Count the cells outside", key="check_columns", on_click=_seen):
            return
        assert data.schema is not None and data.raw is not None
        found = coverage(data.schema, some_rows(data.raw))
        rows = [
            {
                "column": each.column.name,
                "cells outside the declaration": each.outside,
                "distinct values in the file": each.different,
            }
            for each in found
        ]
        table = pd.DataFrame(rows)
        outside = sum(each.outside for each in found)
        single = [each.column.name for each in found if each.different < 2]
        st.markdown(f"**{outside:,} cells** lie outside the declaration.")
        for each in found:
            if each.misfit:
                st.warning(plain(each.advice), icon=":material/rule:")
        if single:
            st.markdown(
                f"With a single value in the whole file: {plain(', '.join(single))}. Such a "
                "column carries no information; a target like this cannot be predicted."
            )
        st.table(table.set_index("column"))  # unlike a data frame, without a download


def _seen() -> None:
    """On record before the counts are there: that it was looked, not what was seen."""
    project().look("counted cells outside")
