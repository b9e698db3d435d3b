"""Table to work on: a file, an address, a sample; or a number of persons while there is none."""

from __future__ import annotations

import streamlit as st

from dashboard.common import binding_view, table_entry
from dashboard.common.open_project import open_project, samples_section
from dashboard.common.widgets import mistakes
from dashboard.data import saved_project
from dashboard.key import access
from dashboard.session.data_entries import DataEntries
from dashboard.session.late_table import announce
from dashboard.session.project import Project
from dashboard.session.shelf import project, unsaved_parts
from prism_core.text.markdown import plain

LONGEST_NAME = 120
_MOST = 1_000_000_000
_ASKED = "data_way_shown"
"""Marks that the ways to a table stood on an empty page."""
_TABS = {
    "file": ":material/upload_file: Your own file",
    "place": ":material/database: A path or database",
    "codebook": ":material/menu_book: A codebook, no table yet",
    "saved": ":material/folder_open: A saved project",
    "sample": ":material/science: Samples",
}
"""By the name under which the page Start asks for one."""


def section() -> None:
    """The first section of the page Data; one line once there is something to work on."""
    data = project().data
    if not access.granted():
        st.header("Table")
        samples_section()
        return
    if data.raw is None and not data.awaits_table:
        st.header("Table")
        _found_again()
        _let_go()
        _ways()
        st.session_state[_ASKED] = True
        return
    # What was asked for on Start is there now: the next question gets the screen.
    if st.session_state.pop(_ASKED, False):
        st.session_state.pop("data_way", None)
    left, right = st.columns([5.6, 1], vertical_alignment="center")
    with left:
        _line()
    with right:
        saved_project.save_section()
    binding_view.differences()
    label = "Load the table, or open another project" if data.awaits_table else "Another table"
    with st.expander(label, icon=":material/database:", expanded="data_way" in st.session_state):
        _ways()


def _ways() -> None:
    data = project().data
    tabs = _TABS | {"place": table_entry.place_tab()}
    chosen = tabs.get(st.session_state.get("data_way", ""))
    if chosen is None and (data.sample or (data.raw is None and not data.awaits_table)):
        chosen = tabs["sample"]
    upload, place, codebook, saved, sample = st.tabs(list(tabs.values()), default=chosen)
    with upload:
        if data.awaits_table:
            st.caption(
                "The file is put under this design. Its header and its number of rows are "
                "compared with what is declared; no cell is looked at."
            )
        table_entry.upload_section()
    with place:
        table_entry.address_section()
    with codebook:
        _without()
    with saved:
        saved_project.open_section()
    with sample:
        samples_section()


def _without() -> None:
    """A design from a codebook and a number of persons."""
    st.markdown(
        "**I have a codebook, not the table yet.** Declare the columns, then design, rehearse, "
        "write the protocol and have it approved. No row can be read meanwhile. Load the table on "
        "the page Release, when it may be opened."
    )
    left, right = st.columns(2)
    name = left.text_input(
        "Name of this design",
        key="design_name",
        max_chars=LONGEST_NAME,
        placeholder="for example: stays of clinic A, 2026",
    )
    persons = right.number_input(
        "Number of persons",
        2,
        _MOST,
        None,
        step=1,
        key="design_persons",
        placeholder="for example 5000",
        help="How many people the table will hold. The number is public. The plan is made for it; "
        "for another number the plan has to be designed and approved anew.",
    )
    pressed = st.button(
        "Begin without the table",
        type="primary",
        key="design_begin",
        disabled=persons is None,
    )
    if persons is None:
        st.caption("Type the number of persons to begin.")
        return
    title = " ".join(str(name or "").split()) or "Design without its table"
    if open_project(
        "design_begin_asked",
        lambda: Project(
            data=DataEntries(name=title, announced=int(persons)),
        ),
        pressed=pressed,
    ):
        st.rerun()


def _found_again() -> None:
    """On an empty page, how an earlier project is reached."""
    if not unsaved_parts(project()):
        st.caption(
            ":material/bookmark: You worked here before? Your projects are listed on Start. A file "
            "of a project opens under *A saved project*."
        )


def _let_go() -> None:
    gone = project().data.rows_let_go
    if gone is not None:
        st.info(
            f"**The {gone.rows:,} rows of {plain(gone.name)} were removed from memory**, because "
            "no tab had this project open for a while or other tables needed the memory. "
            "Everything declared, "
            "drawn, planned and paid for is kept. Load the same file again to go on.",
            icon=":material/memory:",
        )


def _line() -> None:
    """What is in use, on one line."""
    data = project().data
    if data.awaits_table:
        _awaited()
        return
    if data.raw is None:
        return
    if data.sample:
        st.success(
            f"**In use: the sample {plain(data.name)}**, {data.raw.rows:,} rows and "
            f"{0 if data.test is None else data.test.rows:,} test rows; generated and public.",
            icon=":material/check_circle:",
        )
        return
    st.success(
        f"**Loaded: {plain(data.name)}**, {data.raw.rows:,} rows, {len(data.raw.header)} "
        "columns. "
        + (
            f"{data.holdout_share:.0%} of them ({data.holdout_rows:,}) are kept aside at random "
            "for evaluation and never used for the synthetic table; see *People and rows*."
            if not data.own_test and data.announced is None
            else ""
        ),
        icon=":material/check_circle:",
    )


def _awaited() -> None:
    """The design that has no table yet, and the number that it is made for."""
    state = project()
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    left.success(
        f"**{plain(state.data.name)}**: a design without its table. It is made for the number of "
        "persons on the right.",
        icon=":material/menu_book:",
    )
    right.number_input(
        "Number of persons",
        2,
        _MOST,
        state.data.announced,
        step=1,
        # The number changes elsewhere, too: under one key the field would keep what it showed.
        key=f"announced_{state.key}_{state.data.announced}",
        on_change=_announce,
        args=(f"announced_{state.key}_{state.data.announced}",),
        help="Public. Another number makes another plan: an approval of the old one no longer "
        "holds.",
    )


def _announce(key: str) -> None:
    typed = st.session_state[key]
    if typed is not None:
        with mistakes():
            announce(project(), int(typed))
