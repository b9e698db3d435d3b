"""Columns that are not needed: named, and left out with one click."""

from __future__ import annotations

import streamlit as st

from dashboard.common.widgets import mistakes
from dashboard.session import minimisation
from dashboard.session.shelf import project
from prism_core.text.markdown import plain
from prism_core.text.numbers import count_text

_NAMED = 30


def section() -> None:
    """What the plan does not need, and what was left out before."""
    with mistakes():
        _offer(minimisation.not_needed(project()))
    _left_out()


def _offer(names: tuple[str, ...]) -> None:
    state = project()
    target = plain(state.settled_task().target_text)
    if not names:
        used = "is used" if state.plan().s_is_final else "may still be chosen by the run"
        st.caption(f"Every column {used} to predict {target}.")
        return
    are = "column is" if len(names) == 1 else "columns are"
    st.markdown(
        f"**{len(names):,} {are} not needed** to predict {target}: {plain(_listed(names))}."
    )
    st.caption(
        f"They would be published all the same, and their link to {target} is not preserved. "
        "Leave out each that no recipient needs: what is not published needs no protection."
    )
    left, right = st.columns([2, 1], vertical_alignment="bottom", gap="large")
    kept = left.multiselect(
        "Keep these nevertheless",
        names,
        key=f"keep_columns_{len(names)}",
        placeholder="None",
    )
    going = [name for name in names if name not in kept]
    if right.button(
        f"Leave out {count_text(len(going), 'column')}",
        icon=":material/filter_alt:",
        key="leave_out_columns",
        disabled=not going,
        width="stretch",
        help="They leave the declaration, on the page Data, too. In the graph they stay as "
        "unmeasured where they have an edge. You can bring them back.",
    ):
        minimisation.leave_out(state, going)
        st.rerun()


def _left_out() -> None:
    state = project()
    schema = state.data.schema
    gone = [name for name in state.data.left_out if schema is not None and name not in schema]
    if not gone:
        return
    text, button = st.columns([2, 1], vertical_alignment="center", gap="large")
    text.success(
        f"**Left out:** {plain(_listed(gone))}. They will not be published.",
        icon=":material/filter_alt_off:",
    )
    if button.button(
        "Bring them back", key="bring_columns_back", icon=":material/undo:", width="stretch"
    ):
        with mistakes():
            minimisation.bring_back(state)
            st.rerun()


def _listed(names: list[str] | tuple[str, ...]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
