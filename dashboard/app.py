"""PRISM Studio: navigation only."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.steps import COMMITTEE, DEMO, DONE_ICON, GALLERY, START, STEPS, url_path
from dashboard.jobs import folders
from dashboard.key import access, identity, machine_key, way_back
from dashboard.key.place import Place
from dashboard.session import memory
from dashboard.session.shelf import keep_entries, project, remember
from prism_core.errors import ConfigError
from prism_core.hosting.submission import READERS
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

_ASSETS = Path(__file__).parent / "assets"


@st.cache_resource(show_spinner=False)
def _started() -> bool:
    """Once a process: a crash's private rows are deleted, and in the laptop form the key is shown.

    Raises:
        ConfigError: when the hosting file is not usable; asked again in every run until it is.
    """
    hosted = identity.hosted()
    folders.sweep()
    memory.watch()
    if not (hosted or machine_key.known()):  # started by `streamlit run`, and not by the launcher
        prefix = (st.get_option("server.baseUrlPath") or "").strip("/")
        place = Place(port=st.get_option("server.port"), prefix=f"/{prefix}" if prefix else "")
        machine_key.show(place)
    return True


# A file of our own: a material icon here would be fetched from a font host.
st.set_page_config(page_title="PRISM Studio", page_icon=_ASSETS / "icon.svg", layout="wide")
try:
    _started()
    _inside = not identity.hosted() or identity.logged_in() is not None
except ConfigError as error:
    st.error(plain(str(error)), icon=":material/error:")
    st.stop()
st.html(_ASSETS / "app.css")
st.logo(_ASSETS / "logo.svg", size="large")
_settled = access.settled()
# Not before it is known who this is: a project under an address is somebody's.
# Not before it is known who this is: a project under an address is somebody's.
if _settled:
    access.note_login()
    remember()


def _pages(*, demo: bool) -> list[StreamlitPage]:
    """The pages in their order; in the hosted form who has no role of a page does not see it."""
    hosted = identity.hosted()
    curates = not hosted or access.granted() or not _inside
    pages = [
        st.Page(
            START,
            title="Start",
            url_path=url_path(START),
            icon=":material/home:",
            default=not demo,
            # Hidden, not left out: who follows a link to it is told which role is missing.
            visibility="visible" if curates else "hidden",
        )
    ]
    pages += [
        st.Page(
            step.page,
            title=step.title,
            url_path=url_path(step.page),
            # Until it is known who this is, no project is looked at.
            icon=DONE_ICON if _settled and not step.missing(project()) else step.icon,
            visibility="visible" if curates else "hidden",
        )
        for step in STEPS
    ]
    if hosted:
        reads = access.granted(*READERS)
        pages.append(
            st.Page(
                COMMITTEE,
                title="Committee",
                url_path=url_path(COMMITTEE),
                icon=":material/gavel:",
                visibility="visible" if reads else "hidden",
            )
        )
    pages.append(
        st.Page(
            GALLERY,
            title="Gallery",
            url_path=url_path(GALLERY),
            icon=":material/collections_bookmark:",
            default=demo,
        )
    )
    return pages


def _decides_only() -> bool:
    """Whether this is somebody of the committee, who has no use for Start."""
    return identity.hosted() and not access.granted() and access.granted(*READERS)


_page = st.navigation(
    _pages(demo=DEMO in sys.argv), position="top" if _settled and _inside else "hidden"
)
if _settled:
    try:
        if _inside and identity.hosted():
            way_back.go()
        # Not by making that page the first one: Streamlit then knows it by no address of its own.
        if _page.title == "Start" and _decides_only():
            st.switch_page(COMMITTEE)
        _page.run()  # its heading asks for the key, except where a page is open to everybody
    finally:  # a page often ends by beginning anew
        keep_entries()
else:
    st.caption("Opening …")
    access.ask()
