"""Which design is edited: the plan, or one beside it."""

from __future__ import annotations

import streamlit as st

from dashboard.keep import keep, showing
from dashboard.scenarios import PLAN
from dashboard.state import project


def section() -> None:
    """The designs in one line, and what can be done with them."""
    scenarios = project().scenarios
    with st.container(horizontal=True, vertical_alignment="center", key="designs"):
        if scenarios.others:
            key = showing("design_edited", scenarios.edited)
            st.segmented_control(
                "Design that is edited", scenarios.letters, format_func=name, required=True,
                default=scenarios.edited, key=key, on_change=keep, args=(scenarios, "edited", key),
                label_visibility="collapsed", width="content",
            )  # fmt: skip
        letter = scenarios.next_letter
        if letter is not None:
            st.button(
                f"Keep as {letter}", key="design_keep", icon=":material/content_copy:",
                on_click=_keep, help="Puts a copy of what is set now beside the plan, to be "
                "changed and compared. Nothing is spent.",
            )  # fmt: skip
        if scenarios.edited != PLAN:
            adopt_button(scenarios.edited, "design_adopt", main=False)
            st.button(
                f"Remove {scenarios.edited}", key="design_drop", icon=":material/delete:",
                on_click=scenarios.drop, args=(scenarios.edited,),
            )  # fmt: skip
            st.markdown(
                f":material/edit_note: You are changing **{scenarios.edited}**. What is released "
                "is A, the plan.", width="stretch",
            )  # fmt: skip


def name(letter: str) -> str:
    """A design as people read it."""
    return "A, the plan" if letter == PLAN else letter


def adopt_button(letter: str, key: str, *, main: bool) -> None:
    """The button that makes a design the plan; `main` where it is what the view is for."""
    st.button(
        f"Make {letter} the plan", key=key, icon=":material/check:",
        type="primary" if main else "secondary", on_click=_adopt, args=(letter,),
        help=f"A and {letter} change places, so that nothing is lost.",
    )  # fmt: skip


def _keep() -> None:
    state = project()
    letter = state.scenarios.keep(state.design(state.scenarios.edited))
    st.toast(f"Kept as {letter}. Switch to {letter} to change it.")


def _adopt(letter: str) -> None:
    state = project()
    state.scenarios.swap(state, letter)
    st.toast(f"{letter} is the plan now; the plan before is kept as {letter}.")
