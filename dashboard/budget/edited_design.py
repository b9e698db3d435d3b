"""Design that is edited: which one it is, and the keys of its widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.common.fields import keeping, showing
from dashboard.session.designs import PLAN, design_name
from dashboard.session.shelf import project

if TYPE_CHECKING:
    from collections.abc import Mapping


def key_of(name: str) -> str:
    """Key of a widget for the design that is edited: designs share no widget."""
    letter = project().designs.edited
    return name if letter == PLAN else f"{name}_{letter}"


def entry(name: str, value: object) -> str:
    """Key of an entry's widget that shows `value`; see `showing`."""
    return showing(key_of(name), value)


def choose(
    owner: object,
    attribute: str,
    label: str,
    options: Mapping[Any, str],
    *,
    name: str = "",
    help: str | None = None,
) -> None:
    """A select box for one entry."""
    st.selectbox(
        label,
        list(options),
        format_func=options.__getitem__,
        help=help,
        index=list(options).index(getattr(owner, attribute)),
        **keeping(owner, attribute, key_of(name or attribute), getattr(owner, attribute)),
    )


def whole_number(
    owner: object,
    attribute: str,
    label: str,
    low: int,
    high: int,
    *,
    name: str = "",
    help: str | None = None,
) -> None:
    """A number entry for whole numbers."""
    # Entries may come from a file, and the widget raises for a value outside its ends.
    value = min(high, max(low, getattr(owner, attribute)))
    st.number_input(
        label,
        min_value=low,
        max_value=high,
        value=value,
        step=1,
        help=help,
        **keeping(owner, attribute, key_of(name or attribute), value),
    )


def section() -> None:
    """The designs in one line, and what can be done with them."""
    scenarios = project().designs
    with st.container(horizontal=True, vertical_alignment="center", key="designs"):
        if scenarios.others:
            st.segmented_control(
                "Design that is edited",
                scenarios.letters,
                format_func=design_name,
                required=True,
                default=scenarios.edited,
                label_visibility="collapsed",
                width="content",
                **keeping(scenarios, "edited", "design_edited", scenarios.edited),
            )
        letter = scenarios.next_letter
        if letter is not None:
            st.button(
                f"Keep as {letter}",
                key="design_keep",
                icon=":material/content_copy:",
                on_click=_keep,
                help="Puts a copy of what is set now beside the plan, to be "
                "changed and compared. Nothing is spent.",
            )
        if scenarios.edited != PLAN:
            adopt_button(scenarios.edited, "design_adopt", main=False)
            st.button(
                f"Remove {scenarios.edited}",
                key="design_drop",
                icon=":material/delete:",
                on_click=scenarios.drop,
                # The letter that the button names, whichever another tab edits when it is pressed.
                args=(scenarios.edited,),
            )
            st.markdown(
                f":material/edit_note: You are changing **{scenarios.edited}**. What is released "
                "is A, the plan.",
                width="stretch",
            )


def adopt_button(letter: str, key: str, *, main: bool) -> None:
    """The button that makes a design the plan; `main` where it is what the view is for."""
    st.button(
        f"Make {letter} the plan",
        key=key,
        icon=":material/check:",
        type="primary" if main else "secondary",
        on_click=_adopt,
        args=(letter,),
        help=f"A and {letter} change places, so that nothing is lost.",
    )


def _keep() -> None:
    designs = project().designs
    letter = designs.keep(designs.edited_entries)
    st.toast(f"Kept as {letter}. Switch to {letter} to change it.")


def _adopt(letter: str) -> None:
    designs = project().designs
    designs.swap(letter)
    st.toast(f"{letter} is the plan now; the plan before is kept as {letter}.")
