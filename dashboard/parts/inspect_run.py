"""The start of an inspection: the real rows are read once more, without noise."""

from __future__ import annotations

import streamlit as st

from dashboard.parts.inspect_work import Inspection, inspection
from dashboard.state import project
from dashboard.widgets import mistakes, plain
from prism_core.bundle import manifest, writer
from prism_core.workspace import fresh_rng, in_memory, subject


def choose_target() -> None:
    """Of several targets, which one is looked at; another one is worked out anew."""
    state = project()
    now = inspection()
    names = [each["name"] for each in now.certificate["task"].get("targets", [])]
    if not names or state.holdout is None:
        return
    chosen = st.selectbox(
        "Target", names, index=names.index(now.subject.target), key="inspect_target"
    )
    if chosen == now.subject.target:
        return
    with mistakes():
        found = subject(
            writer.read(now.folder), now.subject.holdout, now.subject.train, target=chosen
        )
        state.inspection = Inspection(
            folder=now.folder, certificate=now.certificate, subject=found, section=now.section,
            private=now.private,
        )  # fmt: skip
        st.rerun()


def section() -> None:
    """What the comparison means, and the button that starts it."""
    st.warning(
        "This reads the real rows without noise. What it shows is not covered by epsilon and is "
        "meant for the data curator only. Making several releases and keeping the one with the "
        "best numbers is itself a leak.",
        icon=":material/visibility_lock:",
    )
    state = project()
    if state.holdout is None:
        gone = state.rows_let_go
        way = (
            f"Load “{plain(gone.name)}” again on the page Data: the same rows are kept aside again."
            if gone is not None and state.parted is not None
            else "Run the synthesis again in this session, or use `prism evaluate` on its folder."
        )
        st.info(
            f"The rows kept aside for evaluation are no longer in memory. {way}",
            icon=":material/info:",
        )
        return
    st.caption(
        "Each section is worked out when you open it, beside the page: you can go on meanwhile. "
        "Results stay in this session; nothing is stored or logged."
    )
    if not st.button(
        "Compare with the real rows", type="primary", key="inspect_run", icon=":material/compare:"
    ):
        return
    assert state.folder is not None
    with mistakes(), st.spinner("Reading the synthetic and the real rows …"):
        folder, rng = writer.read(state.folder), fresh_rng()
        manifest.check(folder.path, signed=folder.certificate.get("stamp") == "release")
        found = subject(
            folder,
            in_memory(state.holdout, rng),
            None if state.train is None else in_memory(state.train, rng),
        )
        state.inspection = Inspection(
            folder=state.folder, certificate=folder.certificate, subject=found,
            private=list(state.bought),
        )  # fmt: skip
        st.rerun()
