"""The gallery before a room: one story a screen, turned by the arrow keys."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.components.v2 import component

from dashboard.common.widgets import enter
from dashboard.gallery import story_view
from dashboard.session.shelf import project
from prism_core.reproduction import STORIES, Story
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.components.v2.types import ComponentRenderer

# On one line each without a slash they would be taken for names of files.
_HTML = """
<button type="button" class="full">Full screen</button>
"""
_CSS = """
.full {
  font: inherit; color: inherit; background: transparent; cursor: pointer;
  border: 1px solid color-mix(in srgb, currentColor 30%, transparent);
  border-radius: 0.5rem; padding: 0.4rem 0.8rem; min-height: 2.5rem; white-space: nowrap;
}
.full:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
"""
_JS = """
export default function ({ parentElement }) {
  const button = parentElement.querySelector("button");
  const turn = () => document.fullscreenElement
    ? document.exitFullscreen() : document.documentElement.requestFullscreen();
  button.addEventListener("click", turn);
  return () => button.removeEventListener("click", turn);
}
"""


@cache
def _full_screen() -> ComponentRenderer:
    return component("prism_full_screen", html=_HTML, css=_CSS, js=_JS)


def _full_screen_button(key: str) -> None:
    """Fill the screen with the app; a browser does so for a click in the page alone."""
    _full_screen()(key=key, height="content", width="content")


# The app's own bar would show the open project to the room.
_ALONE = """
<style>
[data-testid=stHeader], [data-testid=stToolbar] { display: none; }
.stDownloadButton { display: none; }
.stMainBlockContainer { padding-top: 2rem; max-width: 1500px; }
.st-key-story_sentence p { font-size: 1.35rem; line-height: 1.5; }
.st-key-story_meaning p { font-size: 1.15rem; line-height: 1.5; }
</style>
"""


def choice(stories: Sequence[Story]) -> None:
    """The five stories by name, and the way into a presentation."""
    state = project().gallery
    left, right = st.columns([6, 1], vertical_alignment="center")
    titles = [f"{place}. {story.title}" for place, story in enumerate(stories, start=1)]
    # Its key holds the place: the arrow keys move the story, too.
    key = f"gallery_story_{state.place}"
    with left:
        st.segmented_control(
            "Story",
            range(len(titles)),
            default=state.place,
            format_func=titles.__getitem__,
            key=key,
            required=True,
            label_visibility="collapsed",
            on_change=lambda: _go_to(st.session_state[key]),
        )
    right.button(
        "Present",
        key="gallery_present",
        type="primary",
        icon=":material/slideshow:",
        on_click=_present,
        args=(True,),
        width="stretch",
        help="One story a screen, for a meeting. The arrow keys turn the pages.",
    )


def screen(story: Story) -> None:
    """A story alone: its number, its figure, the way on."""
    # Not the heading: the room is shown neither the words of the page nor who is logged in.
    enter("Gallery")
    state = project().gallery
    st.html(_ALONE)
    st.title(story.title, anchor=False)
    with st.container(key="story_sentence"):
        st.markdown(story.sentence)
    story_view.result(story)
    with st.container(horizontal=True, vertical_alignment="center"):
        turning(len(STORIES))
        st.caption(f"{state.place + 1} of {len(STORIES)}")
        st.toggle(
            "Notes",
            value=state.notes,
            key="gallery_notes",
            on_change=_notes,
            help="On this screen; the gallery prints them, too.",
        )
        _full_screen_button("gallery_full_screen")
        st.button(
            "End",
            key="gallery_end",
            icon=":material/close:",
            shortcut="Escape",
            on_click=_present,
            args=(False,),
        )
    if state.notes:
        st.info("\n".join(f"- {plain(note)}" for note in story.notes), icon=":material/notes:")


def turning(count: int) -> None:
    """Back and next, by button and by arrow key."""
    place = project().gallery.place
    st.button(
        "Back",
        key="gallery_back",
        icon=":material/arrow_back:",
        shortcut="Left",
        disabled=place == 0,
        on_click=_go_to,
        args=(place - 1,),
    )
    st.button(
        "Next",
        key="gallery_next",
        type="primary",
        icon=":material/arrow_forward:",
        shortcut="Right",
        disabled=place == count - 1,
        on_click=_go_to,
        args=(place + 1,),
    )


def _go_to(place: int) -> None:
    project().gallery.place = place


def _present(presenting: bool) -> None:
    project().gallery.presenting = presenting


def _notes() -> None:
    project().gallery.notes = bool(st.session_state["gallery_notes"])
