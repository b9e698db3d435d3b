"""Projects: those of this person and those shared with them; opened, shared, deleted."""

from __future__ import annotations

import streamlit as st

from dashboard.common.steps import STEPS, first_gap
from dashboard.common.widgets import mistakes
from dashboard.key import access, identity
from dashboard.session import stored
from dashboard.session.shelf import forget_stored, open_stored, project
from prism_core.hosting import people
from prism_core.hosting.project_store import SHARES, ProjectRecord
from prism_core.text.markdown import plain

_FIRST = 6  # shown at once; more are a click away
_ROLES = {"editor": "May work in it", "reader": "May open a copy"}


def section() -> None:
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
