"""Uploads: how large files may be, and that they are let go once they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.session import memory
from prism_core.data.tables.text_frames import HEAD, kind_of
from prism_core.data.tables.workbook_file import sheet_names
from prism_core.hosting import configuration
from prism_core.runs.inputs import IN_MEMORY
from prism_core.text import untrusted
from prism_core.text.file_or_text import no_table
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from prism_core.data.tables.text_frames import Kind

TABLE_MEGABYTES = IN_MEMORY // 2**20
TEXT_MEGABYTES = max(untrusted.SCHEMA.size, untrusted.CODES.size, untrusted.APPROVAL.size) // 10**6
"""Schemas, maps of codes and approvals; each is held to its own limit when it is read."""

PROJECT_MEGABYTES = untrusted.PROJECT.size // 10**6

_FEWER = "Of a larger one some hundred thousand rows do."
_PAGE = "uploads_page"  # of this session: the page that runs
_SHEETS = "uploads_sheets"  # by the ID of a file the names of its sheets
_SEEN = "uploads_seen"  # and by the ID of a file the page it was uploaded on


def widget_key(key: str) -> str:
    """The key of an uploader now: another one once its file was let go, so that it shows none."""
    count = st.session_state.get(f"{key}_count", 0)
    return f"{key}_{count}" if count else key


def table(label: str, key: str, more: str = "", *, larger: str = _FEWER) -> UploadedFile | None:
    """A file uploader for a table; None while there is no file that could be read.

    A file beyond what is read into memory, and one of another kind (a packed file, a picture), is
    refused with what to do before a row is read, and let go.

    Args:
        label: of the widget.
        key: of the widget; see `widget_key`.
        more: a sentence more, for its help.
        larger: what to do with a larger file, as a sentence.
    """
    # A server may take less; it refuses a larger file before it has it in memory.
    most = min(TABLE_MEGABYTES, configuration.limits().upload_mb)
    file = st.file_uploader(label, key=widget_key(key), max_upload_size=most, help=more or None)
    st.caption(f"CSV, Parquet, SPSS, Stata, SAS, Excel or ODS, up to {most} MB. {larger}")
    why = f"{key}_refused"
    if file is None:
        if why in st.session_state:
            st.error(st.session_state[why], icon=":material/error:")
        return None
    _seen(file)
    refused = _refusal(file, larger)
    if refused is None:
        st.session_state.pop(why, None)
        return file
    # Kept for the next run: the file is let go, and with it this run.
    st.session_state[why] = plain(refused)
    let_go(file, key)
    st.rerun()


def kind(file: UploadedFile) -> Kind:
    """The kind of an upload, by its first bytes."""
    file.seek(0)
    head = file.read(HEAD)
    file.seek(0)
    return kind_of(head)


def sheet(file: UploadedFile, key: str) -> str:
    """The sheet of a spreadsheet that holds the table; "" for other files, and where it has one.

    The names of the sheets are looked at, and no cell.

    Args:
        file: what was uploaded.
        key: of the uploader.

    Raises:
        TableError: when the file is damaged or needs a password.
    """
    if kind(file) != "workbook":
        return ""
    known = st.session_state.setdefault(_SHEETS, {})
    if file.file_id not in known:
        # One file is looked at at a time; a session would collect the names of all.
        known.clear()
        known[file.file_id] = sheet_names(file.getvalue(), file.name)
    names = known[file.file_id]
    if len(names) < 2:
        return ""
    return st.selectbox("Sheet with the table", names, key=f"{key}_sheet_{file.file_id}")


def _refusal(file: UploadedFile, larger: str) -> str | None:
    if file.size > IN_MEMORY:
        return (
            f"The file {file.name!r} has {file.size / 2**20:,.0f} MB, and up to {TABLE_MEGABYTES} "
            f"MB are read into memory. {larger}"
        )
    # The beginning is enough to tell a workbook or a packed file, and parses no row.
    found = no_table(file.read(65_536), file.name)
    file.seek(0)
    return found or None


def let_go(file: UploadedFile, key: str) -> None:
    """Let go of the bytes of a file; an empty uploader takes the widget's place in the next run.

    Args:
        file: what was uploaded.
        key: of the uploader.
    """
    memory.forget_uploads(memory.session_id(), file.file_id)
    st.session_state.setdefault(_SEEN, {}).pop(file.file_id, None)
    st.session_state[f"{key}_count"] = st.session_state.get(f"{key}_count", 0) + 1


def _seen(file: UploadedFile) -> None:
    page = st.session_state.get(_PAGE, "")
    st.session_state.setdefault(_SEEN, {})[file.file_id] = page


def enter(page: str) -> None:
    """Note which page runs, and let go of files that were uploaded on another one.

    Its uploader is gone with the page, and nothing leads back to them.

    Args:
        page: its title.
    """
    st.session_state[_PAGE] = page
    seen = st.session_state.get(_SEEN, {})
    for file_id in [one for one, where in seen.items() if where != page]:
        memory.forget_uploads(memory.session_id(), file_id)
        del seen[file_id]
