"""Saved project: everything that was entered, as one file, and opened from one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common import uploads
from dashboard.common.open_project import open_project
from dashboard.common.widgets import mistakes
from dashboard.key import access
from dashboard.session.project_files import from_file, to_file
from dashboard.session.sample_rows import with_sample
from dashboard.session.shelf import project
from prism_core.bundle import project_file
from prism_core.errors import ConfigError, PrismError
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from dashboard.session.project import Project

_UPLOAD = "upload_project"


def save_section() -> None:
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


def open_section() -> None:
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
