"""Who released what for which purpose: entries for the top of the report, and for a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.state import project
from prism_core.bundle.report_said import LABELS, LONGEST, TOP, Said

if TYPE_CHECKING:
    from dashboard.state import Project


def entries(state: Project) -> Said:
    """What the curator says about the release; asset and purpose begin as the ledger has them.

    Raises:
        BundleError: naming the entry that is not usable.
    """
    # Decided when the page is opened: it must not fold shut over what is being typed.
    st.session_state.setdefault("said_open", not state.said)
    with st.expander(
        "Who, what and why: the top of the report", icon=":material/badge:",
        key="said_open", on_change="rerun",
    ):  # fmt: skip
        st.caption(
            "No file of a run knows this. It goes into this copy, never into the bundle, so it is "
            "public once you hand the copy over. Say nothing here that only the rows know."
        )
        _fields(state, TOP)
        st.caption("For a registry of deployments (technical annex):")
        _fields(state, [name for name in LABELS if name not in TOP])
    return Said(**{name: _shown(state, name).strip() for name in LABELS})


def _fields(state: Project, names: list[str] | tuple[str, ...]) -> None:
    for row in range(0, len(names), 2):
        for place, name in zip(st.columns(2, gap="large"), names[row : row + 2], strict=False):
            label, text = LABELS[name]
            place.text_input(
                label, value=_shown(state, name), key=f"said_{name}", max_chars=LONGEST,
                placeholder=text, on_change=_say, args=(name,),
            )  # fmt: skip


def _say(name: str) -> None:
    project().said[name] = st.session_state[f"said_{name}"]


def _shown(state: Project, name: str) -> str:
    begun = {"asset": state.asset, "purpose": state.why}
    return state.said.get(name, begun.get(name, "")[:LONGEST])
