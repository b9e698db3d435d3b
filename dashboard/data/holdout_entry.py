"""Entry of the holdout: a share of the rows that is kept aside, or a file of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common import public_claim, uploads
from dashboard.common.widgets import mistakes
from dashboard.session.memory import take_test
from dashboard.session.shelf import entry_key, project
from prism_core.data.table_identity import check_test, marks
from prism_core.data.tables.header import check_columns
from prism_core.data.tables.raw_table import RawTable, read_table
from prism_core.errors import TableError
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile


_UPLOAD = "upload_test"
_WAYS = {
    "share": "A share of the table, kept aside",
    "file": "A test file of its own",
}


def section() -> None:
    """Which rows the synthetic table is judged by; they never go into it."""
    state = project()
    data = state.data
    if data.sample and data.test is not None:
        counted = "training rows" if data.schema is None else data.schema.counted
        st.markdown(
            f"**Holdout.** This sample brings its own {data.test.rows:,} test rows; all "
            f"{data.n:,} {counted} are used."
        )
        return
    way = st.radio(
        "The synthetic table is evaluated on",
        list(_WAYS),
        format_func=lambda key: _WAYS[key],
        index=1 if data.own_test else 0,
        key=entry_key("holdout_way"),
        on_change=_choose,
        horizontal=True,
    )
    if way == "file":
        _file()
    else:
        _share()


def _choose() -> None:
    state = project()
    data = state.data
    data.test_file = st.session_state[entry_key("holdout_way")] == "file"
    if not data.test_file:
        # The rows, too: a file that is still there would count as chosen.
        data.test = data.test_let_go = None


def _share() -> None:
    state = project()
    data = state.data
    share = st.slider(
        "Rows kept aside for evaluation",
        5,
        50,
        round(data.holdout_share * 100),
        format="%d %%",
        key=entry_key("holdout_share"),
        help="Drawn at random, whatever the rows hold. They are never used for the synthetic "
        "table. Only learning a column with budget counts them, too.",
    )
    data.holdout_share = share / 100
    st.caption(
        f"**The split:** {data.n:,} persons for training, {data.holdout_rows:,} "
        f"({data.holdout_share:.0%}) kept aside. It is drawn at random and by person: nobody is "
        "in both parts."
    )


def _file() -> None:
    state = project()
    data = state.data
    if data.test is not None:
        text, button = st.columns([3, 1], vertical_alignment="center")
        text.success(
            f"**Test file: {plain(data.test.name)}**, {data.test.rows:,} rows. All {data.n:,} "
            "persons of the table are used for training.",
            icon=":material/check_circle:",
        )
        button.button("Take it away", key="test_away", on_click=_away, width="stretch")
        st.caption(
            "Where a column names the person, one row of each person is kept here, too. Nobody "
            "should be in both files; that is not checked, as it would read the rows."
        )
        return
    if data.test_let_go is not None:
        st.info(
            f"The {data.test_let_go.rows:,} rows of {plain(data.test_let_go.name)} were removed "
            "from memory. Load the same file again.",
            icon=":material/memory:",
        )
    file = uploads.table(
        "Test file with the same columns",
        _UPLOAD,
        "Real rows that take no part in the release. They are as private as the table.",
    )
    st.caption(
        f"All {data.n:,} persons of the table are used for training. The test file may be loaded "
        "any time before the run."
    )
    if file is None:
        return
    with mistakes():
        sheet = uploads.sheet(file, _UPLOAD)
        if st.button("Use this test file", type="primary", key="test_load"):
            _take(file, sheet)
            st.rerun()


def _take(file: UploadedFile, sheet: str) -> None:
    state = project()
    data = state.data
    raw = _read(file, sheet)
    if data.schema is not None:
        check_columns(data.schema.header, raw.header, raw.name)
    # Either table may come first, so each is held against the other when it is loaded.
    if data.raw is not None:
        check_test(raw, data.raw, data.people.person_id)
    elif raw.sha256 and raw.sha256 == data.file_sha256:  # of the table whose rows were let go
        raise TableError(
            f"{raw.name!r} is the table itself. Load a file of other people, or keep a share of "
            "the table aside.",
            field="holdout",
        )
    if data.public:
        public_claim.check(raw)
    else:
        # From now on this session refuses to take the same rows as public.
        data.private_marks |= marks(raw)
    take_test(state, raw)
    uploads.let_go(file, _UPLOAD)


def _read(file: UploadedFile, sheet: str) -> RawTable:
    """The file as it says itself how it is written: the header and an encoding mark tell."""
    style: dict[str, str] = {}
    for _ in range(2):  # a separator and an encoding may have to be found out
        try:
            file.seek(0)
            return read_table(file, name=file.name, sheet=sheet, **style)
        except TableError as error:
            known = {"separator": error.separator, "encoding": error.encoding}
            found = {name: mark for name, mark in known.items() if mark and name not in style}
            if not found:
                raise
            style |= found
    file.seek(0)
    return read_table(file, name=file.name, sheet=sheet, **style)


def _away() -> None:
    project().data.test = None
