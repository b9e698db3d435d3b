"""Table to work on: a file, an address, or a packaged sample."""

from __future__ import annotations

import streamlit as st

from dashboard.common import table_entry
from dashboard.common.open_project import samples_section
from dashboard.key import access
from dashboard.session.shelf import project, unsaved_parts
from prism_core.text.markdown import plain


def section() -> None:
    """The first section of the page Data."""
    st.header("1 · Table")
    if not access.granted():
        samples_section()
        return
    _found_again()
    upload, place, sample = st.tabs(
        [
            ":material/upload_file: Your own file",
            ":material/database: A path or database",
            ":material/science: Samples",
        ],
        default=":material/science: Samples" if project().raw is None or project().sample else None,
    )
    with sample:
        samples_section()
    with upload:
        table_entry.upload_section()
    with place:
        table_entry.address_section()
    _loaded()


def _found_again() -> None:
    """On an empty page, how an earlier project is reached."""
    if project().raw is None and not unsaved_parts(project()):
        st.caption(
            ":material/bookmark: You worked here before? A project opens by its own address alone, "
            "the one with `?project=` that stood in the browser's address bar (look in the "
            "browser's history). It opens in a browser that has shown the key. Projects are not "
            "listed here."
        )


def _loaded() -> None:
    """What is in use, and at once that a part of it is kept aside."""
    state = project()
    if state.raw is None and state.rows_let_go is not None:
        gone = state.rows_let_go
        st.info(
            f"**The {gone.rows:,} rows of {plain(gone.name)} were let go**, because no tab had "
            "this project open for a while or other tables needed the memory. Everything declared, "
            "drawn, planned and paid for is kept. Load the same file again to go on.",
            icon=":material/memory:",
        )
    if state.raw is None or state.sample:
        return
    st.success(
        f"**Loaded: {plain(state.name)}**, {state.raw.rows:,} rows, {len(state.raw.header)} "
        "columns. "
        + (
            f"{state.holdout_share:.0%} of them ({state.holdout_rows:,}) are kept aside at random "
            "for evaluation and never used for the synthetic table; see *People and rows*."
            if state.test is None
            else ""
        ),
        icon=":material/check_circle:",
    )
