"""Start: what is this, and where was I?"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.common.open_project import samples_section
from dashboard.common.steps import AFTER_SAMPLE, STEPS, first_gap
from dashboard.common.widgets import heading, mistakes
from dashboard.key import access, identity
from dashboard.session import stored
from dashboard.session.shelf import forget_stored, open_stored, project
from dashboard.start import budgets
from prism_core.hosting import people
from prism_core.hosting.project_store import SHARES, ProjectRecord
from prism_core.text.markdown import plain

_PICTURE = Path(__file__).parents[1] / "assets" / "start.svg"
_WAYS = {
    "file": (
        "Your table",
        ":material/upload_file:",
        "Excel, CSV, SPSS, Stata, SAS, Parquet; then its codebook",
    ),
    "codebook": ("A codebook", ":material/menu_book:", "No table yet: design first"),
    "saved": ("A saved project", ":material/folder_open:", "Go on where you stopped"),
}
_STAGES = (
    "Your table stays on this machine",
    "What predicts is counted, with noise",
    "A synthetic table leaves",
    "with a certificate and a report",
)
_FIRST = 6  # shown at once; more are a click away
_ROLES = {"editor": "May work in it", "reader": "May open a copy"}


def _projects() -> None:
    """One line a project, the last changed first; nothing where there is none."""
    found = stored.records()
    if not found:
        return
    st.markdown("**Your projects.** What you enter is saved as you go; tables are loaded again.")
    for record in found[:_FIRST]:
        _line(record)
    if len(found) > _FIRST:
        with st.expander(f"{len(found) - _FIRST} more", icon=":material/more_horiz:"):
            for record in found[_FIRST:]:
                _line(record)


def _line(record: ProjectRecord) -> None:
    role = record.role_of(identity.current().subject)
    with st.container(horizontal=True, vertical_alignment="center", border=True, gap="small"):
        marks = [f"**{plain(record.name)}**", f"changed {record.changed[:16].replace('T', ' ')}"]
        if role != "owner":
            marks.append(f"of {plain(record.owner_name)}")
        elif record.shared:
            names = ", ".join(name for name, _ in record.shared.values())
            marks.append(f"shared with {plain(names)}")
        if record.id == project().key:
            marks.append(":blue-badge[open now]")
        st.markdown(" · ".join(marks), width="stretch")
        if st.button(
            "Open a copy" if role == "reader" else "Open", key=f"project_{record.id}_open"
        ):
            with mistakes():
                open_stored(record.id)
                gap = first_gap(project(), "")
                st.switch_page(STEPS[-1].page if gap is None else gap[0].page)
        # Nobody else may: the store refuses them, whatever a page shows.
        if role == "owner":
            if identity.hosted():
                _share(record)
            _delete(record)


def _share(record: ProjectRecord) -> None:
    key = f"project_{record.id}_share"
    with st.popover("Share", icon=":material/group:", key=key):
        for subject, (name, role) in record.shared.items():
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"{plain(name)}: {_ROLES[role].lower()}", width="stretch")
                if st.button("Take away", key=f"{key}_{subject}_away"):
                    with mistakes():
                        stored.store().unshare(record.id, subject)
                        st.rerun()
        names = people.names(access.workspace())
        others = [who for who in names if who not in (record.owner, *record.shared)]
        if not others:
            st.caption("Nobody else has logged in here yet.")
            return
        subject = st.selectbox(
            "With",
            others,
            # Two people may have the same name; the subject is one person's alone.
            format_func=lambda who: f"{names[who]} ({who})",
            key=f"{key}_with",
            help="Everybody who has logged in here.",
        )
        role = st.radio("Role", SHARES, format_func=_ROLES.__getitem__, key=f"{key}_role")
        if st.button("Share it", type="primary", key=f"{key}_now"):
            with mistakes():
                stored.store().share(record.id, subject, names[subject], role)
                st.rerun()


def _delete(record: ProjectRecord) -> None:
    key = f"project_{record.id}_delete"
    with st.popover("Delete", icon=":material/delete:", key=key):
        st.markdown(
            f"Delete everything entered in **{plain(record.name)}**? Charges in the ledger and "
            "files of runs stay. It cannot be undone."
        )
        if st.button("Delete this project", key=f"{key}_now"):
            with mistakes():
                forget_stored(record.id)
                st.rerun()


def _picture() -> None:
    """The way from the table to the release, in one line."""
    with st.container(border=True, gap="xsmall"):
        st.image(_PICTURE, width="stretch", alt=" ".join(_STAGES))
        first = "Your table stays on this server" if identity.hosted() else _STAGES[0]
        stages = (first, *_STAGES[1:])
        for column, words in zip(st.columns([1, 1.6, 1.3, 0.9]), stages, strict=True):
            column.markdown(words, text_alignment="center")


def _go_on() -> None:
    """The project that is open, and the first step that is not done."""
    state = project()
    if state.data.raw is None and not state.data.awaits_table:
        return
    # No page has this title, so every step is asked.
    gap = first_gap(state, "")
    step = STEPS[-1] if gap is None else gap[0]
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"Open now: **{plain(state.data.name)}**", width="stretch")
        if st.button(f"Go on with {step.title}", type="primary", key="start_go_on"):
            st.switch_page(step.page)


def _ways() -> None:
    """Where one's own work begins: each button opens its part of the page Data."""
    for column, (name, (title, icon, words)) in zip(
        st.columns(len(_WAYS)), _WAYS.items(), strict=True
    ):
        with column.container(border=True, height="stretch"):
            if st.button(title, icon=icon, key=f"start_{name}", width="stretch"):
                # No widget has this key, so it outlives the switch to another page.
                st.session_state["data_way"] = name
                st.switch_page(STEPS[0].page)
            st.caption(words)


heading(
    "Start",
    "Make a **synthetic table** from which others can predict one column, with a proven limit on "
    "what it tells about any person.",
)
_picture()
_go_on()
if access.granted():
    _projects()
    st.markdown("**Open**")
    _ways()
st.markdown("**Or try a sample** of generated rows.")
samples_section(short=True, then=AFTER_SAMPLE)
if access.granted():
    budgets.section()
