"""Gate of every page, and what somebody without the key, or not logged in, sees in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.open_project import samples_section
from dashboard.common.steps import AFTER_SAMPLE, COMMITTEE, GALLERY
from dashboard.key import access, identity, way_back
from dashboard.session.shelf import project
from prism_core.errors import AccessError
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from prism_core.hosting.configuration import Role

OPEN_TO_ALL = "Gallery"
"""The page that is shown to everybody; the others need the key, or a packaged sample."""

_FIELD = "key_typed"


def admit(title: str, *roles: Role) -> None:
    """Stop the page that begins here unless this session may see it.

    Args:
        title: of the page.
        roles: that may see it in the hosted form; a curator's where none is named.
    """
    if identity.hosted():
        _admit_logged_in(title, *roles)
        return
    if access.granted():
        return
    # A sample's rows are public, so a stranger may take it through every page.
    if title == OPEN_TO_ALL or project().data.sample is not None:
        _note()
        return
    _instead(AFTER_SAMPLE if title == "Start" else "")
    st.stop()


def _admit_logged_in(title: str, *roles: Role) -> None:
    """The hosted form: nothing without a login, and no page without its role."""
    try:
        person = identity.current()
    except AccessError as error:
        # Streamlit's cookie still says so where it is the hosting file's limit that has run out.
        _log_in(error, ended=bool(identity.claims().get("is_logged_in")))
        st.stop()
    if title == OPEN_TO_ALL or access.granted(*roles):
        return
    st.title(title)
    st.info(
        f"This page needs the role **{' or '.join(roles or ('curator',))}**. You are logged in as "
        f"{plain(person.who)}, with {_roles(person.roles)}.",
        icon=":material/lock:",
    )
    # Every other role reads the page Committee.
    if person.roles - {"curator"}:
        st.page_link(COMMITTEE, label="Go to Committee", icon=":material/gavel:")
    account()
    st.stop()


def _log_in(error: AccessError, *, ended: bool) -> None:
    """What somebody sees who has not logged in, or whose login has ended."""
    st.title("PRISM Studio")
    st.markdown(
        "Makes differentially private synthetic tables for one prediction task, and shows a "
        "privacy committee what was done."
    )
    if ended:
        st.warning(plain(str(error)), icon=":material/timer_off:")
    st.button(
        "Log in again" if ended else "Log in",
        type="primary",
        key="log_in",
        icon=":material/login:",
        on_click=st.login,
    )
    way_back.keep()


def account() -> None:
    """Who is logged in, and the way out; nothing in the laptop form."""
    if not identity.hosted():
        return
    person = identity.current()
    with st.popover(plain(person.name), icon=":material/account_circle:"):
        st.markdown(f"**{plain(person.name)}**")
        st.caption(f"Subject {plain(person.subject)}, with {_roles(person.roles)}.")
        st.button("Log out", key="log_out", icon=":material/logout:", on_click=st.logout)


def _roles(roles: frozenset[Role]) -> str:
    if not roles:
        return "no role yet: ask who runs this server"
    return f"the role{'s' if len(roles) > 1 else ''} {', '.join(sorted(roles))}"


def _instead(then: str) -> None:
    """What a stranger sees; `then` is the page that an opened sample leads to, "" for this one."""
    st.title("PRISM Studio")
    st.markdown(
        "Makes differentially private synthetic tables for one prediction task. It works for the "
        "person who started it, with their rights, so it first asks whether that is you."
    )
    with st.container(border=True):
        st.subheader("Open it with the key", anchor=False)
        st.markdown(
            "The terminal window in which the app was started shows **an address with the key in "
            "it**. Open that address once in this browser. Or type the key here:"
        )
        if access.wrong():
            st.warning(
                "The key that this browser has is not that of the app that runs now: every start "
                "makes a new one. The terminal shows it.",
                icon=":material/key_off:",
            )
        _field()
    st.subheader("Open to everybody", anchor=False)
    st.markdown(
        "Public rows: nothing is charged, and no project, ledger or file of this machine is shown."
    )
    st.page_link(GALLERY, label="Gallery: five stories", icon=":material/collections_bookmark:")
    samples_section(then=then)


def _note() -> None:
    """A line above every page that somebody without the key looks at."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            ":material/lock: You look around without the key: public rows only, nothing is charged."
        )
        with st.popover("I have the key", icon=":material/key:"):
            _field()


def _field() -> None:
    """The field for the key."""
    st.text_input(
        "Key shown in the terminal",
        # Whoever sees the screen must not read it.
        type="password",
        key=_FIELD,
        width=420,
        on_change=_take,
        help="The part of the address behind `key=`.",
    )
    if st.session_state.get(_FIELD) and not access.granted():
        st.error("This is not the key shown in the terminal.", icon=":material/error:")


def _take() -> None:
    access.offer(st.session_state[_FIELD])
