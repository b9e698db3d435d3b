"""The gallery before a room: one story a screen, turned by the arrow keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.widgets import enter
from dashboard.gallery import full_screen, story_view
from dashboard.session.shelf import project
from prism_core.reproduction import STORIES, Story
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Sequence


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
        full_screen.button("gallery_full_screen")
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
