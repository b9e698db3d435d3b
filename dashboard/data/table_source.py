"""Table to work on: a file, an address, a sample; or a number of persons while there is none."""

from __future__ import annotations

import hashlib

import streamlit as st

from dashboard.common import binding_view, table_entry, uploads
from dashboard.common.open_project import open_project, samples_section
from dashboard.common.widgets import mistakes
from dashboard.key import access
from dashboard.session.data_entries import DataEntries, announce
from dashboard.session.project import Project
from dashboard.session.project_files import from_file, to_file, with_sample
from dashboard.session.shelf import project, unsaved_parts
from prism_core.bundle import project_file
from prism_core.errors import ConfigError, PrismError
from prism_core.text.markdown import plain

LONGEST_NAME = 120
_UPLOAD = "upload_project"
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
        _save_project()
    binding_view.differences()
    label = "Load the table, or open another project" if data.awaits_table else "Another table"
    # The page Start may have asked for a way while a table is open.
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
        _open_saved()
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
    # An emptied field is no number: the design keeps the one that it has.
    if typed is not None:
        with mistakes():
            announce(project(), int(typed))


def _save_project() -> None:
    """The button that saves what is entered; with what cannot be saved, and why."""
    try:
        file, left = to_file(project())
    except PrismError as error:
        st.caption(f":orange[The project cannot be saved yet:] {plain(str(error))}")
        return
    st.download_button(
        "Save the project",
        # Written when it is pressed, and not in every run of the page.
        lambda: project_file.dumps(file),
        "prism-project.json",
        mime="application/json",
        key="save_project",
        icon=":material/save:",
        on_click="ignore",
        width="stretch",
        help="One file with everything you entered: columns, graph, target, designs, approval and "
        "the words for the report. No row is in it, and nothing that depends on rows but what is "
        "marked so. It opens on any machine.",
    )
    if left:
        st.caption(f":orange[Left out, for a mistake in it: design {', '.join(left)}.]")


def _open_saved() -> None:
    """The uploader that opens a saved project."""
    st.caption(
        "It opens as it was saved: columns, graph, designs and approval. The table is not in the "
        "file; load it afterwards, here or on the page Release."
    )
    file = st.file_uploader(
        "File of a project",
        type=["json"],
        key=uploads.widget_key(_UPLOAD),
        max_upload_size=uploads.PROJECT_MEGABYTES,
    )
    if file is None:
        return
    pressed = st.button("Open this project", type="primary", key="open_saved")
    content = file.getvalue()
    # By its content: an answer about one file holds for no other.
    key = f"open_saved_{hashlib.sha256(content).hexdigest()[:12]}"
    with mistakes():
        if open_project(key, lambda: _opened(content), pressed=pressed):
            uploads.let_go(file, _UPLOAD)
            st.rerun()


def _opened(content: bytes) -> Project:
    access.require()
    try:
        # An editor may have put a byte order mark in front when it saved the file again.
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    if not text:
        raise ConfigError("This is not a project as *Save the project* writes it.", field="project")
    file = project_file.loads(text)
    return with_sample(from_file(file), file.sample)
